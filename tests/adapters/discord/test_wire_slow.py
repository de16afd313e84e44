"""Redis and worker hang, a reply streams: what people do is acknowledged before anything is done, and stored once."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from core.agent import Run
from tests.adapters.discord.wire import Wire, acked, plain, wired
from tests.contract.agents import DID, deploy, what
from tests.faults.proxy import Proxy
from tests.proves import proves
from tests.redis_server import RedisServer
from tests.standins.discord import Interaction
from tests.waiting import wait_until

AT_ONCE = 1.0
"""seconds in which an acknowledgement leaves, whatever hangs"""
HUNG = 4.0
"""seconds of Discord's own clock for which everything hangs; 3 is the most that it waits for an acknowledgement"""


@asynccontextmanager
async def streaming(redis: RedisServer, folder: Path) -> AsyncGenerator[tuple[Wire, Proxy]]:
    """Everything behind a proxy; a reply streams to Bob, and Discord takes its time over an edit of it.

    The desk would wait for Redis as long as it takes.
    """
    more, enough = asyncio.Event(), asyncio.Event()

    async def body(run: Run, message: str) -> str:
        if message == "stream":
            async with run.stream() as out:
                while not enough.is_set():
                    await out.write("a word and another ")
                    await more.wait()
                    more.clear()
            return ""
        return await (deploy(run, message) if message == "deploy" else what(run, message))

    async with Proxy(redis.socket) as proxy, wired(proxy.url, folder, served=False) as wire:
        wire.patience, wire.quiet = 30.0, 0.0
        await wire.front()
        wire.hire(body, guarded=("deploy",))
        wire.bob.says(wire.bob.dm, "stream")
        await wire.says("Working", wire.bob.dm)
        held = wire.there.fail_next("edit", held="early")

        def edited() -> bool:
            more.set()
            return held.reached.is_set()

        await wait_until(edited)
        try:
            yield wire, proxy
        finally:
            enough.set()
            more.set()
            held.release()
            proxy.replies.set()


async def in_time(done: Interaction, wire: Wire, *, fails: bool) -> None:
    """It is acknowledged at once, or was tried to be, while everything hangs; and goes on hanging."""
    if fails:
        await wait_until(lambda: 10062 in [one.code for one in wire.there.calls("callback")], timeout=AT_ONCE)
    else:
        await wait_until(lambda: done.acked == 6, timeout=AT_ONCE)
    wire.there.passes(HUNG)


@proves("C47", "discord")
@pytest.mark.parametrize("fails", [False, True], ids=["acknowledged", "not-acknowledged"])
async def test_a_press_is_acknowledged_while_everything_hangs_and_stored_once(
    redis: RedisServer, tmp_path: Path, fails: bool
) -> None:
    DID.clear()
    async with streaming(redis, tmp_path) as (wire, proxy):
        wire.ann.says(wire.ann.dm, "deploy")
        card = await wire.card("Deploy?")
        if fails:
            wire.there.fail_next("callback", code=10062)
        proxy.replies.clear()
        await in_time(wire.ann.presses(card, "Approve"), wire, fails=fails)
        assert card.live
        proxy.replies.set()
        await wire.final(card, "Approved by Ann on Discord")
        await wire.says("Deployed.")
        assert DID == ["deploy"]
        assert [plain(one) for one in wire.there.ours(wire.ann.dm)].count("Deployed.") == 1


@proves("C47", "discord")
@pytest.mark.parametrize("fails", [False, True], ids=["acknowledged", "not-acknowledged"])
async def test_a_form_is_acknowledged_while_everything_hangs_and_stored_once(
    redis: RedisServer, tmp_path: Path, fails: bool
) -> None:
    async with streaming(redis, tmp_path) as (wire, proxy):
        wire.ann.says(wire.ann.dm, "ask")
        card = await wire.card("What is it?")
        wire.ann.presses(card, "Answer")
        await wait_until(lambda: wire.ann.modals)
        (form,) = wire.ann.modals
        if fails:
            wire.there.fail_next("callback", code=10062)
        proxy.replies.clear()
        await in_time(wire.ann.submits(form, {form.fields[0]: "a parrot"}), wire, fails=fails)
        proxy.replies.set()
        await wire.final(card, "a parrot")
        await wire.says("You said: a parrot.")
        assert len([one for one in wire.there.ours(wire.ann.dm) if plain(one) == "You said: a parrot."]) == 1


@proves("C47", "discord")
async def test_a_form_for_a_text_opens_even_when_redis_does_not_answer(redis: RedisServer, tmp_path: Path) -> None:
    async with Proxy(redis.socket) as proxy, wired(proxy.url, tmp_path) as wire:
        wire.hire(what)
        wire.ann.says(wire.ann.dm, "go")
        card = await wire.card("What is it?")
        proxy.replies.clear()
        wire.ann.presses(card, "Answer")
        await wait_until(lambda: wire.ann.modals)
        sent = wire.ann.submits(wire.ann.modals[-1], {"Your answer": "a parrot"})
        await acked(sent)
        proxy.replies.set()
        await wire.says("You said: a parrot.")
