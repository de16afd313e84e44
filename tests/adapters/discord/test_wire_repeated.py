"""Discord tells of something twice: it has its effect once, also where the second time could have another one."""

from __future__ import annotations

from pathlib import Path

from core.agent import Run
from tests.adapters.discord.wire import plain, wired
from tests.contract.agents import what
from tests.waiting import wait_until


async def echo(run: Run, message: str) -> str:
    """Say what was said."""
    return f"heard {message}"


async def test_a_command_that_comes_twice_does_not_end_what_began_meanwhile(redis_url: str, tmp_path: Path) -> None:
    """“Cancel” without an id means what works at that moment: by the second time that is another task."""
    async with wired(redis_url, tmp_path) as wire:
        wire.hire(what)
        await wait_until(lambda: "cancel" in wire.there.commands)
        wire.ann.says(wire.ann.dm, "the first task")
        first = await wire.card("What is it?")
        wire.ann.slash(wire.ann.dm, "cancel")
        await wire.final(first, "canceled")
        wire.ann.says(wire.ann.dm, "the second task")
        second = await wire.card("What is it?")
        wire.there.gateway.repeat("INTERACTION_CREATE")
        await wait_until(lambda: len(wire.there.calls("callback")) == 3)  # acknowledged, refused, told in vain
        wire.ann.replies(second, "still here")
        await wire.says("You said: still here.")


async def test_a_task_that_is_begun_by_a_message_that_comes_twice_is_begun_once(redis_url: str, tmp_path: Path) -> None:
    """The thread that the message has already is its place, and not the channel."""
    async with wired(redis_url, tmp_path) as wire:
        wire.hire(echo)
        room = wire.room()
        thread = await wire.thread(room, "once")
        await wire.says("heard once", thread)
        wire.there.gateway.repeat("MESSAGE_CREATE")
        wire.ann.says(thread, f"{wire.there.mention} twice")
        await wire.says("heard twice", thread)
        await wire.thread(room, "thrice")
        assert not wire.there.ours(room)
        said = [plain(one) for one in wire.there.ours(thread) if plain(one).startswith("heard")]
        assert said == ["heard once", "heard twice"]


async def test_a_task_that_is_begun_by_a_command_that_comes_twice_is_begun_once(redis_url: str, tmp_path: Path) -> None:
    async with wired(redis_url, tmp_path) as wire:
        wire.hire(echo)
        room = wire.room()
        await wait_until(lambda: "ask" in wire.there.commands)
        for place in (wire.ann.dm, room):
            wire.ann.slash(place, "ask", text="once")
            wire.there.gateway.repeat("INTERACTION_CREATE")
        await wait_until(lambda: wire.there.threads(room))
        (thread,) = wire.there.threads(room)
        for place in (wire.ann.dm, thread):
            await wire.says("heard once", place)
            wire.ann.slash(place, "ask", text="twice")
            await wire.says("heard twice", place)
            said = [plain(one) for one in wire.there.ours(place) if plain(one).startswith("heard")]
            assert said == ["heard once", "heard twice"]
