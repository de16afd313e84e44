"""A claimed turn whose code runs in a process of its own, as the worker sees it: started, driven, ended, seen to end.

    worker ──talk──▶ the turn's process     begin, stop, lose, let_go, hint        ──▶ held, how it ended
    worker ──reins──▶ its keeper            terminate, kill                        ──▶ code, over, empty

The turn's process records its work itself, under its fence. That the work ended is recorded here, and only when its
keeper says that nothing of the tree lives any more. This file must not know how a process is made (`template.py`).
"""

from __future__ import annotations

import asyncio
import json
import logging
import signal
import socket
from collections.abc import AsyncGenerator, Callable
from contextlib import suppress

from core import cgroups, remains, tree
from core.broker import Broker
from core.errors import SaysoError
from core.ladder import Ladder, Rung
from core.life.apart import Placed
from core.life.decision import Refusal
from core.life.event import Broke, Ended, Lost
from core.life.result import Delivered
from core.life.turn import effects_of
from core.model import Cause, Json
from core.pace import Pace
from core.tally import Tally
from core.template import Template
from core.trace import emit
from core.turn import steadily

_log = logging.getLogger(__name__)
EVIDENCE = {"cooperative": "cooperative", "terminate": "terminated", "kill": "killed", "unconfirmed": "killed"}
RECORDED = frozenset({"parked", "completed", "failed", "broke"})
"""How a turn ended, when its own process has recorded that"""


class Apart:
    """A turn that this worker claimed, and that runs in a process of its own."""

    def __init__(
        self,
        broker: Broker,
        taken: Delivered,
        worker: str,
        *,
        template: Template,
        pace: Pace,
        valid: Callable[[], bool],
        held: Callable[[int], None],
        again: bool,
        root: str,
    ) -> None:
        self.run = taken.run
        self.fence = taken.fence
        self.worker = worker
        self.overdue = False
        self._halt = taken.halt
        self._broker = broker
        self._template = template
        self._pace = pace
        self._valid = valid
        self._held = held
        self._holds = 0
        self._again = again
        self.root = root
        self._how = ""
        self._status: int | None = None
        self._stopped = False
        self._lost = False
        self._shutting = False
        self._cause: Cause | None = None
        self._pressed = 0
        self._code: tree.Code | None = None
        self._alone = False
        self._talk: asyncio.StreamWriter | None = None
        self._reins: asyncio.StreamWriter | None = None
        self._early: list[dict[str, Json]] = []
        self._ladder = Ladder(
            (
                Rung("cooperative", _nothing, pace.cooperative),
                Rung("terminate", lambda: self._rein(b"t"), pace.terminate),
                Rung("kill", lambda: self._rein(b"k"), pace.kill + pace.verify),
                Rung("unconfirmed", self._late, 0.0),
            )
        )

    @property
    def ending(self) -> bool:
        """Whether the turn was told to stop, or lost its run."""
        return self._stopped or self._lost

    # ── from outside ─────────────────────────────────────────────────────────────────────────────────────────────────

    def stop(self, cause: Cause | None, *, urgent: int = 0) -> None:
        """Stop the turn, for a cause; a stronger cause replaces it. urgent: each press takes the next step at once."""
        presses = urgent - self._pressed if self._stopped else 0
        self._stopped, self._pressed = True, max(urgent, self._pressed)
        self._cause = cause or self._cause
        self._say({"stop": cause})
        self._ladder.begin()
        for _ in range(presses):
            self._ladder.hurry()

    def lose(self) -> None:
        """End the turn: its run is somebody else's now."""
        if not self._lost:
            self._lost = True
            self._say({"lose": True})
            self._ladder.begin()

    def let_go(self) -> None:
        """Park as soon as only questions are outstanding."""
        self._say({"let_go": True})

    def shut_down(self) -> None:
        """Stop the turn because the worker ends; the run goes on elsewhere."""
        if not self._stopped:
            self._shutting = True
        self.stop("shutdown")

    def _say(self, words: dict[str, Json]) -> None:
        if self._talk is None:
            self._early.append(words)
        elif not self._talk.is_closing():
            self._talk.write(json.dumps(words).encode() + b"\n")

    def _rein(self, letter: bytes) -> None:
        if self._reins is not None and not self._reins.is_closing():
            self._reins.write(letter)

    def _late(self) -> None:
        self.overdue = True
        emit("turn.overdue", run=self.run, fence=self.fence)

    # ── its life ─────────────────────────────────────────────────────────────────────────────────────────────────────

    async def work(self) -> None:
        """Have the turn run, and record that its work ended."""
        order: dict[str, Json] = {
            "mark": f"{self.run}:{self.fence}",
            "run": self.run,
            "fence": self.fence,
            "halt": self._halt,
            "worker": self.worker,
            "url": self._broker.store.link.url,
            "cgroup": cgroups.name(),
        }
        try:
            reins, talk = await self._template.order(order)
        except SaysoError as error:
            await self._broke(str(error))
            return
        try:
            proved = await self._watched(reins, talk)
        finally:
            self._ladder.stop()
            self._held(-self._holds)
        if not proved:
            await self._end_alone()
        if proved or self._stopped or self._lost:
            await self._settle()

    async def _watched(self, reins: socket.socket, talk: socket.socket) -> bool:
        """Drive the turn until its keeper says that nothing of it lives; False when the keeper ends without that."""
        hear_reins, self._reins = await _stream(reins)
        hear_talk, talk_out = await _stream(talk)
        unwatch = self._broker.watch(self.run, lambda: self._say({"hint": self.run}))
        listening = asyncio.create_task(self._listen(hear_talk), name=f"talk {self.run}")
        waking: asyncio.Task[None] | None = None
        try:
            async for line in _lines(hear_reins):
                words = json.loads(line)
                if "code" in words:
                    self._code = tree.parsed(str(words["code"]))
                    if self._code is not None:
                        waking = asyncio.create_task(remains.keep_awake(self._code.keeper, self._pace.look))
                    await self._place(str(words["code"]), talk_out)
                elif "over" in words:
                    self._status = int(words["over"])
                    if words["left"]:
                        emit("turn.left_behind", run=self.run, count=int(words["left"]))
                elif words.get("empty"):
                    await listening
                    return True
            return False
        finally:
            unwatch()
            tasks = [task for task in (listening, waking) if task is not None]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            for writer in (self._reins, talk_out):
                writer.close()

    async def _end_alone(self) -> None:
        """Its keeper was killed: end what it kept by the name that is on record, and only then let go of the turn."""
        _log.error("the keeper of run %s ended without a word; what it kept is looked for and killed", self.run)
        self._alone = True
        self._late()
        if self._code is not None:
            await remains.end_tree(self._code)
        found = await steadily(lambda: self._broker.peek(self.run), self._valid)
        if found is not None:
            await remains.end_commands(found, self.fence)

    async def _place(self, code: str, talk: asyncio.StreamWriter) -> None:
        """Put on record where the turn runs, and only then let it begin."""
        placed = await steadily(lambda: self._broker.stops.placed(Placed(self.run, self.fence, code)), self._valid)
        if isinstance(placed, Refusal):
            self._lost = placed.code in ("fenced", "gone")
            self._stopped = not self._lost
            self._rein(b"k")
            return
        emit("turn.placed", run=self.run, fence=self.fence, code=code)
        self._talk = talk
        self._say({"begin": True})
        for words in self._early:
            self._say(words)
        self._early.clear()

    async def _listen(self, talk: asyncio.StreamReader) -> None:
        """Hear from the turn's process until it ends."""
        async for line in _lines(talk):
            words = json.loads(line)
            if "held" in words:
                change = int(words["held"])
                self._holds += change
                self._held(change)
            if "how" in words:
                self._how = str(words["how"])
                self._broker.committer.add(Tally.model_validate(words["tally"]))

    # ── its end ──────────────────────────────────────────────────────────────────────────────────────────────────────

    async def _settle(self) -> None:
        """Record that nothing of the turn works any more, as far as its process has not recorded it."""
        how = self._how
        if how in RECORDED:
            pass
        elif self._shutting:
            event = Lost(self.run, self.worker, gone=True, again=self._again, cause="shutdown")
            await steadily(lambda: self._broker.lost(event), self._valid)
            how = "shutdown"
        elif self._stopped or self._lost or how:
            how = "stopped" if self._stopped else "fenced"
            ended = await self._ended()
            if isinstance(ended, Refusal) and ended.code == "conflict":
                await self._broke("the agent's code was cancelled, but nobody asked the run to stop")
                return
        else:
            await self._broke(_words(self._status))
            return
        emit("turn.ended", run=self.run, fence=self.fence, how=how, cause=self._cause)

    async def _ended(self) -> object:
        steps = await steadily(lambda: self._broker.steps(self.root), self._valid)
        effects = effects_of([step for _, step in steps if step.kind == "done" or step.fence <= self.fence])
        by = "killed" if self._alone else EVIDENCE.get(self._ladder.step, "cooperative")
        event = Ended(self.run, self.fence, by=by, effects=effects, worker=self.worker)
        return await steadily(lambda: self._broker.ended(event), self._valid)

    async def _broke(self, words: str) -> None:
        _log.error("run %s broke: %s", self.run, words)
        broke = await steadily(lambda: self._broker.broke(Broke(self.run, self.fence, words)), self._valid)
        if isinstance(broke, Refusal):
            await self._ended()
        emit("turn.broke", run=self.run, fence=self.fence, how="broke")


async def _stream(ours: socket.socket) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    ours.setblocking(False)
    return await asyncio.open_unix_connection(sock=ours)


async def _lines(stream: asyncio.StreamReader) -> AsyncGenerator[bytes]:
    """The whole lines that come, until the other end is gone, however it went."""
    with suppress(ConnectionError):
        async for line in stream:
            if line.endswith(b"\n"):
                yield line


def _words(status: int | None) -> str:
    """How a process ended that nobody told to, in words for people."""
    if status is not None and status < 0:
        name = signal.Signals(-status).name
        more = "; perhaps the machine was out of memory" if name == "SIGKILL" else ""
        return f"the agent's process was ended by {name}{more}"
    return f"the agent's process ended by itself with status {status}"


def _nothing() -> None:
    pass
