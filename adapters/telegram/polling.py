"""Asking for updates: store first, confirm later, and notice when the asking itself stands still.

An update is confirmed by asking for those after it, and that only happens when everything before is stored. What comes
with one poll is kept as one page (`pages.py`); where that cannot be, each update is stored by taking effect, and one
that takes long holds the confirming up, not the others. A poll
that does not come back in time is given up, and the next one goes over fresh connections; after a few of these the
whole front end is connected anew. It must not know what an update says. Source: C102 to C105.
"""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Awaitable, Callable
from typing import Final

from telegram.error import Conflict, InvalidToken, TelegramError

from adapters.telegram.connection import Wire, open_bot, wait_of
from adapters.telegram.pages import Pages, Raw
from adapters.telegram.settings import Settings
from core.errors import StoreError
from core.inbox import Inbox
from core.trace import emit

_log = logging.getLogger(__name__)
GLANCE: Final = 0.3
"""seconds for what was just fetched to be stored, before the next question"""
WEDGED: Final = 3
"""polls in a row that never came back, after which everything is connected anew"""
FEW: Final = 3
"""failures in a row that pass unsaid"""
OTHER = (
    "Another program asks Telegram for this bot's updates: stop it, or give it a bot of its own (BotFather, /newbot). "
    "Sayso waits and tries again."
)
HOOKED = (
    "A webhook is set for this bot, so Telegram gives no updates: remove it (deleteWebhook), or set "
    "TELEGRAM_WEBHOOK_URL to use one."
)
WRONG = "Telegram refuses the bot's token: get a valid one from BotFather (/token) and set TELEGRAM_BOT_TOKEN."


class Wedged(Exception):
    """Polls do not come back."""


class Polling:
    """One poller. fetched: told of each update at once. take: lets one take effect; raises `StoreError`."""

    def __init__(
        self, settings: Settings, fetched: Callable[[Raw], None], take: Callable[[Raw], Awaitable[None]], inbox: Inbox
    ) -> None:
        self.trouble: str | None = None
        self._settings = settings
        self._fetched = fetched
        self._take = take
        self._pages = Pages(inbox, self._stored_at_last)
        self._line: Wire = open_bot(settings)
        self._next: int | None = None
        self._stored: set[int] = set()
        self._under_way: dict[int, asyncio.Task[None]] = {}
        self._progress = asyncio.get_running_loop().time()
        self._failures = 0
        self._wedged = 0

    def alive(self) -> bool:
        """Whether a poll came back lately."""
        span = self._settings.poll + 2 * self._settings.slack
        return self.trouble is None and asyncio.get_running_loop().time() - self._progress < span

    async def run(self) -> None:
        """Ask until cancelled. Raises: `Wedged` when only a new start can help."""
        try:
            await self._pages.go_on()
            while True:
                await self._round()
        finally:
            for task in self._under_way.values():
                task.cancel()
            await asyncio.gather(*self._under_way.values(), return_exceptions=True)
            await self._pages.close()
            await self._line.close_lines()

    async def _round(self) -> None:
        try:
            span = 0.0 if self._under_way else self._settings.poll
            async with asyncio.timeout(span + self._settings.slack):
                found = await self._line.updates(self._next, span)
        except TimeoutError:
            await self._fresh_line()
            return
        except TelegramError as error:
            await self._failed(error)
            return
        self._went_well()
        await self._took_in([raw for raw in found if self._is_new(raw)])
        if self._under_way:
            await asyncio.wait(self._under_way.values(), timeout=GLANCE)
        self._confirm()
        await self._pages.room()

    def _went_well(self) -> None:
        if self.trouble is not None or self._failures:
            _log.info("Telegram gives updates again")
        self.trouble, self._failures, self._wedged = None, 0, 0
        self._progress = asyncio.get_running_loop().time()
        emit("poll.returned")

    # ── storing, then confirming ─────────────────────────────────────────────────────────────────────────────────────

    def _is_new(self, raw: Raw) -> bool:
        id = raw["update_id"]
        return isinstance(id, int) and id not in self._under_way and id not in self._stored

    async def _took_in(self, found: list[Raw]) -> None:
        """Keep what came as one page, or begin to store each update by itself."""
        ids = [id for raw in found if isinstance(id := raw["update_id"], int)]
        if not ids:
            return
        for raw in found:
            self._fetched(raw)
        self._next = min(ids) if self._next is None else self._next
        if await self._pages.keep(found):
            self._stored.update(ids)
            return
        for id, raw in zip(ids, found, strict=True):
            self._under_way[id] = asyncio.create_task(self._store(id, raw), name=f"update {id}")

    async def _store(self, id: int, raw: Raw) -> None:
        await self._stored_at_last(raw)
        self._stored.add(id)
        self._under_way.pop(id, None)

    async def _stored_at_last(self, raw: Raw) -> None:
        """Store one update, however long the store is away; what it cannot digest is set aside."""
        pause = self._settings.pause
        while True:
            try:
                return await self._take(raw)
            except StoreError as lost:
                _log.warning("update %s waits to be stored: %s", raw["update_id"], lost)
                await asyncio.sleep(pause)
                pause = min(pause * 2, self._settings.longest)

    def _confirm(self) -> None:
        """Ask from the first one on that is not stored yet."""
        if self._next is None:
            return
        first = min(self._under_way, default=max(self._stored, default=self._next - 1) + 1)
        self._next = max(self._next, first)
        self._stored = {id for id in self._stored if id >= self._next}

    # ── what goes wrong ──────────────────────────────────────────────────────────────────────────────────────────────

    async def _fresh_line(self) -> None:
        self._wedged += 1
        self.trouble = "Telegram does not answer when it is asked for updates: Sayso connects anew."
        _log.warning("a poll did not come back, the next one goes over fresh connections")
        emit("poll.wedged", count=self._wedged)
        if self._wedged >= WEDGED:
            raise Wedged(f"{self._wedged} polls in a row did not come back")
        old, self._line = self._line, open_bot(self._settings)
        await old.close_lines()

    async def _failed(self, error: TelegramError) -> None:
        self._failures += 1
        own = min(self._settings.pause * 2.0 ** min(self._failures - 1, 8), self._settings.longest)
        words = _words(error)
        if words is None and self._failures >= FEW:
            words = (
                f"Telegram gives no updates ({error.message}): Sayso tries again; look at the network if it stays so."
            )
        if words != self.trouble:
            _log.warning("%s", words or f"Telegram gives no updates: {error.message}")
        self.trouble = words
        emit("poll.failed", error=type(error).__name__)
        await asyncio.sleep(wait_of(error, own * random.uniform(0.7, 1.3)))


def _words(error: TelegramError) -> str | None:
    """What a person has to do about an error; None for one that passes."""
    match error:
        case Conflict() if "webhook" in error.message:
            return HOOKED
        case Conflict():
            return OTHER
        case InvalidToken():
            return WRONG
        case _:
            return None
