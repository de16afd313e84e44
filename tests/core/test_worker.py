"""Workers and turns on a real server: runs start, ask, park, go on and end, each once."""

import asyncio
from collections.abc import AsyncGenerator

import pytest

from core.agent import Denied, Run
from core.broker import open_broker
from core.model import Json, fresh
from core.trace import seen
from tests.waiting import wait_until
from tests.workshop import ANN, PATIENT, QUICK, Gate, Workshop


@pytest.fixture
async def shop(redis_url: str) -> AsyncGenerator[Workshop]:
    async with open_broker(redis_url, block=0.2) as broker:
        yield Workshop(broker)


async def test_what_the_agent_returns_is_said_and_ends_the_run(shop: Workshop) -> None:
    async def echo(run: Run, message: str) -> str:
        return f"you said {message}"

    shop.hire("it", echo)
    async with shop.worker():
        run = await shop.say("hello")
        await shop.until(run, "completed")
    assert await shop.said_by_agent(run) == ["you said hello"]


async def test_a_parked_question_keeps_no_turn_and_its_answer_starts_one(shop: Workshop) -> None:
    async def ask(run: Run, message: str) -> str:
        await run.say("one moment")
        env = await run.choose("Where to?", ["staging", "production"])
        return f"to {env}"

    shop.hire("it", ask)
    async with shop.worker() as worker:
        run = await shop.say()
        await shop.parked(run)
        await wait_until(lambda: worker.running == worker.held == 0)
        question = await shop.question()
        await shop.answer(question, "option 2")
        await shop.until(run, "completed")
    assert await shop.said_by_agent(run) == ["one moment", "to production"]


async def test_an_answer_within_the_hot_window_goes_on_in_the_same_turn(shop: Workshop) -> None:
    async def ask(run: Run, message: str) -> str:
        return await run.ask("Name?")

    shop.hire("it", ask)
    async with shop.worker(PATIENT) as worker:
        run = await shop.say()
        question = await shop.question()
        fence = (await shop.record(run)).fence
        await wait_until(lambda: (worker.running, worker.held) == (0, 1))
        await shop.answer(question, "Bob")
        done = await shop.until(run, "completed")
    assert [step.fence for _, step in await shop.broker.steps(run) if step.kind == "turn"] == [fence]
    assert done.state == "completed"
    assert await shop.said_by_agent(run) == ["Bob"]


async def test_a_finished_step_does_not_run_again_after_a_park(shop: Workshop) -> None:
    made: list[str] = []

    async def create(name: str) -> str:
        made.append(name)
        return f"ticket {len(made)}"

    async def body(run: Run, message: str) -> str:
        first = await run.step("create", create, "a")
        await run.confirm("Go on?")
        second = await run.step("create", create, "b")
        return f"{first}, {second}"

    shop.hire("it", body)
    async with shop.worker():
        run = await shop.say()
        await shop.parked(run)
        await shop.answer(await shop.question(), "once")
        await shop.until(run, "completed")
    assert made == ["a", "b"]
    assert await shop.said_by_agent(run) == ["ticket 1, ticket 2"]


async def test_a_no_reaches_the_code_with_its_reason(shop: Workshop) -> None:
    async def body(run: Run, message: str) -> str:
        try:
            await run.confirm("Delete?", tool="delete", arguments={"path": "/"})
        except Denied as denied:
            return f"left alone: {denied.reason}"
        return "deleted"

    shop.hire("it", body)
    async with shop.worker():
        run = await shop.say()
        await shop.parked(run)
        await shop.deny(await shop.question(), "too risky")
        await shop.until(run, "completed")
    assert await shop.said_by_agent(run) == ["left alone: too risky"]


async def test_an_error_pauses_the_run_and_resume_tries_again(shop: Workshop) -> None:
    tries: list[int] = []

    async def body(run: Run, message: str) -> str:
        tries.append(1)
        if len(tries) == 1:
            raise ValueError("no model")
        return "worked"

    shop.hire("it", body)
    async with shop.worker():
        run = await shop.say()
        paused = await shop.until(run, "paused")
        assert (paused.cause, paused.error) == ("turn_failed", "ValueError: no model")
        await shop.broker.resume(run, ANN)
        await shop.until(run, "completed")


async def test_a_question_that_cannot_be_asked_says_what_is_wrong_with_it(shop: Workshop) -> None:
    async def ask(run: Run, message: str) -> str:
        return str(await run.confirm("May I?", message="x" * 70_000))

    shop.hire("it", ask)
    async with shop.worker():
        paused = await shop.until(await shop.say(), "paused")
    assert paused.error == "Question cannot be made: message: String should have at most 65536 characters"


async def test_cancel_reaches_the_code_and_is_seen_to_end(shop: Workshop) -> None:
    gate = Gate()
    causes: list[str | None] = []

    async def body(run: Run, message: str) -> None:
        try:
            await gate()
        finally:
            causes.append(run.cause)

    shop.hire("it", body)
    async with shop.worker():
        run = await shop.say()
        await gate.reached.wait()
        await shop.broker.cancel(run, ANN)
        canceled = await shop.until(run, "canceled")
    assert causes == ["user_canceled"]
    assert (canceled.ended_by, canceled.effects) == ("cooperative", "none")


async def test_cancel_reaches_a_held_question(shop: Workshop) -> None:
    async def body(run: Run, message: str) -> str:
        return await run.ask("Name?")

    shop.hire("it", body)
    async with shop.worker(PATIENT) as worker:
        run = await shop.say()
        await shop.question()
        await shop.broker.cancel(run, ANN)
        await shop.until(run, "canceled")
        await wait_until(lambda: worker.held == 0)


async def test_two_questions_are_asked_together_and_wait_for_both(shop: Workshop) -> None:
    async def body(run: Run, message: str) -> str:
        one, two = await asyncio.gather(run.ask("One?"), run.ask("Two?"))
        return f"{one} {two}"

    shop.hire("it", body)
    for pace in (QUICK, PATIENT):
        async with shop.worker(pace):
            run = await shop.say()
            first, second = await shop.questions(2)
            await shop.answer(second, "b")
            await shop.answer(first, "a")
            await shop.until(run, "completed")
            assert (await shop.said_by_agent(run))[-1] == "a b"


async def test_a_guarded_tool_asks_by_itself_and_runs_only_what_was_shown(shop: Workshop) -> None:
    ran: list[Json] = []

    async def push(env: str) -> str:
        ran.append(env)
        return "pushed"

    async def body(run: Run, message: str) -> str:
        async with run.tool("deploy", env="production") as call:
            call.result = await run.step("push", push, "production")
        return "ok"

    shop.hire("it", body, guarded=("deploy",))
    async with shop.worker():
        run = await shop.say()
        await shop.parked(run)
        assert ran == []
        question = await shop.question()
        assert question.question.subject is not None
        assert question.question.subject.arguments == {"env": "production"}
        await shop.answer(question, "once")
        await shop.until(run, "completed")
    assert ran == ["production"]
    tools = [entry for entry in await shop.history(run) if entry.role == "tool"]
    assert [(entry.text, entry.data["outcome"]) for entry in tools] == [("deploy", "done")]


async def test_the_worker_gives_back_what_runs_when_it_ends(shop: Workshop) -> None:
    gate = Gate()

    async def body(run: Run, message: str) -> str:
        await run.say("begun")
        await gate()
        return "ended"

    shop.hire("it", body)
    async with shop.worker():
        run = await shop.say()
        await gate.reached.wait()
    assert (await shop.record(run)).state == "queued"
    gate.opened.set()
    async with shop.worker():
        await shop.until(run, "completed")
    assert await shop.said_by_agent(run) == ["begun", "ended"]


async def test_slots_count_what_runs_and_not_what_waits(shop: Workshop) -> None:
    gate = Gate()

    async def waits(run: Run, message: str) -> str:
        return await run.ask("Name?")

    async def works(run: Run, message: str) -> str:
        await gate()
        return "worked"

    shop.hire("waits", waits)
    shop.hire("works", works)
    async with shop.worker(PATIENT, slots=1):
        await shop.say(to="waits", origin="chat-a")
        await shop.question()
        first = await shop.say(to="works", origin="chat-b")
        await gate.reached.wait()
        second = await shop.say(to="works", origin="chat-c")
        gate.opened.set()
        await shop.until(first, "completed")
        await shop.until(second, "completed")
        await seen("turn.ended", run=second)


async def test_an_entry_that_no_run_stands_behind_is_set_aside_and_the_rest_goes_on(shop: Workshop) -> None:
    """No id of ours, and the id of a run that never was: each is told once, and looked at no more."""

    async def body(run: Run, message: str) -> str:
        return "done"

    shop.hire("it", body)
    store, odd = shop.broker.store, ("r-no-such-thing", fresh("r", 0))
    for one in odd:
        await store.link.call("ZADD", store.keys[0].index("ready"), "0", one)
    async with shop.worker():
        for one in odd:
            await seen("ready.refused", run=one)
        await shop.until(await shop.say(), "completed")
        assert await store.due(0, "ready") == []
