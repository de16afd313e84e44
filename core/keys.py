"""Key names and how long things are kept: the table that `core/store.py` and `core/writing.py` work by.

Keys of a partition (its hash tag in braces, so that every commit stays in one slot):

    c: conversation   r: run   q: request   g: grants   i: incarnation   o: origin   l listeners   e: event keys
    k: card   p: how far a conversation was posted   m: whose a platform's message is   v: overheard lines
    j: journal   h: history   s: a run's own journal   b: long texts   x: snapshots   y: sealed values
    z: indexes   feed   d the audit, dh its last number and hash   n whether everything is frozen

What has no time to live (`keeps_no_ttl`): unsettled conversations with their lists, pointers and grants, unsettled runs
and requests with their lists and texts, leases' documents, the freeze, the audit, indexes and the feed. The commit that
settles a thing gives it the time to live of the table `Retention`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

from core.card import Card, Pointer, Posted
from core.frozen import Frozen
from core.life.decision import Kind, Model, Owed, Ref
from core.listening import Listeners
from core.model import TERMINAL, Conversation, Grants, Incarnation, Origin, Run, Seen
from core.overheard import FRESH_MS, Overheard
from core.question import Cancelled, Expired, Request, Undeliverable

Index = Literal[Owed, "ready", "timers"]
Listed = Literal["journal", "history", "steps"]
Account = Literal[
    "login",
    "session",
    "token",
    "file",
    "person",
    "role",
    "identity",
    "invite",
    "pairing",
    "try",
    "group",
    "topic",
    "ticket",
    "vault",
    "key",
    "tally",
]

LETTERS: dict[Kind, str] = {
    "conversation": "c:",
    "run": "r:",
    "request": "q:",
    "grants": "g:",
    "incarnation": "i:",
    "origin": "o:",
    "listeners": "l",
    "seen": "e:",
    "card": "k:",
    "posted": "p:",
    "pointer": "m:",
    "frozen": "n",
    "overheard": "v:",
}
TYPES: dict[Kind, type[Model]] = {
    "conversation": Conversation,
    "run": Run,
    "request": Request,
    "grants": Grants,
    "incarnation": Incarnation,
    "origin": Origin,
    "listeners": Listeners,
    "seen": Seen,
    "card": Card,
    "posted": Posted,
    "pointer": Pointer,
    "frozen": Frozen,
    "overheard": Overheard,
}
# Hash tags of the sixteen partitions of a cluster, chosen so that their slots lie evenly.
TAGS = [
    "1768",
    "1678",
    "1f0e",
    "223",
    "17c2",
    "16b2",
    "395f",
    "acd",
    "265",
    "375",
    "29d8",
    "1d6c",
    "14d4",
    "5f",
    "ceb",
    "bdb",
]
DAY = 86_400_000
EXCEPTIONS = ("c:", "r:", "q:", "o:", "i:", "l", "j:", "h:", "s:", "b:", "x:", "y:", "g:", "z:", "feed", "a:", "n", "d")


@dataclass(frozen=True, slots=True)
class Retention:
    """How long things are kept after the commit that settles them; milliseconds, and numbers of entries."""

    conversation_ms: int = 90 * DAY
    run_ms: int = 7 * DAY
    moved_ms: int = 30 * DAY
    stub_ms: int = DAY
    steps_ms: int = DAY
    seen_ms: int = 2 * DAY
    forestalled_ms: int = 3_600_000
    grants_ms: int = 90 * DAY
    card_ms: int = 30 * DAY
    ledger_ms: int = 400 * DAY
    history_cap: int = 10_000
    journal_cap: int = 20_000
    feed_cap: int = 10_000

    def of(self, ref: Ref, model: Model) -> int:
        """Tell a document's time to live; 0 for none."""
        match model:
            case Conversation():
                if model.deleted:
                    return self.stub_ms
                return 0 if model.unsettled else self.conversation_ms
            case Run():
                if model.moved_to is not None:
                    return self.moved_ms
                return self.run_ms if model.state in TERMINAL else 0
            case Request():
                final = isinstance(model.answer, Cancelled | Expired | Undeliverable)
                return self.stub_ms if model.state == "settled" and (model.delivered or final) else 0
            case Seen():
                return self.forestalled_ms if model.result == "forestalled" else self.seen_ms
            case Grants():
                return self.grants_ms
            case Card():
                return self.card_ms if model.final else self.ledger_ms
            case Overheard():
                return FRESH_MS
            case Posted() | Pointer():
                return self.ledger_ms
            case Incarnation() | Listeners() | Origin() | Frozen():
                return 0


class Stored(NamedTuple):
    """A document as it was read: the id of the commit that wrote it, and what it says (None: there is none)."""

    v: str
    model: Model | None


ABSENT = Stored("", None)


def keeps_no_ttl(key: str) -> bool:
    """Tell whether a key may stand without a time to live."""
    return key == "sayso:meta" or key.partition("}:")[2].startswith(EXCEPTIONS)


class Keys:
    """The key names of one partition; nothing else knows them."""

    def __init__(self, tag: str) -> None:
        self.prefix = f"sayso:{{{tag}}}:"
        self.feed = f"{self.prefix}feed"
        self.deeds = f"{self.prefix}d"
        self.deeds_head = f"{self.prefix}dh"

    def doc(self, ref: Ref) -> str:
        """Name a document's key."""
        return f"{self.prefix}{LETTERS[ref[0]]}{ref[1]}"

    def entries(self, kind: Listed, id: str) -> str:
        """Name a list's key."""
        return f"{self.prefix}{kind[0]}:{id}"

    def body(self, id: str) -> str:
        """Name the key of a long text."""
        return f"{self.prefix}b:{id}"

    def secret(self, handle: str) -> str:
        """Name the key of a sealed value."""
        return f"{self.prefix}y:{handle}"

    def snapshot(self, root: str) -> str:
        """Name the key of a run's snapshot."""
        return f"{self.prefix}x:{root}"

    def index(self, index: Index, of: str = "") -> str:
        """Name an index's key."""
        return f"{self.prefix}z:{index}:{of}" if of else f"{self.prefix}z:{index}"


def shelf_key(kind: Account, id: str) -> str:
    """Name the key of a text that is not of a conversation."""
    return f"sayso:{{a}}:a:{kind}:{id}"


def shelf_index(kind: Account) -> str:
    """Name the key that lists the texts of a kind."""
    return f"sayso:{{a}}:z:{kind}"
