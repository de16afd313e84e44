"""What works and what does not, in words, each with what to do; for `/health` and `sayso doctor`."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal

from adapters.surface import hold_of
from core.broker import Broker
from core.emergency import Emergency
from core.errors import StoreError
from core.inbox import Inbox
from core.keys import Index
from core.leaks import Leak, Leaks
from core.life.decision import Ref
from core.life.delivery import could_be_taken
from core.life.emergency import words as words_of
from core.model import Conversation, Incarnation
from core.question import Request
from core.tally import told
from core.wire import Reply
from gateway.front_ends import FrontEnd, command

AWAY = "nothing is stored until it is back; start it, or look at its log"
NEARLY = 0.95
SHOWN = 3
GONE = "when it is gone for good: `sayso settle RUN --gone`"
LATE = 30.0
"""seconds after which what waits is late"""
LOOKED_AT = 100
INTERRUPTIONS = {
    "worker_lost": "their worker was lost",
    "turn_failed": "an error stopped them",
    "deadline": "nobody answered in time",
    "undeliverable": "their question could not be shown",
    "shutdown": "Sayso was shut down",
    "client_disconnected": "their window was closed",
}
"""why runs pause without anybody's wish"""
SWEEPER: Ref = ("incarnation", "one:sweeper")


@dataclass(frozen=True)
class Check:
    """One thing that health is made of."""

    what: str
    ok: bool
    words: str


async def checks(broker: Broker, known: Sequence[FrontEnd] = (), wanted: Collection[str] = ()) -> list[Check]:
    """Look at Redis, at who lives, at what is owed, and at front ends (known: all, wanted: names of those set up)."""
    try:
        await broker.store.link.each("PING")
    except StoreError as error:
        return [Check("redis", False, f"Redis does not answer ({error}): {AWAY}")]
    found = [Check("redis", True, "Redis answers")]
    lagging = [feed for feed in broker.feeds if not feed.healthy]
    words = "hints come in" if not lagging else "hints do not come in; looking in the indexes goes on every few seconds"
    found.append(Check("feed", not lagging, words))
    try:
        found += [await _room(broker), await workers(broker), await _sweeper(broker)]
        found += [await _waiting(broker), await _answers(broker), await _claims(broker)]
        found += [await _frozen(broker), await _stopping(broker), await _unproved(broker), await _cards(broker, known)]
        found += await _counted(broker)
        found += await front_ends(broker, known, wanted)
        found.append(await _inbox(broker, known))
    except StoreError as error:
        found.append(Check("redis", False, f"Redis refused a question: {error}"))
    return found


async def _room(broker: Broker) -> Check:
    """Whether Redis has memory left for new work; of several servers the fullest counts."""
    shares = [_share(reply) for reply in await broker.store.link.each("INFO", "memory")]
    used = max((share for share in shares if share is not None), default=None)
    if used is None:
        return Check("room", True, "Redis has no memory limit")
    if used < NEARLY:
        return Check("room", True, f"Redis uses {used:.0%} of its memory")
    words = (
        "new work is refused or soon will be, what is open can be settled; raise its maxmemory or delete conversations"
    )
    return Check("room", False, f"Redis uses {used:.0%} of its memory: {words}")


def _share(reply: Reply) -> float | None:
    """The part of its memory that a server uses; None when it has no limit."""
    lines = reply.decode().splitlines() if isinstance(reply, bytes) else []
    told = {name: value for name, colon, value in (line.partition(":") for line in lines) if colon}
    limit = int(told.get("maxmemory", "0"))
    return int(told.get("used_memory", "0")) / limit if limit else None


async def workers(broker: Broker) -> Check:
    """Whether somebody claims what is ready."""
    alive = len(await live_workers(broker))
    if alive:
        return Check("worker", True, f"{alive} worker{'s' if alive > 1 else ''} at work")
    return Check("worker", False, "no worker lives: runs and answers wait for one; start `sayso worker` or `sayso up`")


async def live_workers(broker: Broker) -> list[Incarnation]:
    """The workers whose lease holds."""
    return await living(broker, "worker")


async def living(broker: Broker, kind: Literal["worker", "web"]) -> list[Incarnation]:
    """The processes of a kind whose lease holds."""
    found: dict[str, Incarnation] = {}
    for partition in range(len(broker.store.keys)):
        leases = await broker.store.due(partition, "leases", limit=1_000)
        docs = await broker.store.read(partition, [("incarnation", id) for id, _ in leases])
        for one in (stored.model for stored in docs.values()):
            if isinstance(one, Incarnation) and one.kind == kind and one.until_ms > broker.store.now():
                found[one.id] = one
    return list(found.values())


async def _sweeper(broker: Broker) -> Check:
    for partition in range(len(broker.store.keys)):
        found = (await broker.store.read(partition, [SWEEPER]))[SWEEPER].model
        if not isinstance(found, Incarnation) or found.until_ms < broker.store.now():
            words = "nobody turns deadlines into events; start `sayso web` or `sayso up`"
            return Check("sweeper", False, words)
    return Check("sweeper", True, "deadlines are watched")


async def front_ends(broker: Broker, known: Sequence[FrontEnd], wanted: Collection[str]) -> list[Check]:
    """How each front end is. wanted: names of those that were set up here, of which one should be served."""
    found: list[Check] = []
    for one in known:
        name = hold_of(one.prefix)
        ref: Ref = ("incarnation", f"one:{name}")
        held = (await broker.store.read(broker.store.place(name), [ref]))[ref].model
        if isinstance(held, Incarnation) and held.until_ms > broker.store.now():
            found.append(Check(one.name, not held.note, held.note or f"{one.title} is served"))
        elif one.name in wanted:
            words = f"no process serves {one.title}; start `sayso {command(one)}` or `sayso up`, and read what they log"
            found.append(Check(one.name, False, words))
    return found


async def _inbox(broker: Broker, known: Sequence[FrontEnd]) -> Check:
    """What platforms that call us brought, and nobody took yet."""
    words: list[str] = []
    late = 0.0
    for one in known:
        many, since_ms = await Inbox(broker, one.prefix).backlog()
        if since_ms is not None:
            age = max(0.0, (broker.store.now() - since_ms) / 1_000)
            late = max(late, age)
            words.append(f"{_many(many, 'update')} of {one.title} {_verb(many, 'wait')}, the oldest for {_span(age)}")
    if not words:
        return Check("inbox", True, "everything that platforms brought is taken")
    what = "; what people write there is stored, and waits: see that the front end runs, and read what it logs"
    return Check("inbox", late < LATE, "; ".join(words) + what * (late >= LATE))


async def _waiting(broker: Broker) -> Check:
    """Runs that could go on and do not."""
    many, late = await _owed(broker, "ready")
    if not many or late < LATE:
        return Check("queue", True, f"{_many(many, 'run')} about to start" if many else "no run waits for a worker")
    words = f"{_many(many, 'run')} {_verb(many, 'wait')} for a worker, the oldest for {_span(late)}; start more workers"
    return Check("queue", False, words)


async def _owed(broker: Broker, index: Index) -> tuple[int, float]:
    """How much stands in an index, and for how many seconds its oldest."""
    oldest, many = broker.store.now(), 0
    for partition in range(len(broker.store.keys)):
        head = await broker.store.due(partition, index, limit=1)
        oldest = min([oldest, *(at for _, at in head)])
        many += await broker.store.size(partition, index)
    return many, (broker.store.now() - oldest) / 1_000


async def _answers(broker: Broker) -> Check:
    """Answers that were accepted and not taken: kept, whatever happens; behind another run they may wait long."""
    many, oldest = await _owed(broker, "undelivered")
    if not many:
        return Check("answers", True, "every accepted answer was delivered")
    wait, late = _verb(many, "wait"), await late_answers(broker)
    words = (
        f"{_many(many, 'accepted answer')} {wait} to be taken by a run, the oldest for {_span(oldest)}; all are kept"
    )
    if late:
        words += f"; nothing is in the way of {late} of them: see the worker and the queue, and read what workers log"
    return Check("answers", not late, words)


async def late_answers(broker: Broker) -> int:
    """How many accepted answers wait for too long although their runs could take them; it looks at the oldest ones."""
    late = 0
    for partition in range(len(broker.store.keys)):
        until = broker.store.now() - int(LATE * 1_000)
        for id, _ in await broker.store.due(partition, "undelivered", until=until, limit=LOOKED_AT):
            asked = (await broker.store.read(partition, [("request", id)]))["request", id].model
            run = await broker.peek(asked.run) if isinstance(asked, Request) else None
            ref: Ref = ("conversation", run.conversation if run is not None else "")
            place = (await broker.store.read(partition, [ref]))[ref].model if run is not None else None
            late += run is not None and isinstance(place, Conversation) and could_be_taken(run, place)
    return late


async def _claims(broker: Broker) -> Check:
    """What workers hold: for as long as it takes, so this is told, and is never wrong by itself."""
    many, oldest = await held(broker)
    words = f"workers hold {_many(many, 'run')}, the oldest for {_span(oldest)}"
    return Check("claims", True, words if many else "workers hold no run")


async def held(broker: Broker) -> tuple[int, float]:
    """How many runs workers hold, also those that are gone, and for how many seconds the oldest."""
    many, oldest = 0, broker.store.now()
    for partition in range(len(broker.store.keys)):
        for holder, _ in await broker.store.due(partition, "leases", limit=1_000):
            many += await broker.store.size(partition, "claims", holder)
            oldest = min([oldest, *(at for _, at in await broker.store.due(partition, "claims", of=holder, limit=1))])
    return many, (broker.store.now() - oldest) / 1_000


async def _cards(broker: Broker, known: Sequence[FrontEnd]) -> Check:
    """Cards that show less than is so, on platforms."""
    parts = range(len(broker.store.keys))
    many = sum([await broker.store.size(part, "debt", one.prefix) for one in known for part in parts])
    return Check("cards", True, f"{_many(many, 'card')} out of step, to be mended" if many else "every card is true")


async def _frozen(broker: Broker) -> Check:
    """Whether somebody keeps everything from beginning; that is meant, and has to be seen."""
    found = await Emergency(broker).frozen()
    if found is None:
        return Check("freeze", True, "nothing is frozen")
    since = (broker.store.now() - found.since_ms) / 1_000
    return Check("freeze", False, f"{words_of(found)} (for {_span(since)}): `sayso thaw`")


async def _stopping(broker: Broker) -> Check:
    """Runs that were told to stop and are not proved to have."""
    many, late = await _owed(broker, "stopping")
    if not many or late < LATE:
        return Check("stopping", True, f"{_many(many, 'run')} stopping" if many else "every stop is confirmed")
    what = f"their worker ends them, or has to come back; {GONE}"
    words = f"{_many(many, 'run')} told to stop, and not proved to have, the oldest for {_span(late)}; {what}"
    return Check("stopping", False, words)


async def _unproved(broker: Broker) -> Check:
    """What may still be at work although its run was stopped, resumed or deleted."""
    leaks = Leaks(broker)
    many = await leaks.count()
    if not many:
        return Check("unproved", True, "everything that was stopped is seen to have ended")
    shown = await leaks.all(limit=SHOWN)
    grown = [leak for leak in shown if broker.store.now() - leak.since_ms > LATE * 1_000]
    words = "; ".join(_where(broker, leak) for leak in shown) + (
        f"; and {many - len(shown)} more" * (many > len(shown))
    )
    what = f"; end those processes, or start their host again; {GONE}" if grown else ""
    return Check("unproved", not grown, f"{_many(many, 'turn')} not seen to have ended: {words}{what}")


async def _counted(broker: Broker) -> list[Check]:
    """What the processes that live have counted since they began; told, and never wrong by itself."""
    tallies = [tally for _, tally in await told(broker.shelf)]
    fenced = sum(tally.fenced for tally in tallies)
    late = f"{_many(fenced, 'write')} of work that was not to go on any more {'was' if fenced == 1 else 'were'} refused"
    ended = {how: sum(tally.ended.get(how, 0) for tally in tallies) for how in INTERRUPTIONS}
    reasons = ", ".join(f"{many} because {INTERRUPTIONS[how]}" for how, many in ended.items() if many)
    many = sum(ended.values())
    return [
        Check("fenced", True, f"{late}, as it should be" if fenced else "no write came late"),
        Check("interrupted", True, f"{_many(many, 'run')} paused: {reasons}" if many else "no run was interrupted"),
    ]


def _where(broker: Broker, leak: Leak) -> str:
    since = (broker.store.now() - leak.since_ms) / 1_000
    place = f"process {leak.pid} on {leak.host}" if leak.pid else f"worker {leak.worker}"
    return f"{leak.run} ({leak.state or 'deleted'}) by {place}, for {_span(since)}"


def _many(many: int, what: str) -> str:
    """So many of something: 1 run, 2 runs."""
    return f"{many} {what}" if many == 1 else f"{many} {what}s"


def _verb(many: int, verb: str) -> str:
    return f"{verb}s" if many == 1 else verb


def _span(seconds: float) -> str:
    """How long, as short as it stays clear: 42 s, 7 min, 3 h, 2 days."""
    for size, name in ((86_400, "days"), (3_600, "h"), (60, "min")):
        if seconds >= 2 * size:
            return f"{seconds // size:.0f} {name}"
    return f"{seconds:.0f} s"
