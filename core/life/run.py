"""The ends of a run: finished, broken, stopped, seen to end. (How it starts and goes on: `start.py`, `again.py`.)

    queued ──▶ working ──▶ waiting ──▶ queued …          (request.py asks, answers, takes, parks)
       │          │  └─────────┴──▶ stopping ──▶ paused | canceled
       │          ├─▶ completed | failed                 what the agent returned
       │          └─▶ paused                             the turn broke, its worker was lost
       └─▶ canceled ◀── cancel ── waiting, paused

Terminal states absorb. The cause decides what a stop leaves behind, not the caller. Source: DESIGN sections 3 to 5.
"""

from __future__ import annotations

from core.life.access import may_act
from core.life.audit import stopped
from core.life.closing import close_all, forget_past, withdraw_all
from core.life.decision import Hint, Owe, Refusal, Rest, Settle, Timer, Untimer, Wipe
from core.life.draft import Draft
from core.life.event import Broke, Ended, Finish, Free, Stop
from core.life.leak import proved
from core.life.memory import recall, remember, stopping
from core.life.result import Changed, Stopped
from core.life.start import next_run
from core.model import DISCARDING, TERMINAL, Cause, Conversation, Person, Run, Turn
from core.question import Cancelled

STRENGTH: dict[Cause, int] = {"user_canceled": 2, "owner_removed": 2, "deleted": 3}
MOST_ENDED = 32
PRESSES = 4
"""of *Stop now* that are counted; the ladder has no more steps"""
DONE = {"completed": "already finished", "failed": "already failed", "canceled": "already canceled"}
APART = Refusal("halted", "the run is stopping: its processes have to be seen to end, its own word is not enough")
UNKNOWN = Refusal("unknown", "there is no such run; `/pending` lists those that can be resumed")


def both(d: Draft, run: str, person: Person | None) -> tuple[Conversation, Run] | Refusal:
    """Find a run and its conversation for a person who may act on it; anybody else learns nothing."""
    found = d.run_now(run)
    conversation = d.conversation(found.conversation) if found is not None else None
    if found is None or conversation is None or conversation.deleted:
        return UNKNOWN
    if person is not None and not may_act(person, conversation, found):
        return UNKNOWN
    return conversation, found


def without(conversation: Conversation, run: str) -> dict[str, object]:
    """The changes that take a run out of every list of its conversation."""

    def rest(ids: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(id for id in ids if id != run) if run in ids else ids

    return {
        "live": None if conversation.live == run else conversation.live,
        "queue": rest(conversation.queue),
        "waiting": rest(conversation.waiting),
        "paused": rest(conversation.paused),
        "stopping": rest(conversation.stopping),
    }


def at_its_end(conversation: Conversation, run: str) -> dict[str, object]:
    """The same, for a run that has ended; the last ones are remembered, so that a delete finds their texts."""
    return {**without(conversation, run), "ended": (*conversation.ended, run)[-MOST_ENDED:]}


# ── ends ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


def finish(d: Draft, e: Finish) -> Changed | Refusal:
    """The agent returned; what a person said meanwhile and nobody took in starts the next run."""
    run = d.run(e.run)
    conversation = d.conversation(run.conversation) if run is not None else None
    if run is None or conversation is None:
        return Refusal("gone", f"run {e.run!r} was deleted")
    if run.turn is None or run.turn.fence != e.fence:
        return Refusal("fenced", f"run {e.run!r} has a newer turn")
    if run.state == "stopping" and run.cause in DISCARDING:
        return APART if run.turn.code else ended(d, Ended(run.id, e.fence, "finished", run.effects))
    if run.steered > max(e.took, run.took) + len(e.untaken):
        return Refusal("steered", f"run {e.run!r} was told something more: take it in, then finish")
    conversation, run = close_all(d, conversation, run, Cancelled(cause="turn_failed"))
    run = _rest(d, run)
    conversation = d.save_conversation(conversation, **at_its_end(conversation, run.id))
    if e.text:
        id = d.write(conversation.id, "agent", e.text, run.id)
        d.tell(conversation.id, "message.completed", run.id, message=e.message or id, entry=id, text=e.text)
    d.save_run(run, state=e.outcome, cause=None, error=e.text if e.outcome == "failed" else None, ended_ms=d.now)
    if e.outcome == "completed":
        d.tell(conversation.id, "run.completed", run.id)
    else:
        d.tell(conversation.id, "run.failed", run.id, error=e.text)
    d.want(Rest("run", run.root), Timer("shrink", conversation.id, d.now + d.spans.journal_keep_ms))
    following = next_run(d, conversation, run, e.untaken, e.attachments).id if e.untaken else None
    return Changed(run=run.id, state=e.outcome, next_run=following)


def broke(d: Draft, e: Broke) -> Changed | Refusal:
    """A turn broke: the run is paused with its last error, and can be tried again."""
    run = d.run(e.run)
    conversation = d.conversation(run.conversation) if run is not None else None
    if run is None or conversation is None:
        return Refusal("gone", f"run {e.run!r} was deleted")
    if run.turn is None or run.turn.fence != e.fence:
        return Refusal("fenced", f"run {e.run!r} has a newer turn")
    if run.state == "stopping":
        if run.turn.code:
            return APART
        run = d.save_run(run, error=e.error)
        return ended(d, Ended(run.id, e.fence, "finished", run.effects))
    run = _rest(d, run)
    return pause_now(d, conversation, run, "turn_failed", error=e.error)


def _rest(d: Draft, run: Run) -> Run:
    """The turn of a run is over, and was seen to be over; what it still sends is refused from now on."""
    turn = run.turn
    assert turn is not None, run.id
    run = d.save_run(run, turn=None, fence=run.fence + 1)
    let_go(d, run, turn.worker)
    d.want(Settle("stopping", run.id), Untimer("free", run.id))
    return run


def let_go(d: Draft, run: Run, worker: str, held_as: str | None = None) -> None:
    """Strike a run from what its worker holds, unless that worker has another turn of it.

    held_as: the id under which it was claimed, when it moved since.
    """
    others = any(turn.worker == worker for turn in run.unproved)
    mine = run.turn is not None and run.turn.worker == worker
    for id in dict.fromkeys((run.id, held_as or run.id)):
        if not others and not (mine and id == run.id):
            d.want(Settle("claims", id, of=worker))
        if not others and not (mine and run.state == "stopping"):
            d.want(Settle("stop", id, of=worker))


def pause_now(
    d: Draft, conversation: Conversation, run: Run, cause: Cause, *, error: str | None = None, by: Person | None = None
) -> Changed:
    """Nothing of the run works any more: it is paused, keeps its record and waits for a person."""
    conversation, run = withdraw_all(d, conversation, run)
    conversation = d.save_conversation(conversation, **without(conversation, run.id))
    d.save_conversation(conversation, paused=(*conversation.paused, run.id))
    by = by or run.stopped_by
    run = d.save_run(run, state="paused", cause=cause, error=error or run.error, resumed=False, urgent=0)
    d.want(Settle("stopping", run.id), Untimer("free", run.id))
    d.want(Timer("shrink", conversation.id, d.now + d.spans.journal_keep_ms))
    who = by.name or by.id if by else None
    d.tell(conversation.id, "run.paused", run.id, cause=cause, error=run.error, by=who, **facts(run))
    return Changed(run=run.id, state="paused")


def cancel_now(d: Draft, conversation: Conversation, run: Run, by: Person | None) -> Changed:
    """Nothing of the run works any more: it is canceled, and nothing that could be resumed is left."""
    cause = run.cause if run.cause in DISCARDING else "user_canceled"
    conversation, run = close_all(d, conversation, run, Cancelled(cause=cause or "user_canceled"))
    forget_past(d, run)
    d.save_conversation(conversation, **at_its_end(conversation, run.id))
    text = f"[Canceled] after an error: {run.error}" if run.error else "[Canceled]"
    d.write(conversation.id, "note", text, run.id, by)
    run = d.save_run(
        run,
        state="canceled",
        cause=cause,
        fence=run.fence + 1,
        halt=run.halt + 1,
        message="",
        body=False,
        approvals=(),
        grants=(),
        past=(),
        stop_ms=run.stop_ms or d.now,
        stopped_by=run.stopped_by or by,
        ended_ms=run.ended_ms or d.now,
        ended_by=run.ended_by or ("nothing was at work" if run.fence else "never started"),
        effects=run.effects or "none",
        urgent=0,
    )
    d.want(Wipe("run", run.root), Settle("stopping", run.id), Untimer("free", run.id))
    d.want(Timer("shrink", conversation.id, d.now + d.spans.journal_keep_ms))
    d.tell(conversation.id, "run.canceled", run.id, cause=cause, by=by.name or by.id if by else None, **facts(run))
    return Changed(run=run.id, state="canceled")


def facts(run: Run) -> dict[str, int | str | None]:
    """The three facts of a stop, apart: recorded, seen to end (when, by which step), side effects."""
    return {"stop_requested": run.stop_ms, "ended": run.ended_ms, "ended_by": run.ended_by, "effects": run.effects}


# ── stop ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


def stop(d: Draft, e: Stop) -> Stopped | Refusal:
    """Cancel, pause or abort, in any state; a stronger cause replaces a weaker one."""
    anyone = e.all and e.person is not None and e.person.role == "owner"
    found = both(d, e.run, None if anyone else e.person)
    if isinstance(found, Refusal):
        return found
    conversation, run = found
    meant = stopping(run, e.cause, urgent=e.urgent)
    if (known := recall(d, e.key, e.person, Stopped, meant)) is not None:
        return known
    discard = e.cause in DISCARDING
    if run.state in TERMINAL:
        return Refusal("ended", DONE[run.state], {"state": run.state, "run": run.id})
    if run.state == "paused" and not discard:
        return Refusal("ended", "already paused", {"state": "paused", "run": run.id})
    if run.state == "stopping":
        told = _join(d, conversation, run, e)
        stopped(d, e, conversation, run, told.state)
        return remember(d, e.key, e.person, told, meant)
    if run.turn is None and not (discard and run.unproved):
        effects = _worse(run.effects, e.effects)
        run = d.save_run(run, cause=e.cause, stop_ms=d.now, stopped_by=e.person, effects=effects, halt=run.halt + 1)
        if discard:
            state = cancel_now(d, conversation, run, e.person).state
        else:
            state = pause_now(d, conversation, run, e.cause, by=e.person).state
    else:
        state = _intend(d, conversation, run, e).shown
    stopped(d, e, conversation, run, state)
    return remember(d, e.key, e.person, Stopped(run=run.id, state=state), meant)


def _intend(d: Draft, conversation: Conversation, run: Run, e: Stop) -> Run:
    """Record the intent to stop what works, and the moment at which the conversation goes on without it."""
    if e.cause in DISCARDING:
        conversation, run = close_all(d, conversation, run, Cancelled(cause=e.cause))
    else:
        conversation, run = withdraw_all(d, conversation, run)
    occupies = conversation.live == run.id
    changes = {} if occupies else without(conversation, run.id)
    conversation = d.save_conversation(conversation, **changes)
    if not occupies:
        d.save_conversation(conversation, stopping=(*conversation.stopping, run.id))
    run = d.save_run(run, state="stopping", cause=e.cause, halt=run.halt + 1)
    run = d.save_run(run, stop_ms=d.now, stopped_by=e.person, urgent=int(e.urgent))
    tell_workers(d, run)
    d.want(Owe("stopping", run.id, d.now))
    if run.turn is not None:
        d.want(Timer("free", run.id, d.now + d.spans.free_ms))
    _tell_stopping(d, run)
    return run


def _join(d: Draft, conversation: Conversation, run: Run, e: Stop) -> Stopped:
    """A stop that comes while one is under way: a stronger cause replaces it, *Stop now* skips a step."""
    if STRENGTH.get(e.cause, 1) > STRENGTH.get(run.cause or "user_paused", 1):
        conversation, run = close_all(d, conversation, run, Cancelled(cause=e.cause))
        run = d.save_run(run, cause=e.cause, stopped_by=e.person, urgent=run.urgent + e.urgent)
        if run.turn is None and not run.unproved:
            return Stopped(run=run.id, state=cancel_now(d, conversation, run, e.person).state, joined=True)
        _tell_stopping(d, run)
    elif e.urgent and run.urgent < PRESSES:
        run = d.save_run(run, urgent=run.urgent + 1)
    for turn in turns_of(run) if d.puts else ():
        d.want(Hint("stop", turn.worker))
    return Stopped(run=run.id, state=run.shown, joined=True)


def tell_workers(d: Draft, run: Run) -> None:
    """Owe the intent to stop to every worker that has a turn of the run; nobody reads for one whose lease is gone."""
    d.want(Hint("run", run.id))
    for turn in turns_of(run):
        if d.incarnation(turn.worker) is not None:
            d.want(Owe("stop", run.id, d.now, of=turn.worker), Hint("stop", turn.worker))


def turns_of(run: Run) -> tuple[Turn, ...]:
    """Every turn of a run whose end is not proved, the live one last."""
    return run.unproved if run.turn is None else (*run.unproved, run.turn)


def _tell_stopping(d: Draft, run: Run) -> None:
    by = run.stopped_by
    d.tell(
        run.conversation,
        "run.canceling" if run.cause in DISCARDING else "run.pausing",
        run.id,
        cause=run.cause,
        by=by.name or by.id if by else None,
        **facts(run),
    )


def ended(d: Draft, e: Ended) -> Changed | Refusal:
    """The work of a turn was seen to end: proof, accepted for any older turn too, and under an older id of the run."""
    run = d.run_now(e.run)
    conversation = d.conversation(run.conversation) if run is not None else None
    if run is None or conversation is None:
        if e.worker is None:
            return Refusal("gone", f"run {e.run!r} was deleted")
        proved(d, e.run, e.worker)
        return Changed(run=e.run, state="canceled")
    mine = run.turn if run.turn is not None and run.turn.fence == e.fence else None
    older = next((turn for turn in run.unproved if turn.fence == e.fence), None)
    turn = mine or older
    if turn is None:
        return Changed(run=run.id, state=run.shown)
    if mine is not None and run.state != "stopping":
        return Refusal("conflict", f"run {e.run!r} was not asked to stop")
    unproved = tuple(other for other in run.unproved if other.fence != e.fence)
    run = d.save_run(run, unproved=unproved, effects=_worse(run.effects, e.effects))
    if mine:
        run = d.save_run(run, turn=None, fence=run.fence + 1)
    let_go(d, run, turn.worker, e.run)
    if mine and unproved:
        conversation = d.save_conversation(conversation, **without(conversation, run.id))
        d.save_conversation(conversation, stopping=(*conversation.stopping, run.id))
        d.want(Untimer("free", run.id))
    if run.state != "stopping" or run.turn is not None or unproved:
        return Changed(run=run.id, state=run.shown)
    return end_now(d, conversation, d.save_run(run, ended_ms=d.now, ended_by=e.by))


def end_now(d: Draft, conversation: Conversation, run: Run) -> Changed:
    """All turns of a stopping run are proved to have ended: it is what its cause says."""
    if run.cause in DISCARDING:
        return cancel_now(d, conversation, run, run.stopped_by)
    return pause_now(d, conversation, run, run.cause or "user_paused")


def _worse(one: str | None, other: str | None) -> str | None:
    order = [None, "none", "done", "unknown"]
    return max(one, other, key=order.index)


def free(d: Draft, e: Free) -> Changed | Refusal:
    """The 15 seconds are over: what the old turn still sends is dropped, the conversation goes on."""
    run = d.run(e.run)
    conversation = d.conversation(run.conversation) if run is not None else None
    if run is None or conversation is None or run.state != "stopping" or run.turn is None:
        return Refusal("ended", f"run {e.run!r} is not stopping any more")
    d.hold(from_ms=(run.stop_ms or 0) + d.spans.free_ms)
    fence_off(d, conversation, run)
    return Changed(run=run.id, state=run.shown)


def fence_off(d: Draft, conversation: Conversation, run: Run) -> Run:
    """Let the conversation go on without a stopping run, whose work may still go on somewhere."""
    run = d.save_run(run, fence=run.fence + 1, turn=None, unproved=turns_of(run))
    conversation = d.save_conversation(conversation, **without(conversation, run.id))
    d.save_conversation(conversation, stopping=(*conversation.stopping, run.id))
    d.want(Untimer("free", run.id))
    d.tell(
        conversation.id, "status", run.id, text="stop not confirmed yet; the conversation goes on", since=run.stop_ms
    )
    return run
