"""Leases: how a process says that it lives, and how others tell that it does not.

A lease belongs to one incarnation of a process and runs on Redis's clock. It is renewed at a third of its span by the
event loop that does the work, so a process whose loop is blocked loses it. The holder stops trusting its own lease
earlier than Redis does. A process that was swept while it slept finds its lease gone, takes a new id, and whatever it
held under the old one is no longer its own. Nothing is renewed per run or per question.
"""

from __future__ import annotations

import asyncio
import logging
import os
import time
from collections.abc import Callable
from types import TracebackType
from typing import Literal, Self

from core import tree
from core.broker import Broker
from core.errors import StoreError
from core.life.decision import Refusal
from core.life.living import Beat, Leave
from core.listening import Serves
from core.model import Incarnation, fresh

_log = logging.getLogger(__name__)
TRUST = 0.8


def identity(
    id: str, kind: Literal["worker", "web", "bot", "terminal", "singleton"], until_ms: int, note: str = ""
) -> Incarnation:
    """Describe this process so that others can tell later whether it still exists."""
    return Incarnation(
        id=id,
        kind=kind,
        host=tree.host(),
        boot=tree.boot(),
        namespace=tree.namespace(),
        pid=os.getpid(),
        ticks=me.ticks if (me := tree.stat(os.getpid())) is not None else 0,
        until_ms=until_ms,
        note=note,
    )


def is_here(other: Incarnation) -> bool:
    """Tell whether a process can be looked at from this one: same host, same boot, same pid namespace."""
    mine = (tree.host(), tree.boot(), tree.namespace())
    return bool(other.pid) and (other.host, other.boot, other.namespace) == mine


def is_gone(other: Incarnation) -> bool:
    """Tell whether a process is proved not to exist any more; from elsewhere nothing counts as proof."""
    if other.host != tree.host() or not other.pid:
        return False
    if other.boot and other.boot != tree.boot():
        return True
    if other.namespace != tree.namespace():
        return False
    try:
        os.kill(other.pid, 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        pass
    line = tree.stat(other.pid)
    state, ticks = (line.state, line.ticks) if line is not None else ("", 0)
    return state in ("Z", "X") or (other.ticks != 0 and ticks != other.ticks)


class Lease:
    """This process's lease in every partition, kept up for as long as the context lasts.

    span: seconds. prefixes, serves: the origins that this process serves as a front end ("chat-"). replaced: called
    with the old id after the lease was lost and a new one taken; what was held under the old id is lost. alive: while
    it says no nothing is renewed: a front end whose transport is deaf is no listener. note: what it says of its work.
    """

    def __init__(
        self,
        broker: Broker,
        kind: Literal["worker", "web", "bot", "terminal"],
        *,
        span: float = 30.0,
        prefixes: tuple[str, ...] = (),
        serves: tuple[Serves, ...] = (),
        replaced: Callable[[str], None] | None = None,
        alive: Callable[[], bool] = lambda: True,
        note: str = "",
    ) -> None:
        self.id = fresh("w", 0)
        self._alive = alive
        self._note = note
        self._broker = broker
        self._kind: Literal["worker", "web", "bot", "terminal"] = kind
        self._span = span
        self._serves = (*(Serves(prefix=prefix) for prefix in prefixes), *serves)
        self._replaced = replaced
        self._good_until = 0.0

    async def __aenter__(self) -> Self:
        await self._beat(first=True)
        self._keeper = asyncio.create_task(self._keep(), name=f"lease {self._kind}")
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._keeper.cancel()
        await asyncio.gather(self._keeper, return_exceptions=True)
        for partition in range(len(self._broker.store.keys)):
            try:
                await self._broker.leave(Leave(self.id), partition)
            except StoreError as lost:
                _log.warning("could not say goodbye, the lease will lapse: %s", lost)

    def valid(self) -> bool:
        """Whether this process may still trust its lease."""
        return time.monotonic() < self._good_until

    async def _beat(self, *, first: bool) -> bool:
        asked = time.monotonic()
        until = self._broker.store.now() + int(self._span * 1000)
        me = identity(self.id, self._kind, until, self._note)
        for partition in range(len(self._broker.store.keys)):
            kept = await self._broker.beat(Beat(me, self._serves, first), partition)
            if isinstance(kept, Refusal):
                return False
        self._good_until = asked + self._span * TRUST
        return True

    async def _keep(self) -> None:
        """Renew the lease until the task is cancelled; begin anew when it was swept."""
        while True:
            await asyncio.sleep(self._span / 3)
            if not self._alive():
                continue
            try:
                if await self._beat(first=False):
                    continue
                old, self.id = self.id, fresh("w", 0)
                _log.warning("the lease of %s was lost while this process slept; it goes on as %s", old, self.id)
                await self._beat(first=True)
                if self._replaced is not None:
                    self._replaced(old)
            except StoreError as lost:
                _log.warning("the lease of %s could not be renewed: %s", self.id, lost)
