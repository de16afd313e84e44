"""Pages: what came with one poll, kept whole in one commit and so confirmed at once, then brought update by update.

    fetched ──▶ kept ──▶ each update brought, in the order of its chat ──▶ forgotten

A page that was not brought to its end is brought again by whoever polls next; each update takes effect once by its own
number. It must not know what an update says. Source: DESIGN section 8 ("confirmed only after they are stored"), C102.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable
from typing import Final

from adapters.telegram.connection import updates_in
from core.errors import StoreError
from core.inbox import Inbox, Locked
from core.model import Json
from core.trace import emit

_log = logging.getLogger(__name__)
Raw = dict[str, Json]
MOST: Final = 2_000
"""updates that are being brought, beyond which no more are asked for"""
BEFORE: Final = 10_000
"""pages of before that are gone on with"""
PAUSE: Final = 1.0
"""seconds before the store is tried again"""


class Pages:
    """The pages of one bot. bring: lets one update take effect, however long that takes."""

    def __init__(self, inbox: Inbox, bring: Callable[[Raw], Awaitable[None]]) -> None:
        self._inbox = inbox
        self._bring = bring
        self._bringing: set[asyncio.Task[None]] = set()
        self._open: set[asyncio.Task[None]] = set()

    async def close(self) -> None:
        """Stop bringing; what was not brought stays kept."""
        tasks = [*self._bringing, *self._open]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def go_on(self) -> None:
        """Bring what is kept of before."""
        while True:
            try:
                for id in await self._inbox.waiting(BEFORE):
                    body = await self._inbox.read(id)
                    self._begin(id, updates_in(body) if body is not None else [])
                return
            except Locked as locked:
                _log.warning("updates of before cannot be read: %s", locked)
                return
            except StoreError as lost:
                _log.warning("updates of before wait: %s", lost)
                await asyncio.sleep(PAUSE)

    async def keep(self, page: list[Raw]) -> bool:
        """Keep a page and begin to bring it; False when it could not be kept."""
        try:
            id = await self._inbox.keep(json.dumps(page).encode())
        except (StoreError, Locked) as lost:
            _log.debug("a page could not be kept: %s", lost)
            return False
        emit("page.kept", updates=len(page))
        self._begin(id, page)
        return True

    async def room(self) -> None:
        """Wait while too much is being brought."""
        while len(self._bringing) > MOST:
            await asyncio.wait(self._bringing, return_when=asyncio.FIRST_COMPLETED)

    def _begin(self, id: str, page: list[Raw]) -> None:
        tasks = [asyncio.create_task(_brought(self._bring, raw), name=f"update {raw['update_id']}") for raw in page]
        for task in tasks:
            self._bringing.add(task)
            task.add_done_callback(self._bringing.discard)
        whole = asyncio.create_task(self._whole(id, tasks), name=f"page {id}")
        self._open.add(whole)
        whole.add_done_callback(self._open.discard)

    async def _whole(self, id: str, tasks: list[asyncio.Task[None]]) -> None:
        """Forget a page when all of it was brought."""
        if tasks:
            await asyncio.wait(tasks)
        while True:
            try:
                await self._inbox.done(id)
                return
            except StoreError as lost:
                _log.warning("a page that was brought is not forgotten yet: %s", lost)
                await asyncio.sleep(PAUSE)


async def _brought(bring: Callable[[Raw], Awaitable[None]], raw: Raw) -> None:
    try:
        await bring(raw)
    except Exception:  # noqa: BLE001  # the edge of a task: one update must not keep its page for ever
        _log.exception("update %s failed and is set aside", raw["update_id"])
