"""Wherever a run is, Cancel, Pause, Abort and Delete are taken, end it for real, and hold after a restart.

Each cell asserts three things apart: what the call returned; that nothing of the run's processes lives, from the
operating system; that the target saw nothing after the end.
"""

import asyncio
import os
import signal
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Literal

import pytest

from core.broker import Broker, open_broker
from core.lease import Lease
from core.life.decision import Refusal
from core.life.draft import Spans
from core.life.event import Ask
from core.life.living import Beat
from core.life.result import Asked, Deleted, Delivered, Stopped
from core.model import Incarnation, fresh
from core.model import Run as Record
from core.pace import Pace
from core.question import Question, TextField
from core.reaper import Reaper
from core.sweeper import Sweeper
from core.template import Template, command
from core.tree import living
from core.worker import Worker
from tests.faults import moving
from tests.gateway.shell import BASE, Shell
from tests.proves import proves
from tests.waiting import wait_until
from tests.workshop import ANN, Workshop

Verb = Literal["cancel", "pause", "abort", "delete"]
VERBS: tuple[Verb, ...] = ("cancel", "pause", "abort", "delete")
CALM = Pace(hot=0.0, look=0.05, ready=0.05, cooperative=0.3, terminate=0.3, kill=1.0, verify=1.0, grace=0.2)
SLOW = Pace(hot=0.0, look=0.05, ready=0.05, cooperative=5.0, terminate=0.3, kill=1.0, verify=1.0, grace=0.2)
ENDS = {"cancel": "canceled", "pause": "paused", "abort": "paused"}
LIMIT = 30.0
NAME = Question(title="Name?", fields=(TextField(),))
EARLY = ("parked", "answered", "restarted", "unknown")
LATE = ("first", "model", "tool", "approved")
"""the places of runs that began before a restart, and of those that are where they are when the verb comes"""
WORDS = {"answered": "model", "restarted": "model", "unknown": "tool", "pausing": "deaf", "asleep-abort": "parked"}
"""what is said to the agent for it, where that is another word"""


class Cell:
    """A run, and the folder in which it leaves its traces."""

    def __init__(self, shop: Workshop, folder: Path, where: str) -> None:
        self.shop = shop
        self.where = where
        self.folder = folder / where
        self.folder.mkdir()
        self.run = ""

    async def say(self, agent: str = "moving") -> None:
        """Start the run, in a conversation of its own."""
        word = WORDS.get(self.where, "first" if self.where.startswith("asleep") else self.where)
        self.run = await self.shop.say(f"{word} {self.folder}", to=agent, origin=f"chat-{self.where}")

    def lines(self, name: str) -> list[str]:
        """What stands in one of its files."""
        file = self.folder / name
        return file.read_text("utf-8").splitlines() if file.exists() else []

    async def wrote(self, name: str, count: int = 1) -> None:
        """Wait until so many lines stand in one of its files."""
        await wait_until(lambda: len(self.lines(name)) >= count, LIMIT)

    async def parked(self) -> None:
        """Wait until it is parked at its question, and nothing of it lives."""
        await self.shop.until(self.run, "waiting", timeout=LIMIT)
        await wait_until(self._let_go, LIMIT)

    async def _let_go(self) -> bool:
        return (await self.shop.record(self.run)).turn is None and not self.alive()

    async def answer(self) -> None:
        """Answer its open question."""
        record = await self.shop.until(self.run, "waiting", timeout=LIMIT)
        asked = await self.shop.broker.request(record.requests[-1], ANN)
        assert asked is not None
        field = asked.question.fields[0]
        await self.shop.answer(asked, "once" if field.kind == "confirm" else "yes")

    def alive(self) -> set[int]:
        """What lives of its processes."""
        return {int(line) for line in self.lines("here")} & {pid for pid, _ in living()}

    async def press(self, verb: Verb) -> Stopped | Deleted | Refusal:
        """Do it."""
        record, broker = await self.shop.record(self.run), self.shop.broker
        match verb:
            case "cancel":
                return await broker.cancel(self.run, ANN)
            case "pause":
                return await broker.pause(self.run, ANN)
            case "abort":
                return await broker.abort(record.requests[-1] if record.requests else record.past[-1], ANN)
            case "delete":
                return await broker.delete(record.conversation, ANN)


@asynccontextmanager
async def worker(broker: Broker, template: Template, pace: Pace = CALM) -> AsyncGenerator[None]:
    """A worker whose turns run apart."""
    agents = {"moving": moving.moving}
    async with (
        Lease(broker, "worker", prefixes=("chat-",)) as held,
        Worker(broker, held, agents.__getitem__, pace=pace, apart={"moving": True}, template=template),
    ):
        yield


@pytest.fixture
async def template(tmp_path: Path) -> AsyncGenerator[Template]:
    """A template that knows the agent."""
    settings = {
        "SAYSO_AGENT": "tests.faults.moving:moving",
        "SAYSO_DATA_DIR": str(tmp_path / "data"),
        "SAYSO_HOT_WINDOW": "0.01",
        "SAYSO_INDEX_LOOK": "0.05",
        "SAYSO_STOP_COOPERATIVE": "0.3",
    }
    async with Template(command("gateway.template"), environment={**BASE, **settings}) as made:
        yield made


@pytest.fixture
async def shop(redis_url: str) -> AsyncGenerator[Workshop]:
    """A broker with a sweeper and a reaper, as every installation has them."""
    async with (
        open_broker(redis_url, block=0.2, spans=Spans(free_ms=500)) as broker,
        Sweeper(broker, look=0.05, span=1.0),
        Reaper(broker, pace=CALM, handover=1.0),
    ):
        yield Workshop(broker)


async def begun(cell: Cell) -> None:
    """Bring a run to where its word says, with a worker at hand."""
    await cell.say()
    if cell.where == "first":
        await cell.wrote("here")
        return
    await cell.parked()
    if cell.where in ("parked", "answered"):
        return
    await cell.answer()
    if cell.where == "approved":
        await cell.parked()
        await cell.answer()
    await cell.wrote("target" if cell.where in ("tool", "approved", "unknown") else "there")


async def settled(cell: Cell, verb: Verb) -> Record | None:
    """Wait for the end that a verb brings; at that moment nothing of the run lives."""
    if verb == "delete":
        await wait_until(lambda: not cell.alive(), LIMIT)
        return None
    record = await cell.shop.until(cell.run, ENDS[verb], timeout=LIMIT)
    assert not cell.alive(), cell.where
    return record


async def holds(cell: Cell, verb: Verb, before: list[str]) -> None:
    """After a restart it is as it was, a second cancel says so, and delete works."""
    assert cell.lines("target") == before, f"{cell.where}: something acted after the end"
    if verb == "delete":
        assert await cell.shop.broker.peek(cell.run) is None or (
            isinstance(await cell.shop.broker.cancel(cell.run, ANN), Refusal)
        )
        return
    record = await cell.shop.record(cell.run)
    assert record.shown == ENDS[verb]
    again = await cell.shop.broker.cancel(cell.run, ANN)
    if verb == "cancel":
        assert isinstance(again, Refusal)
        assert again.text == "already canceled"
    else:
        assert isinstance(again, Stopped)
        await cell.shop.until(cell.run, "canceled", timeout=LIMIT)
    assert isinstance(await cell.shop.broker.delete(record.conversation, ANN), Deleted)


@proves("C64", "process")
@proves("C72", "process")
@proves("C75", "process")
@pytest.mark.parametrize("verb", VERBS)
async def test_wherever_a_run_is_it_ends_and_stays_ended(
    verb: Verb, shop: Workshop, template: Template, tmp_path: Path
) -> None:
    """Abort is pressed on a question that is open; pressed on one that was answered it stops nothing."""
    early, late = (("parked", "unknown"), ()) if verb == "abort" else (EARLY, LATE)
    cells = {where: Cell(shop, tmp_path, where) for where in (*early, *late)}
    async with worker(shop.broker, template):
        await asyncio.gather(*(begun(cells[where]) for where in early))
    unborn = Cell(shop, tmp_path, "queued")
    if verb != "abort":
        await cells["answered"].answer()
        await unborn.say()
        for cell in (unborn, cells["answered"]):
            await ends(cell, verb)
    async with worker(shop.broker, template):
        if verb != "abort":
            await cells["restarted"].wrote("there", 2)
        await cells["unknown"].parked()
        await asyncio.gather(*(begun(cells[where]) for where in late))
        if verb == "pause":
            for where in ("restarted", "model", "tool", "approved"):
                assert isinstance(await cells[where].press("abort"), Refusal)
                assert (await shop.record(cells[where].run)).shown == "working"
                assert cells[where].alive()
        await asyncio.gather(*(ends(cell, verb) for where, cell in cells.items() if where != "answered"))
        if verb != "abort":
            cells["queued"] = unborn
        targets = {where: cell.lines("target") for where, cell in cells.items()}
    async with worker(shop.broker, template):
        for where, cell in cells.items():
            await holds(cell, verb, targets[where])
    assert all(len(seen) <= 1 for seen in targets.values()), targets


async def ends(cell: Cell, verb: Verb) -> None:
    """Press, and see the end."""
    pressed = await cell.press(verb)
    assert isinstance(pressed, Stopped | Deleted), (cell.where, pressed)
    await settled(cell, verb)


@pytest.mark.parametrize("verb", ["cancel", "delete"])
async def test_a_run_that_is_pausing_can_be_canceled_and_deleted(
    verb: Verb, shop: Workshop, template: Template, tmp_path: Path
) -> None:
    cell = Cell(shop, tmp_path, "pausing")
    async with worker(shop.broker, template, SLOW):
        await begun(cell)
        await shop.broker.pause(cell.run, ANN)
        await shop.until(cell.run, "pausing", timeout=LIMIT)
        assert isinstance(await cell.press("pause"), Stopped)
        assert isinstance(await cell.press("abort"), Refusal)
        assert (await shop.record(cell.run)).shown == "pausing"
        assert isinstance(await cell.press(verb), Stopped | Deleted)
        if verb == "cancel":
            assert (await shop.record(cell.run)).shown == "canceling"
        await settled(cell, verb)
        await holds(cell, verb, cell.lines("target"))


@pytest.mark.parametrize("verb", VERBS)
async def test_a_run_on_a_dead_host_lets_its_conversation_go_and_is_never_said_to_have_ended(
    verb: Verb, shop: Workshop
) -> None:
    broker, lost = shop.broker, fresh("w", 0)
    me = Incarnation(id=lost, kind="worker", host="elsewhere", pid=1, until_ms=broker.store.now() + 60_000)
    await broker.beat(Beat(me, (), True), 0)
    run = await shop.say("first nowhere", to="moving")
    assert isinstance(await broker.claim(run, lost), Delivered)
    record = await shop.record(run)
    if verb == "delete":
        assert isinstance(await broker.delete(record.conversation, ANN), Deleted)
        return
    asked = await broker.ask(Ask(run, record.fence, "ask:text#0", NAME, await broker.store.end("steps", run)))
    assert isinstance(asked, Asked)
    presses: dict[str, Callable[[], Awaitable[Stopped | Refusal]]] = {
        "cancel": lambda: broker.cancel(run, ANN),
        "pause": lambda: broker.pause(run, ANN),
        "abort": lambda: broker.abort(asked.request or "", ANN),
        "stop now": lambda: broker.cancel(run, ANN, urgent=True),
    }
    assert isinstance(await presses[verb](), Stopped)

    async def free() -> bool:
        return (await shop.record(run)).turn is None

    await wait_until(free, LIMIT)
    shown = "canceling" if verb == "cancel" else "pausing"
    for again in ("pause", "abort", "cancel", "stop now"):
        record = await shop.record(run)
        assert record.shown == shown
        assert record.unproved
        told = await presses[again]()
        # A question of a run that is being canceled is closed; one of a run that pauses may be aborted again.
        assert isinstance(told, Refusal if (verb, again) == ("cancel", "abort") else Stopped), (again, told)
        shown = "canceling" if again in ("cancel", "stop now") else shown
    assert (await shop.record(run)).shown == "canceling"
    assert await shop.say("first nowhere", to="moving") != run
    assert isinstance(await broker.delete(record.conversation, ANN), Deleted)


async def test_turns_apart_end_although_their_worker_sleeps(
    shop: Workshop, template: Template, redis_url: str, tmp_path: Path
) -> None:
    """The one that is aborted waits for its answer, and its process with it; the others work."""
    quick = {
        "SAYSO_AGENT": "tests.faults.moving:moving",
        "SAYSO_INDEX_LOOK": "0.1",
        "SAYSO_LEASE": "2",
        "SAYSO_HOT_WINDOW": "60",
    }
    sleeping = await Shell(tmp_path, REDIS_URL=redis_url, **quick).start("worker")
    cells: dict[Verb, Cell] = {verb: Cell(shop, tmp_path, f"asleep-{verb}") for verb in VERBS}
    try:
        for cell in cells.values():
            await cell.say()
            await cell.wrote("here")
        await shop.until(cells["abort"].run, "waiting", timeout=LIMIT)
        assert cells["abort"].alive()
        os.kill(sleeping.pid, signal.SIGSTOP)
        await asyncio.gather(*(ends(cell, verb) for verb, cell in cells.items()))
    finally:
        sleeping.kill()
        await sleeping.communicate()

    async def proved() -> bool:
        return not await shop.broker.store.size(0, "unproved")

    await wait_until(proved, LIMIT)
    async with worker(shop.broker, template):
        for verb, cell in cells.items():
            await holds(cell, verb, [])
