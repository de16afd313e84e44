"""What a press on a card of a request does: answers, fills in, turns the card, or stops and resumes the run that asked.

Every press is put to these rules, whatever the adapter remembers of the card. Anybody who may not answer learns that it
is not theirs, and nothing changes. Source: DESIGN sections 6 and 8, C01, C06, C07, C25, C44, C46, C64.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from core.life.access import may_act, may_answer, may_see
from core.life.again import resume
from core.life.card import Reshow, Turned, reshow, turned
from core.life.decision import Refusal
from core.life.draft import Draft
from core.life.event import Reply, Resume
from core.life.form import card_at, give, page_of, toggled
from core.life.request import UNKNOWN, reply
from core.life.result import Answered, Kept, Resumed, Told
from core.life.run import UNKNOWN as NO_RUN
from core.model import Json, Person
from core.press import Press
from core.question import Accepted, ChoiceField, ConfirmField, Declined, FileField, Option, Request

NOT_YOURS = Refusal("not_allowed", "this question is not yours to answer")
NOT_YOUR_RUN = Refusal("not_allowed", "this task is not yours")
NO_OPTION = Refusal("invalid", "this button belongs to nothing that can be picked now")


@dataclass(frozen=True, slots=True)
class Pressed:
    """A person pressed a button at a place. via: the surface, as `tg`. message: the platform's id of the card."""

    press: Press
    person: Person
    place: str
    via: str
    key: str | None = None
    message: str | None = None


def pressed(d: Draft, e: Pressed) -> Answered | Resumed | Kept | Told | Refusal:
    """Do what a button on a request's card says."""
    request = d.request(e.press.id)
    conversation = d.conversation(request.conversation) if request is not None else None
    run = d.run_now(request.run) if request is not None else None
    if request is None or conversation is None or run is None:
        return UNKNOWN
    if not may_answer(e.person, conversation, run, request):
        shown = may_see(e.person, conversation) or e.place in request.cards
        return NOT_YOURS if shown else UNKNOWN
    if e.press.verb in ("option", "done", "deny"):
        return _answer(d, e, request)
    card = card_at(d, request, e.place)
    match e.press.verb:
        case "resume" | "retry":
            return resume(d, Resume(run.id, e.person, e.key, e.via))
        case "show":
            return reshow(d, Reshow(request.id, e.place))
        case "page":
            return Told(command=e.press.verb, argument=request.id, conversation=request.conversation)
        case "cancel" | "keep" if card is not None:
            kept = turned(d, Turned(card.id, asking=e.press.verb == "cancel"))
            return kept if isinstance(kept, Refusal) else Kept(note=e.press.verb)
        case "turn" | "back" | "skip" if card is not None and request.state == "open":
            step = {"turn": e.press.number, "back": max(0, card.page - 1), "skip": card.page + 1}[e.press.verb]
            return turned(d, Turned(card.id, page=step))
        case "turn" | "back" | "skip" | "text" | "form" | "reason" | "give" | "pick" if request.state != "open":
            return reply(d, Reply(request.id, Declined(), e.person, e.via))
        case "turn" | "back" | "skip":
            return Kept()
        case _:
            return Told(command=e.press.verb, argument=request.id, conversation=request.conversation)


def turned_status(d: Draft, e: Pressed) -> Kept | Refusal:
    """Let the status card of a run ask whether the person is sure, or take that back."""
    run = d.run_now(e.press.id)
    conversation = d.conversation(run.conversation) if run is not None else None
    if run is None or conversation is None:
        return NO_RUN
    if not may_act(e.person, conversation, run):
        return NO_RUN
    card = d.card(run.card) if run.card is not None else None
    if card is not None:
        turned(d, Turned(card.id, asking=e.press.verb == "cancel"))
    return Kept(note=e.press.verb if card is not None else "sure")


def _answer(d: Draft, e: Pressed, request: Request) -> Answered | Refusal:
    plain = Reply(request.id, Accepted(), e.person, e.via, e.key, place=e.place)
    if e.press.verb == "deny" or request.state != "open" or not request.question.fields:
        sent = Declined() if e.press.verb == "deny" else _same(request, e)
        return reply(d, replace(plain, answer=sent))
    if e.press.verb == "done":
        empty: dict[str, Json] = {f.id: [] for f in request.question.fields if _may_be_empty(f, request)}
        return reply(d, replace(plain, answer=Accepted(values=empty)))
    field, option = _option(request, e)
    if field is None or option is None:
        return NO_OPTION
    if isinstance(field, ChoiceField) and field.multiple:
        picked = toggled(request, field, option.id)
        if isinstance(picked, Refusal):
            return picked
        return reply(d, replace(plain, answer=Accepted(values={field.id: picked}), submit=False))
    if len(request.question.fields) > 1:
        page = page_of(d, request, e.place)
        if page == len(request.question.fields) or request.question.fields[page].id != field.id:
            page = request.question.fields.index(field)
        return give(d, request, page, option.id, plain, e.place)
    if isinstance(field, ConfirmField) and option.effect == "deny":
        return reply(d, replace(plain, answer=Declined()))
    return reply(d, replace(plain, answer=Accepted(values={field.id: option.id})))


def _may_be_empty(field: object, request: Request) -> bool:
    many = isinstance(field, ChoiceField) and field.multiple and not field.min
    none = isinstance(field, FileField) and not field.required
    return isinstance(field, ChoiceField | FileField) and (many or none) and field.id not in request.given


def _option(request: Request, e: Pressed) -> tuple[ConfirmField | ChoiceField | None, Option | None]:
    fields = request.question.fields
    field = fields[e.press.field] if e.press.field < len(fields) else None
    if not isinstance(field, ConfirmField | ChoiceField) or e.press.number >= len(field.options):
        return None, None
    return field, field.options[e.press.number]


def _same(request: Request, e: Pressed) -> Accepted | Declined:
    """What a press on a closed request would have said, to tell whether it is the answer that stands."""
    field, option = _option(request, e)
    if field is None or option is None:
        return Declined() if e.press.verb == "deny" else Accepted()
    if option.effect == "deny":
        return Declined()
    value: str | list[str] = [option.id] if isinstance(field, ChoiceField) and field.multiple else option.id
    return Accepted(values={field.id: value} if isinstance(value, str) else {field.id: [*value]})
