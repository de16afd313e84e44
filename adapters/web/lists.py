"""Keeps the lists on open pages true: tells a person's pages when an item of their list of conversations changed."""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from contextlib import AsyncExitStack
from typing import Final

from adapters.web import wire
from adapters.web.channel import Frame, frame
from adapters.web.hub import Hub, Page
from core.errors import StoreError
from core.feed import LOOK, Subscription
from core.model import Json, Person

PAUSE: Final = 0.25
"""seconds in which changes of the same conversation are told as one"""
_REMEMBERED: Final = 20_000
_log = logging.getLogger("sayso.live")


class Lists:
    """What was last told of each conversation to each person; nobody is told the same twice."""

    def __init__(self, hub: Hub) -> None:
        self._hub = hub
        self._told: OrderedDict[tuple[str, str], str | None] = OrderedDict()

    async def watch(self) -> None:
        """Tell pages of changes until cancelled."""
        async with AsyncExitStack() as stack:
            hints = [await stack.enter_async_context(feed.subscribe("journal")) for feed in self._hub.broker.feeds]
            await asyncio.gather(*(self._watch(one) for one in hints))

    async def _watch(self, hints: Subscription) -> None:
        while True:
            ids = await hints.wait(60.0)
            try:
                for person, pages in self._hub.people().values():
                    if LOOK in ids:
                        for one in await self._hub.broker.conversations(person, limit=200):
                            self._tell(person, pages, one.id, wire.conversation(one))
                    for id in ids - {LOOK}:
                        await self._look(person, pages, id)
            except StoreError as error:
                _log.debug("cannot look at lists: %s", error)
            await asyncio.sleep(PAUSE)

    async def _look(self, person: Person, pages: list[Page], id: str) -> None:
        key = (person.id, id)
        if key in self._told and self._told[key] is None:
            return  # it is none of theirs
        found = await self._hub.broker.conversation(id, person)
        if found is not None:
            self._tell(person, pages, id, wire.conversation(found))
        elif self._told.get(key):
            gone = frame("conversation.deleted", {"conversation": id})
            _note([page for page in pages if id not in page.follows], gone)
            self._remember(key, None)
        elif await self._hub.broker.deleted(id, person) is None:
            self._remember(key, None)

    def _tell(self, person: Person, pages: list[Page], id: str, item: wire.ConversationShape) -> None:
        plain: dict[str, Json] = item.model_dump(mode="json", exclude_none=True)
        told = frame("conversation.changed", {"conversation": plain})
        if self._told.get((person.id, id)) != told.text:
            self._remember((person.id, id), told.text)
            _note(pages, told)

    def _remember(self, key: tuple[str, str], text: str | None) -> None:
        self._told[key] = text
        self._told.move_to_end(key)
        if len(self._told) > _REMEMBERED:
            self._told.popitem(last=False)


def _note(pages: list[Page], told: Frame) -> None:
    for page in pages:
        page.note(told)
