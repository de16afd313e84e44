"""Turns in a process of their own, commands, and turns that do not yield: where they are, and that they are fenced.

Where a turn or a command runs is on record before it has any effect, so that somebody else can end it, and tell that it
ended, when its worker cannot. Source: DESIGN sections 4 and 5.
"""

from __future__ import annotations

from dataclasses import dataclass

from core.life.decision import Refusal
from core.life.draft import Draft
from core.life.result import Changed, Kept
from core.life.run import fence_off
from core.model import Run


@dataclass(frozen=True, slots=True)
class Placed:
    """A turn is about to run in a process of its own. code: names it for good, as `core/tree.py` writes it."""

    run: str
    fence: int
    code: str


@dataclass(frozen=True, slots=True)
class Commanded:
    """A turn is about to run a command. code: names its process, as that of a turn; over: those that have ended."""

    run: str
    fence: int
    code: str
    over: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Unyielding:
    """A turn was told to stop and did not; its worker can do no more about it by itself."""

    run: str
    fence: int


def placed(d: Draft, e: Placed) -> Kept | Refusal:
    """Record where a turn runs; the last moment at which it need not begin."""
    run = _beginning(d, e)
    if isinstance(run, Refusal):
        return run
    assert run.turn is not None, run.id
    d.save_run(run, turn=run.turn.changed(code=e.code))
    return Kept()


def commanded(d: Draft, e: Commanded) -> Kept | Refusal:
    """Record which process a command is, so that whoever ends what the turn left finds it."""
    run = _beginning(d, e)
    if isinstance(run, Refusal):
        return run
    assert run.turn is not None, run.id
    others = (one for one in run.turn.commands if one not in (*e.over, e.code))
    d.save_run(run, turn=run.turn.changed(commands=(*others, e.code)))
    return Kept()


def _beginning(d: Draft, e: Placed | Commanded) -> Run | Refusal:
    """The run for which something begins, if it still may."""
    run = d.run(e.run)
    if run is None:
        return Refusal("gone", f"run {e.run!r} was deleted")
    if run.turn is None or run.turn.fence != e.fence:
        return Refusal("fenced", f"run {e.run!r} has a newer turn")
    if run.state == "stopping":
        return Refusal("halted", f"run {e.run!r} is {run.shown}", {"state": run.shown, "cause": run.cause})
    return run


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
