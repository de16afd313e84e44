"""Questions, answers and requests: what a run needs from a person, as frozen pydantic types.

This file must not know who may answer or when an answer counts; those are rules (`life/request.py`).
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import ConfigDict, Field

from core.model import SCHEMA, Cause, Json, Person, Value

Effect = Literal["allow_once", "allow_run", "allow_always", "deny"]


class Option(Value):
    """One thing that can be picked; labels are for people, ids for machines."""

    id: str
    label: str
    description: str | None = None
    effect: Effect | None = None


class ConfirmField(Value):
    """Yes or no to the subject; the value is the id of one option, and only an allowing one is a yes."""

    kind: Literal["confirm"] = "confirm"
    id: str = "confirm"
    label: str = ""
    options: tuple[Option, ...] = ()


class ChoiceField(Value):
    """Pick options; the value is an option id, or a list of ids when `multiple`; with `allow_other` also free text.

    A free text travels as `{"other": text}`.
    """

    kind: Literal["choice"] = "choice"
    id: str = "choice"
    label: str = ""
    options: tuple[Option, ...] = ()
    multiple: bool = False
    min: int = 0
    max: int | None = None
    allow_other: bool = False
    required: bool = True


class TextField(Value):
    """Free text, or a number or yes/no in words when `format` says so."""

    kind: Literal["text"] = "text"
    id: str = "text"
    label: str = ""
    format: Literal["text", "multiline", "integer", "number", "email", "url", "date"] = "text"
    min_length: int = 0
    max_length: int = 16_384
    pattern: str | None = None
    placeholder: str | None = None
    default: str | None = None
    required: bool = True


class SecretField(Value):
    """A secret; its value never travels in an answer, only a handle."""

    kind: Literal["secret"] = "secret"
    id: str = "secret"
    label: str = ""
    name: str = ""
    store: bool = False


class FileField(Value):
    """Files of our store; the value is a list of `Handed`, sent as the ids of files that the person uploaded.

    types: endings of names (`.csv`) or media types (`image/*`), none for any. max_bytes: of each file.
    """

    kind: Literal["file"] = "file"
    id: str = "file"
    label: str = ""
    types: tuple[str, ...] = ()
    max_files: int = 1
    max_bytes: int | None = None
    required: bool = True


AnyField = Annotated[ConfirmField | ChoiceField | TextField | SecretField | FileField, Field(discriminator="kind")]


class Handed(Value):
    """A stored file as an answer names it. size: bytes. note: what was said with it; of several, with the first."""

    id: str
    name: str
    type: str
    size: int
    note: str | None = None


class Subject(Value):
    """What is approved: a tool and its arguments, shown whole."""

    tool: str
    arguments: Json = None


class Question(Value):
    """What an agent asks, before it is a request: the content without ids, times and state."""

    title: str = Field(default="", max_length=300)
    message: str = Field(default="", max_length=65_536)
    fields: tuple[AnyField, ...] = Field(default=(), max_length=20)
    subject: Subject | None = None
    restricted: bool = False
    edit_schema: dict[str, Json] | None = None
    source: dict[str, Json] | None = None
    responders: tuple[str, ...] = ()
    copies: tuple[str, ...] = ()
    timeout_ms: int | None = None
    on_no_listener: Literal["park", "undeliverable"] = "park"


class Accepted(Value):
    """Yes, with a value for each field; `arguments` when the person changed them (`edit_schema`)."""

    outcome: Literal["accepted"] = "accepted"
    values: dict[str, Json] = Field(default_factory=dict[str, Json])
    arguments: Json = None


class Declined(Value):
    """An explicit no of a person."""

    outcome: Literal["declined"] = "declined"
    reason: str | None = None


class Cancelled(Value):
    """Nobody chose: the run stopped."""

    outcome: Literal["cancelled"] = "cancelled"
    cause: Cause = "user_canceled"


class Expired(Value):
    """Nobody answered in time."""

    outcome: Literal["expired"] = "expired"


class Undeliverable(Value):
    """The question could be shown nowhere, and its asker did not want it to wait."""

    outcome: Literal["undeliverable"] = "undeliverable"


Answer = Annotated[Accepted | Declined | Cancelled | Expired | Undeliverable, Field(discriminator="outcome")]


class Given(Value):
    """One value of a form that is not submitted yet, and who gave it."""

    value: Json
    by: str


class Request(Value):
    """Something a run needs from a person, parked in Redis.

    state: `open`, `withdrawn` (its run is paused; Resume opens it again) or `settled` (answer set, once).
    step: the place in the run's journal that asked. delivered: the turn that consumes the answer has recorded it.
    rev: rises with every change that people can see; cards: place → the card that shows it there.
    mark: names the answer exactly, so that the same one again is known after its values are gone.
    acted: the call that it approved was begun. not_shown: place → why it could not be shown there. written: a secret
    that came as a message.
    """

    schema_: int = Field(default=SCHEMA, alias="s")
    id: str
    run: str
    conversation: str
    origin: str
    step: str
    state: Literal["open", "withdrawn", "settled"] = "open"
    question: Question
    body: bool = False
    digest: str | None = None
    replaces: str | None = None
    created_ms: int
    deadline_ms: int | None = None
    surface: bool = True
    given: dict[str, Given] = Field(default_factory=dict[str, Given])
    answer: Answer | None = None
    by: Person | None = None
    via: str | None = None
    settled_ms: int | None = None
    delivered: bool = False
    acted: bool = False
    written: bool = False
    not_shown: dict[str, str] = Field(default_factory=dict[str, str])
    mark: str | None = None
    rev: int = 0
    cards: dict[str, str] = Field(default_factory=dict[str, str])
    ours: Literal["unknown_step"] | None = None

    model_config = ConfigDict(frozen=True, extra="ignore", populate_by_name=True)


def kinds_of(asked: Question | Request) -> frozenset[str]:
    """The kinds of fields that somebody has to answer."""
    question = asked.question if isinstance(asked, Request) else asked
    return frozenset(field.kind for field in question.fields)
