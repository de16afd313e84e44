"""What a turn records while it works: steps begun and done, messages, pieces of text, steers taken.

`begin` is the last check before something acts: fence and halt unchanged, and where the call needs an approval, one of
exactly its digest on record that was not used. Appends rewrite no document; they stand under the turn's fence and, when
they enter the run's journal, under its length, so that nothing is recorded twice and no steer is missed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from core.life.decision import Guard, Log, Refusal, Tell, Wipe, Write
from core.life.draft import Draft
from core.life.emergency import frozen
from core.life.event import Append, Begin, Took
from core.life.result import Changed, Kept
from core.model import Run, Step


def begin(d: Draft, e: Begin) -> Kept | Refusal:
    """A step is about to act. It needs no document rewritten, except where it uses up an approval."""
    run = d.run(e.run, "fence")
    if run is None:
        return Refusal("gone", f"run {e.run!r} was deleted")
    if run.turn is None or run.turn.fence != e.fence:
        return Refusal("fenced", f"run {e.run!r} has a newer turn")
    if run.halt != e.halt or run.state == "stopping":
        return Refusal("halted", f"run {e.run!r} is {run.shown}", {"state": run.shown, "cause": run.cause})
    if (still := frozen(d, f"{e.key!r} does not begin")) is not None:
        return still
    d.guard(Guard("begin", ("run", run.id), fence=e.fence, halt=e.halt))
    d.guard(Guard("length", ("run", run.root), fence=e.length))
    used = _use(d, run, e.digest) if e.digest is not None else None
    if e.digest is not None and used is None:
        return Refusal("not_approved", f"no approval of exactly this call is on record for {e.key!r}")
    d.log(run.root, "begun", e.key, e.fence, **e.data, **({"approval": used} if used else {}))
    d.want(*(Tell(run.conversation, event) for event in e.tell))
    return Kept(note=used)


def _use(d: Draft, run: Run, digest: str) -> str | None:
    """Use up one approval of exactly this call."""
    for index, approval in enumerate(run.approvals):
        if approval.digest == digest and not approval.used:
            approvals = list(run.approvals)
            approvals[index] = approval.changed(used=True)
            d.save_run(run, approvals=tuple(approvals))
            asked = d.request(approval.request) if approval.request.startswith("q") else None
            if asked is not None:
                d.save_request(asked, acted=True)
            return approval.request
    return None


def append(d: Draft, e: Append) -> Kept | Refusal:
    """Record or tell something under the turn's fence. (The fence is the guard; nothing is read.)"""
    d.guard(Guard("fence", ("run", e.run), fence=e.fence))
    if e.length is not None and e.steps:
        d.guard(Guard("length", ("run", e.root), fence=e.length))
    d.want(*(Log(e.root, step) for step in e.steps))
    d.want(*(Wipe("secret", handle) for handle in e.used))
    d.want(*(Write(e.conversation, entry) for entry in e.entries))
    d.origin_of[e.conversation] = e.origin or "chat-"
    d.want(*(Tell(e.conversation, event) for event in e.tell))
    return Kept()


def took(d: Draft, e: Took) -> Changed | Refusal:
    """A turn has taken in what a person said while it worked."""
    run = d.run(e.run)
    if run is None:
        return Refusal("gone", f"run {e.run!r} was deleted")
    if run.turn is None or run.turn.fence != e.fence:
        return Refusal("fenced", f"run {e.run!r} has a newer turn")
    if e.count <= run.took:
        return Changed(run=run.id, state=run.shown)
    d.save_run(run, took=e.count)
    d.tell(run.conversation, "steer.taken", run.id, count=e.count)
    return Changed(run=run.id, state=run.shown)


def effects_of(steps: Sequence[Step]) -> Literal["none", "done", "unknown"]:
    """Tell what a run's journal says of side effects: none, done, or unknown (begun without an end)."""
    begun = {step.key for step in steps if step.kind == "begun"}
    done = {step.key for step in steps if step.kind == "done"}
    if begun - done:
        return "unknown"
    return "done" if begun else "none"
