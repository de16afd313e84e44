"""Killed workers: what they held goes on in the next one, once.

A worker is a process of its own, `python -m bench.crash URL LEASE HOT`. What its agents do is in a list in Redis.
"""

import asyncio
import os
import signal
import sys
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import uvloop

from bench.asked import PERSON
from bench.ground import private_server
from bench.table import Ground, Row, measurement
from core.agent import Agent, Run, agent
from core.broker import Broker, open_broker
from core.errors import StoreError
from core.lease import Lease
from core.life.event import Reply, Said
from core.life.result import Answered, Sent
from core.model import fresh
from core.pace import Pace
from core.question import Accepted
from core.sweeper import Sweeper
from core.worker import Worker
from gateway.embedded import EmbeddedRedis

LEASE = 2.0
LIMIT = 15.0
EFFECTS = "bench:effects"


class Crashes(NamedTuple):
    """Milliseconds until the effect, and how often it happened."""

    parked_ms: float
    effects: int
    working_ms: float


@measurement
def killed_workers(ground: Ground) -> list[Row]:
    """A worker is killed while its question is parked, and another while it works."""
    del ground
    with private_server("everysec") as url:
        crashes = uvloop.run(_kill(url))
    return [
        Row("killed while parked, answered while down: effect once back", crashes.parked_ms, "ms", target=1_000),
        Row("effects beside the one", crashes.effects - 1, "", target=0),
        Row(f"killed at work, lease {LEASE:g} s: at work again", crashes.working_ms, "ms", target=LEASE * 1000 + 500),
    ]


@measurement
def everything_down(ground: Ground) -> list[Row]:
    """The holder of a question is killed, the answer is accepted, then Redis is killed; all comes back."""
    del ground
    with TemporaryDirectory(prefix="sayso-bench-") as folder:
        ms, effects = uvloop.run(_outage(Path(folder)))
    return [
        Row(f"answered while down, lease {LEASE:g} s: effect, all back", ms, "ms", target=LEASE * 1000 + 500),
        Row("effects beside the one, all back", effects - 1, "", target=0),
    ]


async def _outage(folder: Path) -> tuple[float, int]:
    async with EmbeddedRedis(folder / "data", "always") as redis, open_broker(redis.url, name="bench") as broker:
        async with _worker(redis.url, hot=60.0) as first:
            await _say(broker, "asks")
            request = await _parked(broker, held=True)
            first.kill()
            await first.wait()
        answered = await broker.answer(Reply(request, Accepted(values={"text": "yes"}), PERSON, "chat"))
        assert isinstance(answered, Answered), answered
        told = await broker.store.link.call("INFO", "server")
        assert isinstance(told, bytes)
        os.kill(int(told.partition(b"process_id:")[2].partition(b"\r")[0]), signal.SIGKILL)
        async with _worker(redis.url, hot=60.0):
            back = time.monotonic()
            await _effects(broker, 1)
            took = time.monotonic() - back
            await asyncio.sleep(1.0)
            return took * 1000, await _count(broker)


async def _kill(url: str) -> Crashes:
    async with open_broker(url, name="bench") as broker:
        async with _worker(url) as first:
            await _say(broker, "asks")
            request = await _parked(broker)
            first.kill()
            await first.wait()
        answer = Reply(request, Accepted(values={"text": "yes"}), PERSON, "chat")
        answered = await broker.answer(answer)
        assert isinstance(answered, Answered), answered
        async with _worker(url):
            back = time.monotonic()
            await _effects(broker, 1)
            parked = time.monotonic() - back
            await asyncio.sleep(1.0)
        effects = await _count(broker)
        await broker.store.link.call("DEL", EFFECTS)
        async with _worker(url) as first:
            await _say(broker, "works")
            await _effects(broker, 1)
            async with _worker(url):
                first.kill()
                dead = time.monotonic()
                await _effects(broker, 2)
                working = time.monotonic() - dead
    return Crashes(parked * 1000, effects, working * 1000)


async def _say(broker: Broker, to: str) -> None:
    sent = await broker.said(Said(origin=fresh("chat-", 0), text="go", person=PERSON, agent=to))
    assert isinstance(sent, Sent), sent


async def _parked(broker: Broker, *, held: bool = False) -> str:
    """Wait for a question whose run nobody holds, or somebody does."""
    async with asyncio.timeout(LIMIT):
        while True:
            for request in (await broker.pending(PERSON)).requests:
                run = await broker.peek(request.run)
                if run is not None and run.agent == "asks" and (run.turn is not None) == held:
                    return request.id
            await asyncio.sleep(0.01)


async def _count(broker: Broker) -> int:
    count = await broker.store.link.call("LLEN", EFFECTS)
    return count if isinstance(count, int) else 0


async def _effects(broker: Broker, count: int) -> None:
    async with asyncio.timeout(LIMIT):
        while True:
            with suppress(StoreError):
                if await _count(broker) >= count:
                    return
            await asyncio.sleep(0.002)


@asynccontextmanager
async def _worker(url: str, hot: float = 0.0) -> AsyncGenerator[asyncio.subprocess.Process]:
    words = ("-m", "bench.crash", url, str(LEASE), str(hot))
    made = await asyncio.create_subprocess_exec(sys.executable, *words, stdout=asyncio.subprocess.PIPE)
    assert made.stdout
    try:
        assert await made.stdout.readline() == b"ready\n"
        yield made
    finally:
        if made.returncode is None:
            made.kill()
        await made.wait()


async def work(url: str, span: float, hot: float) -> None:
    """Be a worker whose agents leave a mark."""
    async with open_broker(url, name="bench-worker") as broker:

        async def mark() -> str:
            await broker.store.link.call("RPUSH", EFFECTS, "done")
            return "done"

        @agent("asks")
        async def asks(run: Run, message: str) -> str:
            answer = await run.ask("Shall I?")
            await run.step("mark", mark)
            return f"{answer} to {message}"

        @agent("works")
        async def works(run: Run, message: str) -> str:
            await mark()
            await asyncio.Event().wait()
            return f"{run.id} never ends {message}"

        agents: dict[str, Agent] = {"asks": asks, "works": works}
        async with (
            Lease(broker, "worker", span=span, prefixes=("chat-",)) as lease,
            Sweeper(broker, span=1.0),
            Worker(broker, lease, agents.__getitem__, pace=Pace(hot=hot)),
        ):
            sys.stdout.write("ready\n")
            sys.stdout.flush()
            await asyncio.Event().wait()


if __name__ == "__main__":
    uvloop.run(work(sys.argv[1], float(sys.argv[2]), float(sys.argv[3])))
