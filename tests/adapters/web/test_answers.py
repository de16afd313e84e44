"""Questions and answers over HTTP: shown, answered once, by their own ids, and by nothing but a clear yes."""

import asyncio
from contextlib import AsyncExitStack

import pytest

from core.accounts import OWNER
from core.model import Json, Person
from tests.adapters.web.place import Place, User
from tests.proves import proves

ROUNDS = 25


@proves("C01", "api")
async def test_pressing_three_times_answers_once_and_acts_once(place: Place, owner: User) -> None:
    """Later presses by the same person are success, and nothing happens again."""
    said = await owner.send("delete build")
    (card,) = await owner.asked(said.conversation)
    told = await asyncio.gather(*(owner.accept(card["request"], "once") for _ in range(3)))
    assert sorted(bool(one["repeat"]) for one in told) == [False, True, True]
    await owner.until(said.run, "completed")
    assert place.script.effects == ["build"]


async def test_the_same_key_gets_the_same_result(place: Place, owner: User) -> None:
    """A program that lost the reply sends again, and neither says nor answers anything twice."""
    body: dict[str, Json] = {"text": "text please"}
    first = await owner.post("/v1/send", body, key="once-1")
    assert await owner.post("/v1/send", body, key="once-1") == first
    (card,) = await owner.asked(str(first["conversation"]))
    answer: dict[str, Json] = {"outcome": "accepted", "values": {"text": "Ann"}}
    path = f"/v1/requests/{card['request']}/answer"
    told = await owner.post(path, answer, key="once-2")
    assert await owner.post(path, answer, key="once-2") == told
    await owner.until(str(first["run"]), "completed")
    assert len(set(place.script.turns)) == 1


@proves("C02", "api")
async def test_of_opposite_answers_at_two_servers_one_wins_and_the_loser_sees_it(place: Place, owner: User) -> None:
    """Yes and no at the same moment: the run sees one, the other is told which."""
    other = await place.user(url=await place.web())
    for round in range(ROUNDS):
        said = await owner.send(f"delete {round}")
        (card,) = await owner.asked(said.conversation)
        path = f"/v1/requests/{card['request']}/answer"
        yes, no = await asyncio.gather(
            owner.http.post(path, json={"outcome": "accepted", "values": {"confirm": "once"}}),
            other.http.post(path, json={"outcome": "declined"}),
        )
        assert sorted((yes.status_code, no.status_code)) == [200, 409]
        won, lost = (yes, no) if yes.status_code == 200 else (no, yes)
        assert lost.json()["code"] == "already_answered"
        assert lost.json()["outcome"] == won.json()["answer"]["outcome"]
        await owner.until(said.run, "completed")
        assert (str(round) in place.script.effects) == (won is yes)


NO_YES: list[tuple[dict[str, Json], str]] = [
    ({}, "outcome"),
    ({"outcome": None}, "outcome"),
    ({"outcome": ""}, "outcome"),
    ({"outcome": "maybe"}, "outcome"),
    ({"outcome": "accepted"}, "confirm"),
    ({"outcome": "accepted", "values": {}}, "confirm"),
    ({"outcome": "accepted", "values": None}, "values"),
    ({"outcome": "accepted", "values": {"confirm": None}}, "confirm"),
    ({"outcome": "accepted", "values": {"confirm": ""}}, "confirm"),
    ({"outcome": "accepted", "values": {"confirm": "yes please"}}, "confirm"),
    ({"outcome": "accepted", "values": {"confirm": 1}}, "confirm"),
    ({"outcome": "accepted", "values": {"confirm": True}}, "confirm"),
    ({"outcome": "accepted", "values": {"confirm": ["once"]}}, "confirm"),
    ({"outcome": "accepted", "values": {"choice": "once"}}, "choice"),
    ({"outcome": "accepted", "values": {"confirm": "once"}, "submit": "no"}, "submit"),
    ({"outcome": "declined", "values": {"confirm": "once"}}, "values"),
]


@proves("C14", "api")
async def test_only_an_explicit_yes_is_a_yes(place: Place, owner: User) -> None:
    """Anything else is refused with the field and the rule, and the question stays open."""
    said = await owner.send("delete build")
    (card,) = await owner.asked(said.conversation)
    for body, field in NO_YES:
        refused = await owner.post(f"/v1/requests/{card['request']}/answer", body, 422)
        errors = refused["errors"]
        assert isinstance(errors, list)
        assert field in [error["field"] for error in errors if isinstance(error, dict)], (body, refused)
    assert (await owner.get(f"/v1/requests/{card['request']}"))["state"] == "open"
    assert place.script.effects == []


@proves("C21", "api")
@pytest.mark.parametrize("how", ["card", "shouted", "command"])
async def test_the_id_that_was_shown_can_be_used(place: Place, owner: User, how: str) -> None:
    """By call or by command, in upper case and with stray spaces too."""
    said = await owner.send("delete build")
    (card,) = await owner.asked(said.conversation)
    id = str(card["request"])
    match how:
        case "card":
            await owner.accept(id, "once")
        case "shouted":
            await owner.accept(f"%20{id.upper()}%20", "once")
        case _:
            await owner.post("/v1/send", {"text": f"/approve   {id.upper()} ", "conversation": said.conversation})
    await owner.until(said.run, "completed")
    assert place.script.effects == ["build"]


@proves("C25", "api")
async def test_pressing_b_decides_b(place: Place, owner: User) -> None:
    """No answer falls back to another question, and an unknown id answers nothing at all."""
    said = await owner.send("two")
    cards = await owner.asked(said.conversation, 2)
    by_title = {str(card["title"]): card["request"] for card in cards}
    await owner.accept("q0" + "0" * 14, "once", 404)
    await owner.post(f"/v1/requests/{by_title['Delete build?']}/answer", {"outcome": "declined"})
    await owner.accept(by_title["Delete list?"], "once")
    await owner.until(said.run, "completed")
    assert place.script.effects == ["list"]


@proves("C28", "api")
async def test_a_late_answer_to_a_closed_question_touches_no_other(place: Place, owner: User) -> None:
    """A reply to the first question, when the second is open, is told what stands."""
    said = await owner.send("twice")
    (first,) = await owner.asked(said.conversation)
    await owner.accept(first["request"], "one", field="text")
    (second,) = await owner.asked(said.conversation)
    assert second["request"] != first["request"]
    late: dict[str, Json] = {"text": "y", "reply_to": first["request"], "conversation": said.conversation}
    told = await owner.post("/v1/send", late, 409)
    assert (told["code"], told["values"]) == ("already_answered", {"text": "one"})
    assert (await owner.get(f"/v1/requests/{second['request']}"))["state"] == "open"
    assert await owner.state(said.run) == "waiting"


@proves("C83", "api")
async def test_a_decision_alone_lets_a_parked_run_go_on(bare: Place, owner: User) -> None:
    """Nobody has a page open and the worker is another one: the answer is enough."""
    async with AsyncExitStack() as first:
        await bare.worker(first)
        said = await owner.send("delete build")
        (card,) = await owner.asked(said.conversation)
    await owner.accept(card["request"], "once")
    assert await owner.state(said.run) == "queued"
    await bare.worker()
    await owner.until(said.run, "completed")
    assert bare.script.effects == ["build"]
    assert (await owner.history(said.conversation))[-1]["text"] == "deleted build"


@proves("C131", "api")
async def test_always_covers_exactly_what_was_shown_and_can_be_taken_back(place: Place, owner: User) -> None:
    """Same tool, same arguments, same conversation: nothing else runs without a question."""
    said = await owner.send("delete build")
    (card,) = await owner.asked(said.conversation)
    await owner.accept(card["request"], "always")
    await owner.until(said.run, "completed")
    await owner.until((await owner.send("delete build", said.conversation)).run, "completed")
    assert place.script.effects == ["build", "build"]
    (grant,) = await _grants(owner, said.conversation)
    assert (grant["tool"], grant["arguments"]) == ("delete", {"what": "build"})
    for text, where in (("delete other", said.conversation), ("delete build", None)):
        asks = await owner.send(text, where)
        await owner.asked(asks.conversation)
        await owner.post(f"/v1/runs/{asks.run}/cancel")
    gone = await owner.http.delete(f"/v1/conversations/{said.conversation}/grants/{grant['digest']}")
    assert gone.status_code == 204
    assert await _grants(owner, said.conversation) == []
    await owner.send("delete build", said.conversation)
    await owner.asked(said.conversation)
    assert place.script.effects == ["build", "build"]


async def _grants(owner: User, conversation: str) -> list[dict[str, Json]]:
    found = (await owner.get(f"/v1/conversations/{conversation}/grants"))["grants"]
    assert isinstance(found, list)
    return [grant for grant in found if isinstance(grant, dict)]


async def test_answers_in_a_batch_have_a_result_each(place: Place, owner: User) -> None:
    """One that is refused does not hold up the others."""
    said = await owner.send("two")
    one, other = await owner.asked(said.conversation, 2)
    accepted: dict[str, Json] = {"outcome": "accepted", "values": {"confirm": "once"}}
    batch: list[Json] = [
        {"request": one["request"], **accepted},
        {"request": "q0" + "0" * 14, **accepted},
        {"request": other["request"], "outcome": "declined", "reason": "not today"},
        {"request": other["request"], "outcome": "accepted", "values": {"confirm": 7}},
    ]
    results = (await owner.post("/v1/requests/answers", {"answers": batch}))["results"]
    assert isinstance(results, list)
    assert [one["status"] for one in results if isinstance(one, dict)] == [200, 404, 200, 409]
    await owner.until(said.run, "completed")
    assert len(place.script.effects) == 1


async def test_a_restricted_approval_needs_a_one_time_code_besides(place: Place, owner: User) -> None:
    """A code counts once, for its person, and is not used up by an answer that is refused."""
    said = await owner.send("restricted")
    (card,) = await owner.asked(said.conversation)
    path = f"/v1/requests/{card['request']}/answer"
    yes: dict[str, Json] = {"outcome": "accepted", "values": {"confirm": "once"}}
    assert (await owner.post(path, yes, 403))["code"] == "not_allowed"
    code = await place.accounts.code()
    theirs = await place.accounts.code(Person(id="web:bob", name="bob"))
    for wrong in ("", "aaaa-aaaa", theirs):
        assert "code" in str((await owner.post(path, {**yes, "code": wrong}, 422))["errors"])
    await owner.post(path, {"outcome": "accepted", "values": {"confirm": "always"}, "code": code}, 422)
    await owner.post(path, {**yes, "code": code.upper()})
    await owner.until(said.run, "completed")
    assert place.script.effects == ["wiped"]
    assert not await place.accounts.prove(OWNER, code)


async def test_a_deadline_can_be_moved(place: Place, owner: User) -> None:
    """More time counts from now."""
    said = await owner.send("delete build")
    (card,) = await owner.asked(said.conversation)
    path = f"/v1/requests/{card['request']}"
    told = await owner.post(f"{path}/extend", {"seconds": 7_200})
    assert (await owner.get(path))["deadline"] == told["deadline_ms"]
    assert isinstance(card["deadline"], int)
    assert isinstance(told["deadline_ms"], int)
    assert told["deadline_ms"] > card["deadline"]
    for wrong in (0, -1, "soon", 1e12):
        await owner.post(f"{path}/extend", {"seconds": wrong}, 422)


async def test_a_form_keeps_what_was_filled_in_until_it_is_submitted(place: Place, owner: User) -> None:
    """`submit: false` stores values without settling anything."""
    said = await owner.send("choose")
    (card,) = await owner.asked(said.conversation)
    path = f"/v1/requests/{card['request']}"
    fields = card["fields"]
    assert isinstance(fields, list)
    (field,) = [one for one in fields if isinstance(one, dict)]
    options = field["options"]
    assert isinstance(options, list)
    picks = [one["id"] for one in options if isinstance(one, dict)]
    kept: dict[str, Json] = {"outcome": "accepted", "values": {"choice": picks[1]}, "submit": False}
    assert (await owner.post(f"{path}/answer", kept))["settled"] is False
    assert (await owner.get(path))["given"] == {"choice": picks[1]}
    await owner.post(f"{path}/answer", {"outcome": "accepted", "values": {}})
    await owner.until(said.run, "completed")
    assert (await owner.history(said.conversation))[-1]["text"] == "green"


async def test_an_answer_by_words_says_whether_a_program_or_a_person_gave_it(place: Place, owner: User) -> None:
    """A token is a program's, on any call; a late answer hears no empty values where a long text is forgotten."""
    page = await place.browser()
    for http, where in ((owner.http, "api"), (page, "chat")):
        said = await owner.send("text please")
        (card,) = await owner.asked(said.conversation)
        body: dict[str, Json] = {"text": "Ann " * 2_000, "reply_to": card["request"]}
        body["conversation"] = said.conversation
        assert (await http.post("/v1/send", json=body)).json()["via"] == where
        await owner.until(said.run, "completed")
        late = await owner.accept(card["request"], "Bob", 409, field="text")
        assert (late["code"], late["where"], late["outcome"]) == ("already_answered", where, "accepted")
        assert "values" not in late
