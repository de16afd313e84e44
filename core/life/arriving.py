"""Updates of platforms that call us: stored before they are confirmed, gone when they took effect.

came ──▶ (taken by whoever serves the platform) ──▶ done
"""

from __future__ import annotations

from dataclasses import dataclass, field

from core.life.decision import Owe, Seal, Settle, Wipe
from core.life.draft import Draft
from core.life.result import Kept

NUMBERS = 1_000
"""so many updates of one process in one millisecond keep their order"""


@dataclass(frozen=True, slots=True)
class Came:
    """A platform brought an update. number: which one of its process, so that those of one millisecond keep order."""

    prefix: str
    id: str
    sealed: str = field(repr=False)
    number: int = 0


@dataclass(frozen=True, slots=True)
class Taken:
    """An update took effect, or is given up."""

    prefix: str
    id: str


def came(d: Draft, e: Came) -> Kept:
    """Keep an update until it is done; what a person wrote may be a secret, so it is sealed."""
    d.want(Seal(e.id, e.sealed), Owe("inbox", e.id, d.now * NUMBERS + e.number % NUMBERS, of=e.prefix))
    return Kept()


def taken(d: Draft, e: Taken) -> Kept:
    """Forget an update; a second call changes nothing."""
    d.want(Settle("inbox", e.id, of=e.prefix), Wipe("secret", e.id))
    return Kept()
