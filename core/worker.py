"""The worker: claims runs that are ready, runs their turns as tasks, stops those that are to stop.

It looks at what is ready on a hint and at least every second, and at stop intents on a hint and every few seconds, so
nothing depends on a hint. A turn that waits for a person takes no slot; a parked one is not here at all. Each turn is a
task with an edge of its own: whatever happens in it ends that turn and nothing else.
This file must not know what agents do (`agent.py`) nor how a turn waits (`hold.py`).
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from types import TracebackType
from typing import Self

from core import remains
from core.apart import Apart
from core.broker import Broker
from core.errors import StoreError
from core.feed import LOOK, Subscription
from core.files import FileStore
from core.job import Job
from core.life.decision import Refusal
from core.life.event import Lost
from core.life.result import Delivered
from core.model import Cause
from core.pace import Pace
from core.run import Agent
from core.template import Template
from core.threads import noted
from core.trace import emit
from core.turn import steadily
from core.working import Holding, Working

_log = logging.getLogger(__name__)


class Worker:
    """Runs turns for as long as the context lasts; leaving it parks, ends or gives back what runs.

    agents: finds an agent by name, raising `SaysoError` in words. slots: turns that run at the same time.
    pausing: agents whose runs wait for a person when this worker is lost (`on_lost="pause"`). apart: agents whose turns
    run in processes of their own, forked from `template`, and whether their runs go on by themselves. ladders: those
    with a ladder of their own, in milliseconds.
    """

    def __init__(
        self,
        broker: Broker,
        lease: Holding,
        agents: Callable[[str], Agent],
        *,
        files: FileStore | None = None,
        slots: int = 64,
        pace: Pace | None = None,
        pausing: frozenset[str] = frozenset(),
        apart: Mapping[str, bool] | None = None,
        template: Template | None = None,
        ladders: Mapping[str, int] | None = None,
    ) -> None:
        self._broker = broker
        self._lease = lease
        self._agents = agents
        self._files = files
        self._slots = slots
        self._pace = pace or Pace()
        self._pausing = pausing
        self._apart = dict(apart or {}) if template is not None else {}
        self._template = template
        self._ladders = ladders
        self._tasks: set[asyncio.Task[None]] = set()
        self._claiming: set[str] = set()
        self._jobs: dict[str, list[Working]] = {}
        self._held = 0
        self._full = False
        self.stuck = asyncio.Event()
        """Set when a turn in this process does not end: the rest should be handed over, and the process end."""
        self.left: list[str] = []
        """Runs whose turns had not ended when this worker did."""
        self._wakes: list[Subscription] = []
        self._loops: list[asyncio.Task[None]] = []

    async def __aenter__(self) -> Self:
        loop = asyncio.get_running_loop()
        self._noted = noted(loop)
        self._noted.__enter__()
        for partition, feed in enumerate(self._broker.feeds):
            ready, stop = feed.subscribe("ready"), feed.subscribe("stop")
            self._wakes.append(ready)
            self._loops += [
                asyncio.create_task(self._ready(partition, ready), name=f"worker ready {partition}"),
                asyncio.create_task(self._stops(partition, stop), name=f"worker stop {partition}"),
            ]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for loop in self._loops[::2]:
            loop.cancel()
        await asyncio.gather(*self._loops[::2], return_exceptions=True)
        await self._wind_up()
        for loop in self._loops:
            loop.cancel()
        await asyncio.gather(*self._loops, return_exceptions=True)
        self._noted.__exit__(None, None, None)

    @property
    def running(self) -> int:
        """How many turns run; those that only wait for a person do not count."""
        return len(self._tasks) - self._held

    @property
    def held(self) -> int:
        """How many turns only wait for a person and keep their code."""
        return self._held

    @property
    def overdue(self) -> list[str]:
        """Runs whose code was told to stop and did not end in time."""
        return [job.run for job in self._all() if job.overdue]

    def _all(self) -> list[Working]:
        return [job for jobs in self._jobs.values() for job in jobs]

    def _count(self, change: int) -> None:
        self._held += change

    # ── runs to start ────────────────────────────────────────────────────────────────────────────────────────────────

    async def _ready(self, partition: int, hints: Subscription) -> None:
        """Claim what is ready, for ever."""
        loop = asyncio.get_running_loop()
        look_at = 0.0
        async with hints:
            while True:
                hinted = await hints.wait(look_at - loop.time())
                try:
                    for run in hinted - {LOOK, ""}:
                        self._claim(run)
                    if loop.time() >= look_at or hinted & {LOOK, ""}:
                        look_at = loop.time() + self._pace.ready
                        look_at = loop.time() + await self._look(partition)
                except StoreError as lost:
                    emit("worker.failed", loop="ready", why=str(lost))
                except Exception:  # noqa: BLE001  # the edge of a task: one bad look must not end the worker
                    _log.exception("looking for ready runs failed")

    async def _look(self, partition: int) -> float:
        """Claim the members of `ready` that are due; returns how long to wait for the next one."""
        now = self._broker.store.now()
        room = max(1, self._slots - self.running)
        members = await self._broker.store.due(partition, "ready", limit=room + 16)
        for run, due in members:
            if due > now:
                return min(self._pace.ready, (due - now + 1) / 1000)
            if self._broker.store.partition(run) == partition:
                self._claim(run)
            else:
                await self._set_aside(partition, run)
        return self._pace.ready

    async def _set_aside(self, partition: int | None, run: str) -> None:
        """Take an entry out of `ready` behind which there is no run; the rest goes on."""
        if partition is not None:
            emit("ready.refused", run=run, why="there is no such run")
            await self._broker.store.unlist(partition, "ready", run)

    def _claim(self, run: str) -> None:
        mine = any(not job.ending for job in self._jobs.get(run, ()))
        if mine or run in self._claiming or not self._lease.valid():
            return
        if self.running >= self._slots:
            self._full = True
            return
        task = asyncio.create_task(self._work(run, self._lease.id), name=f"turn {run}")
        self._tasks.add(task)
        self._claiming.add(run)
        task.add_done_callback(self._ended)

    async def _work(self, run: str, worker: str) -> None:
        """Take a run, and run its turn to its end."""
        try:
            try:
                taken = await self._broker.claim(run, worker, self._pausing, self._ladders)
            finally:
                self._claiming.discard(run)
            if isinstance(taken, Refusal):
                emit("claim.declined", run=run, code=taken.code)
                if taken.code == "gone":
                    await self._set_aside(self._broker.store.partition(run), run)
                return
            emit("run.claimed", run=run, fence=taken.fence, worker=worker)
            job = await self._job(taken, worker)
            with self._kept(job):
                await job.work()
        except StoreError as lost:
            emit("turn.failed", run=run, why=str(lost))
        except Exception:  # noqa: BLE001  # the edge of a task: it ends this turn only
            _log.exception("the turn of run %s ended by an error of ours", run)

    async def _job(self, taken: Delivered, worker: str) -> Working:
        """A claimed turn, in this process or in one of its own, as its agent wants it."""

        def valid() -> bool:
            return self._lease.valid() and self._lease.id == worker

        if self._apart and self._template is not None:
            record = await steadily(lambda: self._broker.peek(taken.run), valid)
            if record is not None and record.agent in self._apart:
                return Apart(
                    self._broker,
                    taken,
                    worker,
                    template=self._template,
                    pace=self._pace.of(self._agents(record.agent)),
                    valid=valid,
                    held=self._count,
                    again=self._apart[record.agent],
                    root=record.root,
                )
        return Job(
            self._broker,
            taken,
            worker,
            agents=self._agents,
            files=self._files,
            pace=self._pace,
            valid=valid,
            held=self._count,
            stuck=self.stuck.set,
        )

    @contextmanager
    def _kept(self, job: Working) -> Generator[None]:
        self._jobs.setdefault(job.run, []).append(job)
        try:
            yield
        finally:
            self._jobs[job.run].remove(job)
            if not self._jobs[job.run]:
                del self._jobs[job.run]

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if self._full:
            self._full = False
            for ready in self._wakes:
                ready.hint(LOOK)

    # ── runs to stop ─────────────────────────────────────────────────────────────────────────────────────────────────

    async def _stops(self, partition: int, hints: Subscription) -> None:
        """Stop what is to stop, and give back what nobody here works on, for ever."""
        loop = asyncio.get_running_loop()
        look_at = 0.0
        stray: dict[str, set[str]] = {}
        async with hints:
            while True:
                hinted = await hints.wait(look_at - loop.time())
                worker = self._lease.id
                stray.setdefault(worker, set())
                due = loop.time() >= look_at
                try:
                    self._forget_strangers(worker)
                    if due or hinted & {LOOK, "", worker}:
                        for run, _ in await self._broker.store.due(partition, "stop", of=worker, limit=1_000):
                            await self._stop(run, worker)
                    if due:
                        look_at = loop.time() + self._pace.look
                        for name in tuple(stray):
                            stray[name] = await self._give_back(partition, name, stray[name])
                            if name != worker and not await self._broker.store.size(partition, "claims", of=name):
                                del stray[name]
                        emit("worker.looked", partition=partition)
                except StoreError as lost:
                    look_at = loop.time() + self._pace.look
                    emit("worker.failed", loop="stop", why=str(lost))
                except Exception:  # noqa: BLE001  # the edge of a task
                    look_at = loop.time() + self._pace.look
                    _log.exception("looking for runs to stop failed")

    def _forget_strangers(self, worker: str) -> None:
        """Let go of turns that were claimed under a lease that is lost."""
        for job in self._all():
            if job.worker != worker:
                job.lose()

    async def _stop(self, run: str, worker: str) -> None:
        found = await self._broker.peek(run)
        cause: Cause | None = "deleted" if found is None else found.cause
        turns = () if found is None else found.unproved
        for job in tuple(self._jobs.get(run, ())):
            fenced = any(turn.fence == job.fence for turn in turns)
            if job.worker == worker and (found is None or found.state == "stopping" or fenced):
                job.stop(cause, urgent=found.urgent if found is not None else 0)

    def _under(self, worker: str) -> list[Working]:
        """The turns that were claimed under one id of this process."""
        return [job for job in self._all() if job.worker == worker]

    async def _give_back(self, partition: int, worker: str, stray: set[str]) -> set[str]:
        """Settle claims without a turn here: their commit or its answer was lost on the way. Twice seen is enough.

        Also those under an id whose lease is lost: as long as this process lives, nobody else can tell that they ended.
        A turn that was placed had begun, and its keeper was killed: that counts, as a worker that was lost does.
        """
        held = {run for run, _ in await self._broker.store.due(partition, "claims", of=worker, limit=10_000)}
        held -= {*(job.run for job in self._under(worker)), *self._claiming}
        for run in held & stray:
            found = await self._broker.peek(run)
            if found is not None and any(job.root == found.root for job in self._under(worker)):
                continue  # it moved, and an older turn of it is still here
            if found is not None and not await remains.end(found, worker):
                continue
            emit("claim.lost", run=run, worker=worker)
            begun = found is not None and found.turn is not None and bool(found.turn.code)
            cause: Cause = "worker_lost" if begun else "shutdown"
            await self._broker.lost(Lost(run, worker, gone=True, again=True, cause=cause))
        return held - stray

    # ── the end ──────────────────────────────────────────────────────────────────────────────────────────────────────

    async def _wind_up(self) -> None:
        """Park what waits, give the rest its grace, then stop it and give it back."""
        for job in self._all():
            job.let_go()
        await self._until_ended(self._pace.grace)
        for job in self._all():
            job.shut_down()
        await self._until_ended(self._pace.cooperative)
        self.left = [job.run for job in self._all()]
        for job in self._all():
            emit("turn.overdue", run=job.run, fence=job.fence)
        for task in tuple(self._tasks):
            task.cancel()
        await self._until_ended(1.0)

    async def _until_ended(self, timeout: float) -> None:
        if self._tasks:
            await asyncio.wait(list(self._tasks), timeout=timeout)
