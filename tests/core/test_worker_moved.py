"""A run that moved while an older turn of it hangs: that turn stays on record until it is seen to end."""

import asyncio
from collections.abc import AsyncGenerator

import pytest

from core.agent import Run
from core.broker import open_broker
from core.job import Job
from core.life.draft import Spans
from core.life.event import Lost
from core.life.living import Beat
from core.life.result import Delivered
from core.model import Incarnation
from core.sweeper import Sweeper
from core.trace import count, seen
from tests.waiting import wait_until
from tests.workshop import ANN, QUICK, Workshop


@pytest.fixture
async def shop(redis_url: str) -> AsyncGenerator[Workshop]:
    """A broker with a sweeper, and no worker yet."""
    async with (
        open_broker(redis_url, block=0.2, spans=Spans(free_ms=200, retry_ms=0)) as broker,
        Sweeper(broker, look=0.05, span=1.0),
    ):
        yield Workshop(broker)


async def test_an_older_turn_that_hangs_is_not_taken_for_one_that_ended(shop: Workshop) -> None:
    opened, turns = asyncio.Event(), 0

    async def body(run: Run, message: str) -> str:
        nonlocal turns
        turns += 1
        while message == "hang" and turns == 1 and not opened.is_set():
            try:
                await opened.wait()
            except asyncio.CancelledError:
                continue
        return "done"

    shop.hire("it", body)
    async with shop.worker(QUICK):
        run = await shop.say("hang")
        await wait_until(lambda: turns == 1)
        await shop.broker.pause(run, ANN)

        async def free() -> bool:
            return (await shop.record(run)).turn is None

        await wait_until(free)
        await shop.until(await shop.say("other"), "completed")
        await shop.broker.resume(run, ANN)
        moved = await shop.until(run, "completed")
        assert moved.id != run
        looked = count("worker.looked")
        await wait_until(lambda: count("worker.looked") > looked + 4)
        assert (await shop.record(run)).unproved
        opened.set()
        await seen("turn.ended", run=run, how="fenced")
        assert not (await shop.record(run)).unproved


async def test_a_turn_that_lost_its_run_before_it_began_leaves_nothing_to_prove(shop: Workshop) -> None:
    """Its worker stood still between the claim and the first line of code, past its lease: a cancel need not wait."""
    broker, ran = shop.broker, list[str]()

    async def body(run: Run, message: str) -> None:
        ran.append(message)

    shop.hire("it", body)
    for worker in ("w8", "w9"):
        lease = Incarnation(id=worker, kind="worker", until_ms=broker.store.now() + 60_000)
        await broker.beat(Beat(lease, first=True), 0)
    run = await shop.say()
    slow = await broker.claim(run, "w8", frozenset())
    assert isinstance(slow, Delivered)
    await broker.lost(Lost(run, "w8", gone=False))
    assert isinstance(await broker.claim(run, "w9", frozenset()), Delivered)
    assert len((await shop.record(run)).unproved) == 1
    job = Job(
        *(broker, slow, "w8"), agents=shop.find, files=None, pace=QUICK, valid=lambda: True, held=lambda change: None
    )
    await job.work()
    assert (await shop.record(run)).unproved == ()
    assert not ran
