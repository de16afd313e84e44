"""Presses, menus and forms over the wire: acknowledged once and at once, true, and good after any restart."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.agent import Run
from core.life.event import Reply
from core.model import Person
from core.question import Accepted
from tests.adapters.discord.wire import Wire, acked, plain, wired
from tests.contract.agents import both, deploy, what, where
from tests.everything import everything
from tests.proves import proves
from tests.redis_server import RedisServer
from tests.waiting import wait_until


async def asked(wire: Wire, words: str = "to production") -> None:
    """Let an approval be asked for in Ann's direct messages."""
    wire.hire(deploy, guarded=("deploy",))
    wire.ann.says(wire.ann.dm, words)


@proves("C01", "discord")
async def test_three_presses_of_one_person_are_one_answer(redis_url: str, tmp_path: Path) -> None:
    async with wired(redis_url, tmp_path) as wire:
        await asked(wire)
        card = await wire.card("Deploy?")
        presses = [wire.ann.presses(card, "Approve") for _ in range(3)]
        await acked(*presses)
        await wire.final(card, "Approved by Ann on Discord")
        await wire.says("Deployed.")
        await wait_until(lambda: len(wire.ann.notices) == 2)
        assert [plain(one) for one in wire.ann.notices] == ["Already answered: that is the answer that stands."] * 2
        assert [plain(one) for one in wire.there.ours(wire.ann.dm)].count("Deployed.") == 1
        assert [one.acked for one in presses] == [6, 6, 6]


@proves("C04", "discord")
async def test_what_was_answered_elsewhere_is_shown_and_a_stale_press_told(redis_url: str, tmp_path: Path) -> None:
    async with wired(redis_url, tmp_path) as wire:
        await asked(wire)
        card = await wire.card("Deploy?")
        approve = next(one.custom_id for one in card.buttons if one.label == "Approve")
        ann = Person(id=f"dc:{wire.ann.id}", name="Ann")
        request = (await wire.broker.pending(ann)).requests[0]
        held = wire.there.fail_next("edit", held="early")
        await wire.broker.answer(Reply(request.id, Accepted(values={"confirm": "once"}), ann, "chat"))
        await held.reached.wait()
        gap = wire.ann.presses_id(card, approve)
        await acked(gap)
        held.release()
        await wire.final(card, "Approved by Ann on the dashboard")
        late = wire.ann.presses_id(card, "v1:" + request.id + ":o3")
        await acked(late)
        await wire.told("Already answered by Ann on the dashboard")
        assert [plain(one) for one in wire.there.ours(wire.ann.dm)].count("Deployed.") == 1


@proves("C06", "discord")
async def test_every_press_is_acknowledged_once_with_the_true_outcome(redis_url: str, tmp_path: Path) -> None:
    """Answered, unknown, none of ours: each differs from the others."""
    async with wired(redis_url, tmp_path) as wire:
        await asked(wire)
        card = await wire.card("Deploy?")
        ids = {one.label: one.custom_id for one in card.buttons}
        wire.ann.presses(card, "Approve")
        await wire.final(card, "Approved")
        found: list[str] = []
        for id in (ids["Deny"], "v1:q0zzzzzzzzzzzzzz:o0", "hello"):
            count = len(wire.ann.notices)
            press = wire.ann.presses_id(card, id)
            await wait_until(lambda count=count: len(wire.ann.notices) == count + 1)
            found.append(plain(wire.ann.notices[-1]))
            assert press.acked == 6
        assert found[0].startswith("Already answered by Ann on Discord")
        assert found[2] == "This button is not known."
        assert len(set(found)) == 3
        assert all(0 < len(words) <= 200 for words in found)


@proves("C07", "discord")
async def test_what_others_press_is_refused_to_them_alone(redis_url: str, tmp_path: Path) -> None:
    async with wired(redis_url, tmp_path) as wire:
        wire.hire(deploy, guarded=("deploy",))
        thread = await wire.thread(wire.room())
        card = await wire.card("Deploy?", thread)
        before = plain(card)
        for label in ("Approve", "Deny", "Always approve exactly this", "Deny with a reason…", "Cancel task"):
            count = len(wire.eve.notices)
            wire.eve.presses(card, label)
            await wait_until(lambda count=count: len(wire.eve.notices) == count + 1)
            assert plain(wire.eve.notices[-1]) == "This is not yours to answer."
        assert (plain(card), bool(card.live)) == (before, True)
        assert not wire.eve.modals
        wire.ann.presses(card, "Approve")
        await wire.final(card, "Approved by Ann")


@proves("C08", "discord")
async def test_an_empty_list_of_people_lets_nobody_in(redis_url: str, tmp_path: Path) -> None:
    """No thread is begun, and the channel hears once how it is bound; a direct message works."""
    async with wired(redis_url, tmp_path, served=False) as wire:
        wire.people = ()
        await wire.front()
        wire.hire(where)
        room = wire.room()
        wire.ann.says(room, f"{wire.there.mention} go", files=[("film.mp4", b"what nobody loads")])
        await wire.says("Nobody may talk to me here yet", room)
        wire.ann.says(room, f"{wire.there.mention} go on")
        wire.ann.says(wire.ann.dm, "go")
        await wire.card("Where to?")
        assert not wire.there.server.loaded
        assert not wire.there.threads(room)
        assert len(wire.there.ours(room)) == 1


async def brief(run: Run, message: str) -> str:
    """Ask for an approval that nobody gives in time."""
    await run.confirm("Quick?", tool="deploy", arguments={"to": "x"}, timeout=0.3)
    return "Ran."


@proves("C15", "discord")
async def test_a_press_on_an_expired_question_is_final(redis_url: str, tmp_path: Path) -> None:
    async with wired(redis_url, tmp_path) as wire:
        await wire.sweep()
        wire.hire(brief)
        wire.ann.says(wire.ann.dm, "go")
        card = await wire.says("Quick?")
        approve = next(iter(one.custom_id for one in card.buttons), "v1:q:o0")
        await wire.final(card, "Nobody answered in time")
        wire.ann.presses_id(card, approve)
        await wire.told("Nobody answered in time, the question is closed")
        assert not [one for one in wire.there.ours(wire.ann.dm) if "Ran." in plain(one)]
        wire.hire(where)
        wire.ann.says(wire.ann.dm, "an ordinary message")
        await wire.card("Where to?")
        await wire.restart()
        assert len(wire.ann.notices) == 1


@proves("C25", "discord")
@proves("C28", "discord")
async def test_pressing_b_approves_b(redis_url: str, tmp_path: Path) -> None:
    """And a word to the one that is decided is no answer to the other one."""
    async with wired(redis_url, tmp_path) as wire:
        wire.hire(both)
        wire.ann.says(wire.ann.dm, "go")
        listing, deleting = await wire.card("List?"), await wire.card("Delete?")
        wire.ann.presses(deleting, "Deny")
        await wire.final(deleting, "Denied")
        wire.ann.replies(deleting, "y")
        await wire.says("Already answered")
        assert listing.live
        wire.ann.presses(listing, "Approve")
        await wire.says("list True, delete False.")


@proves("C42", "discord")
@proves("C44", "discord")
@proves("C46", "discord")
@pytest.mark.parametrize("point", ["press", "open form", "form"])
async def test_what_is_older_than_a_restart_works(redis_url: str, tmp_path: Path, point: str) -> None:
    """A button, one that opens a form, and a form that was open meanwhile: nothing has to be loaded again.

    The first press after it counts, whatever the front end has forgotten; only the second one is a repeat.
    """
    async with wired(redis_url, tmp_path) as wire:
        wire.hire(deploy if point == "press" else what, guarded=("deploy",))
        wire.ann.says(wire.ann.dm, "go")
        card = await wire.card("?")
        if point == "press":
            approve = card.buttons[0].custom_id
            await wire.restart()
            wire.ann.presses_id(card, approve)
            await wire.final(card, "Approved by Ann")
            assert not wire.ann.notices
            wire.ann.presses_id(card, approve)
            await wire.told("Already answered: that is the answer that stands.")
            return
        if point == "open form":
            await wire.restart()
        wire.ann.presses(card, "Answer")
        await wait_until(lambda: wire.ann.modals)
        if point == "form":
            await wire.restart()
        sent = wire.ann.submits(wire.ann.modals[-1], {wire.ann.modals[-1].fields[0]: "a parrot"})
        await wire.says("You said: a parrot.")
        assert sent.acked == 6


async def form(run: Run, message: str) -> str:
    """Ask by every kind of control."""
    one = await run.choose("One?", ["a", "b"])
    many = await run.choose("Many?", [f"option {n}" for n in range(30)], multiple=True)
    menu = await run.choose("Menu?", [f"choice {n}" for n in range(9)])
    text = await run.ask("Text?")
    reply = await run.ask("Reply?")
    await run.confirm("Command?")
    return f"{one} {many} {menu} {text} {reply}"


@proves("C45", "discord")
async def test_every_kind_of_control_wakes_the_run(redis_url: str, tmp_path: Path) -> None:
    """Button, menus of several pages, menu, form, reply, command."""
    async with wired(redis_url, tmp_path) as wire:
        wire.hire(form)
        ann = wire.ann
        ann.says(ann.dm, "go")
        ann.presses(await wire.card("One?"), "b")
        card = await wire.card("Many?")
        ann.chooses(card, "2. option 1", "4. option 3")
        await wait_until(lambda: "Done (2)" in card.live)
        ann.presses(card, "2/2 →")
        await wait_until(lambda: "30. option 29" in str(card.selects[0].raw))
        ann.chooses(card, "30. option 29")
        await wait_until(lambda: "Done (3)" in card.live)
        ann.presses(card, "Done")
        ann.chooses(await wire.card("Menu?"), "7. choice 6")
        ann.presses(await wire.card("Text?"), "Answer")
        await wait_until(lambda: ann.modals)
        ann.submits(ann.modals[-1], {ann.modals[-1].fields[0]: "by form"})
        ann.replies(await wire.card("Reply?"), "by reply")
        await wire.card("Command?")
        request = (await wire.broker.pending(Person(id=f"dc:{ann.id}"))).requests[0]
        typing = ann.types(ann.dm, "approve", "id", "comm")
        await wait_until(lambda: typing.choices)
        assert request.id in str(typing.choices)
        ann.slash(ann.dm, "approve", id=request.id)
        await wire.says("b ['option 1', 'option 3', 'option 29'] choice 6 by form by reply")


async def plan(run: Run, message: str) -> str:
    """Ask for an approval of something that is soon forgotten."""
    await run.confirm("A plan?", tool="deploy", arguments={"to": "the MARKER"})
    return "Done."


@proves("C64", "discord")
async def test_a_parked_run_is_canceled_on_its_question(redis: RedisServer, tmp_path: Path) -> None:
    """By the button and by the command; again it says so; what is left is a stub without a text, for a day."""
    async with wired(redis.url, tmp_path) as wire:
        wire.hire(plan)
        ann = Person(id=f"dc:{wire.ann.id}", name="Ann")
        await wait_until(lambda: "cancel" in wire.there.commands)
        for how in ("button", "command"):
            wire.ann.says(wire.ann.dm, how)
            card = await wire.card("A plan?")
            (request,) = (await wire.broker.pending(ann)).requests
            if how == "button":
                wire.ann.presses(card, "Cancel task")
                await wait_until(lambda card=card: "Sure?" in plain(card))
                yes = next(one.custom_id for one in card.buttons if one.label == "Yes, cancel the task")
                twice = [wire.ann.presses_id(card, yes) for _ in range(2)]
                await acked(*twice)
            else:
                twice = [wire.ann.slash(wire.ann.dm, "cancel", id=request.run) for _ in range(2)]
                await wait_until(lambda twice=twice: all(one.texts for one in twice))
            await wire.final(card, "canceled")
            assert (await wire.run(wire.ann.dm)).state == "canceled"
            assert not (await wire.broker.pending(ann)).requests
            await wire.says("[Canceled]")
            assert not await left_of(redis, request.id)
        told = [plain(one).casefold() for one in wire.ann.notices]
        assert told.count("already canceled") == 2, told


async def left_of(redis: RedisServer, request: str) -> list[str]:
    """The keys, besides what was said, that still hold the text of a question, or hold the question for over a day."""

    def texts() -> list[str]:
        lines = [line.partition(" ")[0] for line in everything(redis).split("\n") if "MARKER" in line]
        return [key for key in lines if not key.split("}:")[1].startswith(("h:", "j:"))]

    await wait_until(lambda: not texts())
    keys = redis.say("KEYS", f"*}}:q:{request}")
    assert isinstance(keys, list)
    assert keys
    return [str(key) for key in keys if not 0 < int(str(redis.say("TTL", str(key)))) <= 86_400]


async def test_a_run_is_canceled_by_the_command_on_a_message(redis_url: str, tmp_path: Path) -> None:
    async with wired(redis_url, tmp_path) as wire:
        wire.hire(where)
        thread = await wire.thread(wire.room())
        card = await wire.card("Where to?", thread)
        wire.ann.picks(card, "Cancel this task")
        await wire.final(card, "canceled")
        await wire.told("Canceled.")


async def test_the_command_on_a_message_ends_nothing_when_that_is_no_card(redis_url: str, tmp_path: Path) -> None:
    """In a direct message nobody knows of which task it is; it is not said that nothing works."""
    async with wired(redis_url, tmp_path) as wire:
        wire.hire(where)
        said = wire.ann.says(wire.ann.dm, "go")
        card = await wire.card("Where to?")
        await wait_until(lambda: "Cancel this task" in wire.there.commands)
        wire.ann.picks(said, "Cancel this task")
        await wire.told("That is no card of a task")
        assert card.live


async def test_what_only_one_person_sees_is_no_card(redis_url: str, tmp_path: Path) -> None:
    """A button of an answer to a command decides the same; its message is never edited, as nobody could."""
    async with wired(redis_url, tmp_path) as wire:
        wire.hire(where)
        wire.ann.says(wire.ann.dm, "go")
        card = await wire.card("Where to?")
        await wait_until(lambda: "cancel" in wire.there.commands)
        wire.ann.slash(wire.ann.dm, "pause")
        await wait_until(lambda: "Resume" in card.live)
        wire.ann.slash(wire.ann.dm, "pending")
        await wait_until(lambda: [one for one in wire.ann.notices if "Resume" in one.live])
        notice = next(one for one in wire.ann.notices if "Resume" in one.live)
        wire.ann.presses(notice, "Resume")
        await wait_until(lambda: "staging" in card.live)
        wire.ann.presses(card, "staging")
        await wire.says("To staging.")
        assert not [one for one in wire.there.calls("edit") if one.params["message_id"] == notice.id]


async def test_a_no_has_its_reason(redis_url: str, tmp_path: Path) -> None:
    async with wired(redis_url, tmp_path) as wire:
        await asked(wire)
        card = await wire.card("Deploy?")
        wire.ann.presses(card, "Deny with a reason")
        await wait_until(lambda: wire.ann.modals)
        wire.ann.submits(wire.ann.modals[-1], {"Why not?": "too late in the day"})
        await wire.final(card, "too late in the day")
        await wire.says("Left alone: too late in the day.")


async def test_an_update_that_comes_twice_has_its_effect_once(redis_url: str, tmp_path: Path) -> None:
    async with wired(redis_url, tmp_path) as wire:
        await asked(wire)
        card = await wire.card("Deploy?")
        wire.ann.presses(card, "Approve")
        wire.there.gateway.repeat()
        await wire.final(card, "Approved by Ann")
        await wire.says("Deployed.")
        assert [plain(one) for one in wire.there.ours(wire.ann.dm)].count("Deployed.") == 1
