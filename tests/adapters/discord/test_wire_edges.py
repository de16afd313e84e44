"""What seldom happens to an interaction, a thread or a direct chat, and must not leave anybody without an answer."""

from __future__ import annotations

import asyncio
from pathlib import Path

import discord
import pytest

from core.agent import Run
from core.model import Person
from tests.adapters.discord.test_wire_refusals import asked
from tests.adapters.discord.wire import plain, wired
from tests.contract.agents import deploy, what, where
from tests.proves import proves
from tests.waiting import wait_until

GONE_BY = 0.3
"""seconds in which a front end that waits for nothing has left"""


async def test_who_pressed_before_the_end_is_answered(redis_url: str, tmp_path: Path) -> None:
    """The front end stops while Discord takes its time over the acknowledgement: it waits for what people just did."""
    async with wired(redis_url, tmp_path) as wire:
        wire.hire(deploy, guarded=("deploy",))
        card = await wire.card("Deploy?", await wire.thread(wire.room()))
        held = wire.there.fail_next("callback", held="early")
        press = wire.eve.presses(card, "Approve")
        await held.reached.wait()
        stopping = asyncio.create_task(wire.down())
        await asyncio.wait({stopping}, timeout=GONE_BY)
        held.release()
        await stopping
        assert press.acked == 6
        assert [plain(one) for one in wire.eve.notices] == ["This is not yours to answer."]
        await wire.up()


async def test_a_task_begins_in_the_thread_that_somebody_opened_just_before(redis_url: str, tmp_path: Path) -> None:
    async with wired(redis_url, tmp_path) as wire:
        wire.hire(where)
        room = wire.room()
        held = wire.there.fail_next("thread", held="early")
        said = wire.ann.says(room, f"{wire.there.mention} go")
        await held.reached.wait()
        thread = wire.there.thread(room, "ours", wire.ann, at=said)
        held.release()
        wire.ann.presses(await wire.card("Where to?", thread), "staging")
        await wire.says("To staging.", thread)
        assert not wire.there.ours(room)


async def test_a_direct_chat_is_one_while_a_server_is_away(redis_url: str, tmp_path: Path) -> None:
    """A press is all that Discord tells of it after a restart."""

    async def twice(run: Run, message: str) -> str:
        await run.choose("Where to?", ["staging", "production"])
        return f"You said: {await run.ask('Why?')}."

    async with wired(redis_url, tmp_path) as wire:
        wire.hire(twice)
        wire.ann.says(wire.ann.dm, "go")
        card = await wire.card("Where to?")
        wire.there.guild("gone", wire.bob).away = True
        await wire.restart()
        wire.ann.presses(card, "staging")
        assert "Write your answer." in plain(await wire.card("Why?"))


async def test_other_bots_are_not_heard(redis_url: str, tmp_path: Path) -> None:
    """Two that answer each other would never end; not even one that is on the list is heard."""
    async with wired(redis_url, tmp_path, served=False) as wire:
        robot = wire.there.person("robot", bot=True)
        wire.people = (*wire.people, f"dc:{robot.id}")
        await wire.front()
        wire.hire(where)
        room = wire.room(robot)
        thread = await wire.thread(room)
        robot.says(room, f"{wire.there.mention} go")
        assert (await wire.thread(room, "go on")).name == "go on"
        card = await wire.card("Where to?", thread)
        robot.replies(card, "staging")
        wire.ann.replies(card, "production")
        await wire.says("To production.", thread)


@proves("C06", "discord")
async def test_who_gave_a_command_is_answered_although_the_answer_was_refused(redis_url: str, tmp_path: Path) -> None:
    """Discord takes no edit of "thinking": the words stand in a message of their own, and nothing thinks for ever."""
    async with wired(redis_url, tmp_path) as wire:
        await wait_until(lambda: "status" in wire.there.commands)
        wire.there.fail_next("original", code=50035)
        command = wire.ann.slash(wire.ann.dm, "status")
        await wire.told("Nothing works here.")
        assert command.acked == 5
        await wait_until(lambda: [plain(one)[:19] for one in wire.ann.notices] == ["Nothing works here."])


async def test_a_start_says_nothing_of_voice(redis_url: str, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """The library warns once of what it lacks for calls, which nobody makes here."""
    discord.VoiceClient.warn_nacl = discord.VoiceClient.warn_dave = True
    async with wired(redis_url, tmp_path):
        assert "voice" not in caplog.text


@proves("C51", "discord")
@pytest.mark.parametrize("code", [10008, 50013, 50035], ids=["gone", "no right", "too long"])
async def test_an_edit_that_is_refused_is_tried_no_more_and_the_press_counts(
    redis_url: str, tmp_path: Path, code: int
) -> None:
    async with wired(redis_url, tmp_path) as wire:
        card = await asked(wire)
        refused = wire.there.fail_next("edit", code=code, times=100)
        press = wire.ann.presses(card, "Approve")
        await wire.says("Deployed.")
        await refused.reached.wait()
        await asked(wire)
        assert press.acked == 6
        assert [one.params["message_id"] for one in wire.there.calls("edit")].count(card.id) <= 3


@proves("C59", "discord")
async def test_what_deceives_the_eye_is_written_out(redis_url: str, tmp_path: Path) -> None:
    """What runs is what was asked for, byte for byte; ordinary words of other scripts are left alone."""
    command, ran = "ls \u202e\u200b\U000e0041\r\x1b[2K" + " " * 500 + "&& rm -rf /", list[str]()

    async def ask(run: Run, message: str) -> str:
        await run.confirm("May I?", tool="shell", arguments={"command": command})
        async with run.tool("shell", command=command):
            ran.append(command)
        return "مرحبا، שלום"

    async with wired(redis_url, tmp_path) as wire:
        wire.hire(ask, guarded=("shell",))
        wire.ann.says(wire.ann.dm, "please")
        card = await wire.card("May I?")
        for name in ("⟨U+202E⟩", "⟨U+200B⟩", "⟨U+E0041⟩", "⟨CR⟩", "⟨ESC⟩", "⟨500 spaces⟩", "&& rm -rf /"):
            assert name in plain(card)
        (request,) = (await wire.broker.pending(Person(id=f"dc:{wire.ann.id}"))).requests
        assert request.question.subject is not None
        assert request.question.subject.arguments == {"command": command}
        wire.ann.presses(card, "Approve")
        await wire.says("مرحبا، שלום")
        assert ran == [command]


@proves("C34", "discord")
async def test_a_reply_during_a_wait_is_the_answer_to_its_question(redis_url: str, tmp_path: Path) -> None:
    async with wired(redis_url, tmp_path) as wire:
        wire.hire(what)
        thread = await wire.thread(wire.room())
        first = await wire.card("What is it?", thread)
        wire.ann.says(thread, f"{wire.there.mention} and another")
        await wait_until(lambda: len([one for one in wire.there.ours(thread) if one.live]) == 2)
        wire.ann.replies(first, "the first")
        await wire.final(first, "the first")
        await wire.says("You said: the first.", thread)
        second = await wire.card("What is it?", thread)
        (request,) = (await wire.broker.pending(Person(id=f"dc:{wire.ann.id}"))).requests

        async def parked() -> bool:
            run = await wire.broker.peek(request.run)
            return run is not None and run.turn is None

        await wait_until(parked)
        wire.there.passes(300)
        wire.ann.replies(second, "the second")
        await wire.says("You said: the second.", thread)
        assert len(wire.there.ours(thread)) == 4
        assert not wire.ann.notices
