"""A worker process that dies at a marked point: `python -m tests.faults.doomed REDIS_URL FOLDER POINT`.

The points: `claimed` (its claim is committed, nothing else happened), `begun` (a step acted, its result is not
recorded), `never` (it dies when the test kills it). It says a line "ready" when it works.
"""

import asyncio
import os
import signal
import sys
from pathlib import Path

from core.agent import FunctionAgent, Run, agent
from core.broker import open_broker
from core.lease import Lease
from core.pace import Pace
from core.trace import Event, subscribe
from core.worker import Worker

SPAN = 1.0


def acting(folder: Path, *, dies: bool = False) -> FunctionAgent:
    """The agent of these tests: says something, acts once, asks, acts once more. What it does is in a file."""

    async def act(what: str) -> str:
        with (folder / "acts").open("a") as file:  # one line
            file.write(f"{what}\n")
        if dies:
            die()
        return what

    @agent("it")
    async def it(run: Run, message: str) -> str:
        await run.say("begun")
        first = await run.step("first", act, "first")
        name = await run.ask("Name?")
        async with run.tool("second", name=name):
            second = await run.step("second", act, f"second {name}")
        return f"{first}, {second}"

    return it


def acts(folder: Path) -> list[str]:
    """What the agent did, in order, by whichever process."""
    file = folder / "acts"
    return file.read_text().splitlines() if file.exists() else []


def die() -> None:
    """End this process as the kernel does it."""
    os.kill(os.getpid(), signal.SIGKILL)


async def work(url: str, folder: Path, point: str) -> None:
    """Work until the point is reached."""

    def look(event: Event) -> None:
        if point == "claimed" and event.name == "run.claimed":
            die()

    subscribe(look)
    it = acting(folder, dies=point == "begun")
    pace = Pace(hot=60.0, look=0.1, ready=0.1)
    async with (
        open_broker(url, block=0.2) as broker,
        Lease(broker, "worker", span=SPAN, prefixes=("chat-",)) as lease,
        Worker(broker, lease, lambda _: it, pace=pace),
    ):
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(work(sys.argv[1], Path(sys.argv[2]), sys.argv[3]))
