"""Whole or not: a yes counts only where all of what it is a yes to can be read, however the yes is given.

    all of it stands on the card at the place     a button and a text approve
    the card there is cut, it has no Approve      neither does; the person is told where it stands as a whole
    no card there that anybody knows of           a text does not; a button proves that there is one

A no is never refused. The dashboard reads the state itself and shows all of it. Source: DESIGN section 6, C58.
"""

from __future__ import annotations

from collections.abc import Mapping

from core.card import Card
from core.life.check import effect_of
from core.life.decision import Refusal
from core.life.draft import Draft
from core.life.event import Reply
from core.model import Json
from core.question import Accepted, Request

CUT = "This is too long to be shown here as a whole, so it cannot be approved here."
NOWHERE = "This question was not shown here, so it cannot be approved from here."
THERE = "It stands on the dashboard, under pending."


def unread(d: Draft, e: Reply, request: Request) -> Refusal | None:
    """Refuse a yes to what cannot be read as a whole where it is given."""
    if e.place is None or not isinstance(e.answer, Accepted) or not approving(request, e.answer.values):
        return None
    card = _card(d, request, e.place)
    if card is not None and card.whole is not None:
        return None if card.whole else Refusal("not_whole", f"{CUT} {THERE}", {"request": request.id})
    if not e.typed:
        return None
    words = f"{NOWHERE} {THERE} In a private chat with me, `/pending` shows it."
    return Refusal("not_whole", words, {"request": request.id})


def approving(request: Request, values: Mapping[str, Json]) -> bool:
    """Tell whether values say yes to something that has to be read: to a confirmation, or to a call once more."""
    if request.ours == "unknown_step":
        return request.question.subject is not None and "repeat" in values.values()
    picked = effect_of(request.question, values)
    return picked is not None and picked.effect != "deny"


def _card(d: Draft, request: Request, place: str) -> Card | None:
    """The card that a person at a place sees; a platform may have put it there instead of where it was sent to."""
    card = d.card(request.cards[place]) if place in request.cards else None
    if card is not None and card.whole is not None:
        return card
    for id in request.cards.values():
        other = d.card(id)
        if other is not None and other.instead == place:
            return other
    return card
