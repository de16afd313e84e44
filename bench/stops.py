"""Stops under load: how soon a cancel is accepted, how soon work ends, and what a process of one's own costs to start.

The worker and its many turns are in this process; turns that run apart are forked from a template,
`python -m bench.stops <fd>`.
"""

import asyncio
import inspect
import signal
import socket
import statistics
import sys
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import uvloop

from bench.asked import PERSON
from bench.table import Ground, Row, measurement
from core.agent import Run, agent
from core.apart_turn import work_apart
from core.broker import Broker, open_broker
from core.lease import Lease
from core.life.event import Said
from core.life.result import Sent, Stopped
from core.model import Json, fresh
from core.pace import Pace
from core.template import Template, command, serve
from core.worker import Worker

RUNNING = 200
PACE = Pace(cooperative=0.5, terminate=0.5, kill=1.0, verify=1.0)
LIMIT = 30.0


@agent("works")
async def works(run: Run, message: str) -> None:
    """Work for ever, and say a word now and then."""
    while True:
        await run.status("at work")
        await asyncio.sleep(1.0)


@agent("apart", isolation="process")
async def apart(run: Run, message: str) -> None:
    """Say when it began, and resist everything but force, or not."""
    how, _, place = message.partition(" ")
    if how == "deaf":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    _stamp(Path(place))
    while True:
        if how != "deaf":
            await asyncio.sleep(0.05)


def _stamp(place: Path) -> None:
    place.write_text(str(time.monotonic()), encoding="utf-8")


def _stamped(place: Path) -> float:
    text = place.read_text("utf-8") if place.exists() else ""
    return float(text) if text else 0.0


AGENTS = {"works": works, "apart": apart}


@measurement
def stops(ground: Ground) -> list[Row]:
    """Cancel one after the other of two hundred running turns, and some in processes of their own."""
    return uvloop.run(_stops(ground.url, 5 if ground.quick else 20))


async def _stops(url: str, times: int) -> list[Row]:
    async with open_broker(url, name="bench") as broker, Template(command("bench.stops")) as template:
        await template.warm()
        async with (
            Lease(broker, "worker", prefixes=("chat-",)) as held,
            Worker(
                broker, held, AGENTS.__getitem__, slots=2 * RUNNING, pace=PACE, apart={"apart": True}, template=template
            ) as worker,
        ):
            runs = [await _said(broker, "works", "go") for _ in range(RUNNING)]
            await _until(lambda: worker.running >= RUNNING)
            accepted, ended = await _cancelled(broker, runs)
            started, forced = await _apart(broker, times)
    return [
        Row("cancel accepted under 200 running turns, p99", _p99(accepted), "ms", target=200),
        Row("cooperative stop, p99", _p99(ended), "ms", target=1_000),
        Row("forced stop, p99", _p99(forced), "ms", target=_sum(PACE)),
        Row("a turn in a process of its own starts, p50", statistics.median(started), "ms", target=150),
    ]


async def _cancelled(broker: Broker, runs: list[str]) -> tuple[list[float], list[float]]:
    """Milliseconds until each cancel was accepted, and until its run was canceled."""
    accepted: list[float] = []
    ended: list[float] = []
    for run in runs:
        began = time.monotonic()
        stopped = await broker.cancel(run, PERSON)
        assert isinstance(stopped, Stopped), stopped
        accepted.append((time.monotonic() - began) * 1000)
        await _until(partial(_is, broker, run, "canceled"))
        ended.append((time.monotonic() - began) * 1000)
    return accepted, ended


async def _apart(broker: Broker, times: int) -> tuple[list[float], list[float]]:
    """Milliseconds until turns in processes of their own began, and until deaf ones were ended."""
    started: list[float] = []
    forced: list[float] = []
    with TemporaryDirectory(prefix="sayso-bench-") as folder:
        for number in range(times):
            place = Path(folder) / str(number)
            asked = time.monotonic()
            run = await _said(broker, "apart", f"deaf {place}")
            await _until(partial(_stamped, place))
            started.append((_stamped(place) - asked) * 1000)
            began = time.monotonic()
            await broker.cancel(run, PERSON)
            await _until(partial(_is, broker, run, "canceled"))
            forced.append((time.monotonic() - began) * 1000)
    return started, forced


async def _said(broker: Broker, name: str, text: str) -> str:
    sent = await broker.said(Said(fresh("chat-", 0), text, PERSON, name))
    assert isinstance(sent, Sent), sent
    return sent.run


async def _is(broker: Broker, run: str, state: str) -> bool:
    found = await broker.peek(run)
    return found is not None and found.state == state


async def _until(so: Callable[[], object | Awaitable[object]]) -> None:
    """Look until it is so."""
    async with asyncio.timeout(LIMIT):
        while True:
            found = so()
            if await found if inspect.isawaitable(found) else found:
                return
            await asyncio.sleep(0.002)


def _p99(figures: list[float]) -> float:
    return statistics.quantiles(figures, n=100)[98] if len(figures) > 1 else figures[0]


def _sum(pace: Pace) -> float:
    return (pace.cooperative + pace.terminate + pace.kill + pace.verify) * 1000


def main(fd: int) -> None:
    """Be the template."""

    @asynccontextmanager
    async def opened(url: str) -> AsyncGenerator[Broker]:
        async with open_broker(url, name="bench-turn", hears=False) as broker:
            yield broker

    def turn(order: dict[str, Json], talk: socket.socket) -> None:
        uvloop.run(work_apart(order, talk, opened, AGENTS.__getitem__, None, PACE))

    serve(socket.socket(fileno=fd), turn)


if __name__ == "__main__":
    main(int(sys.argv[1]))
