"""Texts on their way to a platform: `posted` walks through a conversation's history, one entry at a time.

A text is not a card: it is not repeated blindly. Each part is announced before it is sent; one that was announced and
has no end is unclear, and only a platform that recognises a repeat is given it again. Source: DESIGN section 6, C117.
"""

from __future__ import annotations

from dataclasses import dataclass

from core.life.debt import prefix
from core.life.decision import Guard, Refusal, Settle
from core.life.draft import Draft
from core.life.result import Kept

UNCLEAR_KEPT = 20


@dataclass(frozen=True, slots=True)
class Posting:
    """A front end is about to send part `part` (0-based) of entry `seq` of a conversation's history.

    again: the platform recognises a repeat.
    """

    conversation: str
    origin: str
    seq: int
    part: int = 0
    again: bool = False


@dataclass(frozen=True, slots=True)
class Unsent:
    """The part that was announced surely did not arrive: it will be sent again."""

    conversation: str
    seq: int


@dataclass(frozen=True, slots=True)
class Arrived:
    """A text arrived, or needs no sending; unclear: of a part nobody knows whether it did."""

    conversation: str
    origin: str
    seq: int
    unclear: bool = False


@dataclass(frozen=True, slots=True)
class Brought:
    """Everything up to `end`, the last entry of the history, was brought to the platform."""

    conversation: str
    origin: str
    end: int


def posting(d: Draft, e: Posting) -> Kept | Refusal:
    """Announce a part of a text; one that was announced before and has no end is unclear, and is passed."""
    posted = d.posted(e.conversation)
    if e.seq <= posted.seq:
        return Refusal("conflict", f"entry {e.seq} of {e.conversation!r} was sent already")
    known = posted.sending == e.seq and e.part <= posted.parts
    if known and not e.again and not (posted.unsent and e.part == posted.parts):
        return Refusal("conflict", f"whether part {e.part} of entry {e.seq} of {e.conversation!r} arrived is unclear")
    d.put(("posted", e.conversation), posted.changed(sending=e.seq, parts=e.part, unsent=False))
    return Kept()


def unsent(d: Draft, e: Unsent) -> Kept:
    """Keep that the part under way did not arrive, so that it is sent again also after a crash."""
    posted = d.posted(e.conversation)
    if posted.sending == e.seq:
        d.put(("posted", e.conversation), posted.changed(unsent=True))
    return Kept()


def arrived(d: Draft, e: Arrived) -> Kept:
    """A text is done with."""
    posted = d.posted(e.conversation)
    if e.seq > posted.seq:
        unclear = (*posted.unclear, e.seq)[-UNCLEAR_KEPT:] if e.unclear else posted.unclear
        d.put(
            ("posted", e.conversation), posted.changed(seq=e.seq, sending=None, parts=0, unsent=False, unclear=unclear)
        )
    return Kept()


def brought(d: Draft, e: Brought) -> Kept | Refusal:
    """Nothing is owed, if nothing was written meanwhile (then: refused with `length`)."""
    d.guard(Guard("length", ("conversation", e.conversation), fence=e.end))
    posted = d.posted(e.conversation)
    if e.end > posted.seq:
        d.put(("posted", e.conversation), posted.changed(seq=e.end, sending=None, parts=0, unsent=False))
    d.want(Settle("outbox", e.conversation, of=prefix(e.origin)))
    return Kept()
