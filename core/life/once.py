"""Small events of a place: an update that was dealt with, an agent that is chosen for what is said from now on."""

from __future__ import annotations

from dataclasses import dataclass

from core.life.access import may_start
from core.life.decision import Refusal
from core.life.draft import Draft
from core.life.result import Kept
from core.model import Person, Seen


@dataclass(frozen=True, slots=True)
class Once:
    """An answer to a platform's update is about to be given; told to the partition of its place."""

    place: str
    key: str


@dataclass(frozen=True, slots=True)
class Appoint:
    """A person chooses the agent that later runs of a conversation are for."""

    conversation: str
    person: Person
    agent: str


def once(d: Draft, e: Once) -> Kept:
    """Tell whether this is the first time; an update that comes again is answered only once."""
    name = f"once|{e.place}|{e.key}"
    if d.seen(name) is not None:
        return Kept(note=False)
    d.put(("seen", name), Seen())
    return Kept(note=True)


def appoint(d: Draft, e: Appoint) -> Kept | Refusal:
    """Choose another agent; runs that have begun keep theirs."""
    conversation = d.conversation(e.conversation)
    if conversation is None or conversation.deleted or not may_start(e.person, conversation):
        return Refusal("unknown", "there is no such conversation")
    d.save_conversation(conversation, agent=e.agent)
    return Kept(note=e.agent)
