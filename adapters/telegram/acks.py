"""Acknowledgements of presses: in a lane of their own and before everything else, with the outcome if it is known soon.

    fetched ──▶ the outcome is known within `patience` ──▶ the outcome
       ├──────▶ it is not known by then                ──▶ "received", the card shows what came of it
       └──────▶ stored, and `CROWD` are undecided      ──▶ "received" at once; deciding lets these words go first

A press is acknowledged once; Telegram refuses what comes too late, and nobody minds. It must not know what a press
means. Source: DESIGN section 8 ("Acknowledge first, then decide, then edit"), C123.
"""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from types import TracebackType
from typing import Final, Self

from telegram.error import BadRequest, NetworkError, TelegramError

from adapters.desk import LATER
from adapters.outcomes import Notice
from adapters.telegram.connection import open_bot, wait_of
from adapters.telegram.settings import Settings
from adapters.telegram.transport import Broken, TooMany
from core.trace import emit

_log = logging.getLogger(__name__)
CROWD: Final = 16
"""presses that wait for their outcome; beyond that people are told at once that theirs was received"""
LINES: Final = 32
"""acknowledgements on their way at once, each over a connection that is kept"""
ACKNOWLEDGE: Final = 5.0
"""seconds after which nobody waits for an acknowledgement any more"""
AGAIN: Final = 0.2
"""seconds after a connection that broke"""
HUSH: Final = 1.0
"""seconds that deciding lets acknowledgements go first, at most"""


class Acks:
    """The acknowledgements of one bot, for as long as the context lasts.

    patience: seconds that a press waits for its outcome before it is acknowledged without it.
    """

    def __init__(self, settings: Settings, patience: float) -> None:
        self._line = open_bot(settings)
        self._patience = patience
        self._undecided: dict[str, asyncio.TimerHandle | None] = {}
        self._stored: set[str] = set()
        self._lines = asyncio.Semaphore(LINES)
        self._sending: set[asyncio.Task[None]] = set()
        self._silent = asyncio.Event()
        self._silent.set()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for timer in self._undecided.values():
            if timer is not None:
                timer.cancel()
        for task in self._sending:
            task.cancel()
        await asyncio.gather(*self._sending, return_exceptions=True)
        await self._line.close_lines()

    def fetched(self, query: str) -> None:
        """A press came in, and is to be acknowledged in time; a second call for the same one changes nothing."""
        if query not in self._undecided:
            timer = asyncio.get_running_loop().call_later(self._patience, self._late, query)
            self._undecided[query] = timer

    def stored(self, query: str) -> None:
        """A press is stored, so it may be said that it was received; a second call changes nothing."""
        self.fetched(query)
        if query in self._stored:
            return
        crowded = len(self._stored) >= CROWD
        self._stored.add(query)
        timer = self._undecided[query]
        if crowded and timer is not None:
            timer.cancel()
            self._late(query)

    def is_told(self, query: str) -> bool:
        """Tell whether somebody heard "received" before the outcome was known."""
        return query in self._undecided and self._undecided[query] is None

    def decided(self, query: str, notice: Notice) -> bool:
        """The outcome of a press is known; False when they were told something else before."""
        self._stored.discard(query)
        timer = self._undecided.pop(query, None)
        if timer is None:
            return False
        timer.cancel()
        self._send(query, notice)
        return True

    async def silence(self) -> None:
        """Wait until everybody was told, but not long: deciding goes on when Telegram is slow."""
        if not self._silent.is_set():
            with suppress(TimeoutError):
                async with asyncio.timeout(HUSH):
                    await self._silent.wait()

    # ── the lane ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def _late(self, query: str) -> None:
        self._undecided[query] = None
        self._send(query, LATER)

    def _send(self, query: str, notice: Notice) -> None:
        task = asyncio.create_task(self._acknowledge(query, notice), name=f"acknowledging {query}")
        self._sending.add(task)
        self._silent.clear()
        task.add_done_callback(self._sent)

    def _sent(self, task: asyncio.Task[None]) -> None:
        self._sending.discard(task)
        if not self._sending:
            self._silent.set()

    async def _acknowledge(self, query: str, notice: Notice) -> None:
        try:
            async with asyncio.timeout(ACKNOWLEDGE):
                pause = await self._tried(query, notice)
                while pause is not None:
                    await asyncio.sleep(pause)
                    pause = await self._tried(query, notice)
        except (TelegramError, TimeoutError) as error:
            _log.info("a press could not be acknowledged any more: %s", error)
        emit("press.acknowledged", query=query)

    async def _tried(self, query: str, notice: Notice) -> float | None:
        """Acknowledge; returns the seconds after which to try again where that can help: twice is no harm."""
        try:
            async with self._lines:
                await self._line.answer_callback_query(query, text=notice.text[:200], show_alert=notice.alert)
        except BadRequest:
            raise
        except (TooMany, Broken, NetworkError) as error:
            return wait_of(error, AGAIN)
        return None
