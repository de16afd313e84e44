"""The worker's connection to Redis is cut again and again while it works: nothing happens or is said twice."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress

import pytest

from core.agent import Run
from core.broker import open_broker
from core.lease import Lease
from core.life.draft import Spans
from core.life.living import Beat
from core.life.result import Delivered
from core.model import Incarnation
from core.sweeper import Sweeper
from core.worker import Worker
from tests.faults.proxy import Proxy
from tests.redis_server import RedisServer
from tests.waiting import wait_until
from tests.workshop import ANN, PATIENT, QUICK, Workshop

STEPS = 16


@pytest.fixture
async def shop(redis: RedisServer) -> AsyncGenerator[Workshop]:
    """The person's side, on a connection of its own that nobody cuts."""
    async with open_broker(redis.url, block=0.2) as broker:
        yield Workshop(broker)


@asynccontextmanager
async def cutting(proxy: Proxy) -> AsyncGenerator[None]:
    """Cut all connections after every few kilobytes."""

    async def cut() -> None:
        while True:
            passed = proxy.passed
            await wait_until(lambda: proxy.passed > passed + 10_000, timeout=60)  # noqa: B023
            proxy.cut()

    task = asyncio.create_task(cut())
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


@pytest.mark.parametrize("pace", [QUICK, PATIENT], ids=["parked", "held"])
async def test_cuts_in_the_middle_of_turns_repeat_nothing(shop: Workshop, redis: RedisServer, pace: object) -> None:
    acted: list[int] = []

    async def act(number: int) -> int:
        acted.append(number)
        return number

    async def body(run: Run, message: str) -> str:
        for number in range(STEPS):
            await run.step("act", act, number)
            await run.say(f"did {number}")
            if number % 10 == 5:
                await run.ask(f"Go on after {number}?")
        return "all"

    shop.hire("it", body)
    chosen = PATIENT if pace is PATIENT else QUICK
    async with (
        Proxy(redis.socket) as proxy,
        open_broker(proxy.url, block=0.2) as broker,
        Lease(broker, "worker", prefixes=("chat-",)) as lease,
        Worker(broker, lease, shop.find, pace=chosen),
        cutting(proxy),
    ):
        run = await shop.say()
        for _ in range(2):
            await shop.answer(await shop.question(), "yes")
        await shop.until(run, "completed", timeout=60)
        assert proxy.accepted > 4, "connections were cut"
    assert acted == list(range(STEPS))
    assert await shop.said_by_agent(run) == [*(f"did {number}" for number in range(STEPS)), "all"]


async def test_cancel_reaches_a_turn_whose_connection_is_cut(shop: Workshop, redis: RedisServer) -> None:
    started = asyncio.Event()

    async def body(run: Run, message: str) -> None:
        started.set()
        await asyncio.Event().wait()

    shop.hire("it", body)
    async with (
        Proxy(redis.socket) as proxy,
        open_broker(proxy.url, block=0.2) as broker,
        Lease(broker, "worker", prefixes=("chat-",)) as lease,
        Worker(broker, lease, shop.find, pace=QUICK),
    ):
        run = await shop.say()
        await started.wait()
        proxy.welcome = False
        proxy.cut()
        await shop.broker.cancel(run, ANN)
        proxy.welcome = True
        await shop.until(run, "canceled", timeout=30)


async def test_a_turn_that_was_replaced_while_its_worker_was_cut_off_is_ended_by_it(redis: RedisServer) -> None:
    """The run is not stopping any more when the worker looks; the intent for the older turn is still owed to it."""
    turns: list[str] = []

    async def body(run: Run, message: str) -> str:
        turns.append("begun")
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            turns.append("ended")
            raise
        return "done"

    async with (
        open_broker(redis.url, block=0.2, spans=Spans(free_ms=50)) as direct,
        Sweeper(direct, look=0.05),
        Proxy(redis.socket) as proxy,
        open_broker(proxy.url, block=0.2) as broker,
        Lease(broker, "worker", prefixes=("chat-",)) as lease,
    ):
        shop = Workshop(direct)
        shop.hire("it", body)
        async with Worker(broker, lease, shop.find, pace=QUICK):
            run = await shop.say()
            await wait_until(lambda: turns == ["begun"])
            proxy.welcome = False
            proxy.cut()
            await direct.pause(run, ANN)

            async def fenced() -> bool:
                return (await shop.record(run)).turn is None

            await wait_until(fenced)
            await direct.resume(run, ANN)
            other = Incarnation(id="w9", kind="worker", until_ms=direct.store.now() + 600_000)
            await direct.beat(Beat(other, first=True), 0)
            assert isinstance(await direct.claim(run, "w9"), Delivered)
            proxy.welcome = True

            async def proved() -> bool:
                return not (await shop.record(run)).unproved

            await wait_until(proved, timeout=30)
            assert turns == ["begun", "ended"]
            assert (await shop.record(run)).turn is not None, "the newer turn is nobody's business here"


async def test_a_turn_that_ended_while_its_lease_was_lost_is_proved_when_its_worker_is_back(
    shop: Workshop, redis: RedisServer
) -> None:
    """Its worker could tell nobody, lives, and goes on under another id; the run goes on in another turn."""
    started, cut, turns = asyncio.Event(), asyncio.Event(), 0

    async def body(run: Run, message: str) -> str:
        nonlocal turns
        turns += 1
        if turns == 1:
            started.set()
            await cut.wait()
            await run.say("never heard")
        return "done"

    shop.hire("it", body)
    async with (
        Proxy(redis.socket) as proxy,
        open_broker(redis.url, block=0.2, spans=Spans(retry_ms=1)) as sweeping,
        Sweeper(sweeping, look=0.05, span=1.0),
        open_broker(proxy.url, block=0.2) as broker,
        Lease(broker, "worker", span=1.0, prefixes=("chat-",)) as lease,
        Worker(broker, lease, shop.find, pace=QUICK) as worker,
    ):
        run = await shop.say()
        await started.wait()
        first = lease.id
        proxy.welcome = False
        proxy.cut()
        cut.set()
        await wait_until(lambda: not worker.running)
        assert (await shop.until(run, "queued")).unproved
        proxy.welcome = True
        assert (await shop.until(run, "completed", timeout=30)).turn is None
        assert lease.id != first

        async def proved() -> bool:
            left = await shop.broker.store.size(0, "unproved") + await shop.broker.store.size(0, "claims", of=first)
            return not left and not (await shop.record(run)).unproved

        await wait_until(proved)
    assert turns == 2
