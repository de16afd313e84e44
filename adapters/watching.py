"""What runs are writing and doing now: followed in the journal, for status cards that stream, and for typing.

Lossy on purpose: only the newest is shown, nothing is owed. Nobody types while a person is asked. It knows no platform.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

from adapters.sending import Sending
from adapters.showing import Writing
from core.broker import Broker
from core.errors import StoreError
from core.feed import LOOK
from core.model import Event, Run

_log = logging.getLogger(__name__)
KEPT = 4_000
REST = 4.0
"""seconds between two looks, where nothing is typed"""
BACK = 100
"""Entries of the journal before the one at which a run is met: it may have written already."""


@dataclass
class _Watched:
    """One run at work. seq: how far its conversation's journal was read. rests: it was drawn a moment ago."""

    place: str
    conversation: str
    seq: int
    text: dict[str, str] = field(default_factory=dict[str, str])
    doing: str = ""
    run: str = ""
    asked: bool = False
    rests: bool = False


class Watching:
    """The runs at work on one platform. changed: told the root of a run that should be drawn again.

    rests: whether a place has to wait. gap: seconds between two drawings at a place.
    """

    def __init__(
        self,
        broker: Broker,
        sending: Sending,
        *,
        rests: Callable[[str], bool],
        gap: Callable[[str], float],
        changed: Callable[[str], None],
    ) -> None:
        self._broker = broker
        self._sending = sending
        self._rests = rests
        self._gap = gap
        self._changed = changed
        self._runs: dict[str, _Watched] = {}
        self._hinted: set[str] = set()
        self._wake = asyncio.Event()

    async def __aenter__(self) -> Self:
        self._listening = [feed.listen("journal", self._hint) for feed in self._broker.feeds]
        self._tasks = [asyncio.create_task(self._read(), name="watch"), asyncio.create_task(self._type(), name="type")]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for one in self._listening:
            one.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def follow(self, run: Run, place: str) -> None:
        """Watch a run while it works; one that does not is watched no longer."""
        if run.state not in ("working", "waiting"):
            self._runs.pop(run.root, None)
            return
        watched = self._runs.get(run.root)
        if watched is None:
            seq = max(0, await self._broker.store.end("journal", run.conversation) - BACK)
            watched = self._runs.setdefault(run.root, _Watched(place, run.conversation, seq))
            self._hint(run.conversation)
        watched.run = run.id
        watched.asked = run.state == "waiting"

    def writing(self, root: str) -> Writing:
        """Tell what a run is writing and doing now."""
        watched = self._runs.get(root)
        if watched is None:
            return Writing()
        return Writing("".join(list(watched.text.values())[-1:]), watched.doing)

    def place(self, root: str) -> str | None:
        """Tell where a run at work is shown."""
        watched = self._runs.get(root)
        return watched.place if watched is not None else None

    def _hint(self, conversation: str) -> None:
        if conversation == LOOK or any(one.conversation == conversation for one in self._runs.values()):
            self._hinted.add(conversation)
            self._wake.set()

    async def _read(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            await self._wake.wait()
            self._wake.clear()
            hinted, self._hinted = self._hinted, set[str]()
            for root, watched in list(self._runs.items()):
                if watched.conversation not in hinted and LOOK not in hinted:
                    continue
                try:
                    if await self._take_in(watched) and not watched.rests:
                        watched.rests = True
                        loop.call_later(self._gap(watched.place), self._rested, watched)
                        self._changed(root)
                except StoreError as lost:
                    _log.warning("streaming stands still: %s", lost)

    def _rested(self, watched: _Watched) -> None:
        """Draw again what is still being written. No time is compared: a timer may fire a moment early."""
        watched.rests = False
        self._hint(watched.conversation)

    async def _take_in(self, watched: _Watched) -> bool:
        """Read what was told; tells whether there is something newer to draw."""
        events = await self._broker.journal(watched.conversation, watched.seq)
        if events is None:
            watched.seq = await self._broker.store.end("journal", watched.conversation)
            return False
        for seq, event in events:
            watched.seq = seq
            self._heard(watched, event)
        return bool(watched.text or watched.doing)

    def _heard(self, watched: _Watched, event: Event) -> None:
        if event.run not in (None, watched.run):
            return
        message, text = event.data.get("message"), event.data.get("text")
        if event.type == "message.delta" and isinstance(message, str) and isinstance(text, str):
            watched.text[message] = (watched.text.get(message, "") + text)[-KEPT:]
        elif event.type == "message.completed" and isinstance(message, str):
            watched.text.pop(message, None)
        elif event.type == "status" and isinstance(text, str):
            watched.doing = text

    async def _type(self) -> None:
        every = self._sending.limits.typing_every
        while True:
            await asyncio.sleep(every or REST)
            try:
                await self._look_again()
            except StoreError as lost:
                _log.warning("nothing is typed: %s", lost)
                continue
            places = {one.place for one in self._runs.values() if not one.asked and not self._rests(one.place)}
            await asyncio.gather(*(self._sending.typing(place) for place in places if every))

    async def _look_again(self) -> None:
        """Let go of runs that ended, and see which of them wait: without a status card nobody tells us."""
        for root, watched in list(self._runs.items()):
            run = await self._broker.peek(watched.run)
            if run is None or run.state not in ("working", "waiting"):
                if self._runs.get(root) is watched:
                    del self._runs[root]
            else:
                watched.asked = run.state == "waiting"
