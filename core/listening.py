"""Who listens where: the origins that a live front end serves, and what it can show.

This file must not know how a listener comes and goes (`life/place.py`). Source: DESIGN sections 2 and 6 ("The gate").
"""

from __future__ import annotations

from collections.abc import Iterable
from fnmatch import fnmatchcase
from typing import Literal, TypeAlias

from pydantic import Field

from core.model import Value

Accepts: TypeAlias = Literal["confirm", "choice", "text", "secret", "file"]


class Serves(Value):
    """What a front end serves: the origins under a prefix; an empty one is under all of them.

    match: a pattern with `*` that the whole origin has to fit besides. accept: the kinds of fields that it can show;
    none named, all of them.
    """

    prefix: str
    match: str = ""
    accept: tuple[Accepts, ...] = ()

    def shows(self, origin: str, kinds: Iterable[str]) -> bool:
        """Tell whether it shows a request with these kinds of fields that is for an origin."""
        fits = matches(self.prefix, origin) and (not self.match or fnmatchcase(origin, self.match))
        return fits and (not self.accept or set(kinds) <= set(self.accept))


class Listener(Serves):
    """A live front end, until its heartbeat runs out."""

    who: str
    until_ms: int


class Listeners(Value):
    """All listeners of a partition; `fence` rises when the set changes, not when one is renewed."""

    fence: int = Field(default=0, exclude=True)
    all: tuple[Listener, ...] = ()


def matches(prefix: str, origin: str) -> bool:
    """Tell whether a listener's prefix covers an origin; whole segments only (`tg-4` does not match `tg-42`)."""
    if not prefix or origin == prefix:
        return True
    return origin.startswith(prefix) and (prefix[-1] in "-." or origin[len(prefix)] in "-.")
