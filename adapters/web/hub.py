"""All open pages of a process: what each follows, whose it is, and when it has to end.

    journal ──▶ Channel (one per conversation) ──▶ Follower ──▶ Page (one per connection) ──▶ WebSocket or SSE

What it does not know: frames of WebSocket and SSE, routes, cookies.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable
from types import TracebackType
from typing import Final, Literal, Self

from adapters.web.attached import Attached
from adapters.web.channel import MAILBOX, Channel, Follower, Frame
from core.accounts import Accounts, Known
from core.broker import Broker
from core.errors import StoreError
from core.model import Person

RECHECK: Final = 2.0
"""seconds between two looks whether the credentials of open pages still count"""
Why = Literal["shutdown", "signed_out"]
_log = logging.getLogger("sayso.live")


class Page:
    """One open connection. Only its own task calls `wait` and `take`; `closed` says why it has to end, if it has.

    lists: it shows the person's list of conversations, and is told when an item changes.
    """

    def __init__(self, known: Known, *, lists: bool) -> None:
        self.known = known
        self.lists = lists
        self.follows: dict[str, Follower] = {}
        self.closed: Why | None = None
        self._notes: deque[Frame] = deque(maxlen=MAILBOX)
        self._woken: asyncio.Future[None] | None = None
        self._awake = False

    def note(self, frame: Frame) -> None:
        """Put in something that is of no journal."""
        self._notes.append(frame)
        self.wake()

    def close(self, why: Why) -> None:
        """Have the connection end."""
        self.closed = self.closed or why
        self.wake()

    def wake(self) -> None:
        """Say that there is something to take."""
        self._awake = True
        if self._woken is not None and not self._woken.done():
            self._woken.set_result(None)

    async def wait(self, timeout: float | None = None) -> bool:
        """Return when there is something to take, or False after `timeout` seconds."""
        if not self._awake:
            loop = asyncio.get_running_loop()
            self._woken = loop.create_future()
            alarm = loop.call_later(timeout, _ring, self._woken) if timeout is not None else None
            try:
                await self._woken
            finally:
                self._woken = None
                if alarm is not None:
                    alarm.cancel()
        awake, self._awake = self._awake, False
        return awake

    async def take(self) -> list[tuple[str, Frame]]:
        """Return what is new, each with the conversation it belongs to ("" for none)."""
        found = [("", frame) for frame in self._notes]
        self._notes.clear()
        for follower in tuple(self.follows.values()):
            if follower.ready:
                try:
                    found += [(follower.channel.conversation, frame) for frame in await follower.take()]
                except StoreError:
                    asyncio.get_running_loop().call_later(0.5, self.wake)
        return found


class Hub:
    """All open pages of a process, for as long as the context lasts."""

    def __init__(self, broker: Broker, accounts: Accounts, attached: Attached, render: Callable[[str], str]) -> None:
        self.broker = broker
        self.pages: dict[Page, None] = {}
        self._accounts = accounts
        self._attached = attached
        self._render = render
        self._channels: dict[str, Channel] = {}
        self._closing = False
        self._recheck: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        self._recheck = asyncio.create_task(self._look_again(), name="credentials of open pages")
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.shut()
        readers = [channel.reader for channel in self._channels.values()]
        tasks = [task for task in (self._recheck, *readers) if task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def shut(self) -> None:
        """Have every connection end, and take no more."""
        self._closing = True
        for page in tuple(self.pages):
            page.close("shutdown")

    def open(self, known: Known, *, lists: bool) -> Page:
        """A page has come; whoever opens it closes it with `leave`."""
        page = Page(known, lists=lists)
        self.pages[page] = None
        if self._closing:
            page.close("shutdown")
        return page

    def leave(self, page: Page) -> None:
        """A page is gone."""
        for conversation in tuple(page.follows):
            self.unfollow(page, conversation)
        self.pages.pop(page, None)

    def follow(self, page: Page, conversation: str, after: int) -> None:
        """Have a page told what happens in a conversation after a number; again: from another number on."""
        self.unfollow(page, conversation)
        channel = self._channels.get(conversation)
        if channel is None:
            channel = self._channels[conversation] = Channel(self.broker, conversation, self._attached, self._render)
            channel.reader = asyncio.create_task(channel.read(), name=f"events of {conversation}")
        follower = page.follows[conversation] = Follower(channel, page.known.person, after, page.wake)
        channel.followers[follower] = None
        page.wake()

    def unfollow(self, page: Page, conversation: str) -> None:
        """Tell a page no more of a conversation."""
        follower = page.follows.pop(conversation, None)
        if follower is None:
            return
        channel = follower.channel
        channel.followers.pop(follower, None)
        if not channel.followers and self._channels.get(conversation) is channel:
            del self._channels[conversation]
            if channel.reader is not None:
                channel.reader.cancel()

    def people(self) -> dict[str, tuple[Person, list[Page]]]:
        """Who has pages open that show lists, by id."""
        found: dict[str, tuple[Person, list[Page]]] = {}
        for page in (page for page in self.pages if page.lists):
            found.setdefault(page.known.person.id, (page.known.person, []))[1].append(page)
        return found

    async def look_at_credentials(self) -> None:
        """End the pages whose session or token does not count any more."""
        for known in {page.known.credential: page.known for page in self.pages}.values():
            if await self._accounts.look(known.by, known.credential) is None:
                for page in [page for page in self.pages if page.known.credential == known.credential]:
                    page.close("signed_out")

    async def _look_again(self) -> None:
        while True:
            await asyncio.sleep(RECHECK)
            try:
                await self.look_at_credentials()
            except StoreError as error:
                _log.debug("cannot look at credentials: %s", error)


def _ring(woken: asyncio.Future[None]) -> None:
    if not woken.done():
        woken.set_result(None)
