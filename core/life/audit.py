"""What goes into the audit, written in the very commit of the decision; and what is let go of it when it is old.

Only people's decisions stand there, and what a remembered approval decided for them. Options are named by id; what
somebody typed is not kept, nor is what was asked, but for the tool and the digest of what was approved.
"""

from __future__ import annotations

from dataclasses import dataclass

from core.deed import Deed, DeedKind
from core.life.decision import Cut, Note
from core.life.draft import Draft
from core.life.event import Stop
from core.life.result import Kept
from core.model import Conversation, Json, Person, Run
from core.question import Accepted, ChoiceField, ConfirmField, Declined, Question, Request

LONGEST_TOOL = 200
STOPS: dict[str, DeedKind] = {"user_canceled": "cancel", "user_paused": "pause", "user_aborted": "abort"}


@dataclass(frozen=True, slots=True)
class Trim:
    """Lines up to a number are old, or more than are kept."""

    upto: int


def note(
    d: Draft,
    kind: DeedKind,
    person: Person,
    conversation: Conversation | None = None,
    run: Run | None = None,
    **more: object,
) -> None:
    """Put a decision on record."""
    place = {"conversation": conversation.id, "origin": conversation.origin} if conversation is not None else {}
    ids = {"run": run.id} if run is not None else {}
    d.want(Note(DEED.changed(kind=kind, at=d.now, by=person.id, **place, **ids, **more)))


def answered(
    d: Draft,
    conversation: Conversation,
    run: Run,
    request: Request,
    answer: Accepted | Declined,
    person: Person,
    via: str | None,
    *,
    proof: bool,
) -> None:
    """Put an answer on record: what was approved or denied, by whom, where, after how long."""
    subject = request.question.subject
    note(
        d,
        "answer",
        person,
        conversation,
        run,
        where=via,
        request=request.id,
        tool=subject.tool[:LONGEST_TOOL] if subject is not None else None,
        digest=request.digest,
        outcome=answer.outcome,
        picked=_picked(request, answer) if isinstance(answer, Accepted) else (),
        proof=proof,
        after_ms=d.now - request.created_ms,
    )


def granted(d: Draft, conversation: Conversation, run: Run, question: Question, digest: str) -> None:
    """Put on record that a remembered approval stood in for a person."""
    tool = question.subject.tool[:LONGEST_TOOL] if question.subject is not None else None
    note(d, "grant.used", run.starter, conversation, run, tool=tool, digest=digest)


def stopped(d: Draft, e: Stop, conversation: Conversation, run: Run, state: str) -> None:
    """Put a stop on record that a person wanted; what the rules stop by themselves is nobody's decision."""
    kind = STOPS.get(e.cause)
    if kind is not None and e.person is not None and d.puts:  # a mere repeat decides nothing
        note(d, kind, e.person, conversation, run, where=e.via, outcome=state)


def _picked(request: Request, answer: Accepted) -> tuple[str, ...]:
    """The ids of options that were picked; what was typed is nobody's business here."""
    found: list[str] = []
    for field in request.question.fields:
        value: Json = answer.values.get(field.id)
        if isinstance(field, ConfirmField | ChoiceField):
            known = {option.id for option in field.options}
            values = value if isinstance(value, list) else [value]
            found += [one for one in values if isinstance(one, str) and one in known]
    return tuple(found)


def trim(d: Draft, e: Trim) -> Kept:
    """Let old lines go; that they went, and which, stands on record."""
    d.want(Note(DEED.changed(kind="trimmed", at=d.now, upto=e.upto)), Cut(e.upto))
    return Kept()


DEED = Deed(kind="answer", at=0)
