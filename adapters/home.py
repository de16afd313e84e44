"""Where a place's conversation lives: under its own name, or the one that its chat had before. It knows no rule."""

from __future__ import annotations

from dataclasses import dataclass

from core.model import Conversation, Origin
from core.store import Store


@dataclass(frozen=True, slots=True)
class Place:
    """A place as it is known here. origin: under which its conversation lives, also after a chat got a new id."""

    origin: str
    conversation: Conversation | None


async def home(store: Store, place: str) -> Place:
    """Look up a place; one that nobody began a conversation at is its own home."""
    pointer = (await store.read(store.place(place), [("origin", place)]))[("origin", place)].model
    at = store.partition(pointer.conversation) if isinstance(pointer, Origin) else None
    if at is None or not isinstance(pointer, Origin):
        return Place(place, None)
    found = await store.read(at, [("conversation", pointer.conversation)])
    model = found[("conversation", pointer.conversation)].model
    if not isinstance(model, Conversation) or model.deleted:
        return Place(place, None)
    return Place(model.origin, model)
