"""The life of a card: a showing begun, put on the ledger, edited until it shows what is true, or given up.

    unshown ──▶ sending(attempt) ──▶ shown ⇄ in debt ──▶ final
                      │  └ unclear: sent again, both cards work        └▶ cannot be edited: listed, no more tries
                      └▶ failed: "not shown on X", a fact on an open request, not its end

A text is not a card: it is not repeated blindly. `posted` walks through a conversation's history, one entry at a time;
an entry whose arrival is unclear is marked and passed. Source: DESIGN section 6 ("Showing"), C50, C51, C63, C117.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from core.card import Card, Pointer, Posted
from core.life.debt import places, prefix
from core.life.decision import Owe, Refusal, Settle
from core.life.draft import Draft
from core.life.result import Kept, Showing
from core.model import Run
from core.question import Request

RETRY_MS = 10_000


@dataclass(frozen=True, slots=True)
class Show:
    """A front end is about to show a request, or a run's status, at a place."""

    of: str
    kind: Literal["request", "status"]
    place: str


@dataclass(frozen=True, slots=True)
class Ledger:
    """A card stands on its platform. message: the platform's id; rev: the revision that it shows."""

    card: str
    message: str
    rev: int


@dataclass(frozen=True, slots=True)
class Edited:
    """A card was edited (or found to be right already)."""

    card: str
    rev: int


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

    card: str
    message: str


@dataclass(frozen=True, slots=True)
class Posting:
    """A front end is about to send part `parts` (0-based) of the next text of a conversation (`seq`).

    again: the send before surely did not arrive.
    """

    conversation: str
    origin: str
    seq: int
    parts: int = 0
    again: bool = False


@dataclass(frozen=True, slots=True)
class Arrived:
    """A text arrived, or needs no sending; unclear: whether it arrived is unknown. last: nothing stands after it."""

    conversation: str
    origin: str
    seq: int
    unclear: bool = False
    last: bool = False


def show(d: Draft, e: Show) -> Showing | Refusal:
    """Begin a showing; what was begun before and has no message is an unclear send, and is sent again."""
    if e.kind == "status":
        return _show_status(d, e)
    request = d.request(e.of)
    if request is None or request.state != "open" or e.place not in places(request):
        d.want(Settle("unshown", f"{e.of} {e.place}", of=prefix(e.place)))
        return Showing(card=None)
    known = request.cards.get(e.place)
    card = d.card(known) if known is not None else None
    made = _begin(d, card, _fresh(d, e, request.conversation))
    if known != made.id:
        d.save_request(request, cards={**request.cards, e.place: made.id})
    d.want(Owe("unshown", f"{e.of} {e.place}", d.now + RETRY_MS, of=prefix(e.place)))
    return Showing(card=made.id, attempt=made.attempt)


def _show_status(d: Draft, e: Show) -> Showing | Refusal:
    run = d.run_now(e.of)
    if run is None:
        return Showing(card=None)
    card = d.card(run.card) if run.card is not None else None
    made = _begin(d, card, _fresh(d, e, run.conversation))
    if run.card != made.id:
        d.save_run(run, card=made.id)
    d.want(Owe("debt", f"run:{run.id}", d.now + RETRY_MS, of=prefix(e.place)))
    return Showing(card=made.id, attempt=made.attempt)


def _fresh(d: Draft, e: Show, conversation: str) -> Card:
    return Card(
        id=d.ids("k"),
        of=e.of,
        kind=e.kind,
        conversation=conversation,
        place=e.place,
        state="sending",
        since_ms=d.now,
    )


def _begin(d: Draft, known: Card | None, made: Card) -> Card:
    if known is not None:
        made = known.changed(state="sending", attempt=known.attempt + 1, since_ms=d.now)
    d.put(("card", made.id), made)
    return made


def ledger(d: Draft, e: Ledger) -> Kept | Refusal:
    """Remember where a card stands; what changed while it was sent is owed as an edit."""
    card = d.card(e.card)
    if card is None:
        return Refusal("gone", f"card {e.card!r} is gone")
    messages = card.messages if e.message in card.messages else (*card.messages, e.message)
    d.put(("card", card.id), card.changed(state="shown", messages=messages, shown=e.rev, reason=None))
    d.want(Settle("unshown", f"{card.of} {card.place}", of=prefix(card.place)))
    _owe(d, card, e.rev)
    return Kept()


def edited(d: Draft, e: Edited) -> Kept | Refusal:
    """A card shows a revision; if that is the newest, nothing is owed any more."""
    card = d.card(e.card)
    if card is None:
        return Refusal("gone", f"card {e.card!r} is gone")
    d.put(("card", card.id), card.changed(state="shown", shown=e.rev, reason=None))
    _owe(d, card, e.rev)
    return Kept()


def _owe(d: Draft, card: Card, rev: int) -> None:
    """Owe an edit if the card shows an older revision than what it is of; otherwise strike the debt."""
    of = d.request(card.of) if card.kind == "request" else d.run_now(card.of)
    member = f"run:{of.id}" if isinstance(of, Run) else card.id
    if of is not None and of.rev > rev:
        d.want(Owe("debt", member, d.now, of=prefix(card.place)))
    else:
        d.want(Settle("debt", member, of=prefix(card.place)))


def unshowable(d: Draft, e: Unshowable) -> Kept | Refusal:
    """A showing or an edit cannot be: for good it is listed with its reason, otherwise it is tried again."""
    card = d.card(e.card)
    if card is None:
        return Refusal("gone", f"card {e.card!r} is gone")
    of = d.request(card.of) if card.kind == "request" else d.run_now(card.of)
    sending = card.state == "sending" and not card.messages
    if e.again_ms is not None:
        d.put(("card", card.id), card.changed(reason=e.reason))
        member = f"{card.of} {card.place}" if sending and card.kind == "request" else _member(card, of)
        index: Literal["unshown", "debt"] = "unshown" if sending and card.kind == "request" else "debt"
        d.want(Owe(index, member, d.now + e.again_ms, of=prefix(card.place)))
        return Kept()
    d.put(("card", card.id), card.changed(state="failed", reason=e.reason))
    d.want(Settle("unshown", f"{card.of} {card.place}", of=prefix(card.place)))
    d.want(Settle("debt", _member(card, of), of=prefix(card.place)))
    if isinstance(of, Request) and sending and of.state == "open":
        d.tell(of.conversation, "request.updated", of.run, request=of.id, not_shown=card.place, reason=e.reason)
    return Kept()


def _member(card: Card, of: Request | Run | None) -> str:
    return f"run:{of.id}" if isinstance(of, Run) else card.id


def turned(d: Draft, e: Turned) -> Kept | Refusal:
    """Turn a card: another page of options, or "are you sure?"; the same for everybody who sees it."""
    card = d.card(e.card)
    if card is None:
        return Refusal("gone", f"card {e.card!r} is gone")
    page = card.page if e.page is None else max(0, e.page)
    asking = card.asking if e.asking is None else e.asking
    d.put(("card", card.id), card.changed(page=page, asking=asking, shown=-1))
    of = d.request(card.of) if card.kind == "request" else d.run_now(card.of)
    d.want(Owe("debt", _member(card, of), d.now, of=prefix(card.place)))
    return Kept()


def point(d: Draft, e: Point) -> Kept:
    """Remember to what a platform's message belongs."""
    d.put(("pointer", f"{e.place} {e.message}"), Pointer(of=e.of, conversation=e.conversation))
    return Kept()


def adopt(d: Draft, e: Adopt) -> Kept | Refusal:
    """Take a message into the ledger that a press came from."""
    card = d.card(e.card)
    if card is None:
        return Refusal("gone", f"card {e.card!r} is gone")
    if e.message in card.messages:
        return Kept()
    d.put(("card", card.id), card.changed(messages=(*card.messages, e.message), shown=-1, state="shown"))
    of = d.request(card.of) if card.kind == "request" else d.run_now(card.of)
    d.want(Owe("debt", _member(card, of), d.now, of=prefix(card.place)))
    return Kept()


def posting(d: Draft, e: Posting) -> Kept | Refusal:
    """Begin to send a text; one that was begun before and has no end is unclear: it is passed, not sent again."""
    posted = d.posted(e.conversation)
    if e.seq <= posted.seq:
        return Refusal("conflict", f"entry {e.seq} of {e.conversation!r} was sent already")
    if posted.sending == e.seq and e.parts <= posted.parts and not e.again:
        return Refusal("conflict", f"whether entry {e.seq} of {e.conversation!r} arrived is unclear")
    d.put(("posted", e.conversation), posted.changed(sending=e.seq, parts=e.parts))
    return Kept()


def arrived(d: Draft, e: Arrived) -> Kept:
    """A text is done with."""
    posted = d.posted(e.conversation)
    unclear = (*posted.unclear, e.seq)[-20:] if e.unclear else posted.unclear
    if e.seq > posted.seq:
        d.put(("posted", e.conversation), Posted(seq=e.seq, unclear=unclear))
    if e.last:
        d.want(Settle("outbox", e.conversation, of=prefix(e.origin)))
    return Kept()
