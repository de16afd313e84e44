"""Runs that wait for people, and what goes on beside them."""

import asyncio
from collections.abc import AsyncGenerator

import pytest

from core.agent import Run
from core.broker import open_broker
from core.life.event import Said
from core.life.result import Answered, Sent
from core.model import Person
from tests.proves import proves
from tests.waiting import wait_until
from tests.workshop import ANN, PATIENT, Gate, Workshop


@pytest.fixture
async def shop(redis_url: str) -> AsyncGenerator[Workshop]:
    async with open_broker(redis_url, block=0.2) as broker:
        yield Workshop(broker)


async def asks(run: Run, message: str) -> str:
    """An agent that asks a name, unless it is only greeted."""
    return "hello" if message == "hello" else f"name {await run.ask('Name?')}"


@proves("C19", "broker")
async def test_two_hundred_unanswered_questions_hold_nothing_and_a_new_run_starts(shop: Workshop) -> None:
    shop.hire("it", asks)
    async with shop.worker(slots=8) as worker:
        tasks = len(asyncio.all_tasks())
        runs = [await shop.say(origin=f"chat-{number}") for number in range(200)]

        async def all_parked() -> bool:
            return worker.running == worker.held == 0 and len((await shop.broker.pending(ANN)).requests) == 200

        await wait_until(all_parked, timeout=60)
        assert len(asyncio.all_tasks()) <= tasks
        other = await shop.say("hello", origin="chat-other")
        await shop.until(other, "completed")
        for run in (runs[0], runs[-1]):
            assert (await shop.record(run)).turn is None


@proves("C34", "broker")
@pytest.mark.parametrize("hot", [True, False], ids=["at once", "later"])
async def test_a_reply_to_an_open_question_is_its_answer_and_no_interruption(shop: Workshop, hot: bool) -> None:
    shop.hire("it", asks)
    async with shop.worker(PATIENT) if hot else shop.worker():
        run = await shop.say()
        await shop.question()
        if not hot:
            await shop.parked(run)
        told = await shop.broker.said(Said(origin="chat-1", text="Bob", person=ANN, agent="it"))
        assert isinstance(told, Answered), told
        await shop.until(run, "completed")
    assert await shop.said_by_agent(run) == ["name Bob"]
    assert not await shop.events(run, "steer.taken", "run.paused")


@proves("C83", "broker")
async def test_a_decision_from_elsewhere_is_enough_for_a_run_that_nobody_watches(shop: Workshop) -> None:
    async def body(run: Run, message: str) -> str:
        await run.confirm("Rotate the logs?")
        entries = [entry.text for entry in await run.history()]
        return f"rotated after {entries[0]}"

    shop.hire("it", body)
    async with shop.worker():
        run = await shop.say("nightly", origin="cron-logs")
        await shop.parked(run)
    await shop.answer(await shop.question(), "once")
    async with shop.worker():
        await shop.until(run, "completed")
    assert await shop.said_by_agent(run) == ["rotated after nightly"]


@proves("C83", "broker")
async def test_an_error_at_the_start_after_the_decision_reaches_the_person(shop: Workshop) -> None:
    shop.hire("it", asks)
    async with shop.worker():
        run = await shop.say()
        await shop.parked(run)
        shop.agents.clear()
        await shop.answer(await shop.question(), "Bob")
        paused = await shop.until(run, "paused")
    assert paused.error == "there is no agent 'it'"
    assert (await shop.broker.pending(ANN)).runs[0].id == run


@proves("C88", "broker")
async def test_a_message_beside_a_run_taken_up_at_start_joins_it_and_both_are_answered_once(shop: Workshop) -> None:
    gate, again = Gate(), Gate()

    async def body(run: Run, message: str) -> str:
        if message != "go":
            return f"next: {message}"
        await (again if gate.passed or gate.opened.is_set() else gate)()
        return "went on"

    shop.hire("it", body)
    async with shop.worker():
        run = await shop.say()
        await gate.reached.wait()
    gate.opened.set()
    async with shop.worker():
        await again.reached.wait()
        told = await shop.broker.said(Said(origin="chat-1", text="and you?", person=ANN, agent="it"))
        assert isinstance(told, Sent)
        assert (told.run, told.steer) == (run, True)
        again.opened.set()
        await shop.until(run, "completed")
        conversation = await shop.broker.conversation(told.conversation, ANN)
        assert conversation is not None
        assert conversation.newest is not None
        await shop.until(conversation.newest, "completed")
    assert await shop.said_by_agent(run) == ["went on", "next: and you?"]


async def test_a_terminal_is_held_as_long_as_it_takes(shop: Workshop) -> None:
    shop.hire("it", asks)
    ann = Person(id="cli:ann", name="Ann", role="owner")
    async with shop.worker() as worker:
        sent = await shop.broker.said(Said(origin="cli-1", text="go", person=ann, agent="it"))
        assert isinstance(sent, Sent)
        await wait_until(lambda: worker.held == 1)
        other = await shop.say("hello")
        await shop.until(other, "completed")
        assert worker.held == 1
        told = await shop.broker.said(Said(origin="cli-1", text="Bob", person=ann, agent="it"))
        assert isinstance(told, Answered)
        await shop.until(sent.run, "completed")
    turns = [step for _, step in await shop.broker.steps(sent.run) if step.kind == "turn"]
    assert len(turns) == 1


async def test_a_paused_terminal_question_is_held_again_after_a_resume(shop: Workshop) -> None:
    shop.hire("it", asks)
    ann = Person(id="cli:ann", name="Ann", role="owner")
    async with shop.worker() as worker:
        sent = await shop.broker.said(Said(origin="cli-1", text="go", person=ann, agent="it"))
        assert isinstance(sent, Sent)
        await wait_until(lambda: worker.held == 1)
        await shop.broker.pause(sent.run, ann)
        await shop.until(sent.run, "paused")
        await shop.broker.resume(sent.run, ann)
        await wait_until(lambda: worker.held == 1)
        told = await shop.broker.said(Said(origin="cli-1", text="Bob", person=ann, agent="it"))
        assert isinstance(told, Answered)
        await shop.until(sent.run, "completed")
    record = await shop.record(sent.run)
    said = [entry.text for _, entry in await shop.broker.history(record.conversation, ann) or []]
    assert said[-1] == "name Bob"


async def test_an_answer_while_another_run_works_waits_for_its_turn(shop: Workshop) -> None:
    gate = Gate()

    async def body(run: Run, message: str) -> str:
        if message == "work":
            await gate()
            return "worked"
        return f"name {await run.ask('Name?')}"

    shop.hire("it", body)
    for pace in (None, PATIENT):
        gate.opened.clear()
        gate.reached.clear()
        async with shop.worker(pace) if pace else shop.worker():
            first = await shop.say()
            question = await shop.question()
            opened = Said(origin="chat-1", text="work", person=ANN, agent="it", conversation=question.conversation)
            await shop.broker.pause(first, ANN)
            await shop.until(first, "paused")
            second = await shop.broker.said(opened)
            assert isinstance(second, Sent)
            await gate.reached.wait()
            await shop.broker.resume(first, ANN)
            reopened = await shop.question()
            await shop.answer(reopened, "Bob")
            assert (await shop.record(first)).state == "queued"
            gate.opened.set()
            await shop.until(second.run, "completed")
            await shop.until(first, "completed")
