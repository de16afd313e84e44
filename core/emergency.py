"""Emergencies: an owner freezes everything, thaws it, or cancels everybody's runs. It knows no rule.

What is at work when everything is frozen is paused besides, so that code which asks nobody stops, too.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Literal, TypeAlias

from core.broker import Broker
from core.frozen import Frozen
from core.life import emergency, run
from core.life.decision import Ref, Refusal
from core.life.emergency import NOT_OWNER, Freeze, Thaw
from core.life.event import Stop
from core.life.result import Kept, Stopped
from core.life.turn import effects_of
from core.looks import unsettled
from core.model import Cause, Conversation, Person, Run, Value

Effects: TypeAlias = Literal["none", "done", "unknown"]
MOST = 10_000
SIDE_BY_SIDE = 50
ROUNDS = 3


class Halted(Value):
    """What became of everybody's runs. settled: over (or paused) at once; stopping: told to stop, not over yet."""

    settled: int = 0
    stopping: int = 0
    already: bool = False


class Emergency:
    """What an owner does when everything has to stand still."""

    def __init__(self, broker: Broker) -> None:
        self._broker = broker
        self._store = broker.store

    async def frozen(self) -> Frozen | None:
        """Tell whether everything is frozen, by whom, and why."""
        found = (await self._store.read(0, [("frozen", "")]))["frozen", ""].model
        return found if isinstance(found, Frozen) else None

    async def freeze(self, person: Person, reason: str = "", *, via: str | None = None) -> Halted | Refusal:
        """Let no turn start and nothing that acts begin, in all partitions; then pause what is at work."""
        already = await self.frozen() is not None
        for partition in range(len(self._store.keys)):
            kept = await self._broker.committer.carry(emergency.freeze, Freeze(person, reason, via), partition)
            if isinstance(kept, Refusal):
                return kept
        runs = [one async for one in self._at_work()]
        return (await self._stop(runs, "user_paused", person, via)).changed(already=already)

    async def thaw(self, person: Person, *, via: str | None = None) -> Kept | Refusal:
        """Let things begin again; paused runs wait for a Resume. note: "already" when nothing was frozen."""
        kept: Kept | Refusal = Kept()
        for partition in range(len(self._store.keys)):
            kept = await self._broker.committer.carry(emergency.thaw, Thaw(person, via), partition)
            if isinstance(kept, Refusal):
                return kept
        return kept

    async def stop_all(self, person: Person, *, via: str | None = None) -> Halted | Refusal:
        """Cancel every unsettled run of everybody; what starts meanwhile is found by looking again."""
        if person.role != "owner":
            return NOT_OWNER
        total = Halted()
        told: set[str] = set()
        for _ in range(ROUNDS):
            found = [one async for one in self._unsettled() if one not in told]
            if not found:
                break
            told.update(found)
            halted = await self._stop(found, "user_canceled", person, via)
            total = Halted(settled=total.settled + halted.settled, stopping=total.stopping + halted.stopping)
        return total

    async def _at_work(self) -> AsyncIterator[str]:
        """The runs whose code works now, by what workers hold."""
        for partition in range(len(self._store.keys)):
            for holder, _ in await self._store.due(partition, "leases", limit=MOST):
                for id, _ in await self._store.due(partition, "claims", of=holder, limit=MOST):
                    found = await self._broker.peek(id)
                    if found is not None and found.state == "working":
                        yield found.id

    async def _unsettled(self) -> AsyncIterator[str]:
        """The unsettled runs of everybody."""
        for partition in range(len(self._store.keys)):
            for person in await self._store.waited_for(partition):
                places = [id for id, _ in await self._store.due(partition, "pending", of=person, limit=1_000_000)]
                for begin in range(0, len(places), SIDE_BY_SIDE):
                    refs: list[Ref] = [("conversation", id) for id in places[begin : begin + SIDE_BY_SIDE]]
                    for stored in (await self._store.read(partition, refs)).values():
                        for id in unsettled(stored.model) if isinstance(stored.model, Conversation) else ():
                            yield id

    async def _stop(self, runs: list[str], cause: Cause, person: Person, via: str | None) -> Halted:
        settled = stopping = 0
        for begin in range(0, len(runs), SIDE_BY_SIDE):
            chunk = runs[begin : begin + SIDE_BY_SIDE]
            for told in await asyncio.gather(*(self._one(id, cause, person, via) for id in chunk)):
                if isinstance(told, Stopped):
                    stopping += told.state in ("canceling", "pausing")
                    settled += told.state in ("canceled", "paused")
        return Halted(settled=settled, stopping=stopping)

    async def _one(self, id: str, cause: Cause, person: Person, via: str | None) -> Stopped | Refusal:
        partition, found = self._store.partition(id), await self._broker.peek(id)
        if partition is None or found is None:
            return run.UNKNOWN
        event = Stop(id, cause, person, effects=await self._effects(found), all=True, via=via)
        return await self._broker.committer.carry(run.stop, event, partition)

    async def _effects(self, found: Run) -> Effects | None:
        if found.turn is not None:
            return None
        return effects_of([step for _, step in await self._broker.steps(found.root)])
