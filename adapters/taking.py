"""Taking: what came in by a platform's calls is brought to the platform that this process serves, in order.

It looks whenever the feed hints, and at least every few seconds. An update is forgotten when it took effect; one that
fails again and again is set aside, and the rest goes on. It knows no platform.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from types import TracebackType
from typing import Self

from adapters.platform import Hook
from core.broker import Broker
from core.errors import StoreError
from core.feed import LOOK
from core.inbox import Inbox
from core.trace import emit

_log = logging.getLogger(__name__)
AT_ONCE = 32
TRIES = 5


class Taking:
    """The taking of one platform's updates, for as long as the context lasts.

    look: seconds between looks at most. pause: seconds before one that failed is tried again.
    """

    def __init__(self, broker: Broker, prefix: str, hook: Hook, *, look: float = 2.0, pause: float = 1.0) -> None:
        self._broker = broker
        self._prefix = prefix
        self._hook = hook
        self._look = look
        self._pause = pause
        self._inbox = Inbox(broker, prefix)
        self._wake = asyncio.Event()
        self._under_way: dict[str, asyncio.Task[None]] = {}
        self._failures: Counter[str] = Counter()

    async def __aenter__(self) -> Self:
        self._listening = [feed.listen("inbox", self._hinted) for feed in self._broker.feeds]
        self._loop = asyncio.create_task(self._keep(), name=f"taking {self._prefix}")
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for one in self._listening:
            one.close()
        tasks = [self._loop, *self._under_way.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _hinted(self, prefix: str) -> None:
        if prefix in (LOOK, self._prefix):
            self._wake.set()

    async def _keep(self) -> None:
        while True:
            self._wake.clear()
            try:
                for id in await self._inbox.waiting(AT_ONCE):
                    if id not in self._under_way and len(self._under_way) < AT_ONCE:
                        self._under_way[id] = asyncio.create_task(self._take(id), name=f"update {id}")
            except StoreError as lost:
                _log.warning("updates of %s wait: %s", self._prefix, lost)
            await self._next()

    async def _next(self) -> None:
        try:
            async with asyncio.timeout(self._look):
                await self._wake.wait()
        except TimeoutError:
            return

    async def _take(self, id: str) -> None:
        """Bring one update; what fails is tried again after a pause, in which those behind it go on."""
        try:
            body = await self._inbox.read(id)
            if body is not None:
                await self._hook.take(body)
            await self._inbox.done(id)
            emit("update.taken", platform=self._prefix, id=id)
            self._failures.pop(id, None)
        except StoreError as lost:
            _log.warning("an update of %s waits: %s", self._prefix, lost)
            await asyncio.sleep(self._pause)
        except Exception:  # noqa: BLE001  # the edge of a task: one that cannot be read must not stop the others
            await self._failed(id)
        finally:
            self._under_way.pop(id, None)
            self._wake.set()

    async def _failed(self, id: str) -> None:
        self._failures[id] += 1
        _log.exception("an update of %s failed, for the %d. time", self._prefix, self._failures[id])
        if self._failures[id] < TRIES:
            await asyncio.sleep(self._pause)
            return
        del self._failures[id]
        try:
            await self._inbox.done(id)
            _log.error("the update %s of %s is set aside", id, self._prefix)
        except StoreError as lost:
            _log.warning("an update of %s waits: %s", self._prefix, lost)
