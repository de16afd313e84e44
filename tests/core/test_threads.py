"""What the code of a turn leaves behind when it is cancelled: threads, which are waited for, and tasks, which end."""

import asyncio
import os
import threading
from collections.abc import AsyncGenerator, Generator
from concurrent.futures import Executor, ThreadPoolExecutor
from contextvars import Context
from dataclasses import replace

import pytest

from core.agent import Run, Steps, agent
from core.broker import open_broker
from core.trace import seen
from tests.waiting import wait_until
from tests.workshop import ANN, QUICK, Workshop

THREADS = min(32, (os.cpu_count() or 1) + 4)
"""that a loop has, unless it is told otherwise"""


@pytest.fixture
async def shop(redis_url: str) -> AsyncGenerator[Workshop]:
    async with open_broker(redis_url, block=0.2) as broker:
        yield Workshop(broker)


class Thread:
    """A place on a thread at which it hangs until the test lets it go."""

    def __init__(self) -> None:
        self.reached = threading.Event()
        self.opened = threading.Event()
        self.many = 0
        self.wrote = 0

    def __call__(self) -> None:
        """Hang, and have an effect then."""
        self.many += 1
        self.reached.set()
        self.opened.wait()
        self.wrote += 1


@pytest.fixture
def hanging() -> Generator[Thread]:
    thread = Thread()
    yield thread
    thread.opened.set()


def hang_at(shop: Workshop, thread: Thread, pool: Executor | None = None) -> None:
    """Hire an agent that hangs at a thread when it is told to go; pool: a thread of its own pool."""

    async def body(run: Run, message: str) -> str:
        if message == "go":
            await asyncio.get_running_loop().run_in_executor(pool, thread)
        return "done"

    shop.hire("it", body)


@pytest.mark.parametrize("own", [False, True], ids=["the loop's thread", "a thread of its own pool"])
async def test_a_run_on_a_thread_that_hangs_is_fenced_at_once_and_canceled_only_at_its_end(
    shop: Workshop, hanging: Thread, own: bool
) -> None:
    """Its code ended with the cancel, the thread did not: the conversation goes on long before the 15 seconds."""
    hang_at(shop, hanging, ThreadPoolExecutor(1) if own else None)
    async with shop.worker() as worker:
        run = await shop.say()
        await wait_until(hanging.reached.is_set)
        await shop.broker.cancel(run, ANN)
        await seen("turn.overdue", run=run)
        assert worker.overdue == [run]
        await shop.until(await shop.say("another"), "completed")
        assert (await shop.record(run)).shown == "canceling"
        hanging.opened.set()
        assert (await shop.until(run, "canceled")).ended_by == "cooperative"
        assert hanging.wrote == 1, "what it did came before its end was told"


async def test_an_agent_in_the_worker_says_itself_how_long_it_may_take_to_stop(shop: Workshop, hanging: Thread) -> None:
    """Its worker would wait for a minute before it fenced the run."""

    async def body(run: Run, message: str) -> None:
        await asyncio.to_thread(hanging)

    shop.agents["it"] = agent("it", steps=Steps(cooperative=0.1))(body)
    async with shop.worker(replace(QUICK, cooperative=60.0)) as worker:
        run = await shop.say()
        await wait_until(hanging.reached.is_set)
        await shop.broker.cancel(run, ANN)
        await seen("turn.overdue", run=run)
        assert worker.overdue == [run]
        hanging.opened.set()
        await shop.until(run, "canceled")


@pytest.mark.parametrize("told", [True, False], ids=["told to stop", "at work"])
async def test_a_worker_that_leaves_a_thread_behind_says_nothing_of_its_end(
    shop: Workshop, hanging: Thread, told: bool
) -> None:
    """Only the end of its process proves that: the run stays with this worker until somebody sees it gone."""
    hang_at(shop, hanging)
    async with shop.worker() as worker:
        run = await shop.say()
        await wait_until(hanging.reached.is_set)
        if told:
            await shop.broker.cancel(run, ANN)
    assert worker.left == [run]
    left = await shop.record(run)
    assert left.shown == ("canceling" if told else "working")
    assert len([*left.unproved, *([left.turn] if left.turn else [])]) == 1


async def test_a_function_that_no_thread_had_begun_never_runs(shop: Workshop, hanging: Thread) -> None:
    """All threads are taken: it waits for one, and the cancel comes first. Nothing ran, so that is proof."""
    ran, waits = threading.Event(), asyncio.Event()

    async def body(run: Run, message: str) -> None:
        if message == "late":
            waits.set()
        await asyncio.to_thread(ran.set if message == "late" else hanging)

    shop.hire("it", body)
    async with shop.worker():
        before = [await shop.say(origin=f"chat-hangs-{number}") for number in range(THREADS)]
        await wait_until(lambda: hanging.many == THREADS)
        run = await shop.say("late")
        await waits.wait()
        await shop.broker.cancel(run, ANN)
        assert (await shop.until(run, "canceled")).ended_by == "cooperative"
        hanging.opened.set()
        for one in before:
            await shop.until(one, "completed")
    assert not ran.is_set()


class Left:
    """A task that an agent begins and does not wait for; it ends when the test lets it go, and then has an effect."""

    def __init__(self) -> None:
        self.begun, self.opened, self.told = asyncio.Event(), asyncio.Event(), asyncio.Event()
        self.effects: list[str] = []
        self.tasks: list[asyncio.Task[None]] = []

    async def __call__(self) -> None:
        """Wait, also when it is told to stop."""
        self.begun.set()
        try:
            await self.opened.wait()
        except asyncio.CancelledError:
            self.told.set()
            await self.opened.wait()
            raise
        self.effects.append("late")

    def hire(self, shop: Workshop, context: Context | None = None) -> None:
        """Have an agent that begins it, and waits for something else, or for nothing when it is told to leave."""

        async def body(run: Run, message: str) -> str:
            self.tasks.append(asyncio.create_task(self(), context=context))
            await self.begun.wait()
            if message == "go":
                await asyncio.Event().wait()
            return "done"

        shop.hire("it", body)


async def test_a_task_that_a_canceled_run_left_is_ended_with_it_and_proof_waits_for_it(shop: Workshop) -> None:
    left = Left()
    left.hire(shop)
    async with shop.worker():
        run = await shop.say()
        await left.begun.wait()
        await shop.broker.cancel(run, ANN)
        await wait_until(left.told.is_set)
        await seen("turn.overdue", run=run)
        assert (await shop.record(run)).shown == "canceling"
        left.opened.set()
        await shop.until(run, "canceled")
    assert left.tasks[0].cancelled()
    assert not left.effects


async def test_a_task_that_belongs_to_no_turn_or_was_left_by_a_run_that_completed_goes_on(shop: Workshop) -> None:
    """A pool that an agent opens for all of its turns is begun in a context of its own."""
    own, after = Left(), Left()
    async with shop.worker():
        own.hire(shop, Context())
        run = await shop.say()
        await own.begun.wait()
        await shop.broker.cancel(run, ANN)
        await shop.until(run, "canceled")
        after.hire(shop)
        await shop.until(await shop.say("leave it"), "completed")
        for left in (own, after):
            assert not left.told.is_set()
            left.opened.set()
            await left.tasks[0]
    assert own.effects == after.effects == ["late"]
