"""Turns that run in a process of their own, and turns that do not yield: where they are, and that they are fenced.

Where a turn runs is on record before it has any effect, so that somebody else can end it, and tell that it ended, when
its worker cannot. Source: DESIGN sections 4 and 5.
"""

from __future__ import annotations

from dataclasses import dataclass

from core.life.decision import Refusal
from core.life.draft import Draft
from core.life.result import Changed, Kept
from core.life.run import fence_off


@dataclass(frozen=True, slots=True)
class Placed:
    """A turn is about to run in a process of its own. code: names it for good, as `core/tree.py` writes it."""

    run: str
    fence: int
    code: str


@dataclass(frozen=True, slots=True)
class Unyielding:
    """A turn was told to stop and did not; its worker can do no more about it by itself."""

    run: str
    fence: int


def placed(d: Draft, e: Placed) -> Kept | Refusal:
    """Record where a turn runs; the last moment at which it need not begin."""
    run = d.run(e.run)
    if run is None:
        return Refusal("gone", f"run {e.run!r} was deleted")
    if run.turn is None or run.turn.fence != e.fence:
        return Refusal("fenced", f"run {e.run!r} has a newer turn")
    if run.state == "stopping":
        return Refusal("halted", f"run {e.run!r} is {run.shown}", {"state": run.shown, "cause": run.cause})
    d.save_run(run, turn=run.turn.changed(code=e.code))
    return Kept()


def unyielding(d: Draft, e: Unyielding) -> Changed | Refusal:
    """Let the conversation go on without a turn that does not stop; what it still records is refused from now on."""
    run = d.run(e.run)
    conversation = d.conversation(run.conversation) if run is not None else None
    if run is None or conversation is None:
        return Refusal("gone", f"run {e.run!r} was deleted")
    if run.turn is None or run.turn.fence != e.fence or run.state != "stopping":
        return Refusal("ended", f"run {e.run!r} is not stopping under this turn any more")
    run = fence_off(d, conversation, run)
    return Changed(run=run.id, state=run.shown)
