"""What a turn left alive ends before anything goes on in its place, whoever settles for it; nothing else is ended."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest

from core import tree
from core.agent import Run
from core.broker import open_broker
from core.lease import Lease, identity
from core.life.apart import Placed
from core.life.draft import Spans
from core.life.living import Beat, Leave
from core.life.result import Delivered
from core.model import Incarnation
from core.pace import Pace
from core.reaper import Reaper
from core.sweeper import Sweeper
from core.worker import Worker
from tests.redis_server import RedisServer
from tests.waiting import wait_until
from tests.workshop import ANN, QUICK, Workshop

AT_ONCE = Pace(look=0.05, cooperative=0.0, terminate=0.0, kill=0.0, verify=0.0)


@pytest.fixture
async def shop(redis: RedisServer) -> AsyncGenerator[Workshop]:
    """A broker, and no worker yet."""
    async with open_broker(redis.url, block=0.2, spans=Spans(retry_ms=1)) as broker:
        yield Workshop(broker)


@asynccontextmanager
async def process(**env: str) -> AsyncGenerator[asyncio.subprocess.Process]:
    """A process that does nothing for long; killed at the end."""
    made = await asyncio.create_subprocess_exec("sleep", "600", env={"PATH": "/usr/bin:/bin", **env})
    try:
        yield made
    finally:
        if made.returncode is None:
            made.kill()
        await made.wait()


def incarnation(shop: Workshop, id: str, pid: int) -> Incarnation:
    """A process as a worker with a lease."""
    line = tree.stat(pid)
    assert line is not None
    return identity(id, "worker", shop.broker.store.now() + 600_000).changed(pid=pid, ticks=line.ticks)


async def claimed(shop: Workshop, worker: str, origin: str) -> Delivered:
    """A run that a worker has claimed."""
    run = await shop.say(origin=origin)
    taken = await shop.broker.claim(run, worker, frozenset())
    assert isinstance(taken, Delivered)
    return taken


@asynccontextmanager
async def left(shop: Workshop, taken: Delivered, kind: str) -> AsyncGenerator[asyncio.subprocess.Process]:
    """A process that a claimed turn left: the turn's own one, or a command of a turn within its worker."""
    mark = f"{taken.run}:{taken.fence}"
    async with process(**{tree.MARK: mark}) as made:
        if kind == "turn":
            line = tree.stat(made.pid)
            assert line is not None
            code = tree.Code(tree.host(), tree.boot(), tree.namespace(), made.pid, line.ticks, mark)
            await shop.broker.stops.placed(Placed(taken.run, taken.fence, str(code)))
        yield made


def looking(shop: Workshop, pids: list[int]) -> list[set[int]]:
    """An agent that notes, at the beginning of each turn, which of these processes live."""
    seen: list[set[int]] = []

    async def body(run: Run, message: str) -> str:
        seen.append(alive(*pids))
        return "done"

    shop.hire("it", body)
    return seen


def alive(*pids: int) -> set[int]:
    """Those of these processes that live."""
    return set(pids) & {pid for pid, _ in tree.living()}


@pytest.mark.parametrize("kind", ["turn", "command"])
async def test_a_worker_that_lost_sight_of_a_turn_ends_what_it_left_before_it_gives_the_run_back(
    shop: Workshop, kind: str
) -> None:
    """It claimed it, and the answer was lost on the way; or its record broke off, and the claim stayed."""
    pids: list[int] = []
    seen = looking(shop, pids)
    async with Lease(shop.broker, "worker", prefixes=("chat-",)) as lease:
        taken = await claimed(shop, lease.id, "chat-1")
        async with left(shop, taken, kind) as process, Worker(shop.broker, lease, shop.find, pace=QUICK):
            pids.append(process.pid)
            await shop.until(taken.run, "completed")
    assert seen == [set()]


@pytest.mark.parametrize("kind", ["turn", "command"])
async def test_what_a_turn_left_ends_before_its_run_goes_on_although_its_worker_is_gone(
    shop: Workshop, kind: str
) -> None:
    """That the worker is gone says nothing of what it started."""
    pids: list[int] = []
    seen = looking(shop, pids)
    async with process() as worker:
        await shop.broker.beat(Beat(incarnation(shop, "w9", worker.pid), first=True), 0)
    taken = await claimed(shop, "w9", "chat-1")
    async with left(shop, taken, kind) as process_left:
        pids.append(process_left.pid)
        await shop.broker.leave(Leave("w9"), 0)
        async with Sweeper(shop.broker, look=0.05), shop.worker():
            await shop.until(taken.run, "completed")
    assert seen == [set()]


async def test_a_worker_with_a_lease_is_not_killed_for_a_run_that_was_deleted(shop: Workshop) -> None:
    """It climbs the ladder by itself; one whose lease is gone and that still lives is killed."""
    looking(shop, [])
    async with process() as leased, process() as lost, Reaper(shop.broker, pace=AT_ONCE, handover=0.0):
        for id, pid, origin in (("w8", leased.pid, "chat-8"), ("w9", lost.pid, "chat-9")):
            await shop.broker.beat(Beat(incarnation(shop, id, pid), first=True), 0)
            taken = await claimed(shop, id, origin)
            conversation = (await shop.record(taken.run)).conversation
            if id == "w9":
                await shop.broker.leave(Leave(id), 0)
            deleted_at = shop.broker.store.now()
            await shop.broker.delete(conversation, ANN)
            await wait_until(lambda deleted_at=deleted_at: shop.broker.store.now() > deleted_at)  # looked at in turn
        await wait_until(lambda: not alive(lost.pid))
        assert alive(leased.pid)
        await shop.broker.leave(Leave("w8"), 0)
        await wait_until(lambda: not alive(leased.pid))
