"""What is owed and what came of things, as figures for Prometheus: read from Redis, and from each process's tally."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager, suppress

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric

from core.broker import Broker
from core.emergency import Emergency
from core.errors import StoreError
from core.inbox import Inbox
from core.keys import Index
from core.model import fresh
from core.tally import BOUNDS, Spans, Tally, tell, told
from gateway.health import held, late_answers

EVERY = 10.0
OLDEST: tuple[tuple[Index, str, str], ...] = (
    ("ready", "sayso_ready", "Runs to start or go on"),
    ("undelivered", "sayso_undelivered", "Accepted answers that their runs did not take yet"),
    ("stopping", "sayso_stopping", "Runs that were told to stop and are not proved to have"),
    ("unproved", "sayso_unproved", "Turns whose end nobody saw"),
)
COUNTED: tuple[tuple[Index, str, str], ...] = (
    ("debt", "sayso_cards_out_of_step", "Cards that show less than is so"),
    ("unshown", "sayso_unshown", "Requests that a place was not shown yet"),
    ("outbox", "sayso_outbox", "Conversations with texts that were not brought to their place yet"),
)
_log = logging.getLogger(__name__)


@asynccontextmanager
async def tallied(broker: Broker, role: str, *, every: float = EVERY) -> AsyncGenerator[None]:
    """Tell this process's tally now and then, for as long as the context lasts."""
    broker.committer.tally.role = role
    teller = asyncio.create_task(_tell(broker, fresh("w", 0), every), name="tally of this process")
    try:
        yield
    finally:
        teller.cancel()
        with suppress(asyncio.CancelledError):
            await teller


async def _tell(broker: Broker, id: str, every: float) -> None:
    while True:
        try:
            await tell(broker.shelf, id, broker.committer.told())
        except StoreError as trouble:
            _log.debug("the tally could not be told: %s", trouble)
        await asyncio.sleep(every)


async def owed(broker: Broker, prefixes: Sequence[str]) -> list[Metric]:
    """Everything that is owed now, and what every process tells. prefixes: of the front ends that there may be."""
    store, found = broker.store, list[Metric]()
    parts = range(len(store.keys))
    for index, name, words in OLDEST:
        heads = [at for part in parts for _, at in await store.due(part, index, limit=1)]
        found.append(_gauge(name, words, sum([await store.size(part, index) for part in parts])))
        oldest = max(0, store.now() - min(heads)) / 1_000 if heads else 0.0
        found.append(_gauge(f"{name}_oldest_seconds", f"{words}: how long the oldest", oldest))
    for index, name, words in COUNTED:
        family = GaugeMetricFamily(name, words, labels=("front_end",))
        for prefix in prefixes:
            family.add_metric((prefix,), sum([await store.size(part, index, prefix) for part in parts]))
        found.append(family)
    frozen = await Emergency(broker).frozen()
    return [
        *found,
        *await _inboxes(broker, prefixes),
        *await _claims(broker),
        _gauge(
            "sayso_undelivered_late",
            "Accepted answers that wait although nothing is in the way",
            await late_answers(broker),
        ),
        _gauge("sayso_frozen", "1 while everything is frozen", frozen is not None),
        *_processes(await told(broker.shelf)),
    ]


async def _inboxes(broker: Broker, prefixes: Sequence[str]) -> list[Metric]:
    words = "Updates that a platform brought and nobody took yet"
    size = GaugeMetricFamily("sayso_inbox", words, labels=("front_end",))
    oldest = GaugeMetricFamily("sayso_inbox_oldest_seconds", f"{words}: how long the oldest", labels=("front_end",))
    for prefix in prefixes:
        many, since_ms = await Inbox(broker, prefix).backlog()
        age = max(0, broker.store.now() - since_ms) / 1_000 if since_ms is not None else 0.0
        size.add_metric((prefix,), many)
        oldest.add_metric((prefix,), age)
    return [size, oldest]


async def _claims(broker: Broker) -> list[Metric]:
    many, age = await held(broker)
    words = "Runs that workers hold"
    return [_gauge("sayso_claims", words, many), _gauge("sayso_claims_oldest_seconds", f"{words}: the oldest", age)]


def _processes(all: list[tuple[str, Tally]]) -> list[Metric]:
    labels = ("role", "process")
    counters = {
        "commits": CounterMetricFamily("sayso_process_commits", "Commits", labels=labels),
        "races": CounterMetricFamily("sayso_process_lost_races", "Commits that were decided again", labels=labels),
        "fenced": CounterMetricFamily(
            "sayso_process_fenced_writes", "Writes refused under an old fence", labels=labels
        ),
    }
    ended = CounterMetricFamily(
        "sayso_runs_ended", "Runs by how they ended, or why they were interrupted", labels=(*labels, "how")
    )
    stops = HistogramMetricFamily("sayso_stop_seconds", "From Cancel or Pause to the end seen", labels=labels)
    answers = HistogramMetricFamily("sayso_answer_seconds", "From an answer to the run that goes on", labels=labels)
    for id, tally in all:
        who = (tally.role, id)
        counters["commits"].add_metric(who, tally.commits)
        counters["races"].add_metric(who, tally.races)
        counters["fenced"].add_metric(who, tally.fenced)
        for how, many in tally.ended.items():
            ended.add_metric((*who, how), many)
        stops.add_metric(who, _buckets(tally.stops), tally.stops.sum)
        answers.add_metric(who, _buckets(tally.answers), tally.answers.sum)
    return [*counters.values(), ended, stops, answers]


def _buckets(spans: Spans) -> list[tuple[str, float]]:
    found: list[tuple[str, float]] = []
    total = 0
    for bound, count in zip((*BOUNDS, None), spans.counts, strict=True):
        total += count
        found.append(("+Inf" if bound is None else str(bound), total))
    return found


def _gauge(name: str, words: str, value: float) -> Metric:
    return GaugeMetricFamily(name, words, value=float(value))
