"""Calls of tools: the bracket around what a tool does, with its line on the page and its one result in the history.

    async with run.tool("deploy", env=env) as call:      started; a guarded one only with an approval of exactly this
        call.result = await run.step("push", push, env)   completed: done, failed, denied or interrupted

What acts belongs into a step: when the code is called again, the block runs again, but its steps do not. A guarded call
that was done without any step in it is never entered a second time. This file must not know how a question waits.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextvars import ContextVar, Token
from dataclasses import dataclass
from types import TracebackType
from typing import Literal

from core.asking import confirmation
from core.clamp import RESULT, clamp, clamp_json
from core.effect import decide
from core.errors import SaysoError
from core.hold import Hold
from core.life.decision import Refusal
from core.model import Entry, Event, Json, digest, fresh, partition_of
from core.question import Accepted, Subject
from core.replay import Place
from core.turn import Parking, Turn

scope: ContextVar[str] = ContextVar("scope", default="")
"""The call that verbs are made in, as the beginning of their keys."""

SUMMARY = 200
Outcome = Literal["done", "failed", "denied", "interrupted"]


class Denied(SaysoError):
    """A person said no. reason: what they wrote, if anything."""

    def __init__(self, reason: str | None = None, what: str = "") -> None:
        super().__init__(f"{what or 'it'} was denied" + (f": {reason}" if reason else ""))
        self.reason = reason


class Unrepeatable(SaysoError):
    """A guarded call acted outside of steps in an earlier turn; it is not entered again."""


@dataclass(slots=True)
class Call:
    """A tool call while it is open. result: what it gives; done: an earlier turn finished it, with this result."""

    tool: str
    arguments: dict[str, Json]
    result: Json = None
    done: bool = False


class ToolCall:
    """The bracket around one tool call; enter it once."""

    def __init__(
        self, turn: Turn, hold: Hold, key: str, tool: str, arguments: Mapping[str, Json], *, guarded: bool
    ) -> None:
        self._turn = turn
        self._hold = hold
        self._key = key
        self._guarded = guarded
        self._call = Call(tool, dict(arguments))
        self._id = ""
        self._attempt = 0
        self._recorded = False
        self._mark: Token[str] | None = None

    async def __aenter__(self) -> Call:
        turn = self._turn
        turn.check()
        place = turn.tape.look(self._key)
        ended = place.ended if place.ended is not None and not self._to_retry(place) else None
        if ended is not None:
            self._replay(ended)
        elif place.begun:
            await self._again(place)
        else:
            self._hold.in_order(self._key)
            await self._start()
        self._mark = scope.set(f"{self._key}/")
        turn.opened(self._key)
        return self._call

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        turn = self._turn
        turn.closed(self._key)
        if self._mark is not None:
            scope.reset(self._mark)
        if not (self._recorded or turn.parked or turn.lost or isinstance(error, Parking)):
            if isinstance(error, asyncio.CancelledError):
                await self._interrupted()
            elif isinstance(error, Denied):
                await self._end("denied", reason=error.reason)
            elif error is not None:
                await self._end("failed", error=f"{type(error).__name__}: {error}")
            else:
                await self._end("done")

    # ── beginning ────────────────────────────────────────────────────────────────────────────────────────────────────

    async def _start(self) -> None:
        """Begin the call; a guarded one asks first when no approval of exactly this call is on record."""
        name = digest(self._call.tool, self._call.arguments) if self._guarded else None
        self._number(1)
        await self._begin(name)

    def _number(self, attempt: int) -> None:
        """Name an attempt of the call; each has its own line on the page, and one result."""
        self._attempt = attempt
        self._id = f"{self._turn.run.root}/{self._key}.{attempt}"

    async def _begin(self, name: str | None) -> None:
        while True:
            again = self._attempt > 1
            begun = await self._turn.begin(self._key, name, (self._started(),), guarded=self._guarded, again=again)
            if not isinstance(begun, Refusal):
                return
            await self._approve()

    async def _approve(self) -> None:
        call = self._call
        question = confirmation(
            f"Run {call.tool}?",
            tool=call.tool,
            arguments=call.arguments,
            message="",
            restricted=False,
            edit_schema=None,
            timeout=None,
            given=None,
        )
        answer = await self._hold.ask(self._turn.tape.key(f"{self._key}/", "approve"), question)
        if not isinstance(answer, Accepted):
            await self._end("denied", reason=answer.reason)
            raise Denied(answer.reason, call.tool)

    async def _again(self, place: Place) -> None:
        """Enter a call that an earlier turn left open: its steps know what they did."""
        turn, call, name = self._turn, self._call, None
        begun_inside = turn.tape.inside(self._key)
        self._number(place.begun)
        if self._guarded and not begun_inside:
            subject = Subject(tool=call.tool, arguments=call.arguments)
            await decide(self._hold, turn, self._key, call.tool, place, subject=subject)
            name = digest(call.tool, call.arguments)
        over = place.ended is not None or turn.tape.look(self._broken()).said
        if begun_inside and not over:
            return
        if not over:
            await self._interrupted()
        self._number(place.begun + 1)
        await self._begin(name)

    def _to_retry(self, place: Place) -> bool:
        """Tell whether the turn broke by this call, so that a retry enters it again."""
        ended = place.ended or {}
        return ended.get("outcome") == "failed" and self._turn.tape.trailing(place)

    def _replay(self, ended: dict[str, Json]) -> None:
        """Enter a call that is over: nothing of it is recorded again."""
        self._recorded = True
        reason = ended.get("reason")
        if ended.get("outcome") == "denied":
            raise Denied(reason if isinstance(reason, str) else None, self._call.tool)
        if self._guarded and not self._turn.tape.inside(self._key):
            raise Unrepeatable(
                f"{self._call.tool!r} was run in an earlier turn, outside of any step, and is not run again: "
                "put what it does into `run.step(...)`"
            )
        self._call.done, self._call.result = True, ended.get("result")

    # ── end ──────────────────────────────────────────────────────────────────────────────────────────────────────────

    async def _end(self, outcome: Outcome, **more: Json) -> None:
        """Record the one result of the call."""
        self._recorded = True
        entry, event = self._shown(outcome, **more)
        step = self._turn.entry("done", self._key, outcome=outcome, result=self._call.result, **more)
        await self._turn.append(step, entries=(entry,), tell=(event,))

    async def _interrupted(self) -> None:
        """Record that this attempt was broken off; whether it had an effect is not known."""
        entry, event = self._shown("interrupted")
        await self._turn.append(self._turn.entry("said", self._broken()), entries=(entry,), tell=(event,))

    def _broken(self) -> str:
        return f"{self._key}/interrupted#{self._attempt}"

    def _started(self) -> Event:
        call = self._call
        return self._turn.event("tool.started", call=self._id, tool=call.tool, arguments=clamp_json(call.arguments))

    def _shown(self, outcome: Outcome, **more: Json) -> tuple[Entry, Event]:
        call, run = self._call, self._turn.run
        shown: dict[str, Json] = {"call": self._id, "tool": call.tool, "outcome": outcome}
        if call.result is not None and outcome == "done":
            shown["result"] = clamp_json(call.result, RESULT)
        summary = more.get("error") or more.get("reason") or shown.get("result")
        if isinstance(summary, str):
            shown["summary"] = clamp(summary, SUMMARY)
        shown |= {name: clamp(value) if isinstance(value, str) else value for name, value in more.items()}
        data = {**shown, "arguments": clamp_json(call.arguments)}
        id = fresh("m", partition_of(run.id))
        entry = Entry(id=id, role="tool", run=run.id, text=call.tool, at=self._turn.broker.store.now(), data=data)
        return entry, self._turn.event("tool.completed", **shown, entry=id)
