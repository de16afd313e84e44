"""How a run goes on after it stood still: resumed, reverted, moved, taken up again when its worker was lost.

paused ──▶ waiting    it was paused on a question: the question is open again, no turn starts
paused ──▶ queued     otherwise; a run that is not its conversation's newest moves to a new id
worker lost           waiting stays waiting · can be replayed: queued, after a pause that grows each time ·
                      otherwise, or for the third time, paused (DESIGN section 3)
"""

from __future__ import annotations

from core.life.audit import note
from core.life.closing import close_all, reopen_all
from core.life.decision import Guard, Owe, Ready, Refusal, Settle
from core.life.draft import Draft
from core.life.event import Ended, Lost, Resume, Revert
from core.life.leak import proved
from core.life.memory import recall, remember
from core.life.place import ghost
from core.life.result import Changed, Kept, Resumed
from core.life.run import both, end_now, ended, fence_off, pause_now, turns_of, without
from core.model import DISCARDING, TERMINAL, Conversation, Run
from core.question import Cancelled

GROWS = 8
"""how many times longer each pause before a run is tried again is than the one before"""


def moved(d: Draft, conversation: Conversation, run: Run) -> tuple[Conversation, Run]:
    """Give a run that is not its conversation's newest a new id, so that it goes on after what came since."""
    if conversation.newest in (None, run.id):
        return conversation, run
    id = d.ids("r")
    following = run.changed(id=id, moved_from=run.id, fence=run.fence + 1, changed_ms=d.now)
    d.put(("run", id), following)
    d.save_run(run, moved_to=id, cause="moved", fence=run.fence + 1, message="", requests=(), answered=(), unproved=())
    for name in run.requests:
        request = d.request(name)
        if request is not None:
            d.save_request(request, run=id)
    for turn in run.unproved:
        d.want(Settle("claims", run.id, of=turn.worker), Settle("stop", run.id, of=turn.worker))
        if d.incarnation(turn.worker) is not None or d.incarnation(ghost(turn.worker)) is not None:
            d.want(Owe("claims", id, d.now, of=turn.worker), Owe("stop", id, d.now, of=turn.worker))

    def renamed(ids: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(id if other == run.id else other for other in ids)

    conversation = d.save_conversation(
        conversation,
        newest=id,
        queue=renamed(conversation.queue),
        waiting=renamed(conversation.waiting),
        paused=renamed(conversation.paused),
        stopping=renamed(conversation.stopping),
    )
    return conversation, following


def enqueue(d: Draft, conversation: Conversation, run: Run, *, front: bool = False) -> Run:
    """Put a run into its conversation's queue; it starts or goes on when the conversation is free."""
    others = tuple(id for id in conversation.queue if id != run.id)
    queue = (run.id, *others) if front else (*others, run.id)
    d.save_conversation(conversation, **{**without(conversation, run.id), "queue": queue})
    run = d.save_run(run, state="queued")
    d.tell(conversation.id, "run.queued", run.id, moved_from=run.moved_from, retry=run.retry_ms)
    return run


def resume(d: Draft, e: Resume) -> Resumed | Refusal:
    """A person wants a paused run to go on; of two that want it, one starts it and the other hears so."""
    found = both(d, e.run, e.person)
    if isinstance(found, Refusal):
        return found
    conversation, run = found
    meant = f"resume {run.root}"
    if (known := recall(d, e.key, e.person, Resumed, meant)) is not None:
        return known
    if run.state in TERMINAL:
        return Refusal("ended", f"run {run.id!r} is {run.state}, it cannot go on", {"state": run.state})
    fenced = run.state == "stopping" and run.turn is None and run.cause not in DISCARDING
    if run.state != "paused" and not fenced:
        return Refusal("conflict", f"conflict: run is {run.shown}", {"state": run.shown, "run": run.id})
    note(d, "resume", e.person, conversation, run, where=e.via)
    run = _afresh(d, run)
    return remember(d, e.key, e.person, go_on(d, conversation, run), meant)


def _afresh(d: Draft, run: Run) -> Run:
    """Forget how a run was stopped; what it did stays known."""
    d.want(Settle("stopping", run.id))
    run = d.save_run(run, attempts=0, retry_ms=None, cause=None, urgent=0)
    return d.save_run(run, stop_ms=None, stopped_by=None, ended_ms=None, ended_by=None)


def go_on(d: Draft, conversation: Conversation, run: Run) -> Resumed:
    """Open the questions of a paused run again, or queue it when it waits for none."""
    conversation, reopened = reopen_all(d, conversation, run)
    if reopened and not run.origin.startswith("cli-"):
        conversation = d.save_conversation(conversation, **without(conversation, run.id))
        d.save_conversation(conversation, waiting=(*conversation.waiting, run.id))
        run = d.save_run(run, state="waiting")
        d.tell(conversation.id, "run.waiting", run.id, requests=list(reopened))
        return Resumed(run=run.id, state="waiting", reopened=reopened)
    conversation, run = moved(d, conversation, run)
    run = enqueue(d, conversation, d.save_run(run, resumed=True))
    return Resumed(run=run.id, state="queued", reopened=reopened)


def revert(d: Draft, e: Revert) -> Resumed | Refusal:
    """A paused run goes back to its last parked point; what came after is void, the last question is asked again."""
    found = both(d, e.run, e.person)
    if isinstance(found, Refusal):
        return found
    conversation, run = found
    meant = f"revert {run.root}"
    if (known := recall(d, e.key, e.person, Resumed, meant)) is not None:
        return known
    if run.state in TERMINAL:
        return Refusal(
            "ended", f"run {run.id!r} is {run.state}, it cannot go back", {"state": run.state, "run": run.id}
        )
    if run.state != "paused":
        return Refusal("conflict", f"conflict: run is {run.shown}, pause it first", {"state": run.shown})
    if e.to <= 0:
        return Refusal("conflict", f"run {run.id!r} never asked anything, there is no point to go back to")
    d.guard(Guard("length", ("run", run.root), fence=e.length))
    conversation, run = close_all(d, conversation, run, Cancelled(cause="reverted"), over=False)
    note(d, "revert", e.person, conversation, run, where=e.via)
    d.log(run.root, "dropped", f"dropped#{run.fence}", run.fence, to=e.to)
    d.write(conversation.id, "note", "[Reverted] what came after the last question is dropped", run.id, e.person)
    conversation, run = moved(d, conversation, run)
    run = enqueue(d, conversation, d.save_run(_afresh(d, run), resumed=True, approvals=()))
    return remember(d, e.key, e.person, Resumed(run=run.id, state="queued"), meant)


def lost(d: Draft, e: Lost) -> Changed | Kept | Refusal:
    """A worker's lease lapsed: what it held is settled by one table. What is not proved to have ended stays held."""
    run = d.run_now(e.run)
    conversation = d.conversation(run.conversation) if run is not None else None
    kept = run.id if run is not None and not e.gone and awaits_proof(run, e.worker) else None
    if run is None or conversation is None:
        if e.gone:
            proved(d, e.run, e.worker)
        return Kept()
    for id in dict.fromkeys((e.run, run.id)):
        if id != kept:
            d.want(Settle("claims", id, of=e.worker), Settle("stop", id, of=e.worker))
    mine = run.turn if run.turn is not None and run.turn.worker == e.worker else None
    if mine is None and not any(turn.worker == e.worker for turn in run.unproved):
        return Kept()
    if e.gone:
        run = d.save_run(run, unproved=tuple(turn for turn in run.unproved if turn.worker != e.worker))
    if run.state == "stopping":
        return _lost_stopping(d, conversation, run, e)
    if mine is None:
        return Changed(run=run.id, state=run.shown)
    unproved = run.unproved if e.gone else (*run.unproved, mine)
    run = d.save_run(run, turn=None, unproved=unproved, fence=run.fence + 1)
    if run.state == "queued":
        if conversation.live is None and conversation.queue[:1] == (run.id,):
            d.want(Ready(run.id, d.now))
        d.put(("conversation", conversation.id), conversation)
    if run.state != "working":
        return Changed(run=run.id, state=run.shown)
    return _lost_working(d, conversation, run, e, again=e.again and mine.again)


def awaits_proof(run: Run, worker: str) -> bool:
    """Whether a run has a turn of this worker that was not seen to end."""
    return any(turn.worker == worker for turn in turns_of(run))


def _lost_working(d: Draft, conversation: Conversation, run: Run, e: Lost, *, again: bool) -> Changed:
    if e.cause == "worker_lost":
        run = d.save_run(run, attempts=run.attempts + 1)
    if run.attempts >= d.spans.losses:
        words = f"set aside: its worker was lost {run.attempts} times while it ran"
        return pause_now(d, conversation, run, e.cause, error=words)
    if not again:
        return pause_now(d, conversation, run, e.cause, error="its worker was lost, and it cannot be replayed")
    if e.cause == "worker_lost":
        run = d.save_run(run, retry_ms=d.now + d.spans.retry_ms * GROWS ** (run.attempts - 1))
    run = enqueue(d, conversation, run, front=True)
    return Changed(run=run.id, state="queued")


def _lost_stopping(d: Draft, conversation: Conversation, run: Run, e: Lost) -> Changed | Refusal:
    mine = run.turn is not None and run.turn.worker == e.worker
    if e.gone and run.turn is not None and mine:
        return ended(d, Ended(run.id, run.turn.fence, "process gone", e.effects))
    if mine:
        run = fence_off(d, conversation, run)
    elif e.gone and run.turn is None and not run.unproved:
        run = d.save_run(run, ended_ms=d.now, ended_by="process gone", effects=e.effects or run.effects)
        return end_now(d, conversation, run)
    return Changed(run=run.id, state=run.shown)
