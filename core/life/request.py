"""The life of a request: asked, answered once, taken by the turn that waits, or given up when its time is over.

    ask ──▶ open ──▶ settled: accepted · declined · expired · cancelled · undeliverable
              │ ▲
              ▼ │ its run is paused, resumed
           withdrawn

A turn may ask several things; it goes on when all are answered, held and parked alike. The first answer wins on all
surfaces together; everybody else is told which answer stands. Source: DESIGN section 6, C01, C02, C14 to C17, C31.
"""

from __future__ import annotations

import json

from core.life import audit
from core.life.access import may_answer, may_look, may_see
from core.life.again import enqueue, moved
from core.life.check import normal, outcome
from core.life.closing import card, public, settle, show
from core.life.decision import Body, Guard, Hint, Refusal, Timer
from core.life.draft import Draft
from core.life.emergency import frozen
from core.life.event import Abort, Ask, Park, Reply, Stop, Take
from core.life.grant import granted, remember_grant
from core.life.handing import usable
from core.life.memory import recall, remember, stopping
from core.life.overdue import give_up
from core.life.result import Answered, Asked, Changed, Delivered, Stopped
from core.life.run import let_go, stop, without
from core.life.sealing import handle_of, seal
from core.life.standing import meant, others, partly, standing
from core.life.start import LONG, deliver
from core.life.whole import unread
from core.model import Conversation, Json, Run, digest
from core.question import (
    Accepted,
    ConfirmField,
    Declined,
    Question,
    Request,
    Subject,
    Undeliverable,
    kinds_of,
)

# What the rules say is right as it is: copies of these, with changes, save a check of each.
REQUEST = Request(id="", run="", conversation="", origin="", step="", question=Question(), created_ms=0)
ASKED, ANSWERED = Asked(request=None), Answered(request="", run="")
HOW_TO_PROVE = "send it with a fresh one-time code of yours, which `sayso code` prints"
UNKNOWN = Refusal("unknown", "there is no such request; `/pending` lists those that are open")


# ── the turn's side ──────────────────────────────────────────────────────────────────────────────────────────────────


def ask(d: Draft, e: Ask) -> Asked | Refusal:
    """A turn asks: request and journal in one commit; the conversation is free for others meanwhile."""
    run = d.run(e.run)
    conversation = d.conversation(run.conversation) if run is not None else None
    if run is None or conversation is None:
        return Refusal("gone", f"run {e.run!r} was deleted")
    if run.turn is None or run.turn.fence != e.fence:
        return Refusal("fenced", f"run {e.run!r} has a newer turn")
    if run.state not in ("working", "waiting", "queued"):
        return Refusal("halted", f"run {e.run!r} is {run.shown}", {"state": run.shown})
    question = normal(e.question)
    if isinstance(question, Refusal):
        return question
    d.guard(Guard("length", ("run", run.root), fence=e.length))
    d.spare = False
    subject = question.subject
    name = digest(subject.tool, subject.arguments) if subject is not None else None
    field = question.fields[0]
    if isinstance(field, ConfirmField) and name is not None and granted(d, conversation, run, question, name):
        allowed = next(option.id for option in field.options if option.effect != "deny")
        answer = Accepted(values={field.id: allowed})
        audit.granted(d, conversation, run, question, name)
        d.log(run.root, "answered", e.key, run.fence, granted=name, answer=answer.model_dump(mode="json"))
        return Asked(request=None, granted=name)
    return _open(d, conversation, run, e, question, name)


def _open(
    d: Draft, conversation: Conversation, run: Run, e: Ask, question: Question, name: str | None
) -> Asked | Refusal:
    request = REQUEST.changed(
        id=d.ids("q"),
        run=run.id,
        conversation=conversation.id,
        origin=run.deliver_to or run.origin,
        step=e.key,
        question=question,
        digest=name,
        replaces=e.replaces,
        created_ms=d.now,
        surface=gate(d, question, run.deliver_to or run.origin, *question.copies),
        ours=e.ours,
    )
    text = question.as_json()
    if len(text) > 3 * LONG:
        d.want(Body(request.id, text.decode()))
        request = request.changed(body=True, question=_short(question))
    d.put(("request", request.id), request)
    d.log(run.root, "ask", e.key, run.fence, request=request.id, **e.data)
    if not request.surface and question.on_no_listener == "undeliverable":
        settle(d, request, Undeliverable(), None, None)
        run = d.save_run(run, requests=(*run.requests, request.id))
        give_up(d, run, "undeliverable")
        return Asked(request=request.id, undeliverable=True)
    show(d, request)
    assert run.turn is not None, run.id
    waiting = conversation.waiting if run.id in conversation.waiting else (*conversation.waiting, run.id)
    conversation = d.save_conversation(
        conversation, **{**without(conversation, run.id), "waiting": waiting, "open": (*conversation.open, request.id)}
    )
    if run.state != "waiting":
        d.tell(conversation.id, "run.waiting", run.id, requests=[request.id])
    d.save_run(
        run,
        state="waiting",
        turn=run.turn.changed(held=True),
        requests=(*run.requests, request.id),
    )
    return ASKED.changed(request=request.id)


def _short(question: Question) -> Question:
    """What the rules need of a question whose whole text stands beside its document."""
    subject, schema = question.subject, question.edit_schema
    small = schema is not None and len(json.dumps(schema)) <= LONG
    return question.changed(
        message=question.message[:200],
        subject=Subject(tool=subject.tool[:200]) if subject is not None else None,
        edit_schema=schema if small else None,
    )


def gate(d: Draft, question: Question, *origins: str) -> bool:
    """Tell whether a live front end shows such a question at one of the origins, as long as its heartbeat holds."""
    live = [one for one in d.listeners().all if one.until_ms > d.now]
    serving = [one for one in live if any(one.shows(origin, kinds_of(question)) for origin in origins)]
    if serving:
        d.hold(until_ms=max(one.until_ms for one in serving))
    return bool(serving)


def take(d: Draft, e: Take) -> Delivered | Refusal:
    """A held turn takes its answers and goes on, if the conversation is free; otherwise it goes on waiting."""
    run = d.run(e.run)
    conversation = d.conversation(run.conversation) if run is not None else None
    if run is None or conversation is None:
        return Refusal("gone", f"run {e.run!r} was deleted")
    if run.turn is None or run.turn.fence != e.fence:
        return Refusal("fenced", f"run {e.run!r} has a newer turn")
    if run.state == "waiting":
        return Refusal("waiting", f"run {e.run!r} waits for {list(run.requests)!r}")
    if run.state != "queued":
        return Refusal("halted", f"run {e.run!r} is {run.shown}", {"state": run.shown, "cause": run.cause})
    if conversation.live is not None or conversation.queue[:1] != (run.id,):
        return Refusal("busy", f"another run of the conversation goes first, before {e.run!r}")
    if (still := frozen(d, f"run {run.id!r} does not go on")) is not None:
        return still
    d.guard(Guard("length", ("run", run.root), fence=e.length))
    return deliver(d, conversation, run)


def park(d: Draft, e: Park) -> Changed | Refusal:
    """A held turn lets go; if the answer came first, it is told so and takes it (while frozen: who claims it)."""
    run = d.run(e.run)
    if run is None:
        return Refusal("gone", f"run {e.run!r} was deleted")
    if run.turn is None or run.turn.fence != e.fence:
        return Refusal("fenced", f"run {e.run!r} has a newer turn")
    if run.state == "queued" and d.frozen() is None:
        return Refusal("answered", f"run {e.run!r} has its answers: take them")
    if run.state not in ("waiting", "queued"):
        return Refusal("halted", f"run {e.run!r} is {run.shown}", {"state": run.shown, "cause": run.cause})
    parked = d.save_run(run, turn=None, fence=run.fence + 1)
    let_go(d, parked, run.turn.worker)
    d.want(Timer("shrink", run.conversation, d.now + d.spans.journal_keep_ms))
    return Changed(run=run.id, state=parked.shown)


# ── the person's side ────────────────────────────────────────────────────────────────────────────────────────────────


def reply(d: Draft, e: Reply) -> Answered | Refusal:
    """A person answers: the first answer wins, the same one again by the same person is success."""
    request = d.request(e.request)
    conversation = d.conversation(request.conversation) if request is not None else None
    if request is None or conversation is None:
        return UNKNOWN
    run = d.run_now(request.run)
    if run is None:
        return UNKNOWN
    if not may_answer(e.person, conversation, run, request):
        seen = may_see(e.person, conversation)
        return Refusal("not_allowed", "this question is not yours to answer") if seen else UNKNOWN
    if (known := recall(d, e.key, e.person, Answered, meant(e))) is not None:
        return known
    if request.state == "settled":
        return standing(e, request, run)
    if request.state == "withdrawn":
        return Refusal("paused", "paused: resume first", {"run": run.id, "state": run.shown})
    if request.deadline_ms is not None:
        if d.now >= request.deadline_ms:
            return Refusal("expired", "nobody answered in time, the question is closed", {"outcome": "expired"})
        d.hold(until_ms=request.deadline_ms - 1)
    if (cut := unread(d, e, request)) is not None:
        return cut
    if isinstance(e.answer, Accepted) and not e.submit:
        return partly(d, e, request, run)
    given = {name: one.value for name, one in request.given.items()}
    taken = others(e, request)
    if taken is not None:
        return taken
    sent = e.answer.changed(values={**given, **e.answer.values}) if isinstance(e.answer, Accepted) else e.answer
    handles = {handle for value in given.values() if (handle := handle_of(value)) is not None}
    files = usable(request, given.values(), e.files)
    answer = outcome(request.question, sent, handles | e.sealed.keys(), files)
    if isinstance(answer, Refusal):
        return answer
    if request.question.restricted and isinstance(answer, Accepted) and not e.proof:
        words = f"this approval needs a proof that you are there: {HOW_TO_PROVE}"
        return Refusal("not_allowed", words, {"proof": True})
    return remember(d, e.key, e.person, _accept(d, e, conversation, run, request, answer), meant(e))


def abort(d: Draft, e: Abort) -> Stopped | Refusal:
    """A person pauses the run that asked; on a question that is settled this stops nothing."""
    request = d.request(e.request)
    conversation = d.conversation(request.conversation) if request is not None else None
    if request is None or conversation is None or conversation.deleted or not may_look(e.person, conversation, request):
        return UNKNOWN
    run = d.run_now(request.run)
    if run is not None and (known := recall(d, e.key, e.person, Stopped, stopping(run, "user_aborted"))) is not None:
        return known
    if request.state == "settled":
        told: dict[str, Json] = {"outcome": request.answer.outcome if request.answer else None, "run": request.run}
        return Refusal("ended", "this question is settled already, nothing was stopped", told)
    return stop(d, Stop(request.run, "user_aborted", e.person, e.key, effects=e.effects, via=e.via))


def _accept(
    d: Draft, e: Reply, conversation: Conversation, run: Run, request: Request, answer: Accepted | Declined
) -> Answered:
    request = settle(d, request, answer, e.person, e.via)
    audit.answered(d, conversation, run, request, answer, e.person, e.via, proof=e.proof)
    text = {"accepted": "answered", "declined": "declined"}[answer.outcome]
    d.write(
        conversation.id,
        "request",
        request.question.title or (request.question.subject.tool if request.question.subject else text),
        run.id,
        e.person,
        request=request.id,
        outcome=answer.outcome,
        where=e.via,
        **public(request),
    )
    if isinstance(answer, Accepted):
        run = seal(d, run, e.sealed)
        run = remember_grant(d, conversation, run, request, answer, e.person)
    open_left = tuple(id for id in conversation.open if id != request.id)
    conversation = d.save_conversation(conversation, open=open_left)
    run = d.save_run(run, answered=(*run.answered, request.id))
    told = ANSWERED.changed(request=request.id, run=run.id, answer=answer, by=e.person.id, via=e.via)
    if request.ours == "unknown_step" and _picked(answer) == "cancel":
        stop(d, Stop(run.id, "user_canceled", e.person, effects="unknown", via=e.via))
        return told
    if any(id not in run.answered for id in run.requests):
        return told
    if run.turn is None:
        conversation, run = moved(d, conversation, run)
    run = enqueue(d, conversation, run)
    d.want(Hint("run", run.id))
    return told.changed(run=run.id)


def _picked(answer: Accepted | Declined) -> Json:
    return next(iter(answer.values.values()), None) if isinstance(answer, Accepted) else None


def shown(request: Request) -> dict[str, Json]:
    """A request as the API shows it: its card, and when it is settled, what came of it."""
    plain = {**card(request), "run": request.run, "conversation": request.conversation, "origin": request.origin}
    if request.question.copies:
        plain["copies"] = list(request.question.copies)
    if request.not_shown and request.answer is None:
        plain["not_shown"] = dict(request.not_shown)
    if request.answer is not None:
        plain |= {
            "outcome": request.answer.outcome,
            "by": (request.by.name or request.by.id) if request.by else None,
            "where": request.via,
            "at": request.settled_ms,
            "delivered": request.delivered,
            **public(request),
        }
    return plain
