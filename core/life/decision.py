"""What a decision is made of: the documents it reads, the changes and effects it wants, the words it answers with.

A rule is a function `(draft, event) → result`; the draft shows it the documents and the time, and collects what it
wants. It asks for documents one by one: one that was not given raises `Missing`, the loop (`core/commit.py`) reads it
and decides again. This file must not know Redis, keys or any rule.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Generic, Literal, TypeVar

from core.card import Card, Pointer, Posted
from core.deed import Deed
from core.frozen import Frozen
from core.listening import Listeners
from core.model import Conversation, Entry, Event, Grants, Incarnation, Json, Origin, Run, Seen, Step
from core.overheard import Overheard
from core.question import Request

Kind = Literal[
    "conversation",
    "run",
    "request",
    "grants",
    "incarnation",
    "origin",
    "listeners",
    "seen",
    "card",
    "posted",
    "pointer",
    "frozen",
    "overheard",
]
Places = Conversation | Origin | Posted | Pointer | Card | Overheard
Model = Places | Run | Request | Grants | Incarnation | Listeners | Seen | Frozen
Ref = tuple[Kind, str]
FAR = 1 << 53

# ── what is wanted besides documents ─────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Ready:
    """A run may start or go on at a time."""

    run: str
    at_ms: int


@dataclass(frozen=True, slots=True)
class Unready:
    """A run does not stand in `ready` any more."""

    run: str


@dataclass(frozen=True, slots=True)
class Timer:
    """Something becomes due: `deadline` of a request, `free` a stopped run's place, `shrink` a journal."""

    what: Literal["deadline", "free", "shrink"]
    id: str
    at_ms: int


@dataclass(frozen=True, slots=True)
class Untimer:
    """A timer is not needed any more; at_ms: only if it still stands at this time."""

    what: Literal["deadline", "free", "shrink"]
    id: str
    at_ms: int | None = None


Owed = Literal[
    "unshown",
    "debt",
    "outbox",
    "inbox",
    "stop",
    "claims",
    "stopping",
    "pending",
    "asked",
    "mine",
    "leases",
    "unproved",
    "undelivered",
]


@dataclass(frozen=True, slots=True)
class Owe:
    """A member enters an index of what is owed. of: whose (an incarnation, a person, a prefix), or empty."""

    index: Owed
    member: str
    score: int
    of: str = ""


@dataclass(frozen=True, slots=True)
class Settle:
    """A member leaves an index of what is owed."""

    index: Owed
    member: str
    of: str = ""


@dataclass(frozen=True, slots=True)
class Tell:
    """An event for the conversation's journal."""

    conversation: str
    event: Event


@dataclass(frozen=True, slots=True)
class Write:
    """An entry for the conversation's history."""

    conversation: str
    entry: Entry


@dataclass(frozen=True, slots=True)
class Log:
    """An entry for the run's own journal."""

    root: str
    step: Step


@dataclass(frozen=True, slots=True)
class Body:
    """A long text beside its document."""

    of: str
    text: str


@dataclass(frozen=True, slots=True)
class Seal:
    """A sealed value, under its handle; whoever reads it needs the key that is not in Redis."""

    handle: str
    text: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Wipe:
    """What goes now: a run's journal, snapshot and body (`run`), a request's body, all of a conversation, a secret."""

    what: Literal["run", "request", "conversation", "secret"]
    id: str


@dataclass(frozen=True, slots=True)
class Rest:
    """Nothing is owed of it any more: its lists get their time to live (`Rest`), or lose it again (`wake`)."""

    what: Literal["run", "conversation"]
    id: str
    wake: bool = False


@dataclass(frozen=True, slots=True)
class Shrink:
    """A journal is cut to its end."""

    conversation: str


@dataclass(frozen=True, slots=True)
class Note:
    """A line for the audit."""

    deed: Deed


@dataclass(frozen=True, slots=True)
class Cut:
    """The lines of the audit up to a number go."""

    upto: int


@dataclass(frozen=True, slots=True)
class Hint:
    """A wake-up for whoever listens; it may be lost."""

    kind: str
    id: str = ""


Appended = Tell | Write | Log | Body | Seal
Effect = Ready | Unready | Timer | Untimer | Owe | Settle | Appended | Wipe | Rest | Shrink | Hint | Note | Cut


@dataclass(frozen=True, slots=True)
class Guard:
    """What must still be true of a document, or of a run's journal, when the commit lands."""

    kind: Literal["at", "fence", "begin", "exists", "absent", "length"]
    ref: Ref
    fence: int = 0
    halt: int = 0


# ── answers of a rule ────────────────────────────────────────────────────────────────────────────────────────────────

Code = Literal[
    "unknown",
    "already_answered",
    "expired",
    "paused",
    "invalid",
    "conflict",
    "ended",
    "gone",
    "fenced",
    "halted",
    "busy",
    "waiting",
    "answered",
    "not_approved",
    "not_whole",
    "steered",
    "not_allowed",
    "scope",
    "choose",
    "secret",
    "length",
    "contended",
    "frozen",
    "early",
]


@dataclass(frozen=True, slots=True)
class Refusal:
    """Nothing was changed. text: what happened and what to do, in words. standing: what holds instead."""

    code: Code
    text: str
    standing: Mapping[str, Json] = field(default_factory=dict[str, Json])


class Missing(Exception):
    """The rule needs a document that it was not given."""

    def __init__(self, ref: Ref) -> None:
        super().__init__(ref)
        self.ref = ref


R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Decision(Generic[R]):
    """What is to be committed, as one: documents, effects, and under which guards and in which time it holds.

    puts: None drops the document. own: how a repeat of this very commit is recognised (a document that it rewrites,
    or the run's journal that it appends to). spare: may be stored although Redis is full.
    """

    result: R
    guards: tuple[Guard, ...] = ()
    puts: Mapping[Ref, Model | None] = field(default_factory=dict[Ref, "Model | None"])
    effects: tuple[Effect, ...] = ()
    from_ms: int = 0
    until_ms: int = FAR
    spare: bool = True

    @property
    def changes(self) -> bool:
        """False when there is nothing to commit (a repeat, a question answered from what was read)."""
        return bool(self.puts or self.effects)
