"""Who is not known is told how to come in, where nobody else reads it, and changes nothing."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import pytest

from adapters.doors import Linked
from core.errors import FileRefused
from core.model import Person
from core.pairing import Paired
from core.people import OWNER, People
from core.press import Verb
from core.run import Run
from tests.contract.agents import where
from tests.contract.bench import ANN, BOB, EVE, GROUP, HOME, Bench, bench, narrow, wide
from tests.proves import proves
from tests.waiting import wait_until


async def test_a_stranger_gets_a_code_in_private_and_comes_in_when_it_is_entered(
    redis_url: str, tmp_path: Path
) -> None:
    async with bench(redis_url, tmp_path, [wide()]) as made:
        people = People(made.broker)
        made.let_in_by(Linked(people))
        made.hire(where)
        answer = await made.write("please", person=EVE)
        assert answer is not None
        code = answer.text.split("Your code is ")[1].split(":")[0]
        await made.says("Your code is")
        assert not await made.broker.conversations(EVE)
        await people.pair(code, OWNER.id)
        await made.write("please", person=EVE)
        card = await made.card("Where to?")
        await made.press(card, "staging", person=EVE)
        await made.says("To staging.")
        run = (await made.broker.conversations(OWNER))[0]
        assert run.owner.id == OWNER.id


async def test_in_a_group_a_stranger_is_told_alone(redis_url: str, tmp_path: Path) -> None:
    async with bench(redis_url, tmp_path, [wide()]) as made:
        made.let_in_by(Linked(People(made.broker)))
        made.hire(where)
        await made.write("please", person=EVE, place=GROUP)
        told = await made.says("not known here", place=GROUP)
        assert told.only == EVE.id
        assert not made.chats[0].cards(HOME)


@proves("C07", "kit")
async def test_where_nobody_can_be_told_alone_a_stranger_is_told_nothing(redis_url: str, tmp_path: Path) -> None:
    """A notice for one person's eyes is none for a whole group, be they not let in at all or not on its list."""
    async with bench(redis_url, tmp_path, [narrow()]) as made:
        made.doors.set((ANN.id,))
        made.hire(where)
        await made.write("please", place=GROUP)
        card = await made.card("Where to?", place=GROUP)
        request = (await made.pending())[0]
        for doors in (None, Linked(People(made.broker))):
            made.doors.others = doors
            for words in ("hello", "staging", f"/answer {request.id} staging", f"/cancel {request.run}", "/status"):
                told = await made.write(words, person=EVE, place=GROUP, reply_to=card if words == "staging" else None)
                assert told is not None
            assert (await made.press(card, "staging", person=EVE)).private
        made.doors.others = None
        await made.write("/status", place=GROUP)
        status = await made.says("Waiting for you", place=GROUP)
        posted = [one for one in made.chats[0].at(GROUP) if one.id.startswith("m")]
        assert [one.id for one in posted] == [card.id, status.id]
        assert not made.chats[0].at("fa-9")


@pytest.mark.parametrize("whispers", [True, False])
@proves("C08", "kit")
async def test_a_group_bound_to_nobody_says_once_how_to_bind_it(redis_url: str, tmp_path: Path, whispers: bool) -> None:
    """To who is known, once in the group and its topics; who is not known is never the reason to speak up."""
    async with bench(redis_url, tmp_path, [wide() if whispers else narrow()]) as made:
        made.doors.set(())
        made.hire(where)
        made.doors.others = Linked(People(made.broker))
        assert await made.write("hello", person=EVE, place=GROUP) is not None
        made.doors.others = None
        for place in (GROUP, f"{GROUP}.5", GROUP):
            for person in (ANN, EVE):
                answer = await made.write("please", person=person, place=place)
                assert answer is not None
                assert answer.alert
        await made.write("/status")
        told = await made.says("sayso group", place=GROUP)
        assert f"“sayso group {GROUP} NAME”" in told.text
        assert told.only is None
        posted = [one for at in (GROUP, f"{GROUP}.5") for one in made.chats[0].at(at) if one.id.startswith("m")]
        assert [one.id for one in posted if one.only is None] == [told.id]
        assert {one.only for one in posted} <= ({None, ANN.id, EVE.id} if whispers else {None})
        assert not made.chats[0].cards(GROUP)


async def test_a_card_in_a_group_is_for_who_started_the_task(redis_url: str, tmp_path: Path) -> None:
    """Not for who spoke there first; the platform may let them know. In a chat of one's own nobody has to be called."""
    async with bench(redis_url, tmp_path, [wide()]) as made:
        made.hire(where)
        for person, place, asks in ((ANN, GROUP, ANN.id), (BOB, GROUP, BOB.id), (ANN, HOME, None)):
            await made.write("please", person=person, place=place)
            card = await made.card("Where to?", place=place)
            assert card.view.asks == asks
            await made.press(card, "staging", person=person)
            await made.final(card)
            assert card.view.asks is None


async def test_what_a_stranger_presses_or_edits_leaves_the_code_that_was_shown(redis_url: str, tmp_path: Path) -> None:
    """Only what shows a code makes one: the code of the last message still counts after any number of presses."""
    async with bench(redis_url, tmp_path, [wide()]) as made:
        people = People(made.broker)
        made.let_in_by(Linked(people))
        answer = await made.write("please", person=EVE)
        assert answer is not None
        code = answer.text.split("Your code is ")[1].split(":")[0]
        message = await made.says("Your code is")
        desk = made.platform.desk
        assert desk is not None
        for number in range(6):
            told = await made.platform.send(EVE, message, f"v1:q0{'0' * 14}:deny")
            assert told.text == "This is not yours to answer."
            assert await desk.edit(HOME, "p1", "please!", EVE, key=f"edit{number}") is None
            with pytest.raises(FileRefused):
                await desk.file(HOME, "name", b"x", EVE)
        paired = await people.pair(code, OWNER.id)
        assert isinstance(paired, Paired), paired


@pytest.mark.parametrize("place", [HOME, GROUP])
@pytest.mark.parametrize("door", ["shut", "open"])
@proves("C06", "kit")
async def test_no_button_does_anything_for_somebody_who_is_not_let_in(
    redis_url: str, tmp_path: Path, place: str, door: str
) -> None:
    """Every verb on a live card, at the card itself: also when the door let them past, the rules behind it refuse."""
    async with bench(redis_url, tmp_path, [wide()]) as made:
        made.hire(where)
        await made.write("please", place=place)
        card = await made.card("Where to?", place=place)
        if door == "shut":
            made.let_in_by(Linked(People(made.broker)))
        (request,) = await made.pending()
        before = (await made.request(request.id), await made.broker.peek(request.run), card.text, card.rows)
        for id in (request.id, request.run):
            for verb in VERBS:
                told = (await made.platform.send(EVE, card, f"v1:{id}:{verb}")).text
                assert "not yours" in told or "belongs to nothing" in told or "not remembered" in told, (verb, told)
        await made.settled()
        after = (await made.request(request.id), await made.broker.peek(request.run), card.text, card.rows)
        assert after == before


WORDS = {"option": "o0", "turn": "p1", "form": "g0", "pick": "m0"}
VERBS = [WORDS.get(verb, verb) for verb in get_args(Verb)]
COMMANDS = ("approve", "deny", "answer", "abort", "cancel", "pause", "resume")


async def heard(made: Bench, person: Person, place: str, ids: dict[str, str]) -> dict[str, str]:
    """What somebody hears at a place to every press and every command that names a request or a run."""
    message = await made.says("Hello.", place=place)
    found: dict[str, str] = {}
    for kind, id in ids.items():
        for verb in VERBS:
            for word in (verb, f"x{verb}") if verb in get_args(Verb) else (verb,):
                notice = await made.platform.send(person, message, f"v1:{id}:{word}")
                found[f"{kind} {word}"] = notice.text.replace(id, "ID")
        for command in COMMANDS:
            answer = await made.write(f"/{command} {id} yes", person=person, place=place)
            assert answer is not None
            found[f"/{command} {kind}"] = answer.text.replace(id, "ID")
    return found


async def asked_of(made: Bench) -> dict[str, str]:
    """A question of Ann, and its run."""
    await made.write("/new")
    await made.write("please")
    await made.card("Where to?")

    async def one() -> bool:
        return len(await made.pending()) == 1

    await wait_until(one)
    (request,) = await made.pending()
    return {"q": request.id, "r": request.run}


async def test_what_is_foreign_deleted_or_was_never_there_sounds_the_same(redis_url: str, tmp_path: Path) -> None:
    """Whatever is pressed or said about it, in a chat of one's own; and nothing happens to it."""
    async with bench(redis_url, tmp_path, [wide()]) as made:

        async def body(run: Run, message: str) -> str:
            return await where(run, message) if message == "please" else "Hello."

        made.hire(body)
        await made.write("hi", person=EVE, place="fa-9")
        deleted = await asked_of(made)
        (conversation,) = {one.conversation for one in await made.pending()}
        await made.broker.delete(conversation, ANN)
        foreign = await asked_of(made)
        unknown = {"q": f"q0{'0' * 14}", "r": f"r0{'0' * 14}"}
        first = await heard(made, EVE, "fa-9", unknown)
        assert {text.split(";")[0] for text in first.values()} >= {"There is no such request", "There is no such task"}
        for ids in (foreign, deleted):
            told = await heard(made, EVE, "fa-9", ids)
            assert {name: (first[name], told[name]) for name in first if told[name] != first[name]} == {}
        assert [one.id for one in await made.pending()] == [foreign["q"]]
        assert not made.chats[0].cards("fa-9"), "nothing of it was shown there"


async def test_a_card_of_a_deleted_conversation_names_nothing_that_there_is(redis_url: str, tmp_path: Path) -> None:
    """Also to whom it belonged, by every button that it had; it never says that it is somebody else's."""
    async with bench(redis_url, tmp_path, [wide()]) as made:

        async def body(run: Run, message: str) -> str:
            return await where(run, message) if message == "please" else "Hello."

        made.hire(body)
        ids = await asked_of(made)
        card = await made.card("Where to?")
        (conversation,) = {one.conversation for one in await made.pending()}
        await made.broker.delete(conversation, ANN)
        await made.final(card)
        for kind, id in ids.items():
            told = {word: (await made.platform.send(ANN, card, f"v1:{id}:{word}")).text for word in VERBS}
            told.pop("withdraw")
            what = {"q": "There is no such request", "r": ("There is no such task", "This button belongs to nothing")}
            assert {word: text for word, text in told.items() if not text.startswith(what[kind])} == {}
