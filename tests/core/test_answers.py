"""Answers on a real server: one wins, everybody else hears which, and only what was offered counts."""

import asyncio
from collections.abc import AsyncGenerator

import pytest

from core.agent import Denied, Run
from core.broker import open_broker
from core.life.decision import Refusal
from core.life.event import Ask, Broke, Reply, Said
from core.life.result import Answered, Asked, Sent
from core.model import Json, Person
from core.question import Accepted, Declined, Subject
from core.sweeper import Sweeper
from tests.by_hand import DEPLOY, asked, claimed, request
from tests.proves import proves
from tests.workshop import ANN, Workshop

BOB = Person(id="tg:2", name="Bob", role="approver")
CY = Person(id="dc:3", name="Cy", role="approver")
YES = Accepted(values={"confirm": "once"})


@pytest.fixture
async def shop(redis_url: str) -> AsyncGenerator[Workshop]:
    async with open_broker(redis_url, block=0.2) as broker:
        yield Workshop(broker)


def deploys(shop: Workshop) -> list[str]:
    """An agent that deploys after a yes; returns where it did."""
    ran: list[str] = []

    async def body(run: Run, message: str) -> str:
        try:
            await run.confirm("Deploy", tool="deploy", arguments={"env": message})
        except Denied as no:
            return f"denied: {no}"
        async with run.tool("deploy", env=message) as call:
            ran.append(message)
            call.result = "ok"
        return "deployed"

    shop.hire("it", body)
    return ran


@proves("C01", "broker")
async def test_three_presses_of_yes_are_one_answer_and_one_action(shop: Workshop) -> None:
    """Each press has a key of its own; the later two are repeats, and nothing runs twice."""
    ran = deploys(shop)
    async with shop.worker():
        run = await shop.say("staging")
        question = await shop.question()
        presses = [Reply(question.id, YES, ANN, "tg", f"press-{number}") for number in range(3)]
        told = await asyncio.gather(*(shop.broker.answer(press) for press in presses))
        await shop.until(run, "completed")
    assert sorted(one.repeat for one in told if isinstance(one, Answered)) == [False, True, True]
    assert ran == ["staging"]
    assert [step.kind for _, step in await shop.broker.steps(run)].count("turn") <= 2


@proves("C02", "broker")
async def test_of_two_opposite_answers_one_wins_and_the_other_hears_which(shop: Workshop, redis_url: str) -> None:
    """200 races over two connections: the run sees one value, the loser is told it, never two turns and never none."""
    people = (BOB.id, CY.id)
    async with open_broker(redis_url, block=0.2) as other:
        for number in range(200):
            sent = await shop.broker.said(Said(f"tg-7.{number}", "go", BOB, "it", private=False, people=people))
            assert isinstance(sent, Sent), sent
            (question,) = await asked(shop.broker, sent.run)
            both = [(shop.broker, Reply(question, YES, BOB, "tg")), (other, Reply(question, Declined(), CY, "dc"))]
            if number % 2:
                both.reverse()
            told = await asyncio.gather(*(broker.answer(press) for broker, press in both))
            won = [one for one in told if isinstance(one, Answered)]
            lost = [one for one in told if isinstance(one, Refusal)]
            assert (len(won), [one.code for one in lost]) == (1, ["already_answered"])
            assert won[0].answer is not None
            assert lost[0].standing["outcome"] == won[0].answer.outcome
            run = await shop.record(sent.run)
            assert (run.state, run.answered) == ("queued", (question,))


@proves("C14", "broker")
@pytest.mark.parametrize("value", [None, "", "maybe", 1, True, ["once"], {"other": "yes"}, "yes", "ONCE"])
async def test_what_is_no_offered_yes_approves_nothing(shop: Workshop, value: Json) -> None:
    """The question stays open, nothing runs, and the refusal names the field."""
    sent = await shop.broker.said(Said("chat-1", "go", ANN, "it"))
    assert isinstance(sent, Sent)
    (question,) = await asked(shop.broker, sent.run)
    for values in ({"confirm": value}, {}):
        told = await shop.broker.answer(Reply(question, Accepted(values=values), ANN, "chat"))
        assert isinstance(told, Refusal), told
        assert (told.code, told.standing["field"]) == ("invalid", "confirm")
    assert (await request(shop.broker, question)).state == "open"
    assert (await shop.record(sent.run)).approvals == ()


@proves("C16", "broker")
async def test_an_answer_after_the_deadline_is_late_before_any_sweeper_ran(redis_url: str) -> None:
    """The deadline is checked in the answer's own commit; the sweeper records the time-out once, later."""
    async with open_broker(redis_url, block=0.2, confirm_ms=1) as broker:
        shop = Workshop(broker)
        sent = await broker.said(Said("chat-1", "go", ANN, "it"))
        assert isinstance(sent, Sent)
        (question,) = await asked(broker, sent.run)
        told = await broker.answer(Reply(question, YES, ANN, "chat"))
        assert isinstance(told, Refusal), told
        assert told.code == "expired"
        assert (await shop.record(sent.run)).state == "waiting"
        async with Sweeper(broker, look=0.02), Sweeper(broker, look=0.02):
            record = await shop.until(sent.run, "paused")
        late = await broker.answer(Reply(question, YES, ANN, "chat"))
    assert record.cause == "deadline"
    assert isinstance(late, Refusal)
    assert late.code == "expired"


@proves("C17", "broker")
async def test_denied_expired_cancelled_and_undeliverable_are_four_outcomes(redis_url: str) -> None:
    """Nobody takes one for another, none of them is an approval, and the history says that nobody answered in time."""
    found: dict[str, str] = {}
    async with open_broker(redis_url, block=0.2, confirm_ms=1) as broker, Sweeper(broker, look=0.02):
        shop = Workshop(broker)
        for how in ("denied", "expired", "cancelled", "undeliverable"):
            sent = await broker.said(Said(f"chat-{how}", "go", ANN, "it"))
            assert isinstance(sent, Sent)
            question = DEPLOY.changed(
                timeout_ms=1 if how == "expired" else 60_000,
                on_no_listener="undeliverable" if how == "undeliverable" else "park",
            )
            (id,) = await asked(broker, sent.run, question)
            if how == "denied":
                await broker.answer(Reply(id, Declined(reason="no"), ANN, "chat"))
            if how == "cancelled":
                await broker.cancel(sent.run, ANN)
            if how == "expired":
                await shop.until(sent.run, "paused")
                assert "nobody answered in time" in [entry.text for entry in await shop.history(sent.run)]
            answer = (await request(broker, id)).answer
            assert answer is not None
            found[how] = answer.outcome
            assert (await shop.record(sent.run)).approvals == ()
    assert found == {
        "denied": "declined",
        "expired": "expired",
        "cancelled": "cancelled",
        "undeliverable": "undeliverable",
    }


@proves("C21", "broker")
@pytest.mark.parametrize("how", ["press", "command", "page"])
async def test_a_question_can_be_answered_by_the_id_that_was_shown(shop: Workshop, how: str) -> None:
    """By button, by a typed command with the id in any case and stray spaces, and by its id in the API."""
    sent = await shop.broker.said(Said("chat-1", "go", ANN, "it"))
    assert isinstance(sent, Sent)
    (question,) = await asked(shop.broker, sent.run)
    if how == "command":
        told = await shop.broker.said(Said("chat-1", f"/approve   {question.upper()}  ", ANN, "it"))
    else:
        told = await shop.broker.answer(Reply(question, YES, ANN, "tg" if how == "press" else "chat"))
    assert isinstance(told, Answered), told
    assert (told.request, told.settled) == (question, True)


@proves("C24", "broker")
async def test_two_questions_of_one_chat_are_each_answered_with_their_own(shop: Workshop) -> None:
    """The first one stays usable after the second was shown, in either order."""

    async def body(run: Run, message: str) -> str:
        files, branch = await asyncio.gather(
            run.choose("Which file?", ["A", "B"]), run.choose("Which branch?", ["A", "C"])
        )
        return f"{files} {branch}"

    shop.hire("it", body)
    async with shop.worker():
        run = await shop.say()
        first, second = await shop.questions(2)
        await shop.answer(second, "option 2")
        await shop.answer(first, "option 1")
        await shop.until(run, "completed")
    assert await shop.said_by_agent(run) == ["A C"]
    assert (await shop.broker.pending(ANN)).requests == ()


@proves("C25", "broker")
async def test_a_press_counts_for_its_own_question_only(shop: Workshop) -> None:
    """Deny on the second denies the second; an unknown id answers nothing, least of all the oldest."""
    sent = await shop.broker.said(Said("chat-1", "go", ANN, "it"))
    assert isinstance(sent, Sent)
    first, second = await asked(shop.broker, sent.run, DEPLOY, DEPLOY.changed(title="Delete"))
    unknown = await shop.broker.answer(Reply("q0" + "0" * 14, YES, ANN, "tg"))
    assert isinstance(unknown, Refusal)
    assert unknown.code == "unknown"
    await shop.broker.answer(Reply(second, Declined(), ANN, "tg"))
    assert (await request(shop.broker, first)).state == "open"
    await shop.broker.answer(Reply(first, YES, ANN, "tg"))
    outcomes = [(await request(shop.broker, id)).answer for id in (first, second)]
    assert [answer.outcome for answer in outcomes if answer] == ["accepted", "declined"]


@proves("C28", "broker")
async def test_a_reply_to_an_answered_question_touches_no_other(shop: Workshop) -> None:
    """It is told what stands, starts no turn, and the question that came after it stays open."""
    sent = await shop.broker.said(Said("tg-1", "go", ANN, "it"))
    assert isinstance(sent, Sent)
    first, second = await asked(shop.broker, sent.run, DEPLOY, DEPLOY.changed(title="Delete"))
    await shop.broker.answer(Reply(first, YES, ANN, "chat"))
    told = await shop.broker.said(Said("tg-1", "y", ANN, "it", reply_to=first))
    assert isinstance(told, Answered | Refusal)
    assert isinstance(told, Answered) or told.code == "already_answered"
    no = await shop.broker.said(Said("tg-1", "n", ANN, "it", reply_to=first))
    assert isinstance(no, Refusal)
    assert no.code == "already_answered"
    assert (await request(shop.broker, second)).state == "open"
    assert (await shop.record(sent.run)).state == "waiting"


async def call(shop: Workshop, origin: str, env: str, person: Person = ANN) -> str | None:
    """Let a new run ask for a deploy; returns the question's id, or None when a remembered approval stood in."""
    people = (ANN.id, BOB.id)
    sent = await shop.broker.said(Said(origin, "go", person, "it", private=False, people=people))
    assert isinstance(sent, Sent), sent
    taken = await claimed(shop.broker, sent.run)
    subject = Subject(tool="deploy", arguments={"env": env})
    told = await shop.broker.ask(Ask(sent.run, taken.fence, "ask:confirm#0", DEPLOY.changed(subject=subject), 1))
    assert isinstance(told, Asked), told
    if told.request is None:
        await shop.broker.broke(Broke(sent.run, taken.fence, "enough"))
    return told.request


@proves("C131", "broker")
async def test_always_covers_exactly_what_was_shown_and_can_be_taken_back(shop: Workshop) -> None:
    """Other arguments, another conversation and another person ask again; withdrawn, the same call does, too."""
    question = await call(shop, "tg-1", "prod")
    assert question is not None
    await shop.broker.answer(Reply(question, Accepted(values={"confirm": "always"}), ANN, "tg"))
    await shop.broker.cancel((await request(shop.broker, question)).run, ANN)

    assert await call(shop, "tg-1", "prod") is None
    assert await call(shop, "tg-1", "prod --force") is not None
    assert await call(shop, "tg-2", "prod") is not None
    assert await call(shop, "tg-1", "prod", BOB) is not None

    (place,) = [one for one in await shop.broker.conversations(ANN) if one.origin == "tg-1"]
    (grant,) = await shop.broker.grants(place.id, ANN) or []
    assert (grant.tool, grant.arguments, grant.person) == ("deploy", {"env": "prod"}, ANN.id)
    assert grant.used_ms is not None
    await shop.broker.withdraw_grant(place.id, ANN, grant.digest)
    assert await call(shop, "tg-1", "prod") is not None
