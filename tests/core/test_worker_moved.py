"""A run that moved while an older turn of it hangs: that turn stays on record until it is seen to end."""

import asyncio
from collections.abc import AsyncGenerator

import pytest

from core.agent import Run
from core.broker import open_broker
from core.life.draft import Spans
from core.sweeper import Sweeper
from core.trace import count, seen
from tests.waiting import wait_until
from tests.workshop import ANN, QUICK, Workshop


@pytest.fixture
async def shop(redis_url: str) -> AsyncGenerator[Workshop]:
    """A broker with a sweeper, and no worker yet."""
    async with (
        open_broker(redis_url, block=0.2, spans=Spans(free_ms=200)) as broker,
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
