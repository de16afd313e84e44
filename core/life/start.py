"""How a run starts and how a worker takes it: queued, claimed, its answers delivered.

Only the head of a free conversation can be claimed. A claim starts a turn under a new fence and records the answers
that the turn consumes, in one commit: an accepted answer is kept until then. Source: DESIGN sections 3 and 5.
"""

from __future__ import annotations

from core.life.check import approved, effect_of
from core.life.decision import Body, Log, Owe, Refusal
from core.life.draft import Draft
from core.life.emergency import frozen
from core.life.event import Claim
from core.life.result import Delivered
from core.model import Approval, Conversation, Grant, Json, Person, Run, Turn
from core.question import Accepted, Request

LONG = 2_048
SMALL = 256
MOST_UNUSED = 31
MOST_PAST = 32
DELIVERED = Delivered(run="", fence=0, halt=0)


def new_run(
    d: Draft,
    conversation: Conversation,
    person: Person,
    text: str,
    agent: str,
    *,
    attachments: tuple[str, ...] = (),
    told: bool = False,
    overheard: Json = None,
    deliver_to: str | None = None,
) -> Run:
    """Queue a new run at the end of its conversation. told: its text stands in the history already."""
    id = d.ids("r")
    long = len(text.encode()) > LONG
    run = Run(
        id=id,
        root=id,
        conversation=conversation.id,
        origin=conversation.origin,
        agent=agent,
        starter=person,
        state="queued",
        message="" if long else text,
        body=long,
        attachments=attachments,
        deliver_to=deliver_to,
        created_ms=d.now,
        changed_ms=d.now,
    )
    if long:
        d.want(Body(run.root, text))
    d.put(("run", id), run)
    title = conversation.title or text.strip().split("\n", 1)[0][:80]
    d.save_conversation(conversation, queue=(*conversation.queue, id), newest=id, title=title)
    entry = None
    if not told:
        files: list[Json] | None = [*attachments] or None
        entry = d.write(conversation.id, "person", text, id, person, attachments=files, overheard=overheard)
    d.tell(
        conversation.id,
        "run.queued",
        id,
        agent=agent,
        text=None if told else text,
        by=person.name or person.id,
        entry=entry,
        attachments=[*attachments] or None,
    )
    d.spare = False
    return run


def next_run(
    d: Draft, conversation: Conversation, run: Run, untaken: tuple[str, ...], attachments: tuple[str, ...]
) -> Run:
    """Queue the run that takes in what was said to one that ended first."""
    text, to = "\n\n".join(untaken), run.deliver_to
    who, files = run.starter, attachments
    return new_run(d, conversation, who, text, run.agent, attachments=files, told=True, deliver_to=to)


def claim(d: Draft, e: Claim) -> Delivered | Refusal:
    """A worker takes a ready run and starts a turn; an older turn that still holds it loses it."""
    run = d.run(e.run)
    conversation = d.conversation(run.conversation) if run is not None else None
    incarnation = d.incarnation(e.worker)
    if run is None or conversation is None or conversation.deleted:
        return Refusal("gone", f"run {e.run!r} was deleted")
    if incarnation is None:
        return Refusal("fenced", f"the lease of {e.worker!r} lapsed")
    if run.state != "queued":
        return Refusal("conflict", f"run {e.run!r} is {run.shown}", {"state": run.shown})
    if conversation.live is not None or not conversation.queue or conversation.queue[0] != run.id:
        return Refusal("busy", f"another run of the conversation goes first, before {e.run!r}")
    if (still := frozen(d, "no turn starts")) is not None:
        return still
    if run.retry_ms is not None and d.now < run.retry_ms:
        return Refusal("early", f"run {e.run!r} lost its worker, it is tried again later", {"retry": run.retry_ms})
    d.hold(from_ms=run.retry_ms or 0, until_ms=incarnation.until_ms)
    unproved = run.unproved if run.turn is None else (*run.unproved, run.turn)
    ladder, again = e.ladders.get(run.agent), run.agent not in e.pausing
    turn = Turn(fence=run.fence + 1, worker=e.worker, since_ms=d.now, again=again, ladder_ms=ladder)
    run = d.save_run(run, fence=run.fence + 1, turn=turn, unproved=unproved)
    d.want(Owe("claims", run.id, d.now, of=e.worker))
    d.log(run.root, "turn", f"turn#{run.fence}", run.fence, resumed=run.resumed)
    return deliver(d, conversation, run)


def deliver(d: Draft, conversation: Conversation, run: Run) -> Delivered:
    """Hand a run its answers and set it to work: each is recorded in the run's journal.

    Large values leave their request with that; small ones stay as long as its stub, so that a late press hears them.
    """
    turn = run.turn
    assert turn is not None, run.id
    answered = run.answered
    for id in answered:
        request = d.request(id)
        if request is not None:
            run = _record(d, run, request)
    requests = tuple(id for id in run.requests if id not in answered)
    past = (*run.past, *answered)[-MOST_PAST:]
    run = d.save_run(
        run,
        state="working",
        cause=None,
        error=None,
        retry_ms=None,
        resumed=False,
        turn=turn.changed(held=False),
        requests=requests,
        past=past,
        answered=(),
    )
    d.save_conversation(conversation, live=run.id, queue=tuple(id for id in conversation.queue if id != run.id))
    d.tell(conversation.id, "run.working", run.id, delivered=[*answered] or None)
    steps = tuple(effect.step for effect in d.effects if isinstance(effect, Log))
    return DELIVERED.changed(run=run.id, fence=run.fence, halt=run.halt, answered=answered, steps=steps)


def _record(d: Draft, run: Run, request: Request) -> Run:
    answer = request.answer
    assert answer is not None, request.id
    d.log(
        run.root,
        "answered",
        request.step,
        run.fence,
        request=request.id,
        answer=answer.model_dump(mode="json", exclude_none=True),
    )
    small = len(answer.as_json()) <= SMALL
    kept = answer if small or not isinstance(answer, Accepted) else Accepted()
    d.save_request(request, answer=kept, delivered=True)
    if not isinstance(answer, Accepted):
        return run
    digest = approved(request, answer)
    if digest is None:
        return run
    unused = tuple(approval for approval in run.approvals if not approval.used)
    return d.save_run(run, approvals=(*unused[-MOST_UNUSED:], Approval(request=request.id, digest=digest)))


def grant_of(d: Draft, request: Request, answer: Accepted, person: Person) -> tuple[str, Grant] | None:
    """What an accepted confirmation asks to be remembered, and for how long (`allow_run`, `allow_always`)."""
    picked = effect_of(request.question, answer.values)
    digest = approved(request, answer)
    subject = request.question.subject
    if picked is None or digest is None or subject is None or request.question.restricted:
        return None
    if picked.effect not in ("allow_run", "allow_always"):
        return None
    arguments = subject.arguments if answer.arguments is None else answer.arguments
    grant = Grant(digest=digest, tool=subject.tool, arguments=arguments, person=person.id, since_ms=d.now)
    return picked.effect, grant
