"""What may still be at work although its run was stopped, resumed or deleted: listed for operators, and vouched for."""

from __future__ import annotations

from core.broker import Broker
from core.life import vouched
from core.life.decision import Ref, Refusal
from core.life.leak import Vouch
from core.life.place import ghost
from core.life.result import Changed
from core.life.run import UNKNOWN
from core.model import Incarnation, Person, Run, Shown, Value

MOST = 1_000


class Leak(Value):
    """One worker that may still be at work for one run. state: of the run now; None when it was deleted.

    alive: its lease holds, so that it can still be told to stop. host, pid: where it is, as far as that is known.
    """

    run: str
    worker: str
    since_ms: int
    state: Shown | None = None
    conversation: str | None = None
    alive: bool = False
    host: str = ""
    pid: int = 0


class Leaks:
    """The turns whose end nobody saw."""

    def __init__(self, broker: Broker) -> None:
        self._broker = broker
        self._store = broker.store

    async def count(self) -> int:
        """Count them."""
        return sum([await self._store.size(at, "unproved") for at in range(len(self._store.keys))])

    async def all(self, *, limit: int = MOST) -> list[Leak]:
        """List them, the oldest first."""
        found: list[Leak] = []
        for at in range(len(self._store.keys)):
            for member, since in await self._store.due(at, "unproved", limit=limit):
                run, _, worker = member.partition(" ")
                found.append(await self._leak(at, run, worker, since))
        return sorted(found, key=lambda leak: leak.since_ms)[:limit]

    async def _leak(self, at: int, run: str, worker: str, since: int) -> Leak:
        refs: list[Ref] = [("run", run), ("incarnation", worker), ("incarnation", ghost(worker))]
        model, live, was = [stored.model for stored in (await self._store.read(at, refs)).values()]
        who = next((one for one in (live, was) if isinstance(one, Incarnation)), None)
        known = model if isinstance(model, Run) else None
        return Leak(
            run=run,
            worker=worker,
            since_ms=since,
            state=known.shown if known is not None else None,
            conversation=known.conversation if known is not None else None,
            alive=isinstance(live, Incarnation) and live.until_ms > self._store.now(),
            host=who.host if who is not None else "",
            pid=who.pid if who is not None else 0,
        )

    async def vouch(self, run: str, person: Person, *, via: str | None = None) -> Changed | Refusal:
        """Take a run as stopped on a person's word."""
        at = self._store.partition(run)
        if at is None:
            return UNKNOWN
        members = [member for member, _ in await self._store.due(at, "unproved", limit=100_000)]
        workers = tuple(worker for one, _, worker in (member.partition(" ") for member in members) if one == run)
        return await self._broker.committer.carry(vouched.vouch, Vouch(run, person, workers, via), at)
