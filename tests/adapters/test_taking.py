"""What platforms bring by calling us is taken once, in order; what fails comes again, and what cannot be read goes."""

from __future__ import annotations

from collections.abc import AsyncGenerator

import pytest

from adapters.platform import Hook
from adapters.taking import TRIES, Taking
from core.broker import Broker, open_broker
from core.errors import LinkDown
from core.inbox import Inbox
from core.vault import Vault
from tests.waiting import wait_until


class Reader:
    """Notes what it was brought. fails: how often it fails for a text yet. away: whether the store is."""

    def __init__(self, **fails: int) -> None:
        self.took: list[str] = []
        self.tried: list[str] = []
        self.fails = fails
        self.away = False

    async def take(self, body: bytes) -> None:
        text = body.decode()
        self.tried.append(text)
        if self.away:
            raise LinkDown("no store")
        if self.fails.get(text, 0):
            self.fails[text] -= 1
            raise ValueError("this is no update")
        self.took.append(text)

    @property
    def hook(self) -> Hook:
        """The hook that brings it what came."""
        return Hook("/x", lambda headers: True, self.take)


@pytest.fixture
async def broker(redis_url: str) -> AsyncGenerator[Broker]:
    """A broker that can seal."""
    async with open_broker(redis_url, block=0.2) as made:
        made.safe.vault = Vault([bytes(32)])
        yield made


async def test_updates_are_taken_once_in_the_order_in_which_they_came(broker: Broker) -> None:
    """Those that came while nobody served, and those that come while somebody does."""
    inbox, reader = Inbox(broker, "xx"), Reader()
    texts = [f"u{number}" for number in range(60)]
    for text in texts[:40]:
        await inbox.keep(text.encode())
    async with Taking(broker, "xx", reader.hook, look=30.0):
        for text in texts[40:]:
            await inbox.keep(text.encode())
        await wait_until(lambda: len(reader.took) == len(texts))
    assert reader.took == texts
    assert await inbox.waiting() == []


async def test_another_platform_is_brought_nothing(broker: Broker) -> None:
    """Each has its own."""
    await Inbox(broker, "yy").keep(b"not yours")
    await Inbox(broker, "xx").keep(b"yours")
    reader = Reader()
    async with Taking(broker, "xx", reader.hook):
        await wait_until(lambda: bool(reader.took))
    assert reader.took == ["yours"]
    assert len(await Inbox(broker, "yy").waiting()) == 1
    await Inbox(broker, "yy").done((await Inbox(broker, "yy").waiting())[0])


async def test_one_that_fails_comes_again_and_one_that_always_does_is_set_aside(broker: Broker) -> None:
    """The rest goes on meanwhile."""
    inbox, reader = Inbox(broker, "xx"), Reader(weak=1, poison=TRIES + 1)
    for text in ("poison", "weak", "good"):
        await inbox.keep(text.encode())

    async def through() -> bool:
        return not await inbox.waiting()

    async with Taking(broker, "xx", reader.hook, look=0.05, pause=0.01):
        await wait_until(through)
    assert reader.took == ["good", "weak"]
    assert reader.tried.count("poison") == TRIES


async def test_what_could_not_be_stored_is_never_set_aside(broker: Broker) -> None:
    """It waits until the store is back, and is done when a new process begins."""
    inbox, reader = Inbox(broker, "xx"), Reader()
    reader.away = True
    await inbox.keep(b"precious")
    async with Taking(broker, "xx", reader.hook, look=0.05, pause=0.01):
        await wait_until(lambda: len(reader.tried) > 2 * TRIES)
    assert len(await inbox.waiting()) == 1
    reader.away = False
    async with Taking(broker, "xx", reader.hook):
        await wait_until(lambda: reader.took == ["precious"])
