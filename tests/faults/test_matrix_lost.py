"""A run whose worker sleeps ends for real; one whose host is gone is stopped at once, and never said to have ended.

Everything is a process of its own, and is killed and started again after the end. The dead host is one that nobody has
ever seen: what took a run there can be asked for nothing.
"""

import asyncio
import signal
from collections.abc import AsyncGenerator

import pytest

from core.life.event import Ask
from core.life.living import Beat
from core.life.result import Asked, Delivered
from core.model import Incarnation, fresh
from core.question import Question, TextField
from tests.faults.cells import ENDS, ON_THE_WAY, VERBS, Cell, each
from tests.faults.world import LIMIT, World, world
from tests.waiting import wait_until

NAME = Question(title="Name?", fields=(TextField(),))
LOST = ("on a dead host", "lost with a host", "not confirmed")
"""at work as far as is known, given up by the sweeper, canceled without any proof that it ended"""


@pytest.fixture
async def it() -> AsyncGenerator[World]:
    """Everything; who asks is held, and not much is waited for."""
    settings = {"SAYSO_HOT_WINDOW": "60", "SAYSO_FREE_AFTER_STOP": "1", "SAYSO_STOP_HANDOVER": "1"}
    async with world(SAYSO_AGENT="tests.faults.moving:moving", **settings) as made:
        yield made


async def works(cell: Cell) -> None:
    """The one that is aborted waits for its answer, and its process with it."""
    await cell.say()
    await cell.wrote("here")
    if cell.verb == "abort":
        await cell.case.asked()
    assert cell.left()


async def at_a_host(it: World, where: str, span: float) -> str:
    """A worker that is nowhere; its lease ends after so many seconds."""
    lost = fresh("w", 0)
    until = it.broker.store.now() + int(span * 1000)
    await it.broker.beat(Beat(Incarnation(id=lost, kind="worker", host=where, pid=1, until_ms=until), (), True), 0)
    return lost


async def is_taken(cell: Cell, lost: str) -> None:
    """It is taken there, and asks when it will be aborted."""
    broker = cell.world.broker
    await cell.say()
    assert isinstance(await broker.claim(cell.case.run, lost), Delivered)
    record = await broker.peek(cell.case.run)
    assert record is not None
    if cell.verb == "abort":
        steps = await broker.store.end("steps", record.id)
        asked = await broker.ask(Ask(record.id, record.fence, "ask:text#0", NAME, steps))
        assert isinstance(asked, Asked)
        cell.request = asked.request or ""
    if cell.where == "not confirmed":
        await cell.presses("cancel", cell.world.one)
    if cell.where != "on a dead host":
        await let_go(cell)


async def let_go(cell: Cell) -> None:
    """Wait until its conversation is free of it; its end is still to be proved."""

    async def free() -> bool:
        record = await cell.world.broker.peek(cell.case.run)
        return record is not None and record.turn is None and bool(record.unproved)

    await wait_until(free, LIMIT)


def stopping(cell: Cell) -> str:
    """The state in which the verb leaves the run; one that nobody works on as far as is known may be paused."""
    if cell.where == "not confirmed":
        return "canceling"
    return (ENDS if cell.where == "lost with a host" and cell.verb != "cancel" else ON_THE_WAY)[cell.verb]


async def stops(cell: Cell) -> None:
    """The verb is taken, its conversation goes on, and no press of any button brings an end without proof."""
    user, canceled = cell.world.one, stopping(cell) == "canceling"
    if cell.where == "not confirmed" and cell.verb == "abort":
        assert (await cell.presses("abort", user, 409))["code"] == "ended"
    else:
        told = await cell.presses(cell.verb, user)
        if cell.verb == "delete":
            assert told["unproved"]
            return
        assert told["state"] == stopping(cell), (str(cell), told)
    await let_go(cell)
    assert (await user.send("first nowhere", cell.case.conversation)).run != cell.case.run
    if stopping(cell) != "paused":
        await user.post(f"/v1/runs/{cell.case.run}/{'cancel' if canceled else 'pause'}?urgent=true")
    assert await cell.shown() == stopping(cell)


async def is_still_stopping(cell: Cell) -> None:
    """After a restart it is as it was, a second cancel joins the first, and delete works and says what it knows."""
    user, path = cell.world.two, f"/v1/runs/{cell.case.run}"
    if cell.verb == "delete":
        await user.get(path, 404)
        return
    assert (await user.get(path))["state"] == stopping(cell), str(cell)
    again = await cell.presses("cancel", user)
    assert (again["state"], again["joined"]) == ("canceling", stopping(cell) != "paused"), (str(cell), again)
    assert (await cell.presses("delete", user))["unproved"]
    await user.get(path, 404)


async def test_runs_end_although_their_worker_sleeps_and_without_proof_none_is_said_to_have_ended(it: World) -> None:
    asleep = [Cell(it, "with a worker that sleeps", verb, "parked" if verb == "abort" else "first") for verb in VERBS]
    lost = [Cell(it, where, verb, "first") for where in LOST for verb in VERBS]
    await each(asleep, works)
    it.worker.send(signal.SIGSTOP)
    hosts = {where: await at_a_host(it, where, 0.5 if where == "lost with a host" else 60.0) for where in LOST}
    await each(lost, lambda cell: is_taken(cell, hosts[cell.where]))
    await asyncio.gather(each(asleep, Cell.ends), each(lost, stops))
    await each(asleep, Cell.still)
    await it.fall()
    await it.rise()
    await (await it.say("parked")).asked()  # the worker works again
    await asyncio.gather(each(asleep, Cell.holds), each(lost, is_still_stopping))
    assert not any(cell.case.target for cell in lost)
