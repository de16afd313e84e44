"""The life of a card: a showing begun, put on the ledger, edited until it shows what is true, or given up.

    unshown ──▶ sending(attempt) ──▶ shown ⇄ in debt ──▶ final
                      │  └ unclear: sent again, both cards work        └▶ cannot be edited: listed, no more tries
                      └▶ failed: "not shown on X", a fact on an open request, not its end

What a card is turned to (a page, "sure?") counts as a revision of its own. Source: DESIGN section 6 ("Showing"), C50,
C51, C63. Texts are no cards: `posting.py`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from core.card import Card, Pointer
from core.life.debt import member, places, prefix
from core.life.decision import Owe, Refusal, Settle
from core.life.draft import Draft
from core.life.result import Kept, Showing
from core.listening import Serves
from core.model import TERMINAL, Run
from core.question import Request, kinds_of

RETRY_MS = 3_000
GONE = Refusal("gone", "this card is gone")


@dataclass(frozen=True, slots=True)
class Show:
    """A front end is about to show a request, or a run's status, at a place. by: what it serves, for requests.

    whole: all of the question can be read there.
    """

    of: str
    kind: Literal["request", "status"]
    place: str
    by: Serves | None = None
    whole: bool | None = None


@dataclass(frozen=True, slots=True)
class Ledger:
    """A card stands on its platform. message: the platform's id; rev, turned: the revision that it shows.

    instead: the place where it stands, when that is not the one it was sent to. whole: all of the question can be read
    there, None when that is as it was.
    """

    card: str
    message: str
    rev: int
    turned: int = 0
    instead: str | None = None
    whole: bool | None = None


@dataclass(frozen=True, slots=True)
class Edited:
    """A card was edited (or found to be right already). whole: all of the question can be read there."""

    card: str
    rev: int
    turned: int = 0
    whole: bool | None = None


@dataclass(frozen=True, slots=True)
class Unshowable:
    """A showing or an edit is impossible, for a reason in words. again_ms: when a passing one is tried again."""

    card: str
    reason: str
    again_ms: int | None = None


@dataclass(frozen=True, slots=True)
class Turned:
    """A person turned a card's page, or pressed Cancel and is asked whether they are sure."""

    card: str
    page: int | None = None
    asking: bool | None = None


@dataclass(frozen=True, slots=True)
class Point:
    """A platform's message belongs to a request or a run; told to the partition of the place."""

    place: str
    message: str
    of: str
    conversation: str


@dataclass(frozen=True, slots=True)
class Adopt:
    """A press came from a message that the ledger does not know: it is a showing, too, and gets the final edit."""

    of: str
    place: str
    message: str


@dataclass(frozen=True, slots=True)
class Reshow:
    """A person wants to see an open request again: at the end of the chat, or where it could not be shown."""

    of: str
    place: str


# ── showing ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def show(d: Draft, e: Show) -> Showing | Refusal:
    """Begin a showing; what was begun before and has no message is an unclear send, and is sent again."""
    if e.kind == "status":
        return _show_status(d, e)
    request = d.request(e.of)
    known = request.cards.get(e.place) if request is not None else None
    card = d.card(known) if known is not None else None
    over = card is not None and card.state != "sending"
    if request is not None and known is None and e.by is not None and not e.by.shows(e.place, kinds_of(request)):
        over = True
    if request is None or request.state != "open" or over or (known is None and e.place not in places(request)):
        d.want(Settle("unshown", f"{e.of} {e.place}", of=prefix(e.place)))
        return Showing(card=None)
    made = _begin(d, card, _fresh(d, e.of, "request", e.place, request.conversation), e.whole)
    if known != made.id:
        d.save_request(request, cards={**request.cards, e.place: made.id})
    d.want(Owe("unshown", f"{e.of} {e.place}", d.now + RETRY_MS, of=prefix(e.place)))
    return Showing(card=made.id, attempt=made.attempt)


def _show_status(d: Draft, e: Show) -> Showing | Refusal:
    run = d.run_now(e.of)
    card = d.card(run.card) if run is not None and run.card is not None else None
    over = card is not None and card.state != "sending"
    if run is None or over or (card is None and run.state in TERMINAL):
        if not over:
            d.want(Settle("debt", f"run:{e.of}", of=prefix(e.place)))
        return Showing(card=None)
    made = _begin(d, card, _fresh(d, run.root, "status", e.place, run.conversation), None)
    if run.card != made.id:
        d.save_run(run, card=made.id)
    d.want(Owe("debt", f"run:{run.id}", d.now + RETRY_MS, of=prefix(e.place)))
    return Showing(card=made.id, attempt=made.attempt)


def _fresh(d: Draft, of: str, kind: Literal["request", "status"], place: str, conversation: str) -> Card:
    return Card(
        id=d.ids("k"), of=of, kind=kind, conversation=conversation, place=place, state="sending", since_ms=d.now
    )


def _begin(d: Draft, known: Card | None, made: Card, whole: bool | None) -> Card:
    if known is not None:
        made = known.changed(state="sending", attempt=known.attempt + 1, since_ms=d.now)
    made = made.changed(whole=whole)
    d.put(("card", made.id), made)
    return made


def reshow(d: Draft, e: Reshow) -> Kept | Refusal:
    """Owe a second showing of an open request; the first one goes on to work."""
    request = d.request(e.of)
    if request is None or request.state != "open":
        return Refusal("ended", "this question is not open any more")
    card = d.card(request.cards[e.place]) if e.place in request.cards else None
    if card is None:
        card = _fresh(d, e.of, "request", e.place, request.conversation)
        d.save_request(request, cards={**request.cards, e.place: card.id})
    d.put(("card", card.id), card.changed(state="sending", reason=None))
    d.want(Owe("unshown", f"{e.of} {e.place}", d.now, of=prefix(e.place)))
    return Kept()


# ── keeping in step ──────────────────────────────────────────────────────────────────────────────────────────────────


def ledger(d: Draft, e: Ledger) -> Kept | Refusal:
    """Remember where a card stands; what changed while it was sent is owed as an edit."""
    card = d.card(e.card)
    if card is None:
        return GONE
    messages = card.messages if e.message in card.messages else (*card.messages, e.message)
    whole = card.whole if e.whole is None else e.whole
    made = card.changed(state="shown", messages=messages, reason=None, instead=e.instead, whole=whole)
    d.want(Settle("unshown", f"{card.of} {card.place}", of=prefix(card.place)))
    if len(messages) > 1:
        made = made.changed(turned=card.turned + 1)  # the older ones may show something older
    _owe(d, made, (e.rev, e.turned))
    request = d.request(card.of) if card.kind == "request" else None
    if request is not None and card.place in request.not_shown:
        rest = {place: why for place, why in request.not_shown.items() if place != card.place}
        d.save_request(request, not_shown=rest)
        d.tell(request.conversation, "request.updated", request.run, request=request.id, shown=card.place)
    return Kept()


def edited(d: Draft, e: Edited) -> Kept | Refusal:
    """A card shows a revision; if that is the newest, nothing is owed any more."""
    card = d.card(e.card)
    if card is None:
        return GONE
    whole = card.whole if e.whole is None else e.whole
    _owe(d, card.changed(state="shown", reason=None, whole=whole), (e.rev, e.turned))
    return Kept()


def _owe(d: Draft, card: Card, shown: tuple[int, int]) -> None:
    """Owe an edit if the card shows an older revision than what it is of; otherwise strike the debt."""
    of = _of(d, card)
    behind = (of is not None and of.rev > shown[0]) or card.turned > shown[1]
    final = of is None or (of.state in TERMINAL if isinstance(of, Run) else of.state == "settled")
    d.put(("card", card.id), card.changed(shown=shown, final=final and not behind))
    name = member(card, of)
    d.want(
        Owe("debt", name, d.now, of=prefix(card.place)) if behind else Settle("debt", name, of=prefix(card.place)),
    )


def _of(d: Draft, card: Card) -> Request | Run | None:
    return d.request(card.of) if card.kind == "request" else d.run_now(card.of)


def unshowable(d: Draft, e: Unshowable) -> Kept | Refusal:
    """A showing or an edit cannot be: for good it is listed with its reason, otherwise it is tried again."""
    card = d.card(e.card)
    if card is None:
        return GONE
    of = _of(d, card)
    showing = card.state == "sending" and card.kind == "request"
    where = prefix(card.place)
    if e.again_ms is not None:
        d.put(("card", card.id), card.changed(reason=e.reason))
        name = f"{card.of} {card.place}" if showing else member(card, of)
        d.want(Owe("unshown" if showing else "debt", name, d.now + e.again_ms, of=where))
        return Kept()
    d.put(("card", card.id), card.changed(state="failed", reason=e.reason, final=True))
    d.want(Settle("unshown", f"{card.of} {card.place}", of=where), Settle("debt", member(card, of), of=where))
    if isinstance(of, Request) and of.state == "open" and card.place not in of.not_shown:
        d.save_request(of, not_shown={**of.not_shown, card.place: e.reason})
        d.tell(of.conversation, "request.updated", of.run, request=of.id, not_shown=card.place, reason=e.reason)
    return Kept()


def turned(d: Draft, e: Turned) -> Kept | Refusal:
    """Turn a card: another page of options, or "are you sure?"; the same for everybody who sees it."""
    card = d.card(e.card)
    if card is None:
        return GONE
    page = card.page if e.page is None else max(0, e.page)
    asking = card.asking if e.asking is None else e.asking
    if (page, asking) != (card.page, card.asking):
        _turn(d, card, page=page, asking=asking)
    return Kept()


def _turn(d: Draft, card: Card, **changes: object) -> None:
    d.put(("card", card.id), card.changed(turned=card.turned + 1, **changes))
    d.want(Owe("debt", member(card, _of(d, card)), d.now, of=prefix(card.place)))


def point(d: Draft, e: Point) -> Kept:
    """Remember to what a platform's message belongs."""
    d.put(("pointer", f"{e.place} {e.message}"), Pointer(of=e.of, conversation=e.conversation))
    return Kept()


def adopt(d: Draft, e: Adopt) -> Kept | Refusal:
    """Take a message into the ledger that a press came from, wherever it stands; it is brought up to date."""
    if e.of.startswith("q"):
        request = d.request(e.of)
        if request is None:
            return GONE
        card = d.card(request.cards[e.place]) if e.place in request.cards else None
        if card is None:
            card = _fresh(d, e.of, "request", e.place, request.conversation)
            d.save_request(request, cards={**request.cards, e.place: card.id})
    else:
        run = d.run_now(e.of)
        card = d.card(run.card) if run is not None and run.card is not None else None
        if run is None or (card is not None and card.place != e.place):
            return GONE
        if card is None:
            card = _fresh(d, run.root, "status", e.place, run.conversation)
            d.save_run(run, card=card.id)
    if e.message in card.messages:
        return Kept()
    d.want(Settle("unshown", f"{card.of} {card.place}", of=prefix(card.place)))
    _turn(d, card, messages=(*card.messages, e.message), state="shown", final=False)
    return Kept()
