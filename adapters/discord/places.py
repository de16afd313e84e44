"""Places on Discord: `dc-<channel>` is a direct message or a channel, `dc-<channel>.<thread>` a thread in one. Pure."""

from __future__ import annotations

import re

PLACE = re.compile(r"dc-(\d{1,20})(?:\.(\d{1,20}))?")
EPOCH_MS = 1_420_070_400_000


def place_of(channel: int, thread: int | None = None) -> str:
    """Name a place."""
    return f"dc-{channel}" if thread is None else f"dc-{channel}.{thread}"


def channel_of(place: str) -> int | None:
    """The channel to which messages for a place are sent: the thread, if it is one; None for what is no place."""
    found = PLACE.fullmatch(place)
    return int(found[2] or found[1]) if found is not None else None


def parent_of(place: str) -> int | None:
    """The channel in which a place's thread is; None when it is no thread."""
    found = PLACE.fullmatch(place)
    return int(found[1]) if found is not None and found[2] else None


def standing(place: str, message: str) -> tuple[int | None, str]:
    """Where a message of a place stands: one that could not be shown there names the direct chat that it went to."""
    direct, slash, id = message.partition("/")
    return (int(direct), id) if slash and direct.isdecimal() else (channel_of(place), message)


def made_ms(id: int) -> int:
    """When something was made, by its id; milliseconds since 1970."""
    return (id >> 22) + EPOCH_MS


def first_after(ms: int) -> int:
    """The smallest id that something made at a time can have."""
    return max(0, ms - EPOCH_MS) << 22
