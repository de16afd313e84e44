"""Cancel, pause and abort meet a run at work, held, queued, just answered, or finished."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import suppress
from dataclasses import replace

import pytest

from core.agent import Denied, Run
from core.broker import Broker, open_broker
from core.life.decision import Refusal
from core.life.draft import Spans
from core.life.event import Lost
from core.life.living import Beat
from core.life.result import Answered, Resumed, Stopped
from core.model import Incarnation
from core.sweeper import Sweeper
from core.trace import seen
from tests.proves import proves
from tests.waiting import wait_until
from tests.workshop import ANN, PATIENT, QUICK, Gate, Workshop


@pytest.fixture
async def shop(redis_url: str) -> AsyncGenerator[Workshop]:
    async with open_broker(redis_url, block=0.2) as broker:
        yield Workshop(broker)


def two_calls(shop: Workshop, gate: Gate) -> list[str]:
    """An agent with two calls, of which the second waits at a gate; returns what they did."""
    ran: list[str] = []

    async def act(what: str) -> str:
        ran.append(what)
        return f"{what} done"

    async def body(run: Run, message: str) -> str:
        if message != "go":
            return "another message"
        async with run.tool("first") as call:
            call.result = await run.step("first", act, "first")
        async with run.tool("second") as call:
            await gate()
            call.result = await run.step("second", act, "second")
        return "both"

    shop.hire("it", body)
    return ran


async def results(shop: Workshop, run: str) -> list[tuple[str, object]]:
    """The results of all calls in the history."""
    return [(entry.text, entry.data["outcome"]) for entry in await shop.history(run) if entry.role == "tool"]


@proves("C70", "broker")
async def test_after_an_abort_in_a_call_the_next_message_and_the_resume_work(shop: Workshop) -> None:
    gate = Gate()
    ran = two_calls(shop, gate)
    async with shop.worker():
        run = await shop.say()
        await gate.reached.wait()
        assert isinstance(await shop.broker.pause(run, ANN), Stopped)
        await shop.until(run, "paused")
        assert await results(shop, run) == [("first", "done"), ("second", "interrupted")]

        other = await shop.say("hello")
        await shop.until(other, "completed")

        gate.opened.set()
        resumed = await shop.broker.resume(run, ANN)
        assert isinstance(resumed, Resumed)
        await shop.until(run, "completed")
    assert ran == ["first", "second"]
    assert await results(shop, run) == [("first", "done"), ("second", "interrupted"), ("second", "done")]
    calls = [entry.data["call"] for entry in await shop.history(run) if entry.role == "tool"]
    started = [event.data["call"] for event in await shop.events(run, "tool.started")]
    assert sorted(map(str, calls)) == sorted(map(str, started)), "each call has exactly one result"


@proves("C70", "broker")
async def test_after_an_abort_cancel_leaves_nothing_to_resume(shop: Workshop) -> None:
    gate = Gate()
    two_calls(shop, gate)
    async with shop.worker():
        run = await shop.say()
        await gate.reached.wait()
        await shop.broker.pause(run, ANN)
        await shop.until(run, "paused")
        await shop.broker.cancel(run, ANN)
        canceled = await shop.until(run, "canceled")
        assert canceled.effects == "unknown"
        refused = await shop.broker.resume(run, ANN)
    assert isinstance(refused, Refusal)
    assert refused.code == "ended"


@proves("C71", "broker")
@pytest.mark.parametrize("pace", [QUICK, PATIENT], ids=["parked", "held"])
async def test_of_two_calls_side_by_side_one_is_denied_and_the_run_goes_on(shop: Workshop, pace: object) -> None:
    ran: list[str] = []

    async def act(what: str) -> str:
        ran.append(what)
        return what

    async def call(run: Run, tool: str) -> str:
        try:
            async with run.tool(tool) as opened:
                opened.result = await run.step(tool, act, tool)
        except Denied:
            return f"{tool} denied"
        return f"{tool} done"

    async def body(run: Run, message: str) -> str:
        return ", ".join(await asyncio.gather(call(run, "list"), call(run, "delete")))

    shop.hire("it", body, guarded=("delete",))
    async with shop.worker(PATIENT if pace is PATIENT else QUICK):
        run = await shop.say()
        await shop.deny(await shop.question())
        await shop.until(run, "completed")
    assert ran == ["list"]
    assert await shop.said_by_agent(run) == ["list done, delete denied"]
    assert sorted(await results(shop, run), key=str) == [("delete", "denied"), ("list", "done")]


@proves("C72", "broker")
async def test_a_queued_run_that_is_cancelled_never_starts(shop: Workshop) -> None:
    gate = Gate()
    started: list[str] = []

    async def body(run: Run, message: str) -> None:
        started.append(message)
        await gate()

    shop.hire("it", body)
    async with shop.worker(slots=1):
        first = await shop.say("first", origin="chat-a")
        await gate.reached.wait()
        second = await shop.say("second", origin="chat-b")
        stopped = await shop.broker.cancel(second, ANN)
        assert isinstance(stopped, Stopped)
        assert stopped.state == "canceled"
        gate.opened.set()
        await shop.until(first, "completed")
        third = await shop.say("third", origin="chat-c")
        await shop.until(third, "completed")
        assert (await shop.record(second)).state == "canceled"
        again = await shop.broker.cancel(second, ANN)
        unknown = await shop.broker.cancel("r0zzzzzzzzzzzzzz", ANN)
        finished = await shop.broker.cancel(first, ANN)
    assert started == ["first", "third"]
    assert [one.text for one in (again, finished) if isinstance(one, Refusal)] == [
        "already canceled",
        "already finished",
    ]
    assert isinstance(unknown, Refusal)
    assert unknown.code == "unknown"


def asks_then_waits(shop: Workshop, gate: Gate) -> None:
    """An agent that asks, then waits at a gate."""

    async def body(run: Run, message: str) -> str:
        name = await run.ask("Name?")
        await gate()
        return name

    shop.hire("it", body)


@proves("C75", "broker")
async def test_cancel_after_the_answer_keeps_a_queued_turn_from_starting(shop: Workshop) -> None:
    gate = Gate()
    asks_then_waits(shop, gate)
    async with shop.worker():
        run = await shop.say()
        await shop.parked(run)
        question = await shop.question()
    assert isinstance(await shop.answer(question, "Bob"), Answered)
    assert (await shop.record(run)).state == "queued"
    stopped = await shop.broker.cancel(run, ANN)
    assert isinstance(stopped, Stopped)
    assert stopped.state == "canceled"
    async with shop.worker():
        other = await shop.say("again", origin="chat-b")
        await shop.parked(other)
    assert not gate.reached.is_set()
    assert [entry.role for entry in await shop.history(run)] == ["person", "request", "note"]


@proves("C75", "broker")
@pytest.mark.parametrize("pace", [QUICK, PATIENT], ids=["parked", "held"])
async def test_cancel_after_the_answer_stops_a_running_turn_and_not_a_finished_one(
    shop: Workshop, pace: object
) -> None:
    gate = Gate()
    asks_then_waits(shop, gate)
    async with shop.worker(PATIENT if pace is PATIENT else QUICK):
        run = await shop.say()
        await shop.answer(await shop.question(), "Bob")
        await gate.reached.wait()
        await shop.broker.cancel(run, ANN)
        await shop.until(run, "canceled")

        gate.opened.set()
        other = await shop.say(origin="chat-b")
        await shop.answer(await shop.question(), "Bob")
        await shop.until(other, "completed")
        finished = await shop.broker.cancel(other, ANN)
    assert isinstance(finished, Refusal)
    assert finished.text == "already finished"
    assert (await shop.broker.pending(ANN)).requests == ()


@proves("C80", "broker")
async def test_of_two_resumes_at_the_same_moment_one_starts_a_turn(shop: Workshop, redis_url: str) -> None:
    starts: list[str] = []

    async def body(run: Run, message: str) -> str:
        starts.append(run.id)
        if not run.resumed:
            raise ValueError("first time")
        return "ok"

    shop.hire("it", body)

    async def both(other: Broker, run: str) -> list[Resumed | Refusal]:
        return list(await asyncio.gather(shop.broker.resume(run, ANN), other.resume(run, ANN)))

    async with shop.worker(), open_broker(redis_url, block=0.2) as other:
        for number in range(10):
            starts.clear()
            run = await shop.say(origin=f"chat-{number}")
            await shop.until(run, "paused")
            told = await both(other, run)
            await shop.until(run, "completed")
            assert len(starts) == 2
            won = [one for one in told if isinstance(one, Resumed)]
            lost = [one for one in told if isinstance(one, Refusal)]
            assert len(won) == len(lost) == 1
            assert lost[0].code in ("conflict", "ended")


@proves("C80", "broker")
async def test_an_answer_and_a_resume_at_the_same_moment_start_one_turn(shop: Workshop, redis_url: str) -> None:
    starts: list[str] = []

    async def body(run: Run, message: str) -> str:
        starts.append(message)
        return await run.ask("Name?")

    shop.hire("it", body)
    async with shop.worker(), open_broker(redis_url, block=0.2) as other:
        for number in range(10):
            starts.clear()
            run = await shop.say(origin=f"chat-{number}")
            await shop.parked(run)
            question = await shop.question()
            await shop.broker.pause(run, ANN)
            await shop.until(run, "paused")
            await asyncio.gather(other.resume(run, ANN), shop.answer(question, "Bob"))
            state = await shop.until(run, "waiting", "completed")
            if state.state == "waiting":
                await shop.answer(await shop.question(), "Bob")
            await shop.until(run, "completed")
            assert len(starts) == 2, "one turn asked, one turn got the answer"


async def test_code_that_ignores_the_cancel_is_reported_and_its_end_is_recorded(shop: Workshop) -> None:
    gate = Gate()

    async def body(run: Run, message: str) -> str:
        while not gate.opened.is_set():
            try:
                await gate()
            except asyncio.CancelledError:
                continue
        return "too late"

    shop.hire("it", body)
    async with shop.worker(replace(QUICK, terminate=0.05, kill=0.05, verify=0.05)) as worker:
        run = await shop.say()
        await gate.reached.wait()
        await shop.broker.cancel(run, ANN)
        await seen("turn.overdue", run=run)
        assert worker.overdue == [run]
        assert (await shop.record(run)).shown == "canceling"
        with suppress(TimeoutError):
            async with asyncio.timeout(10):
                await worker.stuck.wait()
        gate.opened.set()
        assert worker.stuck.is_set(), "its role hands the rest over and ends"
        await shop.until(run, "canceled")
        await wait_until(lambda: not worker.overdue)
    assert await shop.said_by_agent(run) == []


async def test_deleting_the_conversation_ends_the_code(shop: Workshop) -> None:
    gate = Gate()

    async def body(run: Run, message: str) -> None:
        await gate()

    shop.hire("it", body)
    async with shop.worker() as worker:
        run = await shop.say()
        await gate.reached.wait()
        await shop.broker.delete((await shop.record(run)).conversation, ANN)
        await wait_until(lambda: worker.running == 0)
    assert gate.passed == 0


@pytest.mark.parametrize(("message", "effects"), [("first", "none"), ("after", "done"), ("inside", "unknown")])
async def test_a_cancelled_run_tells_what_it_did_to_the_world(shop: Workshop, message: str, effects: str) -> None:
    gate = Gate()

    async def act() -> str:
        return "acted"

    async def body(run: Run, message: str) -> None:
        if message != "first":
            await run.step("act", act)
        if message == "inside":
            await run.step("wait", gate)
        await gate()

    shop.hire("it", body)
    async with shop.worker():
        run = await shop.say(message)
        await gate.reached.wait()
        await shop.broker.cancel(run, ANN)
        canceled = await shop.until(run, "canceled")
    assert canceled.effects == effects


async def test_a_run_whose_work_ends_after_its_conversation_went_on_tells_what_it_did(redis_url: str) -> None:
    """Its step swallows the cancel, so that what it records in the end comes under an old fence."""
    gate = Gate()

    async def act() -> None:
        held = asyncio.create_task(gate())
        while not held.done():
            with suppress(asyncio.CancelledError):
                await asyncio.wait({held})

    async def body(run: Run, message: str) -> None:
        await run.step("act", act)

    async with open_broker(redis_url, block=0.2, spans=Spans(free_ms=50)) as broker, Sweeper(broker, look=0.05):
        shop = Workshop(broker)
        shop.hire("it", body)
        async with shop.worker():
            run = await shop.say()
            await gate.reached.wait()
            await broker.cancel(run, ANN)

            async def fenced() -> bool:
                return (await shop.record(run)).turn is None

            await wait_until(fenced)
            gate.opened.set()
            canceled = await shop.until(run, "canceled")
    assert (canceled.ended_by, canceled.effects) == ("cooperative", "unknown")


@pytest.mark.parametrize("verb", ["say", "status", "step", "ask"])
async def test_code_that_swallowed_the_cancel_ends_at_its_next_word(redis_url: str, verb: str) -> None:
    """By then its conversation went on without it: nothing that it says is heard, and its end is proved."""
    gate = Gate()
    heard: list[str] = []

    async def say(run: Run) -> object:
        match verb:
            case "say":
                return await run.say("x")
            case "status":
                return await run.status("x")
            case "step":
                return await run.step("x", gate)
            case _:
                return await run.ask("x?")

    async def body(run: Run, message: str) -> None:
        while not gate.opened.is_set():
            with suppress(asyncio.CancelledError):
                await gate()
        await say(run)
        heard.append(verb)

    async with open_broker(redis_url, block=0.2, spans=Spans(free_ms=50)) as broker, Sweeper(broker, look=0.05):
        shop = Workshop(broker)
        shop.hire("it", body)
        async with shop.worker() as worker:
            run = await shop.say()
            await gate.reached.wait()
            await broker.cancel(run, ANN)

            async def fenced() -> bool:
                return (await shop.record(run)).turn is None

            await wait_until(fenced)
            gate.opened.set()
            canceled = await shop.until(run, "canceled")
            await wait_until(lambda: (worker.running, worker.held) == (0, 0))
            assert await shop.said_by_agent(run) == []
    assert canceled.ended_by == "cooperative"
    assert heard == []


async def test_a_run_whose_agent_says_pause_waits_for_a_person_when_its_worker_is_lost(shop: Workshop) -> None:
    """It does not go on by itself, although it could be replayed; a resume lets it."""
    lease = Incarnation(id="w9", kind="worker", until_ms=shop.broker.store.now() + 60_000)
    await shop.broker.beat(Beat(lease, first=True), 0)
    for origin, pausing in (("chat-1", frozenset({"it"})), ("chat-2", frozenset[str]())):
        run = await shop.say(origin=origin)
        await shop.broker.claim(run, "w9", pausing)
        await shop.broker.lost(Lost(run, "w9", gone=True))
        record = await shop.record(run)
        assert record.state == ("paused" if pausing else "queued")
