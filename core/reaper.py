"""The reaper: makes turns end whose worker does not get it done, on the host where they run. Every process has one.

    a turn in a process of its own     its whole tree is killed, and its end recorded when nothing of it lives
    a turn in its worker's process     the worker is killed, when it neither ended the turn nor itself; its other runs
                                       go on elsewhere, and that the turn ended is known from the process being gone
    a turn of a run that was deleted   nothing names it any more but its worker, so that one is killed, and all it
                                       started with it
    a control group whose maker is gone    all that it holds is killed: nobody waits for it any more

It comes late on purpose: a worker climbs the ladder by itself first, and one that cannot free itself of a turn hands
its other runs over and ends. Nothing from another host counts as proof. Source: DESIGN sections 4 and 5.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
from contextlib import suppress
from types import TracebackType
from typing import Literal, Self

from core import cgroups, remains, tree
from core.broker import Broker
from core.errors import StoreError
from core.lease import is_gone, is_here
from core.life.event import Ended, Lost
from core.life.place import ghost
from core.life.run import turns_of
from core.life.turn import effects_of
from core.model import Incarnation, Run, Turn
from core.pace import Pace
from core.trace import emit

_log = logging.getLogger(__name__)
HANDOVER = 15.0
"""seconds that a worker has to hand its other runs over, before it is killed for one that does not end"""


class Reaper:
    """Ends what its worker does not, for as long as the context lasts. handover: seconds."""

    def __init__(self, broker: Broker, *, pace: Pace | None = None, handover: float = HANDOVER) -> None:
        self._broker = broker
        self._pace = pace or Pace()
        self._handover = handover

    async def __aenter__(self) -> Self:
        self._task = asyncio.create_task(self._keep(), name="reaper")
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    async def _keep(self) -> None:
        while True:
            await asyncio.sleep(self._pace.look)
            try:
                self._clear()
                for partition in range(len(self._broker.store.keys)):
                    await self._look(partition)
            except StoreError as lost:
                _log.warning("turns that do not end cannot be looked for: %s", lost)
            except Exception:  # noqa: BLE001  # the edge of the task: one bad run must not end all reaping
                _log.exception("one look for turns that do not end failed")

    def _clear(self) -> None:
        """Kill what control groups hold that a dead worker left; they are gone at the next look."""
        for group in cgroups.orphans():
            if cgroups.occupied(group):
                emit("group.killed", path=group)
            cgroups.kill(group)
            cgroups.remove(group)

    async def _look(self, partition: int) -> None:
        """Look at what is stopping for longer than its worker should need."""
        pace, now = self._pace, self._broker.store.now()
        help_after = int((pace.cooperative + pace.terminate) * 1000)
        kill_after = pace.ladder_ms + int(self._handover * 1000)
        for id, _ in await self._broker.store.due(partition, "stopping", until=now - help_after, limit=1_000):
            run = await self._broker.peek(id)
            if run is None or run.state != "stopping":
                continue
            for turn in turns_of(run):
                own, since = turn.ladder_ms or 0, now - (run.stop_ms or now)
                if turn.code and since >= own:
                    await self._end_tree(run, turn)
                elif turn.code or since < max(kill_after, own + int(self._handover * 1000)):
                    continue
                elif await self._is_ended(partition, turn.worker, id) and await remains.end(run, turn.worker):
                    event = Lost(run.id, turn.worker, gone=True, effects=await self._effects(run, turn))
                    await self._broker.lost(event)
        for member, _ in await self._broker.store.due(partition, "unproved", until=now - kill_after, limit=1_000):
            await self._end_deleted(partition, *member.split(" ", 1))

    async def _end_tree(self, run: Run, turn: Turn) -> None:
        """Kill a turn that runs apart, with all that it started; record its end when all of it is gone."""
        code = tree.parsed(turn.code)
        if code is None or not code.here:
            return
        alone = run.changed(turn=turn, unproved=())
        was_alive = bool(remains.leftovers(alone))
        if not await remains.end(alone):
            return
        by = "killed" if was_alive else "process gone"
        emit("turn.reaped", run=run.id, fence=turn.fence, by=by)
        await self._broker.ended(Ended(run.id, turn.fence, by, await self._effects(run, turn), turn.worker))

    async def _end_deleted(self, partition: int, run: str, worker: str) -> None:
        """End what still works for a run that was deleted: with its worker goes all that it started for it.

        Not while that worker has its lease: it climbs the ladder by itself, or ends.
        """
        live = (await self._broker.store.read(partition, [("incarnation", worker)]))["incarnation", worker].model
        if isinstance(live, Incarnation) and live.until_ms > self._broker.store.now():
            return
        if await self._broker.peek(run) is None and await self._is_ended(partition, worker, run):
            await self._broker.lost(Lost(run, worker, gone=True))

    async def _is_ended(self, partition: int, id: str, run: str) -> bool:
        """Kill a worker that could not free itself of a run, what else it did goes on elsewhere; or tell it is gone."""
        worker = await self._worker(partition, id)
        if worker is None or not is_here(worker) or worker.pid == os.getpid():
            return False
        if is_gone(worker):
            return True
        _log.error("worker %s (pid %d) does not end run %s, it is killed", worker.id, worker.pid, run)
        emit("worker.killed", worker=worker.id, run=run)
        with suppress(ProcessLookupError):
            os.kill(worker.pid, signal.SIGKILL)
        return False

    async def _worker(self, partition: int, id: str) -> Incarnation | None:
        """Who holds or held a turn."""
        found = await self._broker.store.read(partition, [("incarnation", id), ("incarnation", ghost(id))])
        return next((one.model for one in found.values() if isinstance(one.model, Incarnation)), None)

    async def _effects(self, run: Run, turn: Turn) -> Literal["none", "done", "unknown"]:
        steps = await self._broker.steps(run.root)
        return effects_of([step for _, step in steps if step.kind == "done" or step.fence <= turn.fence])
