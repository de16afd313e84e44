"""Where a conversation lives on Telegram: a chat and perhaps a topic, and the origin that names both.

    tg-42          a private chat        tg--1001234      a group        tg--1001234.7    topic 7 of it

The General topic has no number: Telegram refuses its id (1) when something is sent there.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

PREFIX: Final = "tg"
GENERAL: Final = 1
SHAPE: Final = re.compile(r"tg-(-?\d{1,19})(?:\.(\d{1,10}))?")


@dataclass(frozen=True, slots=True)
class Spot:
    """A chat and a topic in it. thread: None for a chat without topics, and for the General one."""

    chat: int
    thread: int | None = None


def origin(chat: int, thread: int | None = None) -> str:
    """Name a spot: `tg-42`, `tg--1001234.7`."""
    return f"{PREFIX}-{chat}" if thread in (None, GENERAL) else f"{PREFIX}-{chat}.{thread}"


def spot(place: str) -> Spot:
    """Find a spot by its name. Raises: ValueError for a name that is none of Telegram's."""
    found = SHAPE.fullmatch(place)
    if found is None:
        raise ValueError(f"{place!r} is no place on Telegram; they look like tg-42 and tg--1001234.7")
    return Spot(int(found[1]), int(found[2]) if found[2] else None)


def person(user: int) -> str:
    """Name a Telegram account: `tg:42`."""
    return f"{PREFIX}:{user}"


def user(person: str) -> int | None:
    """Tell the account of a person; None for somebody who comes from elsewhere."""
    number = person.removeprefix(f"{PREFIX}:")
    return int(number) if number != person and number.isdigit() else None
