"""Sends and edits with what is the same on every platform: time limits, moved chats, plain text as a fallback.

A verb that does not come back in time, or fails in a way that nobody foresaw, is unclear. It knows no card.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable

from adapters.fit import Measure
from adapters.platform import Limits, Marks, Migrated, Outcome, Platform, Refused, Sent, Unclear, View
from core.model import TERMINAL, Run

_log = logging.getLogger(__name__)
Moved = Callable[[str, str], Awaitable[None]]


class Sending:
    """A platform's outbound verbs, made safe.

    moved: told when a chat has a new id (old place, new place). rest: told how long the whole bot has to wait.
    """

    def __init__(self, platform: Platform, moved: Moved, rest: Callable[[float], None]) -> None:
        self._platform = platform
        self._rest = rest
        self._moved = moved
        self._now_at: dict[str, str] = {}

    @property
    def limits(self) -> Limits:
        """What the platform allows."""
        return self._platform.limits

    @property
    def measure(self) -> Measure:
        """How the platform counts."""
        return self._platform.measure

    @property
    def marks(self) -> bool:
        """Whether the platform marks how tasks ended."""
        return isinstance(self._platform, Marks)

    def is_private(self, place: str) -> bool:
        """Tell whether a place is a chat with one person."""
        return self._platform.is_private(self.at(place))

    def at(self, place: str) -> str:
        """Tell where a place is now."""
        return self._now_at.get(place, place)

    def goes_on(self, place: str, new: str) -> None:
        """Remember that a place has a new name."""
        _log.info("%s goes on as %s", place, new)
        self._now_at[place] = new

    async def post(
        self, place: str, view: View, nonce: str, reply_to: str | None = None, *, asks: str | None = None
    ) -> Outcome:
        """Send a message; where formatting is refused, the same text plain.

        asks: to whom it is addressed once the place has refused it for good: a platform may bring it to them.
        """

        async def send(at: str, shown: View) -> Outcome:
            return await self._platform.post(at, shown, nonce=nonce, reply_to=reply_to)

        found = await self._with_fallbacks(place, view, send)
        if asks is None or asks == view.asks or not isinstance(found, Refused) or found.kind != "final":
            return found
        return await self._with_fallbacks(place, view.changed(asks=asks), send)

    async def edit(self, place: str, message: str, view: View) -> Outcome:
        """Make a message show a view; that it shows it already is as good."""

        async def send(at: str, shown: View) -> Outcome:
            return await self._platform.edit(at, message, shown)

        found = await self._with_fallbacks(place, view, send)
        return Sent(message) if isinstance(found, Refused) and found.kind == "same" else found

    async def draft(self, place: str, of: str, view: View) -> Outcome:
        """Show what is being written."""

        async def send(at: str, shown: View) -> Outcome:
            return await self._platform.draft(at, of, shown)

        return await self._with_fallbacks(place, view, send)

    async def upload(self, place: str, name: str, content: bytes, nonce: str, *, asks: str | None = None) -> Outcome:
        """Send a file."""

        async def send(at: str, shown: View) -> Outcome:
            return await self._platform.upload(at, name, content, nonce=nonce, asks=asks)

        return await self._with_fallbacks(place, View(), send)

    async def remove(self, place: str, message: str) -> Outcome:
        """Delete a message; that it is gone is as good."""
        found = await self._bounded(self._platform.remove(self.at(place), message))
        return Sent(message) if isinstance(found, Refused) and found.kind == "gone" else found

    async def typing(self, place: str) -> None:
        """Show that something is being written."""
        try:
            async with asyncio.timeout(self.limits.send_timeout):
                await self._platform.typing(self.at(place))
        except Exception as error:  # noqa: BLE001  # nobody minds: it is a nicety
            _log.debug("typing at %s failed: %s", place, error)

    async def mark(self, run: Run | None) -> None:
        """Mark the end of a run where its place began, if it has ended; a failure keeps nothing else back."""
        if run is None or run.state not in TERMINAL or not isinstance(self._platform, Marks):
            return
        outcome = await self._bounded(self._platform.mark(self.at(run.origin), run.state))
        if not isinstance(outcome, Sent):
            _log.info("the end of %s was not marked: %r", run.id, outcome)

    async def _with_fallbacks(self, place: str, view: View, send: Callable[[str, View], Awaitable[Outcome]]) -> Outcome:
        found = await self._bounded(send(self.at(place), view))
        if isinstance(found, Migrated):
            self.goes_on(place, found.place)
            await self._moved(place, found.place)
            found = await self._bounded(send(found.place, view))
        if isinstance(found, Refused) and found.kind == "markup":
            _log.warning("the formatting of %s was refused, sent plain: %s", view.of or "a text", found.reason)
            found = await self._bounded(send(self.at(place), view.changed(plain=True)))
        return found

    async def _bounded(self, call: Awaitable[Outcome]) -> Outcome:
        try:
            async with asyncio.timeout(self.limits.send_timeout):
                found = await call
            if isinstance(found, Refused) and found.wide and found.retry_after:
                self._rest(found.retry_after)
            return found
        except TimeoutError:
            return Unclear(f"no answer within {self.limits.send_timeout:g} s")
        except Exception as error:  # noqa: BLE001  # a platform's bug must not end the lane of its chat
            _log.exception("%s failed in a way that its folder did not foresee", self._platform.name)
            return Unclear(repr(error))
