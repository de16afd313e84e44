"""An update of a platform that was answered: one that comes again is not answered again."""

from __future__ import annotations

from dataclasses import dataclass

from core.life.draft import Draft
from core.life.result import Kept
from core.model import Seen


@dataclass(frozen=True, slots=True)
class Once:
    """An answer to a platform's update is about to be given; told to the partition of its place."""

    place: str
    key: str


def once(d: Draft, e: Once) -> Kept:
    """Tell whether this is the first time; an update that comes again is answered only once."""
    name = f"once|{e.place}|{e.key}"
    if d.seen(name) is not None:
        return Kept(note=False)
    d.put(("seen", name), Seen())
    return Kept(note=True)
