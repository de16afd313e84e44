"""What the rules answer when they changed something, as nouns; refusals are in `decision.py`.

A result that belongs to a keyed event is kept with the key, so that a repeat gets the same one.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, TypeAdapter

from core.model import Json, Shown, Step, Turn, Value
from core.question import Answer


class Sent(Value):
    """What was said started a run, steered one, or queued one. answered: it was the answer to this request."""

    kind: Literal["sent"] = "sent"
    conversation: str
    run: str
    steer: bool = False
    answered: str | None = None
    resumed: bool = False


class Told(Value):
    """What was said is a command that only wants to be shown something."""

    kind: Literal["told"] = "told"
    command: str
    argument: str = ""
    conversation: str | None = None


class Answered(Value):
    """A request has its answer, or a form its values so far (`settled` False)."""

    kind: Literal["answered"] = "answered"
    request: str
    run: str
    settled: bool = True
    repeat: bool = False
    answer: Answer | None = None
    by: str | None = None
    via: str | None = None


class Stopped(Value):
    """A stop was recorded. state: what is known now; joined: it was stopping already."""

    kind: Literal["stopped"] = "stopped"
    run: str
    state: Shown
    joined: bool = False


class Resumed(Value):
    """A paused run goes on; `run` is its id now. reopened: the questions that are open again."""

    kind: Literal["resumed"] = "resumed"
    run: str
    state: Shown
    reopened: tuple[str, ...] = ()


class Extended(Value):
    """A request has more time."""

    kind: Literal["extended"] = "extended"
    request: str
    deadline_ms: int


class Copied(Value):
    """A request is shown at further places. copies: all of them. unserved: those that no front end shows just now."""

    kind: Literal["copied"] = "copied"
    request: str
    copies: tuple[str, ...]
    unserved: tuple[str, ...] = ()


class Deleted(Value):
    """A conversation is gone. unproved: turns whose end is not proved yet."""

    kind: Literal["deleted"] = "deleted"
    conversation: str
    unproved: tuple[Turn, ...] = ()


class Opened(Value):
    """A new conversation stands at its origin."""

    kind: Literal["opened"] = "opened"
    conversation: str
    origin: str


class Forestalled(Value):
    """A cancel is kept for a start that has not come."""

    kind: Literal["forestalled"] = "forestalled"


class Delivered(Value):
    """A turn has its answers; `fence` and `halt` are those under which it works.

    steps: what this very commit added to the run's journal; a turn that knows all before it need not read it.
    """

    kind: Literal["delivered"] = "delivered"
    run: str
    fence: int
    halt: int
    answered: tuple[str, ...] = ()
    steps: tuple[Step, ...] = ()


class Asked(Value):
    """A question is parked. granted: a remembered approval stood in for the person, nothing was asked."""

    kind: Literal["asked"] = "asked"
    request: str | None
    granted: str | None = None
    undeliverable: bool = False


class Changed(Value):
    """Something of a run was recorded; its state afterwards, and the next run when one was started."""

    kind: Literal["changed"] = "changed"
    run: str
    state: Shown
    next_run: str | None = None


class Showing(Value):
    """A showing was begun; None when there is nothing to show any more."""

    kind: Literal["showing"] = "showing"
    card: str | None
    attempt: int = 1


class Kept(Value):
    """Recorded; there is nothing more to say."""

    kind: Literal["kept"] = "kept"
    note: Json = None


Result = Annotated[
    Sent
    | Told
    | Answered
    | Stopped
    | Resumed
    | Extended
    | Copied
    | Deleted
    | Opened
    | Forestalled
    | Delivered
    | Asked
    | Changed
    | Showing
    | Kept,
    Field(discriminator="kind"),
]
RESULT: TypeAdapter[Result] = TypeAdapter(Result)
