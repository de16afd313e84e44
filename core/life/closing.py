"""The end of requests: settled by an answer, closed or withdrawn with their run, opened again by Resume.

    open ──▶ settled     an answer, a deadline, the end of its run: for good
    open ──▶ withdrawn   its run was paused; cards lose their buttons, deadlines stand still, given values stay
    withdrawn ──▶ open   its run was resumed, with the full time again

These are pieces of the rules in `run.py` and `request.py`; nobody else calls them.
"""

from __future__ import annotations

from collections.abc import Mapping

from core.life.decision import Timer, Untimer, Wipe
from core.life.draft import Draft
from core.life.sealing import drop
from core.model import Conversation, Json, Person, Run, digest
from core.question import Accepted, Cancelled, Declined, Expired, Given, Question, Request, SecretField, Undeliverable

AnyAnswer = Accepted | Declined | Cancelled | Expired | Undeliverable


def settle(d: Draft, request: Request, answer: AnyAnswer, by: Person | None, via: str | None) -> Request:
    """Give an open request its one answer, and say so."""
    settled = d.save_request(
        request,
        state="settled",
        answer=answer,
        by=by,
        via=via,
        settled_ms=d.now,
        given={},
        mark=mark(answer) if by is not None else None,
    )
    _unshow(d, request)
    d.tell(
        request.conversation,
        "request.closed",
        request.run,
        request=request.id,
        outcome=answer.outcome,
        by=by.name or by.id if by else None,
        where=via,
        **_public(request, answer),
    )
    return settled


def mark(answer: AnyAnswer) -> str:
    """Name an answer exactly."""
    return digest("answer", answer.model_dump(mode="json", exclude_none=True))


def close_all(
    d: Draft, conversation: Conversation, run: Run, answer: Cancelled, *, over: bool = True
) -> tuple[Conversation, Run]:
    """Close every request of a run for good; texts and values go now, only stubs stay.

    over: the run is over as well, so that the secrets it was given go, too.
    """
    for id in run.requests:
        request = d.request(id)
        if request is None:
            continue
        if request.state != "settled":
            request = settle(d, request, answer, None, None)
        d.save_request(request, question=blank(request.question), answer=stub(request.answer), delivered=True)
        d.want(Wipe("request", id))
    gone = set(run.requests)
    conversation = d.save_conversation(conversation, open=tuple(q for q in conversation.open if q not in gone))
    run = drop(d, run, run.secrets) if over else run
    return conversation, d.save_run(run, requests=(), answered=())


def forget_past(d: Draft, run: Run) -> None:
    """Take the texts and values of a run's delivered requests away; their stubs still tell what was answered."""
    for id in run.past:
        request = d.request(id)
        if request is not None:
            d.save_request(request, question=blank(request.question), answer=stub(request.answer))
            d.want(Wipe("request", id))


def withdraw_all(d: Draft, conversation: Conversation, run: Run) -> tuple[Conversation, Run]:
    """Take the open requests of a run from all surfaces until Resume; those with an answer keep it."""
    kept: list[str] = []
    for id in run.requests:
        request = d.request(id)
        if request is None:
            continue
        if request.state == "open":
            d.save_request(request, state="withdrawn", deadline_ms=None)
            _unshow(d, request)
            d.tell(conversation.id, "request.updated", run.id, request=id, state="withdrawn")
        if request.state != "settled" or id in run.answered:
            kept.append(id)
    gone = set(run.requests)
    conversation = d.save_conversation(conversation, open=tuple(q for q in conversation.open if q not in gone))
    return conversation, d.save_run(run, requests=tuple(kept))


def reopen_all(d: Draft, conversation: Conversation, run: Run) -> tuple[Conversation, tuple[str, ...]]:
    """Open the withdrawn requests of a run again, with their full time."""
    reopened: list[str] = []
    for id in run.requests:
        request = d.request(id)
        if request is not None and request.state == "withdrawn":
            show(d, d.save_request(request, state="open"))
            reopened.append(id)
    if not reopened:
        return conversation, ()
    conversation = d.save_conversation(conversation, open=(*conversation.open, *reopened))
    return conversation, tuple(reopened)


def show(d: Draft, request: Request) -> Request:
    """Put an open request before people: its deadline, its places, its event."""
    timeout = request.question.timeout_ms
    if timeout:
        request = d.save_request(request, deadline_ms=d.now + timeout)
        d.want(Timer("deadline", request.id, d.now + timeout))
    d.tell(request.conversation, "request.opened", request.run, **card(request))
    return request


def card(request: Request) -> dict[str, Json]:
    """What a page needs to show a request; never a value."""
    question = request.question
    plain: dict[str, Json] = {
        "request": request.id,
        "state": request.state,
        "title": question.title,
        "fields": [field.model_dump(mode="json", exclude_none=True) for field in question.fields],
        "created": request.created_ms,
    }
    if question.message:
        plain["message"] = question.message
    if request.body:
        plain["body"] = True
    if question.subject is not None:
        plain["subject"] = question.subject.model_dump(mode="json", exclude_none=True)
    if question.edit_schema is not None:
        plain["edit_schema"] = question.edit_schema
    if question.restricted:
        plain["restricted"] = True
    if request.deadline_ms is not None:
        plain["deadline"] = request.deadline_ms
    if not request.surface:
        plain["surface"] = False
    if request.replaces is not None:
        plain["replaces"] = request.replaces
    if request.given:
        plain["given"] = shown_given(request, request.given)
    return plain


def shown_given(request: Request, given: Mapping[str, Given]) -> dict[str, Json]:
    """The values of a form so far, but of a secret only that it came."""
    secret = _secrets(request)
    return {name: "received" if name in secret else one.value for name, one in given.items()}


def _secrets(request: Request) -> set[str]:
    return {field.id for field in request.question.fields if isinstance(field, SecretField)}


def _unshow(d: Draft, request: Request) -> None:
    if request.deadline_ms is not None:
        d.want(Untimer("deadline", request.id))


def _public(request: Request, answer: AnyAnswer) -> dict[str, Json]:
    """What may be told of an answer: the values, but of a secret only that it came."""
    match answer:
        case Accepted():
            secret = _secrets(request)
            plain: dict[str, Json] = {
                "values": {name: "received" if name in secret else value for name, value in answer.values.items()}
            }
            if answer.arguments is not None:
                plain["arguments"] = answer.arguments
            return plain
        case Declined():
            return {"reason": answer.reason} if answer.reason else {}
        case Cancelled():
            return {"cause": answer.cause}
        case Expired() | Undeliverable():
            return {}


def public(request: Request) -> dict[str, Json]:
    """What may be told of a settled request's answer; of one whose values are forgotten not that there were none."""
    if request.answer is None:
        return {}
    forgotten = isinstance(request.answer, Accepted) and request.mark not in (None, mark(request.answer))
    return {} if forgotten else _public(request, request.answer)


def blank(question: Question) -> Question:
    """What stays of a question when its texts go: whose it was, so that they still hear what came of it."""
    return Question(responders=question.responders, copies=question.copies)


def stub(answer: AnyAnswer | None) -> AnyAnswer | None:
    """What stays of an answer when its texts go."""
    match answer:
        case Accepted():
            return Accepted()
        case Declined():
            return Declined()
        case _:
            return answer
