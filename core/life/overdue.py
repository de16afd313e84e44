"""The time of a request: given more, or over.

A request whose time is over, or that could be shown nowhere, is final: it pauses its run, and Resume asks the same
step anew (new id, same digest, `replaces`). Source: DESIGN section 6, C15 to C17.
"""

from __future__ import annotations

from typing import Literal

from core.life.access import may_answer
from core.life.audit import note
from core.life.closing import settle
from core.life.decision import Refusal, Timer
from core.life.draft import Draft
from core.life.event import Deadline, Extend, Stop
from core.life.memory import recall, remember
from core.life.result import Changed, Extended
from core.life.run import pause_now, stop
from core.model import TERMINAL, Run
from core.question import Expired

UNKNOWN = Refusal("unknown", "there is no such request; `/pending` lists those that are open")


def extend(d: Draft, e: Extend) -> Extended | Refusal:
    """A person gives a request more time, counted from now; never less than it had."""
    request = d.request(e.request)
    conversation = d.conversation(request.conversation) if request is not None else None
    run = d.run_now(request.run) if request is not None else None
    if request is None or conversation is None or run is None or not may_answer(e.person, conversation, run, request):
        return UNKNOWN
    meant = f"extend {e.request} {e.by_ms}"
    if (known := recall(d, e.key, e.person, Extended, meant)) is not None:
        return known
    if request.state != "open":
        return Refusal("ended", f"the question is {request.state}, its time cannot be moved")
    if e.by_ms <= 0:
        return Refusal("invalid", "'seconds': must be more than 0", {"field": "seconds", "rule": "must be more than 0"})
    if request.deadline_ms is None:
        rule = "this question has no deadline"
        return Refusal("invalid", f"'seconds': {rule}", {"field": "seconds", "rule": rule})
    d.hold(until_ms=request.deadline_ms - 1)
    if d.now >= request.deadline_ms:
        return Refusal("expired", "nobody answered in time, the question is closed", {"outcome": "expired"})
    deadline = max(request.deadline_ms, d.now + e.by_ms)
    note(d, "extend", e.person, conversation, run, where=e.via, request=request.id)
    d.save_request(request, deadline_ms=deadline)
    d.want(Timer("deadline", request.id, deadline))
    d.tell(request.conversation, "request.updated", request.run, request=request.id, deadline=deadline)
    return remember(d, e.key, e.person, Extended(request=request.id, deadline_ms=deadline), meant)


def deadline(d: Draft, e: Deadline) -> Changed | Refusal:
    """A request's time is over: it is settled as expired, and pauses its run."""
    request = d.request(e.request)
    if request is None or request.state != "open" or request.deadline_ms is None:
        return Refusal("ended", f"request {e.request!r} is not waiting for an answer any more")
    run = d.run_now(request.run)
    if run is None:
        return Refusal("gone", f"the run of {e.request!r} was deleted")
    d.hold(from_ms=request.deadline_ms)
    settle(d, request, Expired(), None, None)
    conversation = d.conversation(request.conversation)
    assert conversation is not None, request.conversation
    d.save_conversation(conversation, open=tuple(id for id in conversation.open if id != request.id))
    d.write(conversation.id, "note", "nobody answered in time", run.id, request=request.id, outcome="expired")
    return give_up(d, run, "deadline")


def give_up(d: Draft, run: Run, cause: Literal["deadline", "undeliverable"]) -> Changed:
    """A question of the run came to a final end without a person: the run is paused, Resume asks anew."""
    if run.state in TERMINAL or run.state in ("paused", "stopping"):
        return Changed(run=run.id, state=run.shown)
    if run.turn is None:
        conversation = d.conversation(run.conversation)
        assert conversation is not None, run.conversation
        return pause_now(d, conversation, run, cause)
    stop(d, Stop(run.id, cause))
    return Changed(run=run.id, state="pausing")
