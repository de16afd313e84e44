"""Everything that can happen to runs and requests: the events that the rules decide on.

`key` is the event's own name (of an update, a message, Idempotency-Key): with it an event takes effect once. `length`
is the number of entries of the run's journal that the turn has read or written.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from core.model import Cause, Entry, Event, Json, Person, Step
from core.overheard import Line
from core.question import Accepted, Declined, Handed, Question


@dataclass(frozen=True, slots=True)
class Said:
    """A person said something at an origin. reply_to: the request to whose card it replies.

    agent: whom a new conversation is with; with_agent: whom this text is for. agents: what `/agent` chooses from.
    people: who may talk in a group, as of now. rights: a token may lack some; `proof`: its last word was a good code.
    secret: the request that asks for the secret that was written, without its text; sealed: handle → sealed value.
    deliver_to: where the questions of a run that this starts are shown, if not here. files: what is stored of the
    attachments, by id; those that the person may use. heard: what people said among themselves where the place grew
    from, for a run that begins here. surface: where it was said, if its place does not tell: `api`, by a program.
    """

    origin: str
    text: str
    person: Person
    agent: str
    key: str | None = None
    reply_to: str | None = None
    private: bool = True
    people: tuple[str, ...] = ()
    attachments: tuple[str, ...] = ()
    edited: bool = False
    conversation: str | None = None
    pending_task: str | None = None
    with_agent: str | None = None
    agents: tuple[str, ...] = ()
    rights: frozenset[Literal["answer", "run", "proof"]] = frozenset({"answer", "run"})
    secret: str | None = None
    sealed: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    deliver_to: str | None = None
    files: Mapping[str, Handed] = field(default_factory=dict[str, Handed])
    heard: tuple[Line, ...] = ()
    surface: str | None = None

    @property
    def via(self) -> str:
        """The surface where it was said; the dashboard shows conversations of others, too."""
        return self.surface or ("chat" if self.conversation is not None else self.origin.split("-", 1)[0])

    @property
    def seen_at(self) -> str | None:
        """The place whose cards this person sees; None on the dashboard, which shows everything itself."""
        return None if self.conversation is not None or self.origin.startswith("chat-") else self.origin

    def answering(self, id: str, answer: Accepted | Declined, *, proof: bool = False) -> Reply:
        """Make an answer of these words."""
        return Reply(id, answer, self.person, self.via, proof=proof, files=self.files, place=self.seen_at, typed=True)


@dataclass(frozen=True, slots=True)
class Reset:
    """A person wants a new conversation at an origin; the old one goes on only to settle what it owes."""

    origin: str
    person: Person
    agent: str
    private: bool = True
    people: tuple[str, ...] = ()
    key: str | None = None


@dataclass(frozen=True, slots=True)
class Claim:
    """A worker takes a ready run. pausing: agents whose runs wait for a person when their worker was lost.

    ladders: agents with a ladder of their own, and how long it is, in milliseconds.
    """

    run: str
    worker: str
    pausing: frozenset[str] = frozenset()
    ladders: Mapping[str, int] = field(default_factory=dict[str, int])


@dataclass(frozen=True, slots=True)
class Ask:
    """A turn asks. key: the place in the journal. replaces: the request whose final end made it ask anew."""

    run: str
    fence: int
    key: str
    question: Question
    length: int
    replaces: str | None = None
    ours: Literal["unknown_step"] | None = None
    data: dict[str, Json] = field(default_factory=dict[str, Json])


@dataclass(frozen=True, slots=True)
class Reply:
    """A person answers a request. submit: False stores values of a form without settling it.

    proof: the person has proved to be present, as restricted requests ask besides. sealed: handle → sealed text of the
    secrets that come with it; only these handles count as values of secret fields. files: what is stored of the files
    that it names, by id; only those that the person may use. place: of the card, None on the dashboard; typed: words.
    """

    request: str
    answer: Accepted | Declined
    person: Person
    via: str
    key: str | None = None
    submit: bool = True
    proof: bool = False
    place: str | None = None
    typed: bool = False
    sealed: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    files: Mapping[str, Handed] = field(default_factory=dict[str, Handed])


@dataclass(frozen=True, slots=True)
class Take:
    """A held turn takes its answers and goes on."""

    run: str
    fence: int
    length: int


@dataclass(frozen=True, slots=True)
class Park:
    """A held turn lets go; nothing stays in memory."""

    run: str
    fence: int


@dataclass(frozen=True, slots=True)
class Begin:
    """A step or tool is about to act: the last check. digest: set when the call needs an approval on record."""

    run: str
    fence: int
    halt: int
    key: str
    length: int
    digest: str | None = None
    tell: tuple[Event, ...] = ()
    data: dict[str, Json] = field(default_factory=dict[str, Json])


@dataclass(frozen=True, slots=True)
class Append:
    """A turn records or tells something that changes no document: a result, a message, a piece of text, a status.

    origin: of the conversation, so that its platform hears of new texts. used: handles of secrets that are used up.
    """

    run: str
    root: str
    conversation: str
    fence: int
    origin: str = ""
    length: int | None = None
    steps: tuple[Step, ...] = ()
    entries: tuple[Entry, ...] = ()
    tell: tuple[Event, ...] = ()
    used: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Took:
    """A turn has taken in what a person said while it worked; `count` in all since the run began."""

    run: str
    fence: int
    count: int


@dataclass(frozen=True, slots=True)
class Finish:
    """The agent returned. untaken: what a person said that no call took in; with `attachments` it starts the next run.

    took: how many steers were taken in, in all since the run began.
    """

    run: str
    fence: int
    outcome: Literal["completed", "failed"]
    text: str | None = None
    took: int = 0
    untaken: tuple[str, ...] = ()
    message: str | None = None
    attachments: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Broke:
    """A turn ended by an error that the agent did not mean."""

    run: str
    fence: int
    error: str


@dataclass(frozen=True, slots=True)
class Stop:
    """A person, or the rules, want a run to stop. urgent: skip to the next step of the ladder. all: an owner stops all.

    effects: what its journal tells of side effects so far, for a run that no worker holds.
    """

    run: str
    cause: Cause
    person: Person | None = None
    key: str | None = None
    urgent: bool = False
    effects: Literal["none", "done", "unknown"] | None = None
    all: bool = False
    via: str | None = None


@dataclass(frozen=True, slots=True)
class Abort:
    """Pause, pressed on a question: who asked is to stop. effects: as of a `Stop`."""

    request: str
    person: Person
    key: str | None = None
    effects: Literal["none", "done", "unknown"] | None = None
    via: str | None = None


@dataclass(frozen=True, slots=True)
class Forestall:
    """A cancel that came before its start: kept for the key of the start."""

    origin: str
    person: Person
    start_key: str


@dataclass(frozen=True, slots=True)
class Ended:
    """The work of a turn was seen to end. by: the step that ended it, or who says so. worker: who held it, lets go."""

    run: str
    fence: int
    by: str
    effects: Literal["none", "done", "unknown"] | None = None
    worker: str | None = None


@dataclass(frozen=True, slots=True)
class Resume:
    """A person wants a paused run to go on."""

    run: str
    person: Person
    key: str | None = None
    via: str | None = None


@dataclass(frozen=True, slots=True)
class Revert:
    """A paused run goes back to entry `to` of its journal, where it last asked."""

    run: str
    person: Person
    to: int
    length: int
    key: str | None = None
    via: str | None = None


@dataclass(frozen=True, slots=True)
class Extend:
    """A person gives a request more time."""

    request: str
    person: Person
    by_ms: int
    key: str | None = None
    via: str | None = None


@dataclass(frozen=True, slots=True)
class Lost:
    """A worker's lease lapsed. gone: its process is known to be gone. effects: the side effects in its journal.

    again: the run can go on by itself, from its journal or snapshot, or because its agent says `on_lost="retry"`.
    """

    run: str
    worker: str
    gone: bool
    again: bool = True
    cause: Cause = "worker_lost"
    effects: Literal["none", "done", "unknown"] | None = None


@dataclass(frozen=True, slots=True)
class Delete:
    """A person deletes a conversation, whatever is going on in it."""

    conversation: str
    person: Person
    key: str | None = None
    via: str | None = None


@dataclass(frozen=True, slots=True)
class Deadline:
    """A request's time is over."""

    request: str


@dataclass(frozen=True, slots=True)
class Free:
    """A stopped run's 15 seconds are over: the conversation goes on without it."""

    run: str


@dataclass(frozen=True, slots=True)
class ShrinkDue:
    """A journal was kept long enough after its last run."""

    conversation: str


@dataclass(frozen=True, slots=True)
class Withdraw:
    """A person takes back a remembered approval, everywhere in its conversation; run: only what it was allowed."""

    conversation: str
    person: Person
    digest: str
    run: str | None = None
    via: str | None = None
