"""What people say among themselves: kept for a while, a few lines of a place, and handed over with the next word to us.

    said among themselves ──▶ kept (the newest few, for an hour) ──▶ beside what is said to the agent next

Only where the place has a list of people: a group that nobody bound is listened to by nobody. It is no event of the
conversation: no run, no answer, no entry of its own. Source: DESIGN section 6 (group, thread).
"""

from __future__ import annotations

from dataclasses import dataclass

from core.life.draft import Draft
from core.life.result import Kept
from core.model import Json
from core.overheard import FRESH_MS, LONGEST, MOST, Line, Overheard


@dataclass(frozen=True, slots=True)
class Overhear:
    """Somebody said something at a place that was not for the agent. key: of the platform's update."""

    place: str
    by: str
    text: str
    key: str


def overhear(d: Draft, e: Overhear) -> Kept:
    """Keep a line; one that comes again changes nothing."""
    kept = _fresh(d, e.place)
    if any(one.key == e.key for one in kept):
        return Kept()
    line = Line(by=e.by[:60], text=_clipped(e.text), at=d.now, key=e.key)
    d.put(("overheard", e.place), Overheard(lines=(*kept, line)[-MOST:]))
    return Kept()


def hand_over(d: Draft, place: str, heard: tuple[Line, ...] = ()) -> Json:
    """Take what is kept of a place, for the entry of what was said to the agent; None when there is nothing.

    heard: what was said where the place grew from, too; it stays there, for others that grow.
    """
    kept = _fresh(d, place)
    if kept:
        d.put(("overheard", place), None)
    lines = sorted((*_recent(d, heard), *kept), key=lambda one: one.at)[-MOST:]
    return [one.model_dump(exclude={"key"}) for one in lines] or None


def forget(d: Draft, place: str) -> None:
    """Forget what is kept of a place."""
    if d.overheard(place).lines:
        d.put(("overheard", place), None)


def _fresh(d: Draft, place: str) -> tuple[Line, ...]:
    return _recent(d, d.overheard(place).lines)


def _recent(d: Draft, lines: tuple[Line, ...]) -> tuple[Line, ...]:
    return tuple(one for one in lines if one.at > d.now - FRESH_MS)


def _clipped(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
