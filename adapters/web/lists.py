"""Keeps the lists on open pages true: tells a person's pages when an item of their list of conversations changed.

And when a question that names them did, of whichever conversation it is: what waits for them is another list.
"""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from typing import Final

from adapters.web import wire
from adapters.web.channel import Frame, frame
from adapters.web.hub import Hub, Page
from core.broker import Broker
from core.errors import StoreError
from core.feed import LOOK, Subscription
from core.life.access import may_see
from core.model import Conversation, Json, Person

PAUSE: Final = 0.25
"""seconds in which changes of the same conversation are told as one"""
ASKED: Final = frame("pending.changed", {})
"""says that a page should load again what waits for its person"""
_REMEMBERED: Final = 20_000
_log = logging.getLogger("sayso.live")


class Lists:
    """What was last told of each conversation to each person; nobody is told the same twice."""

    def __init__(self, hub: Hub) -> None:
        self._hub = hub
        self._told: OrderedDict[tuple[str, str], str] = OrderedDict()

    async def watch(self) -> None:
        """Tell pages of changes until cancelled."""
        async with AsyncExitStack() as stack:
            watching: list[Awaitable[None]] = []
            for feed in self._hub.broker.feeds:
                for kind, tell in (("journal", self._changed), ("asked", self._asked)):
                    watching.append(_watch(await stack.enter_async_context(feed.subscribe(kind)), tell))
            await asyncio.gather(*watching)

    async def _changed(self, ids: frozenset[str]) -> None:
        """Conversations changed: it is told to all who may see them, and to those who could."""
        for id in ids - {LOOK}:
            found = await self._hub.broker.place(id)
            (shown,) = await shapes(self._hub.broker, [found] if found is not None else []) or (None,)
            for person, pages in self._hub.people().values():
                seen = found is not None and may_see(person, found)
                if seen and found is not None and shown is not None and not found.deleted:
                    self._tell(person, pages, shown)
                elif self._told.pop((person.id, id), None) is not None or seen:
                    gone = frame("conversation.deleted", {"conversation": id})
                    _note([page for page in pages if id not in page.follows], gone)
        if LOOK in ids:
            for person, pages in self._hub.people().values():
                found = await self._hub.broker.conversations(person, limit=200)
                for shown in await shapes(self._hub.broker, found):
                    self._tell(person, pages, shown)

    async def _asked(self, ids: frozenset[str]) -> None:
        """Questions that name people were asked, answered or closed."""
        for id, (_, pages) in self._hub.people().items():
            if id in ids or LOOK in ids:
                _note(pages, ASKED)

    def _tell(self, person: Person, pages: list[Page], found: wire.ConversationShape) -> None:
        plain: dict[str, Json] = found.model_dump(mode="json", exclude_none=True)
        told = frame("conversation.changed", {"conversation": plain})
        key = (person.id, found.id)
        if self._told.get(key) != told.text:
            self._told[key] = told.text
            self._told.move_to_end(key)
            if len(self._told) > _REMEMBERED:
                self._told.popitem(last=False)
            _note(pages, told)


async def shapes(broker: Broker, many: Sequence[Conversation]) -> list[wire.ConversationShape]:
    """Show conversations in a list; of those that work it is looked up whether their run was told to stop."""
    live = await asyncio.gather(*(broker.peek(one.live) for one in many if one.live is not None))
    stopping = {run.id for run in live if run is not None and run.state == "stopping"}
    return [wire.conversation(one, stopping=one.live in stopping) for one in many]


async def _watch(hints: Subscription, tell: Callable[[frozenset[str]], Awaitable[None]]) -> None:
    while True:
        ids = await hints.wait(60.0)
        try:
            await tell(ids)
        except StoreError as error:
            _log.debug("cannot look at lists: %s", error)
        await asyncio.sleep(PAUSE)


def _note(pages: list[Page], told: Frame) -> None:
    for page in pages:
        page.note(told)
