"""Wherever a run is, Cancel, Pause, Abort and Delete are taken, end it for real, and hold when everything restarts.

Everything is a process of its own: Redis, two webs, the worker, each turn. All of them are killed and started again
twice: in the middle of the life of some runs, and after the end of all.
"""

import asyncio
from collections.abc import AsyncGenerator

import pytest

from tests.faults.cells import VERBS, Cell, each
from tests.faults.world import LIMIT, World, world
from tests.proves import proves
from tests.waiting import wait_until

WORDS = {
    "queued": "parked",
    "parked": "parked",
    "answered": "model",
    "restarted": "model",
    "unknown": "tool",
    "first": "first",
    "model": "model",
    "tool": "tool",
    "approved": "approved",
    "pausing": "deaf",
    "in doubt": "doubt",
}
"""a place -> what is said to the agent that goes there"""
EARLY = ("parked", "answered", "restarted", "unknown")
LATE = ("first", "model", "tool", "approved", "pausing")
"""the places of runs that begin before the restart, and of those that begin after it"""
RESTS = ("queued", "parked", "answered", "unknown")
"""the places at which nothing works on a run"""
ANSWERED = ("answered", "restarted", "model", "tool", "approved", "pausing")
"""the places at which a run has no question that is open: Abort is pressed on a question"""


@pytest.fixture
async def it() -> AsyncGenerator[World]:
    """Everything; a turn has five seconds to end by itself."""
    async with world(SAYSO_AGENT="tests.faults.moving:moving", SAYSO_STOP_COOPERATIVE="5") as made:
        yield made


def cells(it: World) -> list[Cell]:
    """All cells; where there is no open question, Abort is pressed before Pause, and stops nothing."""
    return [
        Cell(it, where, verb, word)
        for where, word in WORDS.items()
        for verb in VERBS
        if verb != "abort" or where not in (*ANSWERED, "queued", "first")
    ]


async def goes_there(cell: Cell) -> None:
    """Bring a run to its place, with a worker at hand."""
    await cell.say()
    if cell.where == "first":
        await cell.wrote("here")
        return
    if cell.where == "in doubt":
        await cell.case.came()
        return
    await cell.case.parked()
    if cell.where in ("parked", "answered"):
        return
    await cell.answer()
    if cell.where == "approved":
        await cell.case.parked()
        await cell.answer()
    await cell.wrote("here", 3 if cell.where == "approved" else 2)
    await cell.wrote("target")


async def goes_on(cell: Cell) -> None:
    """After the restart: what was answered works again, of what may have happened a person is asked."""
    if cell.where == "restarted":
        await cell.wrote("there", 2)
    else:
        assert len(await cell.case.parked()) == 1


async def abort_stops_nothing(cell: Cell) -> None:
    """Pressed on a question that was answered."""
    was, lived = await cell.shown(), cell.left()
    refused = await cell.presses("abort", cell.world.one, 409)
    assert (refused["code"], refused["outcome"]) == ("ended", "accepted"), (str(cell), refused)
    assert (await cell.shown(), cell.left()) == (was, lived), cell


async def ends(cell: Cell) -> None:
    """The verb of a cell, wherever its run is; a deaf one is pausing for as long as it may end by itself."""
    if cell.where == "pausing":
        assert (await cell.presses("pause", cell.world.one))["state"] == "pausing"
    if cell.verb == "pause" and cell.where in ANSWERED:
        await abort_stops_nothing(cell)
    await cell.ends(at_once=cell.where in RESTS)


@proves("C64", "process")
@proves("C72", "process")
@proves("C75", "process")
async def test_wherever_a_run_is_it_ends_and_stays_ended(it: World) -> None:
    """Each cell is named when something is wrong with it."""
    every = cells(it)

    def at(*places: str) -> list[Cell]:
        return [cell for cell in every if cell.where in places]

    await each(at(*EARLY), goes_there)
    await it.fall()
    await it.rise("worker")
    await each(at("answered"), Cell.answer)
    await each(at("queued"), Cell.say)
    await each(at("queued", "answered"), ends)
    await it.worker.start()
    await each(at("restarted", "unknown"), goes_on)
    await each(at(*LATE), goes_there)
    await each(at("parked", "restarted", "unknown", *LATE), ends)
    await each(at("in doubt"), goes_there)
    await end_in_doubt(it, at("in doubt"))
    await each(every, Cell.still)
    await it.fall()
    await it.rise()
    await (await it.say("parked")).asked()  # the worker works again
    await each(every, Cell.holds)
    assert [cell.case.turns for cell in at("queued", "answered")] == [0] * 3 + [1] * 3


async def end_in_doubt(it: World, many: list[Cell]) -> None:
    """The commit that asks landed, its reply never came: the turn does not know yet that it asked."""
    with it.proxy.deaf(b"EVALSHA"):
        for cell in many:
            cell.case.open()
        await asyncio.gather(*(cell.case.asked() for cell in many))
        ending = [asyncio.create_task(cell.ends()) for cell in many]
        await wait_until(lambda: all(cell.told for cell in many) or any(one.done() for one in ending), LIMIT)
        it.proxy.cut()
    await asyncio.gather(*ending)
