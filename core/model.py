"""The vocabulary: origins, persons, runs, conversations, history, events, as frozen pydantic types.

Everything stored, sent or shown is made of these. This file must not know how they are stored (`store`), how they
change (`life`) or look (adapters). The wire form of a value is `model_dump_json(exclude_none=True)`. Times that end in
`_ms` are integers on Redis's clock, in milliseconds since 1970.
"""

from __future__ import annotations

import hashlib
import json
import secrets
from typing import TYPE_CHECKING, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, JsonValue
from pydantic_core import to_json

SCHEMA = 1
ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
PAIRS = [one + two for one in ALPHABET for two in ALPHABET]

State = Literal["queued", "working", "waiting", "stopping", "paused", "completed", "failed", "canceled"]
Shown = Literal["queued", "working", "waiting", "canceling", "pausing", "paused", "completed", "failed", "canceled"]
Cause = Literal[
    "user_canceled",
    "user_paused",
    "user_aborted",
    "client_disconnected",
    "deadline",
    "undeliverable",
    "turn_failed",
    "worker_lost",
    "shutdown",
    "moved",
    "reverted",
    "owner_removed",
    "deleted",
]
TERMINAL: frozenset[str] = frozenset({"completed", "failed", "canceled"})
DISCARDING: frozenset[str] = frozenset({"user_canceled", "owner_removed", "deleted"})
EXACT = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False)
if TYPE_CHECKING:
    Json = JsonValue
else:
    # What was parsed from JSON needs no second check; pydantic's own type for it costs more than all the rest.
    Json = object


class Value(BaseModel):
    """A frozen value of ours; unknown fields of a newer release are refused by the schema number, not here."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    def changed(self, **changes: object) -> Self:
        """Make a copy with changes that are known to be right: `model_copy`, at a tenth of its cost."""
        made = object.__new__(type(self))
        object.__setattr__(made, "__dict__", {**self.__dict__, **changes})
        object.__setattr__(made, "__pydantic_fields_set__", self.__pydantic_fields_set__)
        object.__setattr__(made, "__pydantic_extra__", None)
        object.__setattr__(made, "__pydantic_private__", None)
        return made

    def as_json(self) -> bytes:
        """The wire form; field names as they are stored."""
        return to_json(self, exclude_none=True)


def fresh(kind: str, partition: int) -> str:
    """Make an id: one letter for the kind, one for the partition, 14 random ones (70 bits), lower case.

    shape: `c0…` conversation, `r0…` run, `q0…` request, `m0…` message, `w0…` incarnation.
    """
    number = secrets.randbits(70)
    return f"{kind}{ALPHABET[partition]}" + "".join([PAIRS[number >> shift & 1023] for shift in range(0, 70, 10)])


def partition_of(name: str) -> int:
    """Tell the partition that stands in an id; -1 when the text is no id of ours."""
    return ALPHABET.find(name[1]) if len(name) == 16 and name.isascii() and name.isalnum() else -1


def digest(tool: str, arguments: Json) -> str:
    """Name exactly one call: a tool and its arguments; what is shown is what runs."""
    return hashlib.blake2b(EXACT.encode([tool, arguments]).encode(), digest_size=16).hexdigest()


class Person(Value):
    """An authenticated human.

    id: `web:<login>`, `tg:<user id>`, `dc:<user id>`, `cli:<login>`. name: how others see them.
    """

    id: str
    name: str = ""
    role: Literal["owner", "approver", "member"] = "member"


# ── runs and conversations ───────────────────────────────────────────────────────────────────────────────────────────


class Turn(Value):
    """One stretch of work of a run. held: it waits in memory; again: lost, it goes on; code: its process, if apart.

    commands: the processes that it started, as codes; some may have ended.
    ladder_ms: what its agent wants a stop to take at most, when that is not what the settings say.
    """

    fence: int
    worker: str
    since_ms: int
    held: bool = False
    again: bool = True
    code: str = ""
    commands: tuple[str, ...] = ()
    ladder_ms: int | None = None


class Grant(Value):
    """A remembered approval: exactly this tool and these arguments, for this person (and run, or conversation)."""

    digest: str
    tool: str
    arguments: Json = None
    person: str
    since_ms: int
    used_ms: int | None = None


class Approval(Value):
    """An approval on record for one call of a run; used once."""

    request: str
    digest: str
    used: bool = False


class Run(Value):
    """One task of an agent. `root` names its keys and survives a move; `turn` is the live turn, if any.

    rev rises with every change that a status card shows; card: the one that shows it.
    fence rises with every takeover, halt with every stop intent; both are kept beside the text, for the guards.
    secrets: handles of values that people gave and that are sealed to it.
    requests: open, withdrawn, and answered but not yet delivered ones; past: the last of those delivered.
    unproved: turns whose end is not proved. deliver_to: where its questions are shown instead of at its origin.
    attempts: how often its worker was lost; retry_ms: before this moment it is not tried again.
    urgent: how often *Stop now* was pressed while it stops.
    """

    schema_: int = Field(default=SCHEMA, alias="s")
    fence: int = Field(default=0, exclude=True)
    halt: int = Field(default=0, exclude=True)
    id: str
    root: str
    conversation: str
    origin: str
    agent: str
    starter: Person
    state: State
    cause: Cause | None = None
    message: str = ""
    body: bool = False
    attachments: tuple[str, ...] = ()
    created_ms: int
    changed_ms: int
    turn: Turn | None = None
    unproved: tuple[Turn, ...] = ()
    requests: tuple[str, ...] = ()
    answered: tuple[str, ...] = ()
    past: tuple[str, ...] = ()
    resumed: bool = False
    steered: int = 0
    took: int = 0
    approvals: tuple[Approval, ...] = ()
    grants: tuple[Grant, ...] = ()
    secrets: tuple[str, ...] = ()
    attempts: int = 0
    retry_ms: int | None = None
    error: str | None = None
    result: str | None = None
    moved_to: str | None = None
    moved_from: str | None = None
    stop_ms: int | None = None
    stopped_by: Person | None = None
    ended_ms: int | None = None
    ended_by: str | None = None
    effects: Literal["none", "done", "unknown"] | None = None
    urgent: int = 0
    rev: int = 0
    card: str | None = None
    deliver_to: str | None = None

    model_config = ConfigDict(frozen=True, extra="ignore", populate_by_name=True)

    @property
    def shown(self) -> Shown:
        """The state as the world sees it: `stopping` is `canceling` or `pausing`, by its cause."""
        if self.state == "stopping":
            return "canceling" if self.cause in DISCARDING else "pausing"
        return self.state


class Conversation(Value):
    """The history and the runs of one origin.

    live: the run that occupies it. queue: runs to start or go on, in order; its head stands in `ready` while nothing
    is live. waiting, paused, stopping: runs in that state (stopping: fenced, its end not proved). ended: the last runs
    at their end. open: open requests. private: a one-to-one place. people: who may start and answer in a group; empty
    means nobody.
    """

    schema_: int = Field(default=SCHEMA, alias="s")
    id: str
    origin: str
    owner: Person
    private: bool = True
    people: tuple[str, ...] = ()
    title: str = ""
    agent: str
    created_ms: int
    changed_ms: int
    live: str | None = None
    newest: str | None = None
    queue: tuple[str, ...] = ()
    waiting: tuple[str, ...] = ()
    paused: tuple[str, ...] = ()
    stopping: tuple[str, ...] = ()
    open: tuple[str, ...] = ()
    ended: tuple[str, ...] = ()
    deleted: bool = False
    unproved: tuple[Turn, ...] = ()

    model_config = ConfigDict(frozen=True, extra="ignore", populate_by_name=True)

    @property
    def unsettled(self) -> bool:
        """True while anything of it is owed: it then has no time to live."""
        return bool(self.live or self.queue or self.waiting or self.paused or self.stopping or self.open)


class Incarnation(Value):
    """One process that holds things, as long as its lease; `boot`, `pid` and `ticks` tell whether it still exists.

    ticks: its start in clock ticks since boot. namespace: inode of its pid namespace. note: what it says of its work.
    """

    id: str
    kind: Literal["worker", "web", "bot", "terminal", "singleton"]
    host: str = ""
    boot: str = ""
    namespace: str = ""
    pid: int = 0
    ticks: int = 0
    until_ms: int
    note: str = ""


class Grants(Value):
    """The remembered approvals (`allow_always`) of a conversation."""

    all: tuple[Grant, ...] = ()


class Origin(Value):
    """Where an origin points: the conversation that lives there now."""

    conversation: str


class Seen(Value):
    """An event key that took effect, and what came of it, so that a repeat gets the same result."""

    result: str = "{}"
    mark: str = ""


EventType = Literal[
    "run.queued",
    "run.working",
    "run.waiting",
    "run.canceling",
    "run.pausing",
    "run.paused",
    "run.completed",
    "run.failed",
    "run.canceled",
    "request.opened",
    "request.updated",
    "request.closed",
    "message.delta",
    "message.completed",
    "tool.started",
    "tool.completed",
    "status",
    "steer.taken",
    "grant.added",
    "grant.removed",
    "conversation.deleted",
    "reset",
]


class Event(Value):
    """One entry of a conversation's journal, as pages and programs are told; `data` stands beside the other fields."""

    type: EventType
    run: str | None = None
    at: int
    data: dict[str, Json] = Field(default_factory=dict[str, Json])


class Entry(Value):
    """One entry of a conversation's history.

    role: `person` said it, `agent` said it, `tool` ended, `request` was answered, `note` is ours (`[Canceled]`).
    """

    id: str
    role: Literal["person", "agent", "tool", "request", "note"]
    run: str | None = None
    text: str = ""
    by: Person | None = None
    at: int
    data: dict[str, Json] = Field(default_factory=dict[str, Json])


class Step(Value):
    """One entry of a run's own journal, from which a turn is replayed.

    key: the verb's name and occurrence (`step:push#0`). kind: `turn` a turn starts · `ask` a request was opened ·
    `answered` an answer was delivered · `begun`/`done` a step or tool · `said` a message · `steer` a person said
    something while it worked · `park` a point to go back to · `dropped` what came after entry `data["to"]` is void.
    """

    kind: Literal["turn", "ask", "answered", "begun", "done", "said", "steer", "park", "dropped"]
    key: str
    fence: int = 0
    at: int
    data: dict[str, Json] = Field(default_factory=dict[str, Json])
