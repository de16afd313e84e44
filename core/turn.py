"""One turn at work: what it records goes out under its fence, what it asks is held for a while, then parked.

The turn is a task. A stop cancels it; a park leaves it by `Parking`; when another turn has taken its run, it is
cancelled and forgotten. All three are final: while the code unwinds, nothing more is recorded.
This file must not know what verbs an agent has.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager, suppress
from itertools import count
from typing import Literal, NoReturn, TypeVar

from core.broker import Broker
from core.errors import LinkDown, LinkLost, SaysoError, StoreError
from core.life.decision import Refusal
from core.life.draft import StepName
from core.life.event import Append, Begin
from core.life.result import Delivered, Kept
from core.model import Cause, Entry, Event, EventType, Json, Run, Step
from core.pace import Pace
from core.replay import Tape
from core.secret import Secret, Veil
from core.trace import emit
from core.waited import unbroken, waited_for

R = TypeVar("R")
T = TypeVar("T")
P = TypeVar("P", Step, Entry, Event)
PAUSES = (0.02, 0.05, 0.1, 0.2, 0.5)


class Parking(BaseException):  # it is no error
    """The turn is parked: the code is left, and called again when it is answered."""


class NotAskable(SaysoError):
    """A question that nobody could answer; the text names the field and the rule."""


class Turn:
    """A live turn. `task` is the task that runs the agent's code; `valid` tells whether its worker's lease holds."""

    def __init__(self, broker: Broker, run: Run, taken: Delivered, pace: Pace, valid: Callable[[], bool]) -> None:
        self.broker = broker
        self.run = run
        self.fence = taken.fence
        self.halt = taken.halt
        self.pace = pace
        self.tape = Tape(taken.fence)
        self.task: asyncio.Task[object] | None = None
        self.cause: Cause | None = None
        self.parked = False
        self.lost = False
        self.stopping = False
        self.acting = 0
        self.open: set[str] = set()
        self.tools: set[str] = set()
        self.changed: Callable[[], None] = _nothing
        self.forked = False
        self.veil = Veil()
        self._valid = valid
        self.writing = asyncio.Lock()
        self.over = asyncio.Event()
        self.over_commands: set[str] = set()
        self.ended_by: Literal["cooperative", "killed"] = "cooperative"
        self._actors: Counter[asyncio.Task[object] | None] = Counter()
        self._began: set[asyncio.Task[object]] = set()
        self._quiet = asyncio.Event()
        self._quiet.set()

    # ── how it ends before its code does ─────────────────────────────────────────────────────────────────────────────

    def stop(self, cause: Cause | None) -> bool:
        """Cancel the code, once; tells whether this call did. A later cause replaces an earlier one."""
        self.cause = cause or self.cause
        if self.stopping or self.parked or self.lost or self.task is None:
            return False
        self.stopping = True
        return self.task.cancel(self.cause)

    def lose(self) -> bool:
        """Another turn has the run, or it is gone: cancel the code, once, and record nothing more; tells as `stop`."""
        if self.lost:
            return False
        emit("turn.fenced", run=self.run.id, fence=self.fence)
        cancelled = self.stop(None)
        self.lost = True
        return cancelled

    async def close(self) -> None:
        """Release whoever still waits on this turn, whose code has ended, and wait until nothing of it acts any more.

        What the code left behind (a sibling of a call that failed) may end by itself for a while, then it is cancelled.
        A turn that was stopped leaves no task at all.
        """
        self.over.set()
        with suppress(TimeoutError):
            async with asyncio.timeout(0 if self.stopping else self.pace.grace):
                await self._quiet.wait()
        for task in tuple(self._actors):
            if task is not None:
                task.cancel(self.cause)
        if self.stopping:
            await self._end_tasks()
        await self._quiet.wait()

    def forced(self, step: str) -> None:
        """A command of the turn was ended by this step of a ladder, because the turn is stopped."""
        if step == "kill":
            self.ended_by = "killed"

    def leave(self, task: asyncio.Task[object]) -> None:
        """Know of a task that the code began, so that none is left behind when the turn is stopped."""
        self._began.add(task)
        task.add_done_callback(self._began.discard)

    async def _end_tasks(self) -> None:
        """Cancel what the code began and did not wait for, until there is none of it."""
        with self.act():
            while left := [task for task in self._began if not task.done()]:
                emit("turn.left", run=self.run.id, tasks=", ".join(task.get_name() for task in left))
                for task in left:
                    task.cancel(self.cause)
                await asyncio.wait(left)

    @contextmanager
    def act(self, task: asyncio.Task[object] | None = None) -> Generator[None]:
        """Count as acting: a turn that acts is not parked. task: what to cancel when the code leaves it behind."""
        self.acting += 1
        self._actors[task] += 1
        self._quiet.clear()
        self.changed()
        try:
            yield
        finally:
            self.acting -= 1
            self._actors -= Counter([task])
            if not self.acting:
                self._quiet.set()
            self.changed()

    def opened(self, call: str) -> None:
        """A call of a tool is open: unless it asks itself, the turn is not parked."""
        self.open.add(call)
        self.changed()

    def closed(self, call: str) -> None:
        """A call of a tool is over."""
        self.open.discard(call)
        self.changed()

    def check(self) -> None:
        """Refuse to go on when the turn is over. Raises: `Parking`, `CancelledError`."""
        if self.task is not asyncio.current_task():
            self.forked = True
        if self.parked:
            raise Parking
        if self.lost or self.over.is_set():
            raise asyncio.CancelledError(self.cause)

    async def stopped(self, cause: Cause | None) -> NoReturn:
        """Leave the code by the cancellation of its task, wherever in it this is."""
        if self.stop(cause):
            await self.over.wait()
        raise asyncio.CancelledError(self.cause)

    async def refused(self, refusal: Refusal) -> NoReturn:
        """Leave the code as a refusal demands."""
        if refusal.code in ("fenced", "gone"):
            await self._abandon()
        if refusal.code == "halted":
            run = await self.steady(lambda: self.broker.peek(self.run.id))
            await self.stopped(run.cause if run is not None else "deleted")
        raise (NotAskable if refusal.code == "invalid" else SaysoError)(refusal.text)

    # ── what it records ──────────────────────────────────────────────────────────────────────────────────────────────

    async def read(self) -> list[Step]:
        """Read what came into the run's journal since."""
        return self.tape.load(await self.steady(lambda: self.broker.steps(self.run.root, self.tape.length)))

    async def record(
        self, kind: StepName, key: str, send: Callable[[int], Awaitable[R | Refusal]]
    ) -> R | Refusal | None:
        """Commit one entry of the journal under the next number, as soon as it may; None when it was there already."""
        while True:
            with self.act():
                async with self.writing:
                    if self.parked:
                        raise Parking
                    result = await self._record(kind, key, send)
            if not isinstance(result, Refusal) or result.code != "frozen":
                break
            emit("turn.waited", run=self.run.id, why=result.code)
            await self._pause(len(PAUSES))
        if isinstance(result, Refusal) and result.code != "not_approved":
            await self.refused(result)
        return result

    async def _record(
        self, kind: StepName, key: str, send: Callable[[int], Awaitable[R | Refusal]]
    ) -> R | Refusal | None:
        attempt = 0
        while True:
            try:
                result = await send(self.tape.length)
            except (LinkDown, LinkLost):
                result = None
                await self._pause(attempt)
                attempt += 1
            if result is not None and not isinstance(result, Refusal):
                self.tape.length += 1
                return result
            if result is not None and result.code not in ("length", "contended"):
                return result
            if any(self.tape.wrote(kind, key, step) for step in await self.read()):
                return None

    async def steady(self, send: Callable[[], Awaitable[T]]) -> T:
        """Ask Redis something until it answers, as long as the worker's lease holds."""
        try:
            return await steadily(send, self._valid)
        except StoreError:
            if self._valid():
                raise
            await self._abandon()

    async def _pause(self, attempt: int) -> None:
        if not self._valid():
            await self._abandon()
        await asyncio.sleep(PAUSES[min(attempt, len(PAUSES) - 1)])

    async def _abandon(self) -> NoReturn:
        if self.lose() and not waited_for.get():
            await self.over.wait()
        raise asyncio.CancelledError

    async def begin(
        self, key: str, name: str | None = None, tell: tuple[Event, ...] = (), **more: Json
    ) -> Kept | Refusal | None:
        """Record that something is about to act: the last check. name: the digest that must be approved."""
        run, fence, halt = self.run.id, self.fence, self.halt
        plain, told = self.veil.fields(more), tuple(self._unseen(event) for event in tell)
        return await self.record(
            "begun", key, lambda length: self.broker.begin(Begin(run, fence, halt, key, length, name, told, plain))
        )

    async def append(
        self,
        step: Step,
        *,
        entries: tuple[Entry, ...] = (),
        tell: tuple[Event, ...] = (),
        used: tuple[str, ...] = (),
    ) -> None:
        """Record an entry of the journal with what goes with it; a cancellation waits until that is done."""

        def send(length: int) -> Awaitable[Kept | Refusal]:
            return self.broker.append(
                self._appended(length=length, steps=(step,), entries=entries, tell=tell, used=used)
            )

        await unbroken(self.record(step.kind, step.key, send))

    async def tell(self, *events: Event, entries: tuple[Entry, ...] = ()) -> bool:
        """Tell something that is not replayed; when Redis cannot be reached it is dropped."""
        try:
            kept = await self.broker.append(self._appended(entries=entries, tell=events))
        except (LinkDown, LinkLost):
            return False
        if isinstance(kept, Refusal):
            await self.refused(kept)
        return True

    def _appended(
        self,
        *,
        length: int | None = None,
        steps: tuple[Step, ...] = (),
        entries: tuple[Entry, ...] = (),
        tell: tuple[Event, ...] = (),
        used: tuple[str, ...] = (),
    ) -> Append:
        run = self.run
        if self.veil:
            steps, entries = tuple(map(self._unseen, steps)), tuple(map(self._unseen, entries))
            tell = tuple(map(self._unseen, tell))
        return Append(
            run=run.id,
            root=run.root,
            conversation=run.conversation,
            fence=self.fence,
            origin=run.origin,
            length=length,
            steps=steps,
            entries=entries,
            tell=tell,
            used=used,
        )

    def _unseen(self, told: P) -> P:
        """The same without the secrets that this turn revealed."""
        if not self.veil:
            return told
        text = {"text": self.veil.text(told.text)} if isinstance(told, Entry) else {}
        return told.changed(data=self.veil.fields(told.data), **text)

    def event(self, type: EventType, **fields: Json) -> Event:
        """Make an event of this run."""
        return Event(type=type, run=self.run.id, at=self.broker.store.now(), data=fields)

    def veiled(self, secret: Secret) -> Secret:
        """Have what a secret reveals left out of everything that this turn records."""
        secret.veil = self.veil
        return secret

    def entry(self, kind: StepName, key: str, **fields: Json) -> Step:
        """Make an entry of the run's journal."""
        return Step(kind=kind, key=key, fence=self.fence, at=self.broker.store.now(), data=fields)


def _nothing() -> None:
    pass


async def steadily(send: Callable[[], Awaitable[T]], valid: Callable[[], bool]) -> T:
    """Ask Redis something again until it answers, as long as a lease holds; what is asked must bear being repeated."""
    for attempt in count():
        try:
            return await send()
        except (LinkDown, LinkLost):
            if not valid():
                raise
        await asyncio.sleep(PAUSES[min(attempt, len(PAUSES) - 1)])
    raise AssertionError
