"""A worker is killed hard at marked points; another one goes on, and nothing happens or is said twice."""

import signal
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from core.broker import open_broker
from core.life.draft import Spans
from core.life.result import Answered
from core.model import Run
from core.sweeper import Sweeper
from tests import forked
from tests.faults.doomed import acting, acts
from tests.forked import Forked
from tests.proves import proves
from tests.waiting import wait_until
from tests.workshop import ANN, Workshop


@pytest.fixture
async def shop(redis_url: str, tmp_path: Path) -> AsyncGenerator[Workshop]:
    """A broker with a sweeper, and no worker yet."""
    async with open_broker(redis_url, block=0.2) as broker, Sweeper(broker, look=0.05, span=1.0):
        yield Workshop(broker, {"it": acting(tmp_path)})


@asynccontextmanager
async def doomed(redis_url: str, folder: Path, point: str) -> AsyncGenerator[Forked]:
    """A worker in a process of its own, that dies at a point."""
    process = await forked.start("tests.faults.doomed", redis_url, str(folder), point)
    try:
        assert await process.stdout.readline() == b"ready\n"
        yield process
    finally:
        process.kill()
        await process.wait()


async def finish(shop: Workshop, run: str) -> Run:
    """Answer the agent's own question, and wait for the end."""
    await shop.answer(await shop.question(), "Bob")
    return await shop.until(run, "completed", timeout=20)


@proves("C90", "broker")
async def test_killed_between_claim_and_first_event_the_run_goes_on(
    shop: Workshop, redis_url: str, tmp_path: Path
) -> None:
    async with doomed(redis_url, tmp_path, "claimed") as process:
        run = await shop.say()
        assert await process.wait() == -signal.SIGKILL
    async with shop.worker():
        await finish(shop, run)
    assert acts(tmp_path) == ["first", "second Bob"]
    assert await shop.said_by_agent(run) == ["begun", "first, second Bob"]


@proves("C90", "broker")
@proves("C70", "broker")
async def test_killed_between_begun_and_done_a_person_decides_and_nothing_is_said_twice(
    shop: Workshop, redis_url: str, tmp_path: Path
) -> None:
    """Meanwhile everything else works: what was said is kept, and the question can be answered."""
    async with doomed(redis_url, tmp_path, "begun") as process:
        run = await shop.say()
        assert await process.wait() == -signal.SIGKILL
    async with shop.worker():
        question = await shop.question()
        assert question.ours == "unknown_step"
        other = await shop.say("hello", origin="chat-2")
        await wait_until(lambda: len(acts(tmp_path)) == 2)
        await shop.broker.cancel(other, ANN)
        await shop.until(other, "canceled")
        assert isinstance(await shop.answer(question, "done"), Answered)
        await finish(shop, run)
    assert acts(tmp_path) == ["first", "first", "second Bob"], "the second line is the other conversation's"
    assert (await shop.said_by_agent(run))[0] == "begun"
    assert len(await shop.said_by_agent(run)) == 2


@proves("C82", "broker")
@proves("C97", "broker")
async def test_killed_between_answer_and_pick_up_the_answer_is_used_once(
    shop: Workshop, redis_url: str, tmp_path: Path
) -> None:
    async with doomed(redis_url, tmp_path, "never") as process:
        run = await shop.say()
        question = await shop.question()
        assert (await shop.record(run)).turn is not None, "it is held, not parked"
        process.send_signal(signal.SIGSTOP)
        assert isinstance(await shop.answer(question, "Bob"), Answered)
        process.kill()
        await process.wait()
    async with shop.worker():
        await shop.until(run, "completed", timeout=20)
    assert acts(tmp_path) == ["first", "second Bob"]
    assert await shop.said_by_agent(run) == ["begun", "first, second Bob"]
    answers = [entry for entry in await shop.history(run) if entry.role == "request"]
    assert len(answers) == 1


async def test_killed_while_it_holds_a_question_the_question_stays_and_cancel_works(
    shop: Workshop, redis_url: str, tmp_path: Path
) -> None:
    async with doomed(redis_url, tmp_path, "never") as process:
        run = await shop.say()
        question = await shop.question()
        process.kill()
        await process.wait()
    assert (await shop.question()).id == question.id
    await shop.broker.cancel(run, ANN)
    canceled = await shop.until(run, "canceled", timeout=20)
    assert canceled.effects == "done"


async def test_a_worker_that_slept_past_its_lease_does_nothing_more_under_it(
    shop: Workshop, redis_url: str, tmp_path: Path
) -> None:
    """It is stopped while it holds a question, another worker takes the run over, and then it wakes up."""
    async with doomed(redis_url, tmp_path, "never") as process:
        run = await shop.say()
        question = await shop.question()
        process.send_signal(signal.SIGSTOP)
        async with shop.worker():
            assert isinstance(await shop.answer(question, "Bob"), Answered)
            await shop.until(run, "completed", timeout=20)
            process.send_signal(signal.SIGCONT)
            other = await shop.say("again", origin="chat-2")
            await finish(shop, other)
    assert acts(tmp_path) == ["first", "second Bob", "first", "second Bob"]
    assert await shop.said_by_agent(run) == ["begun", "first, second Bob"]


@pytest.mark.parametrize("verb", ["cancel", "pause"])
async def test_a_worker_that_hangs_while_its_run_stops_is_seen_to_be_gone_when_it_is_killed_later(
    redis_url: str, tmp_path: Path, verb: str
) -> None:
    """When its lease lapsed it was still there; the proof is looked for until it comes."""
    async with (
        open_broker(redis_url, block=0.2, spans=Spans(proof_ms=100)) as broker,
        Sweeper(broker, look=0.05, span=1.0),
        doomed(redis_url, tmp_path, "never") as process,
    ):
        shop = Workshop(broker, {"it": acting(tmp_path)})
        run = await shop.say()
        await shop.question()
        process.send_signal(signal.SIGSTOP)
        await (broker.cancel(run, ANN) if verb == "cancel" else broker.pause(run, ANN))

        async def swept() -> bool:
            return bool((await shop.record(run)).unproved)

        await wait_until(swept)
        assert (await shop.record(run)).state == "stopping"
        process.kill()
        await process.wait()
        ended = await shop.until(run, "canceled" if verb == "cancel" else "paused")
        assert (ended.ended_by, ended.effects, ended.unproved) == ("process gone", "done", ())

        async def forgotten() -> bool:
            return not await broker.store.due(0, "leases")

        await wait_until(forgotten)
