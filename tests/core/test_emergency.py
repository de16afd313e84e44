"""Freeze, thaw and stop everything, with real workers on a real Redis."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator
from contextlib import suppress

import pytest

from core.agent import Run
from core.broker import open_broker
from core.emergency import Emergency, Halted
from core.leaks import Leaks
from core.life.decision import Refusal
from core.life.draft import Spans
from core.life.emergency import Freeze, freeze
from core.life.event import Said
from core.life.result import Answered, Changed, Kept, Sent, Stopped
from core.model import Person
from core.sweeper import Sweeper
from core.trace import seen
from tests.waiting import wait_until
from tests.workshop import ANN, QUICK, Gate, Workshop

OWNER = Person(id="web:owner", name="owner", role="owner")
BEN = Person(id="web:ben", name="Ben")


@pytest.fixture
async def shop(redis_url: str) -> AsyncGenerator[Workshop]:
    async with open_broker(redis_url, block=0.2) as broker:
        yield Workshop(broker)


async def test_what_is_said_while_frozen_starts_after_the_thaw(shop: Workshop) -> None:
    """A worker that is at hand takes nothing; after the thaw it takes it without being told anything else."""

    async def body(run: Run, message: str) -> str:
        return message

    shop.hire("it", body)
    emergency = Emergency(shop.broker)
    async with shop.worker():
        assert await emergency.freeze(OWNER, "fire") == Halted()
        run = await shop.say("late")
        declined = await seen("claim.declined", run=run)
        assert declined.fields["code"] == "frozen"
        assert (await shop.record(run)).state == "queued"
        assert await emergency.thaw(OWNER) == Kept()
        await shop.until(run, "completed")


async def test_a_freeze_pauses_what_works_and_no_step_begins(shop: Workshop) -> None:
    """The code stands before its step; the freeze pauses it there, and after thaw and Resume the step happens once."""
    gate, acted = Gate(), list[str]()

    async def act() -> None:
        acted.append("acted")

    async def body(run: Run, message: str) -> str:
        await gate()
        await run.step("act", act)
        return "done"

    shop.hire("it", body)
    emergency = Emergency(shop.broker)
    async with shop.worker():
        run = await shop.say()
        await gate.reached.wait()
        assert await emergency.freeze(OWNER) == Halted(stopping=1)
        gate.opened.set()
        record = await shop.until(run, "paused")
        assert (record.cause, record.stopped_by, acted) == ("user_paused", OWNER, [])
        await emergency.thaw(OWNER)
        await shop.broker.resume(run, ANN)
        await shop.until(run, "completed")
        assert acted == ["acted"]


async def test_a_step_that_comes_to_a_freeze_waits_and_goes_on_by_itself(shop: Workshop) -> None:
    """A turn that the freeze did not find at work (it was claimed at that moment) stands still until the thaw."""
    gate, acted = Gate(), list[str]()

    async def act() -> None:
        acted.append("acted")

    async def body(run: Run, message: str) -> str:
        await gate()
        await run.step("act", act)
        return "done"

    shop.hire("it", body)
    async with shop.worker():
        run = await shop.say()
        await gate.reached.wait()
        await only_the_document(shop)
        gate.opened.set()
        await seen("turn.waited", run=run)
        assert acted == []
        await Emergency(shop.broker).thaw(OWNER)
        await shop.until(run, "completed")
        assert acted == ["acted"]


async def test_an_answer_given_while_frozen_reaches_its_run_after_the_thaw(shop: Workshop) -> None:
    """It is recorded at once; a held turn lets go, and the next one has the answer."""

    async def body(run: Run, message: str) -> str:
        return await run.choose("Which?", ["a", "b"])

    shop.hire("it", body)
    emergency = Emergency(shop.broker)
    async with shop.worker(pace=QUICK):
        run = await shop.say()
        asked = await shop.question()
        await emergency.freeze(OWNER)
        assert isinstance(await shop.answer(asked, "option 1"), Answered)

        async def let_go() -> bool:
            record = await shop.record(run)
            return record.state == "queued" and record.turn is None

        await wait_until(let_go)
        await emergency.thaw(OWNER)
        await shop.until(run, "completed")
        assert await shop.said_by_agent(run) == ["a"]


async def test_stop_all_cancels_everybodys_runs_and_only_an_owner_may(shop: Workshop) -> None:
    """One works, one waits, one is paused, one is queued: of two people."""
    gate = Gate()

    async def body(run: Run, message: str) -> str:
        if message == "ask":
            await run.choose("Which?", ["a", "b"])
        await gate()
        return "done"

    shop.hire("it", body)
    emergency = Emergency(shop.broker)
    async with shop.worker():
        works = await shop.say("work")
        await gate.reached.wait()
        waits = await bens(shop, "ask", "chat-2")
        await shop.until(waits, "waiting")
        paused = await bens(shop, "ask", "chat-3")
        await shop.until(paused, "waiting")
        assert isinstance(await shop.broker.pause(paused, BEN), Stopped)
        await shop.until(paused, "paused")
        refused = await emergency.stop_all(BEN)
        assert isinstance(refused, Refusal)
        assert refused.code == "not_allowed"
        halted = await emergency.stop_all(OWNER)
        assert isinstance(halted, Halted)
        assert halted.settled + halted.stopping == 3
        for run in (works, waits, paused):
            record = await shop.until(run, "canceled")
            assert record.stopped_by is not None
            assert (record.cause, record.stopped_by.id) == ("user_canceled", OWNER.id)
    assert await emergency.stop_all(OWNER) == Halted()


async def test_a_freeze_outlives_every_process(redis_url: str) -> None:
    """It is a fact in Redis, not in a process."""
    async with open_broker(redis_url, block=0.2) as broker:
        await Emergency(broker).freeze(OWNER, "audit")
    async with open_broker(redis_url, block=0.2) as broker:
        found = await Emergency(broker).frozen()
        assert found is not None
        assert (found.by, found.reason) == (OWNER, "audit")


async def bens(shop: Workshop, text: str, origin: str) -> str:
    """Somebody else says something."""
    sent = await shop.broker.said(Said(origin=origin, text=text, person=BEN, agent="it"))
    assert isinstance(sent, Sent)
    return sent.run


async def only_the_document(shop: Workshop) -> None:
    """Freeze as it is at the moment before anything was paused."""
    await shop.broker.committer.carry(freeze, Freeze(OWNER), 0)


async def test_a_run_that_ignores_its_stop_is_listed_and_accepted_by_a_person(redis_url: str) -> None:
    """The whole way: told to stop, freed after its time, listed by process, accepted; its late word is refused."""
    held, go = asyncio.Event(), asyncio.Event()

    async def body(run: Run, message: str) -> str:
        while not go.is_set():
            with suppress(asyncio.CancelledError):
                held.set()
                await go.wait()
        return "late"

    async with open_broker(redis_url, block=0.2, spans=Spans(free_ms=100)) as broker, Sweeper(broker, look=0.05):
        shop = Workshop(broker)
        shop.hire("it", body)
        leaks = Leaks(broker)
        async with shop.worker():
            run = await shop.say()
            await held.wait()
            assert isinstance(await broker.cancel(run, ANN), Stopped)

            async def freed() -> bool:
                return (await shop.record(run)).turn is None

            await wait_until(freed)
            (leak,) = await leaks.all()
            assert (leak.run, leak.state, leak.alive, leak.pid) == (run, "canceling", True, os.getpid())
            assert await leaks.vouch(run, ANN) == Changed(run=run, state="canceled")
            assert (await leaks.count(), (await shop.record(run)).ended_by) == (0, "accepted as stopped by Ann")
            go.set()
            await seen("turn.ended", run=run)
            assert (await shop.record(run)).state == "canceled"
            assert await shop.said_by_agent(run) == []
