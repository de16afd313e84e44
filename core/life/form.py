"""Filling in on a card, piece by piece: options picked and taken back, fields one after the other, then the submit.

A card of a form shows one field at a time (its `page`); the page after the last field is the summary with *Submit*.
What is given is kept with the request, so that every surface shows it. Source: DESIGN section 6 ("a form"), C55, C56.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from core.card import Card
from core.life.card import Turned, turned
from core.life.decision import Refusal
from core.life.draft import Draft
from core.life.event import Reply
from core.life.request import reply
from core.life.result import Answered
from core.life.words import field_answer
from core.model import Json, Person
from core.question import Accepted, ChoiceField, Handed, Request


@dataclass(frozen=True, slots=True)
class Fill:
    """A person wrote the value of the field that the form's card shows at a place, or sent the files for it.

    seen_at: see `Said`.
    """

    request: str
    text: str
    person: Person
    via: str
    place: str
    seen_at: str | None = None
    key: str | None = None
    attachments: tuple[str, ...] = ()
    files: Mapping[str, Handed] = field(default_factory=dict[str, Handed])


def fill(d: Draft, e: Fill) -> Answered | Refusal:
    """Take a text as the value of the shown field, and show the next one."""
    request = d.request(e.request)
    if request is None:
        return Refusal("unknown", "there is no such request; `/pending` lists those that are open")
    page = page_of(d, request, e.place)
    if page >= len(request.question.fields):
        return Refusal("choose", "everything is filled in: press Submit on the card, or go back to change something")
    value = field_answer(request, request.question.fields[page], e.text, e.attachments)
    if isinstance(value, Refusal):
        return value
    sent = Reply(request.id, Accepted(), e.person, e.via, e.key, files=e.files, place=e.seen_at, typed=True)
    return give(d, request, page, value, sent, e.place)


def give(d: Draft, request: Request, page: int, value: Json, e: Reply, place: str) -> Answered | Refusal:
    """Keep the value of one field of a form, and turn the card at this place to the next one."""
    field = request.question.fields[page]
    answered = reply(d, replace(e, answer=Accepted(values={field.id: value}), submit=False))
    card = card_at(d, request, place)
    if isinstance(answered, Answered) and card is not None:
        turned(d, Turned(card.id, page=page + 1))
    return answered


def toggled(request: Request, field: ChoiceField, option: str) -> list[Json] | Refusal:
    """Pick an option of several, or take it back."""
    given = request.given.get(field.id)
    before = given.value if given is not None and isinstance(given.value, list) else []
    after = [one for one in before if one != option] if option in before else [*before, option]
    if field.max is not None and len(after) > max(1, field.max):
        if field.max > 1:
            return Refusal("invalid", f"at most {field.max} may be picked: take one back first")
        after = [option]
    order = {one.id: index for index, one in enumerate(field.options)}
    return sorted(after, key=lambda one: order.get(one, 0) if isinstance(one, str) else len(order))


def page_of(d: Draft, request: Request, place: str) -> int:
    """Tell which field of a form the card at a place shows; the number of fields stands for the summary."""
    card = card_at(d, request, place)
    return min(card.page, len(request.question.fields)) if card is not None else 0


def card_at(d: Draft, request: Request, place: str) -> Card | None:
    """Find the card that shows a request at a place."""
    return d.card(request.cards[place]) if place in request.cards else None
