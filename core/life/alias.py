"""A chat with a new id: its conversation is found under both, so that questions and replies go on. Source: C63."""

from __future__ import annotations

from dataclasses import dataclass

from core.life.draft import Draft
from core.life.result import Kept
from core.model import Origin


@dataclass(frozen=True, slots=True)
class Alias:
    """A platform says that a chat has a new place; told to the partition of that place."""

    place: str
    conversation: str


def alias(d: Draft, e: Alias) -> Kept:
    """Let a second place point to a conversation."""
    pointer = d.origin(e.place)
    if pointer is None or pointer.conversation != e.conversation:
        d.put(("origin", e.place), Origin(conversation=e.conversation))
    return Kept()
