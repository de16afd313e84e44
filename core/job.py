"""One claimed turn, from its claim to its last word: the agent's code in a task, and what is recorded of its end.

    the agent returned          completed or failed          it raised      paused, with the error in one line
    it was told to stop         seen to have ended           it parked      nothing more
    another turn has the run    forgotten, and counted       shut down      given back, to go on elsewhere

This file must not know how runs are found (`worker.py`).
"""

from __future__ import annotations

import asyncio
import logging
import traceback
from collections.abc import Callable

from pydantic import ValidationError

from core.broker import Broker
from core.errors import SaysoError, StoreError
from core.files import File, FileStore
from core.hold import Hold
from core.life.apart import Unyielding
from core.life.decision import Refusal
from core.life.event import Broke, Ended, Finish, Lost
from core.life.result import Changed, Delivered
from core.life.turn import effects_of
from core.model import Cause
from core.model import Run as Record
from core.pace import Pace
from core.replay import Diverged
from core.run import Agent, Completed, Failed, Parked, Run, goes_on
from core.threads import whose
from core.trace import emit
from core.turn import Turn, steadily

_log = logging.getLogger(__name__)
DIVERGED = "the agent returned, but the journal holds {left!r}, which it did not come to again"


def _nothing() -> None:
    pass


class Job:
    """A turn that this worker claimed.

    proves: whether the end of its code is the end of its work; not so in a process of its own, which may leave others.
    stuck: called when the code neither ends nor can be ended here. how: how it ended, once it did.
    """

    def __init__(
        self,
        broker: Broker,
        taken: Delivered,
        worker: str,
        *,
        agents: Callable[[str], Agent],
        files: FileStore | None,
        pace: Pace,
        valid: Callable[[], bool],
        held: Callable[[int], None],
        proves: bool = True,
        stuck: Callable[[], None] = _nothing,
    ) -> None:
        self.how = ""
        self.run = taken.run
        self.fence = taken.fence
        self.worker = worker
        self.overdue = False
        self._broker = broker
        self._taken = taken
        self._agents = agents
        self._files = files
        self._pace = pace
        self._valid = valid
        self._held = held
        self._proves = proves
        self._stuck = stuck
        self._turn: Turn | None = None
        self._hold: Hold | None = None
        self._stop_cause: Cause | None = None
        self._stopped = False
        self._alarm: asyncio.TimerHandle | None = None
        self._shutting = False
        self._pressed = 0

    @property
    def root(self) -> str:
        """The name that its run keeps when it moves."""
        return self._turn.run.root if self._turn is not None else self.run

    @property
    def ending(self) -> bool:
        """Whether the turn was told to stop, or lost its run."""
        return self._stopped or (self._turn is not None and (self._turn.lost or self._turn.stopping))

    async def work(self) -> None:
        """Run the agent's code and record how it ended."""
        record = await steadily(lambda: self._broker.peek(self.run), self._valid)
        if record is None or record.turn is None or record.turn.fence != self.fence:
            emit("turn.fenced", run=self.run, fence=self.fence)
            await self._never_began()
            return
        if record.state == "stopping":
            self._stopped, self._stop_cause = True, record.cause
        turn = self._turn = Turn(self._broker, record, self._taken, self._pace, self._valid)
        hold = self._hold = Hold(turn, self._held)
        await turn.read()
        code = turn.task = asyncio.create_task(self._code(turn, hold, record), name=f"agent {record.agent}")
        try:
            if self._stopped:
                turn.stop(self._stop_cause)
            await asyncio.wait([code])
        finally:
            code.cancel()
            await turn.close()
            await hold.close()
            if self._alarm is not None:
                self._alarm.cancel()
        await self._record(turn, code)

    # ── from outside ─────────────────────────────────────────────────────────────────────────────────────────────────

    def stop(self, cause: Cause | None, *, urgent: int = 0) -> None:
        """Stop the code, for a cause; a stronger cause replaces it. urgent: do not wait for it any longer."""
        hurried = self._stopped and not self.overdue and urgent > self._pressed
        self._pressed = max(urgent, self._pressed)
        self._stopped, self._stop_cause = True, cause
        if self._turn is not None:
            self._turn.stop(cause)
        if self._alarm is None or hurried:
            if self._alarm is not None:
                self._alarm.cancel()
            after = 0.0 if hurried else self._pace.cooperative
            self._alarm = asyncio.get_running_loop().call_later(after, self._late)

    def lose(self) -> None:
        """Forget the turn: its run is somebody else's now."""
        if self._turn is not None:
            self._turn.lose()

    def let_go(self) -> None:
        """Park as soon as only questions are outstanding."""
        if self._hold is not None:
            self._hold.let_go()

    def shut_down(self) -> None:
        """Stop the code because the worker ends; the run goes on elsewhere."""
        self._shutting = not self._stopped
        self.stop("shutdown")

    def _late(self) -> None:
        """The code was told to stop and did not: the conversation goes on without it, what it still records is void."""
        turn = self._turn
        if turn is not None and turn.task is not None and turn.task.done() and not turn.acting:
            return  # it did, and left no thread behind; only its record is still on the way
        self.overdue = True
        emit("turn.overdue", run=self.run, fence=self.fence)
        if self._proves and not self._shutting:
            pace = self._pace
            after = pace.terminate + pace.kill + pace.verify
            self._alarm = asyncio.get_running_loop().call_later(after, self._stuck)
            self._fencing = asyncio.create_task(self._fence_off(), name=f"fence {self.run}")

    async def _fence_off(self) -> None:
        try:
            await self._broker.stops.unyielding(Unyielding(self.run, self.fence))
        except StoreError as lost:
            _log.warning("run %s does not stop, and that could not be recorded: %s", self.run, lost)

    # ── the code ─────────────────────────────────────────────────────────────────────────────────────────────────────

    async def _code(self, turn: Turn, hold: Hold, record: Record) -> Completed | Parked | Failed:
        whose.set(turn)
        agent = self._agents(record.agent)
        self._pace = turn.pace = self._pace.of(agent)
        run = Run(
            turn,
            hold,
            await turn.steady(lambda: self._broker.message(record)),
            agents=self._agents,
            files=self._files,
            attachments=await self._attached(record),
        )
        emit("turn.started", run=record.id, fence=turn.fence)
        outcome = await agent.turn(run)
        left = turn.tape.unused()
        if left and not turn.parked and isinstance(outcome, Completed | Failed):
            raise Diverged(DIVERGED.format(left=left[0]))
        return outcome

    async def _attached(self, record: Record) -> tuple[File, ...]:
        if self._files is None:
            return ()
        found = [await self._files.get(id) for id in record.attachments]
        return tuple(file for file in found if file is not None)

    # ── its end ──────────────────────────────────────────────────────────────────────────────────────────────────────

    async def _record(self, turn: Turn, code: asyncio.Task[Completed | Parked | Failed]) -> None:
        """Record how the code ended."""
        error = None if code.cancelled() else code.exception()
        if turn.parked:
            self._said("parked")
        elif turn.lost:
            await self._fenced(turn)
        elif code.cancelled() or (error is not None and self._shutting):
            await self._stopped_code(turn)
        elif error is not None:
            await self._broke(turn, error)
        else:
            await self._returned(turn, code.result())

    async def _stopped_code(self, turn: Turn) -> None:
        """The code was cancelled and has ended: proof of that, or the run goes back to be taken up elsewhere."""
        if not self._proves:
            self._said("shutdown" if self._shutting else "stopped")
            return
        if self._shutting:
            event = Lost(self.run, self.worker, gone=True, again=self._goes_on(turn), cause="shutdown")
            await turn.steady(lambda: self._broker.lost(event))
            self._said("shutdown")
            return
        event = await self._end_of(turn)
        ended = await turn.steady(lambda: self._broker.ended(event))
        if isinstance(ended, Refusal) and ended.code == "conflict":
            await self._broke(turn, SaysoError("the agent's code was cancelled, but nobody asked the run to stop"))
        else:
            self._said("stopped")

    def _goes_on(self, turn: Turn) -> bool:
        try:
            return goes_on(self._agents(turn.run.agent))
        except SaysoError:
            return False

    async def _fenced(self, turn: Turn) -> None:
        """Another turn has the run, or it was stopped without waiting for this one: only say that the work ended."""
        if not self._proves:
            self._said("fenced")
            return
        event = await self._end_of(turn)
        await turn.steady(lambda: self._broker.ended(event))
        self._said("fenced")

    async def _never_began(self) -> None:
        """Another turn has the run before this one's code began: nothing of it works, and nobody need look for it."""
        if self._proves:
            event = Ended(self.run, self.fence, by="cooperative", effects=None, worker=self.worker)
            await steadily(lambda: self._broker.ended(event), self._valid)

    async def _end_of(self, turn: Turn) -> Ended:
        """Say that the turn's code has ended, and what it did; what a newer turn has begun is that one's to tell."""
        steps = await turn.steady(lambda: self._broker.steps(turn.run.root))
        effects = effects_of([step for _, step in steps if step.kind == "done" or step.fence <= self.fence])
        return Ended(self.run, self.fence, by=turn.ended_by, effects=effects, worker=self.worker)

    async def _broke(self, turn: Turn, error: BaseException) -> None:
        """The code raised what its author did not mean: one line for people, the traceback in the log."""
        words = turn.veil.text(_words(error))
        trace = "".join(traceback.format_exception(error))
        _log.error("run %s broke: %s\n%s", self.run, words, turn.veil.text(trace))
        broke = await turn.steady(lambda: self._broker.broke(Broke(self.run, self.fence, words)))
        if isinstance(broke, Refusal):
            await self._fenced(turn)
        else:
            self._said("broke", error=words)

    async def _returned(self, turn: Turn, outcome: Completed | Parked | Failed) -> None:
        if isinstance(outcome, Parked):
            await self._broke(turn, SaysoError("the agent says that it parked, but it asked nothing"))
            return
        changed = await self._finish(turn, outcome)
        if isinstance(changed, Refusal):
            await self._fenced(turn)
        else:
            self._said(changed.state)

    def _said(self, how: str, **more: str) -> None:
        self.how = how
        name = "turn.broke" if how == "broke" else "turn.ended"
        emit(name, run=self.run, fence=self.fence, how=how, cause=self._stop_cause, **more)

    async def _finish(self, turn: Turn, outcome: Completed | Failed) -> Changed | Refusal:
        """Record what the agent returned; what a person said and it did not take in starts the next run."""
        while True:
            given = turn.tape.given
            rest = turn.tape.steers[given:]
            how = "completed" if isinstance(outcome, Completed) else "failed"
            untaken = tuple(steer.text for steer in rest)
            files = tuple(file for steer in rest for file in steer.attachments)
            text = turn.veil.text(outcome.text) if outcome.text else outcome.text
            event = Finish(self.run, self.fence, how, text, took=given, untaken=untaken, attachments=files)
            changed = await turn.steady(lambda: self._broker.finish(event))  # noqa: B023  # called at once
            if not isinstance(changed, Refusal) or changed.code != "steered":
                return changed
            await turn.read()


def _words(error: BaseException) -> str:
    """An error in one line: its type and message; of a group, that of its first member; of values, what is wrong."""
    first: object = getattr(error, "exceptions", (None,))[0]
    if isinstance(first, BaseException):
        return _words(first)
    if isinstance(error, ValidationError):
        wrong = (f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors(include_url=False))
        return f"{error.title} cannot be made: {'; '.join(wrong)}"[:500]
    text = " ".join(str(error).split())[:500]
    kind = type(error).__name__
    return text if isinstance(error, SaysoError) and text else f"{kind}: {text}" if text else kind
