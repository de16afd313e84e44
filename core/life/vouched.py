"""Accept as stopped: a person states that work has ended whose end nobody saw. Who it was stands on record.

It is the exit of "stop not confirmed": proof is better, and where none can come (a machine that is gone for good), a
person takes it upon themselves. What the old turn still sends stays refused. Source: DESIGN section 4.
"""

from __future__ import annotations

from core.life.access import may_act
from core.life.audit import note
from core.life.decision import Refusal, Untimer
from core.life.draft import Draft
from core.life.leak import Vouch, may_vouch, proved
from core.life.result import Changed
from core.life.run import UNKNOWN, end_now, let_go, turns_of
from core.model import Conversation, Run

NOTHING = Refusal("ended", "every turn of this run was seen to end, there is nothing to accept")


def vouch(d: Draft, e: Vouch) -> Changed | Refusal:
    """Take the work of a run as ended on a person's word."""
    run = d.run_now(e.run)
    conversation = d.conversation(run.conversation) if run is not None else None
    if run is None or conversation is None or conversation.deleted:
        return _of_deleted(d, e)
    if not may_vouch(e.person, conversation, run):
        return UNKNOWN
    stopping = run.state == "stopping"
    if not run.unproved and not (stopping and run.turn is not None):
        return NOTHING if may_act(e.person, conversation, run) else UNKNOWN
    if stopping and run.turn is not None:
        free = (run.stop_ms or 0) + d.spans.free_ms
        if d.now < free:
            words = "its stop is under way and may still be seen to end: try again in a few seconds"
            return Refusal("busy", words, {"state": run.shown, "until": free})
        d.hold(from_ms=free)
    return _accept(d, conversation, run, e, stopping=stopping)


def _accept(d: Draft, conversation: Conversation, run: Run, e: Vouch, *, stopping: bool) -> Changed:
    name = e.person.name or e.person.id
    turns = turns_of(run) if stopping else run.unproved
    fence = run.fence + (stopping and run.turn is not None)
    turn = None if stopping else run.turn
    run = d.save_run(run, unproved=(), turn=turn, fence=fence, effects=run.effects or "unknown")
    note(d, "accept_stopped", e.person, conversation, run, where=e.via)
    for one in turns:
        let_go(d, run, one.worker, e.run)
    d.write(
        conversation.id, "note", f"[Accepted as stopped] {name} says that it has ended; nobody saw it", run.id, e.person
    )
    if not stopping:
        return Changed(run=run.id, state=run.shown)
    d.want(Untimer("free", run.id))
    run = d.save_run(run, ended_ms=d.now, ended_by=f"accepted as stopped by {name}")
    return end_now(d, d.conversation(conversation.id) or conversation, run)


def _of_deleted(d: Draft, e: Vouch) -> Changed | Refusal:
    """What a deleted run may still have at work is listed nowhere else; only an owner can know what became of it."""
    if e.person.role != "owner" or not e.workers:
        return UNKNOWN
    note(d, "accept_stopped", e.person, where=e.via, whom=", ".join(e.workers), reason=e.run)
    for worker in e.workers:
        proved(d, e.run, worker)
    return Changed(run=e.run, state="canceled")
