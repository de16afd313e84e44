"""Where things appear: everything of a task in its own thread; and what becomes of a place where we are no more."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from adapters.discord.adapter import LIMITS
from core.agent import Run
from core.life.event import Reply
from core.model import Person
from core.question import Accepted, ChoiceField
from tests.adapters.discord.wire import Wire, plain, wired
from tests.proves import proves
from tests.waiting import wait_until


@proves("C61", "discord")
async def test_everything_of_a_task_appears_in_its_thread_and_nowhere_else(redis_url: str, tmp_path: Path) -> None:
    """What streams, typing, a file, a question, a refusal, an error, a question that nobody answered; after a restart,
    with the thread asleep meanwhile, too.
    """
    written = asyncio.Event()

    async def busy(run: Run, message: str) -> str:
        if message == "fail":
            raise RuntimeError("the disk is full")
        if message == "hurry":
            await run.confirm("Quick?", timeout=0.3)
        async with run.stream() as out:
            await out.write("words as they come")
            await written.wait()
        await run.attach(b"all that happened", "log.txt")
        return f"To {await run.choose('Where to?', ['staging', 'production'])}."

    async with wired(redis_url, tmp_path, served=False) as wire:
        wire.quiet, wire.limits = 0.0, LIMITS.changed(typing_every=0.05)
        await wire.front()
        await wire.sweep()
        wire.hire(busy)
        room = wire.room()
        other, thread = await wire.thread(room, "another task", wire.bob), await wire.thread(room, "ops")
        await wire.says("words as they come", thread)
        await wait_until(lambda: thread.typed)
        written.set()
        await wait_until(lambda: [file.name for one in wire.there.ours(thread) for file in one.attachments])
        card = await wire.card("Where to?", thread)
        wire.eve.presses(card, "staging")
        assert (await wire.told("This is not yours to answer.", wire.eve)).channel is thread
        await wire.down()
        wire.there.archive(thread)
        await wire.up()
        await wire.sweep()
        wire.ann.replies(card, "staging")
        await wire.says("To staging.", thread)
        wire.ann.says(thread, "fail")
        await wire.says("the disk is full", thread)
        wire.ann.says(thread, "hurry")
        await wire.says("Nobody answered in time", thread)
        assert (wire.there.ours(room), room.typed) == ([], 0)
        assert not wire.there.messages(wire.ann.dm)
        assert not [one for one in wire.there.ours(other) if any(word in plain(one) for word in ("staging.", "Quick"))]


async def asks_twice(run: Run, message: str) -> str:
    """Ask two things, one after the other."""
    first = await run.choose("Where to?", ["staging", "production"])
    return f"At {await run.choose('When?', ['now', 'later'])} to {first}: {message}."


async def answered_on_the_page(wire: Wire, value: str) -> None:
    """Ann answers the only question that is open, on the dashboard."""
    ann = Person(id=f"dc:{wire.ann.id}", name="Ann")
    (request,) = (await wire.broker.pending(ann)).requests
    (field,) = request.question.fields
    assert isinstance(field, ChoiceField)
    option = next(one.id for one in field.options if one.label == value)
    await wire.broker.answer(Reply(request.id, Accepted(values={field.id: option}), ann, "chat"))


@proves("C63", "discord")
async def test_where_the_bot_was_removed_questions_are_answered_elsewhere_and_others_go_on(
    redis_url: str, tmp_path: Path
) -> None:
    """It is said once why a question cannot be shown, and it is not tried over and over."""
    async with wired(redis_url, tmp_path) as wire:
        wire.hire(asks_twice)
        ann = Person(id=f"dc:{wire.ann.id}", name="Ann")
        room = wire.room()
        guild = room.guild
        assert guild is not None
        thread = await wire.thread(room)
        await wire.card("Where to?", thread)
        wire.ann.blocks_dms()
        wire.there.kick(guild)
        await answered_on_the_page(wire, "staging")

        async def told() -> list[str]:
            return [why for one in (await wire.broker.pending(ann)).requests for why in one.not_shown.values()]

        await wait_until(told)
        assert await told() == ["the bot may not see this channel: give it the permission View Channel"]
        tried = [one.params["channel_id"] for one in wire.there.calls("send")].count(thread.id)
        for times in range(3):
            wire.bob.says(wire.bob.dm, f"task {times}")
            wire.bob.presses(await wire.card("Where to?", wire.bob.dm), "production")
            wire.bob.presses(await wire.card("When?", wire.bob.dm), "now")
            await wire.says(f"At now to production: task {times}.", wire.bob.dm)
        assert [one.params["channel_id"] for one in wire.there.calls("send")].count(thread.id) == tried
        await answered_on_the_page(wire, "later")

        async def completed() -> bool:
            return (await wire.run(thread)).state == "completed"

        await wait_until(completed)


async def tells_and_asks(run: Run, message: str) -> str:
    """Wait for a go, then hand over a file and ask something long."""
    await run.ask("Ready?")
    await run.attach(b"all that happened", "log.txt")
    await run.confirm("May I?", tool="shell", arguments={"command": "echo " + "x" * 6_000})
    return "Ran."


@pytest.mark.parametrize("what", ["a locked thread", "a channel that was forbidden", "a server that was left"])
async def test_what_a_place_never_takes_comes_to_its_person_directly(redis_url: str, tmp_path: Path, what: str) -> None:
    """Files, long questions in several messages, their ends and what is said: with a word on where it belongs."""
    async with wired(redis_url, tmp_path) as wire:
        wire.threads = what == "a locked thread"
        await wire.restart()
        wire.hire(tells_and_asks)
        room = wire.room()
        guild = room.guild
        assert guild is not None
        wire.ann.says(room, f"{wire.there.mention} go")
        if wire.threads:
            await wait_until(lambda: wire.there.threads(room))
        place = wire.there.threads(room)[0] if wire.threads else room
        await wire.card("Ready?", place)
        await wait_until(lambda: "answer" in wire.there.commands)
        (request,) = (await wire.broker.pending(Person(id=f"dc:{wire.ann.id}"))).requests
        match what:
            case "a locked thread":
                wire.there.archive(place, locked=True)
            case "a channel that was forbidden":
                wire.there.deny(room, "send_messages")
            case _:
                wire.there.kick(guild)
        wire.ann.slash(wire.ann.dm, "answer", id=request.id, text="go")
        card = await wire.card("Open until")
        await wait_until(lambda: "Approve" in card.labels)
        direct = wire.there.ours(wire.ann.dm)
        assert [file.content for one in direct for file in one.attachments] == [b"all that happened"]
        assert next(one for one in direct if one.attachments).text == f"-# <#{place.id}>"
        assert "".join(plain(one) for one in direct).count("x") > 6_000
        wire.ann.presses(card, "Approve")
        await wire.final(card, "Approved by Ann on Discord")
        await wire.says("Ran.")


@proves("C58", "discord")
async def test_where_files_are_not_taken_nobody_approves_what_went_to_one_person(
    redis_url: str, tmp_path: Path
) -> None:
    """The file of a long subject comes to Ann directly; the card in the thread has no Approve, and gets none later."""

    async def ask(run: Run, message: str) -> str:
        await run.confirm("May I?", tool="shell", arguments={"command": "x" * 100_000})
        return "Ran."

    async with wired(redis_url, tmp_path) as wire:
        wire.hire(ask)
        room = wire.room()
        wire.there.deny(room, "attach_files")
        card = await wire.card("May I?", await wire.thread(room))
        assert "Approve" not in card.labels
        files = [file.content for one in wire.there.ours(wire.ann.dm) for file in one.attachments]
        assert files[0].decode().count("x") >= 100_000
        wire.ann.presses(card, "Cancel")
        await wait_until(lambda: "Keep it" in card.labels)
        wire.ann.presses(card, "Keep it")
        await wait_until(lambda: "Deny" in card.labels)
        assert "Approve" not in card.labels
        wire.ann.presses(card, "Deny")
        await wire.says("was denied", card.channel)
