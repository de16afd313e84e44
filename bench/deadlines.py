"""Deadlines: how late they take effect while Redis holds many unrelated keys with a time to live."""

import asyncio
import statistics
from typing import NamedTuple

import uvloop

from bench.asked import QUESTION, Open, ask_many, worker
from bench.ground import private_server
from bench.table import Ground, Row, measurement
from core.broker import Broker
from core.question import Request
from core.sweeper import Sweeper

KEYS = 200_000
ASKED = 500
FIRST_MS = 2_000
APART_MS = 20


class Lateness(NamedTuple):
    """Milliseconds from a deadline to the hint of its effect, and how many were early or never came."""

    p50: float
    p99: float
    early: int
    lost: int


@measurement
def deadlines(ground: Ground) -> list[Row]:
    """Questions with deadlines, swept while 200,000 keys with a time to live stand around."""
    keys = KEYS // 10 if ground.quick else KEYS
    with private_server("everysec") as url:
        late = uvloop.run(_sweep(url, keys, 100 if ground.quick else ASKED))
    return [
        Row(f"a deadline is late, p50, {keys:,} keys with a time to live", late.p50, "ms"),
        Row(f"a deadline is late, p99, {keys:,} keys with a time to live", late.p99, "ms", target=20),
        Row("deadlines that came early", late.early, "", target=0),
        Row("deadlines that were lost", late.lost, "", target=0),
    ]


async def _sweep(url: str, keys: int, count: int) -> Lateness:
    async with worker(url) as (broker, lease), Sweeper(broker):
        link = broker.store.link
        for begin in range(0, keys, 1_000):
            names = range(begin, begin + 1_000)
            await link.many([("SET", f"other:{n}", "x" * 50, "PX", 20_000 + n % 60_000) for n in names])
        heard: dict[str, int] = {}

        def told(conversation: str) -> None:
            heard[conversation] = broker.store.now()

        listening = broker.feeds[0].listen("journal", told)
        questions = [QUESTION.changed(timeout_ms=FIRST_MS + n * APART_MS) for n in range(count)]
        asked = await ask_many(broker, lease, questions, park=True)
        found = [await _read(broker, one) for one in asked]
        last = max(one.deadline_ms or 0 for one in found)
        await asyncio.sleep(max(0.0, (last - broker.store.now()) / 1000) + 1.0)
        listening.close()
        found = [await _read(broker, one) for one in asked]
    pairs = [(heard[one.conversation] - due, one) for one in found if (due := one.deadline_ms) is not None]
    late = sorted(ms for ms, one in pairs if one.state == "settled")
    steps = statistics.quantiles(late, n=100)
    lost = sum(one.state != "settled" for one in found)
    return Lateness(statistics.median(late), steps[98], sum(ms < 0 for ms in late), lost)


async def _read(broker: Broker, one: Open) -> Request:
    ref = ("request", one.request)
    model = (await broker.store.read(0, [ref]))[ref].model
    assert isinstance(model, Request), one
    return model
