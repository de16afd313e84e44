"""Freeze and thaw: an owner lets no turn start and nothing that acts begin, until an owner takes that back.

    claim · begin · take    refused while frozen (one document of the partition, guarded in their commits)
    answer · cancel · pause · resume · delete · ask    go on: what is answered or resumed waits in the queue

Source: DESIGN section 4.
"""

from __future__ import annotations

from dataclasses import dataclass

from core.frozen import Frozen
from core.life.audit import note
from core.life.decision import Hint, Refusal
from core.life.draft import Draft
from core.life.result import Kept
from core.model import Person

NOT_OWNER = Refusal("not_allowed", "only an owner may freeze, thaw, or stop everything")
LONGEST = 200


@dataclass(frozen=True, slots=True)
class Freeze:
    """An owner lets nothing begin any more. reason: shown to everybody."""

    person: Person
    reason: str = ""
    via: str | None = None


@dataclass(frozen=True, slots=True)
class Thaw:
    """An owner lets things begin again."""

    person: Person
    via: str | None = None


def freeze(d: Draft, e: Freeze) -> Kept | Refusal:
    """Let nothing begin any more; a second freeze changes nothing, the first one stands."""
    if e.person.role != "owner":
        return NOT_OWNER
    if d.frozen() is not None:
        return Kept(note="already")
    d.put(("frozen", ""), Frozen(by=e.person, since_ms=d.now, reason=e.reason[:LONGEST]))
    note(d, "freeze", e.person, where=e.via, reason=e.reason[:LONGEST] or None)
    d.want(Hint("frozen"))
    return Kept()


def thaw(d: Draft, e: Thaw) -> Kept | Refusal:
    """Let things begin again; what is ready is looked for at once."""
    if e.person.role != "owner":
        return NOT_OWNER
    still = d.frozen()
    if still is None:
        return Kept(note="already")
    d.put(("frozen", ""), None)
    note(d, "thaw", e.person, where=e.via, after_ms=d.now - still.since_ms)
    d.want(Hint("frozen"), Hint("ready"))
    return Kept()


def frozen(d: Draft, what: str) -> Refusal | None:
    """Refuse what may not begin while everything is frozen; the commit of what may is guarded by its not being so."""
    found = d.frozen()
    if found is None:
        return None
    return Refusal("frozen", f"{what}: {words(found)}", {"since": found.since_ms, "by": found.by.name or found.by.id})


def words(found: Frozen) -> str:
    """Say that everything is frozen, by whom, and what to do."""
    why = f" ({found.reason})" if found.reason else ""
    return f"Sayso is frozen by {found.by.name or found.by.id}{why}; nothing begins until an owner thaws it"
