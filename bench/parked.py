"""What a parked question costs: memory in Redis and in Python, and connections."""

import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import uvloop

from bench.asked import QUESTION, ask_many, worker
from bench.ground import private_server
from bench.table import Ground, Row, measurement
from core.broker import Broker, open_broker
from core.life.event import ShrinkDue


class Cost(NamedTuple):
    """Bytes of a question in Redis, and the connections of the process that parked it."""

    fresh: float
    rested: float
    connections: int


IDLE = "import sys, uvloop; from bench.parked import resident; print(uvloop.run(resident(sys.argv[1])))"


@measurement
def parked_memory(ground: Ground) -> list[Row]:
    """Memory of parked questions of 500 bytes, each in a conversation of its own, with all their keys.

    A journal stays whole for ten minutes after the park; the bound is on what stays then. A million are not parked
    here: the figure is flat, so they are a thousand times the thousand.
    """
    rows: list[Row] = []
    for count in (300, 1_000) if ground.quick else (1_000, 10_000, 30_000):
        with private_server("no") as url:
            before = _resident(url)
            cost = uvloop.run(_park(url, count))
            after = _resident(url)
        rows += [
            Row(f"a question in Redis, just parked, {count:,} parked", cost.fresh, "B"),
            Row(f"a question in Redis, parked ten minutes ago, {count:,} parked", cost.rested, "B", target=4_096),
            Row(f"a question in a process that did not park it, {count:,} parked", (after - before) / count, "B"),
            Row(f"connections of the process that parked {count:,}", cost.connections, "", target=3),
        ]
    return rows


def _resident(url: str) -> int:
    """Let a process open the broker, and tell how large it is."""
    done = subprocess.run([sys.executable, "-c", IDLE, url], check=True, capture_output=True, text=True)
    return int(done.stdout)


def resident_of(process: str) -> int:
    """Tell the bytes of a process, by its id."""
    return int(Path(f"/proc/{process}/statm").read_text(encoding="ascii").split()[1]) * 4096


async def resident(url: str) -> int:
    """Tell the bytes of this process with an open broker."""
    async with open_broker(url):
        return resident_of("self")


async def _park(url: str, count: int) -> Cost:
    async with worker(url) as (broker, lease):
        await ask_many(broker, lease, [QUESTION] * 10, park=True)
        before = await _used(broker)
        asked = await ask_many(broker, lease, [QUESTION] * count, park=True)
        fresh = (await _used(broker) - before) / count
        for one in asked:
            await broker.tick(ShrinkDue(one.conversation), 0)
        rested = (await _used(broker) - before) / count
        clients = await broker.store.link.call("CLIENT", "LIST")
        return Cost(fresh, rested, len(clients.splitlines()) if isinstance(clients, bytes) else 0)


async def _used(broker: Broker) -> int:
    """Tell what is used but for the feed, which is as long for one question as for a million."""
    reply = await broker.store.link.call("INFO", "memory")
    text = reply.decode() if isinstance(reply, bytes) else ""
    feed = await broker.store.link.call("MEMORY", "USAGE", broker.store.keys[0].feed, "SAMPLES", 0)
    used = int(text.partition("used_memory:")[2].partition("\r\n")[0])
    return used - (feed if isinstance(feed, int) else 0)
