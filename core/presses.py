"""Presses: what a button says, carried to the request, the run or the conversation that it names.

It knows no platform. The meaning of a payload is in Redis, so a press works after any restart, in any process.
Source: DESIGN section 8, C44, C46.
"""

from __future__ import annotations

from core.broker import Broker
from core.leaks import Leaks
from core.life import pressed as life
from core.life.card import Adopt
from core.life.decision import Refusal
from core.life.pressed import NOT_YOUR_RUN, NOT_YOURS, UNKNOWN, Pressed
from core.life.result import Result
from core.life.run import UNKNOWN as NO_RUN
from core.model import DISCARDING, Run
from core.question import Request

ON_RUN = frozenset({"cancel", "keep", "sure", "pause", "abort", "stop", "resume", "retry", "gone", "revert"})
"""what a button can say about a run"""


class Presses:
    """Carries presses, and takes messages into the ledger that it did not know."""

    def __init__(self, broker: Broker) -> None:
        self._broker = broker

    async def pressed(self, e: Pressed) -> Result | Refusal:
        """Do what a press says; the outcome is the true one."""
        at = self._broker.store.partition(e.press.id)
        if at is None or e.press.id[0] not in "qr":
            return UNKNOWN
        if e.press.id[0] == "r" and e.press.verb not in ON_RUN:
            return life.NO_OPTION  # before anything is looked up: it says nothing about whose the run is
        result = await (self._on_request(e, at) if e.press.id.startswith("q") else self._on_run(e, at))
        foreign = isinstance(result, Refusal) and result.code in ("not_allowed", "unknown")
        if e.message is not None and not foreign and not e.press.loose:
            await self._broker.cards.adopt(Adopt(e.press.id, e.place, e.message))
        return result

    async def _on_request(self, e: Pressed, at: int) -> Result | Refusal:
        if e.press.verb not in ("abort", "sure", "stop", "pause"):
            return await self._broker.committer.carry(life.pressed, e, at)
        found = (await self._broker.store.read(at, [("request", e.press.id)]))[("request", e.press.id)].model
        if not isinstance(found, Request) or await self._broker.peek(found.run) is None:
            return UNKNOWN
        if e.press.verb == "sure":
            stopped = await self._broker.cancel(found.run, e.person, key=e.key, via=e.via)
        else:
            stopped = await self._broker.abort(found.id, e.person, key=e.key, via=e.via)
        if not isinstance(stopped, Refusal) or stopped.code != "unknown":
            return stopped
        return NOT_YOURS if e.place in found.cards else UNKNOWN

    async def _on_run(self, e: Pressed, at: int) -> Result | Refusal:
        run = await self._broker.peek(e.press.id)
        if run is None:
            return NO_RUN
        result = await self._stop_or_go(e, run, at)
        foreign = isinstance(result, Refusal) and result.code == "unknown" and run.origin == e.place
        return NOT_YOUR_RUN if foreign else result

    async def _stop_or_go(self, e: Pressed, run: Run, at: int) -> Result | Refusal:
        broker = self._broker
        match e.press.verb:
            case "cancel" | "keep":
                return await broker.committer.carry(life.turned_status, e, at)
            case "sure":
                return await broker.cancel(run.id, e.person, key=e.key, via=e.via)
            case "pause" | "abort":
                return await broker.pause(run.id, e.person, key=e.key, via=e.via)
            case "stop" if run.cause in DISCARDING:
                return await broker.cancel(run.id, e.person, key=e.key, urgent=True, via=e.via)
            case "stop":
                return await broker.pause(run.id, e.person, key=e.key, urgent=True, via=e.via)
            case "resume" | "retry":
                return await broker.resume(run.id, e.person, key=e.key, via=e.via)
            case "gone":
                return await Leaks(broker).vouch(run.id, e.person, via=e.via)
            case "revert":
                return await broker.revert(run.id, e.person, key=e.key, via=e.via)
            case _:
                return life.NO_OPTION
