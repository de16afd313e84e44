"""The sweeper: turns due timers into events, and settles what dead processes held. One per partition, by lease.

It sleeps exactly to the head of `timers` (a commit that makes a soon head hints), and looks at least every `look`
seconds. A timer whose event is refused goes, if nobody moved it. Others stand by and take over when its lease lapses.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from types import TracebackType
from typing import Self

from core import remains, tree
from core.broker import Broker
from core.errors import StoreError
from core.lease import identity, is_gone
from core.life.again import awaits_proof
from core.life.decision import Refusal
from core.life.event import Deadline, Free, Lost, ShrinkDue
from core.life.living import Hold, Leave, Stray, Swept
from core.life.place import ghost
from core.life.turn import effects_of
from core.model import Incarnation, Run, fresh

_log = logging.getLogger(__name__)
BATCH = 200
SIDE_BY_SIDE = 50


class Sweeper:
    """The sweeping of all partitions, for as long as the context lasts.

    look: seconds between two looks at most. span: seconds of the singleton lease. again: tells of an agent by name
    whether its runs can go on by themselves when their worker was lost.
    """

    def __init__(
        self,
        broker: Broker,
        *,
        look: float = 0.25,
        span: float = 3.0,
        again: Callable[[str], bool] | None = None,
    ) -> None:
        self.id = fresh("w", 0)
        self._broker = broker
        self._look = look
        self._span = span
        self._again = again or _always
        self.holds: set[int] = set()
        self.fired = 0

    async def __aenter__(self) -> Self:
        self._tasks = [
            asyncio.create_task(self._keep(partition), name=f"sweeper {partition}")
            for partition in range(len(self._broker.store.keys))
        ]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for partition in tuple(self.holds):
            try:
                await self._hold(partition, ending=True)
            except StoreError as lost:
                _log.warning("could not hand over the sweeping, its lease will lapse: %s", lost)

    async def _keep(self, partition: int) -> None:
        """Hold the partition when nobody else does, and sweep it."""
        loop = asyncio.get_running_loop()
        renew_at = 0.0
        async with self._broker.feeds[partition].subscribe("timer") as hints:
            while True:
                pause = self._look
                try:
                    if loop.time() >= renew_at:
                        await self._hold(partition)
                        renew_at = loop.time() + self._span / 3
                    if partition in self.holds:
                        pause = await self._sweep(partition)
                except StoreError as lost:
                    self.holds.discard(partition)
                    renew_at = 0.0
                    _log.warning("sweeping stands still: %s", lost)
                except Exception:  # noqa: BLE001  # the edge of the task: one bad entry must not end all sweeping
                    _log.exception("one round of sweeping failed")
                await hints.wait(pause)

    async def _hold(self, partition: int, *, ending: bool = False) -> None:
        until = self._broker.store.now() + (0 if ending else int(self._span * 1000))
        me = identity(self.id, "singleton", until)
        held = await self._broker.hold(Hold("sweeper", me), partition)
        if isinstance(held, Refusal) or ending:
            self.holds.discard(partition)
        else:
            self.holds.add(partition)

    async def _sweep(self, partition: int) -> float:
        """Let everything due have its effect; returns the seconds until the next look."""
        store = self._broker.store
        now = store.now()
        due = await store.due(partition, "timers", until=now, limit=BATCH)
        for begin in range(0, len(due), SIDE_BY_SIDE):
            chunk = due[begin : begin + SIDE_BY_SIDE]
            await asyncio.gather(*(self._fire(partition, member, at) for member, at in chunk))
        for member, _ in await store.due(partition, "leases", until=now, limit=BATCH):
            await self._lapsed(partition, member)
        if len(due) == BATCH:
            return 0.0
        head = await store.due(partition, "timers", limit=1)
        return min(self._look, max(0.0, (head[0][1] - store.now()) / 1000)) if head else self._look

    async def _fire(self, partition: int, member: str, at: int) -> None:
        what, _, id = member.partition(":")
        self.fired += 1
        match what:
            case "deadline":
                result = await self._broker.tick(Deadline(id), partition)
            case "free":
                result = await self._broker.tick(Free(id), partition)
            case "shrink":
                result = await self._broker.tick(ShrinkDue(id), partition)
            case _:
                await self._broker.store.unlist(partition, "timers", member)
                return
        if isinstance(result, Refusal) and result.code != "contended":
            await self._broker.tick(Stray(what, id, at), partition)

    async def _lapsed(self, partition: int, id: str) -> None:
        """Settle what a process held whose lease lapsed, or that said goodbye; later look whether it is gone at last.

        Who it was is remembered while a run, perhaps one that was deleted, has a turn of it that may still work.
        """
        was = await self._ghost(partition, id)
        if was is None:
            left = await self._broker.leave(Leave(id, lapsed=True), partition)
            if isinstance(left, Refusal):
                return
            was = await self._ghost(partition, id)
        gone = was is not None and is_gone(was)
        claims = await self._claims(partition, id)
        found = await self._broker.store.read(partition, [("run", run) for run in claims])
        marks = tree.marked() if gone and claims else None
        for run in claims:
            model = found["run", run].model
            here = model if isinstance(model, Run) else None
            proved = gone and (here is None or await remains.end(here, id, marks))
            if proved or (here is not None and not _waits(here, id)):
                await self._settle(run, id, gone=proved)
        await self._broker.swept(Swept(id, open=bool(await self._claims(partition, id))), partition)

    async def _ghost(self, partition: int, id: str) -> Incarnation | None:
        ref = ("incarnation", ghost(id))
        found = (await self._broker.store.read(partition, [ref]))[ref].model
        return found if isinstance(found, Incarnation) else None

    async def _claims(self, partition: int, id: str) -> list[str]:
        return [run for run, _ in await self._broker.store.due(partition, "claims", of=id, limit=10_000)]

    async def _settle(self, run: str, worker: str, *, gone: bool) -> None:
        found = await self._broker.peek(run)
        again = found is None or self._again(found.agent)
        effects = None if found is None else effects_of([step for _, step in await self._broker.steps(found.root)])
        settled = await self._broker.lost(Lost(run, worker, gone, again, effects=effects))
        _log.warning("the worker %s of run %s was lost (%s): %r", worker, run, "gone" if gone else "unproved", settled)


def _waits(run: Run, worker: str) -> bool:
    """Whether all that can be known of this worker's turns of a run is settled, so that only proof is missing."""
    mine = run.turn is not None and run.turn.worker == worker
    return run.moved_to is None and not mine and awaits_proof(run, worker)


def _always(agent: str) -> bool:
    """Function agents keep a journal, so their runs can be replayed."""
    return bool(agent)
