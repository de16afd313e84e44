"""Questions as agents put them, and answers as agents get them: plain values in, plain values out.

Options that were given as plain texts come back as their whole text; those with an id of their own come back as that
id. This file must not know how a question is parked. Source: C55, C56.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from core.life.check import effect_of
from core.model import Json
from core.question import (
    Accepted,
    AnyField,
    ChoiceField,
    ConfirmField,
    FileField,
    Option,
    Question,
    SecretField,
    Subject,
    TextField,
)

OptionLike: TypeAlias = str | int | float | Option | Mapping[str, Json] | None
Format: TypeAlias = Literal["text", "multiline", "integer", "number", "email", "url", "date"]
OURS = "option "
UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Approval:
    """A yes. arguments: those to act with, also when the person changed them. picked: the option's id."""

    picked: str
    arguments: dict[str, Json]


def options(given: Sequence[OptionLike]) -> tuple[Option, ...]:
    """Make options out of texts, numbers and objects with a label; blank ones are left out, equal ones stay apart."""
    made: list[Option] = []
    for number, one in enumerate(given, 1):
        match one:
            case None:
                continue
            case Option():
                option = one
            case Mapping():
                label, note, name = one.get("label"), one.get("description"), one.get("id")
                option = Option(
                    id=str(name) if name is not None else f"{OURS}{number}",
                    label=str(label) if label is not None else "",
                    description=str(note) if note is not None else None,
                )
            case _:
                option = Option(id=f"{OURS}{number}", label=str(one))
        if option.label.strip():
            made.append(option)
    return tuple(made)


def choice_field(
    id: str,
    label: str,
    given: Sequence[OptionLike],
    *,
    multiple: bool = False,
    allow_other: bool = False,
    min: int = 0,
    max: int | None = None,
    required: bool = True,
) -> ChoiceField:
    """A field of a form: pick one option, or several."""
    return ChoiceField(
        id=id,
        label=label,
        options=options(given),
        multiple=multiple,
        min=min,
        max=max,
        allow_other=allow_other,
        required=required,
    )


def text_field(
    id: str,
    label: str,
    *,
    format: Format = "text",
    default: str | None = None,
    placeholder: str | None = None,
    pattern: str | None = None,
    min_length: int = 0,
    max_length: int = 16_384,
    required: bool = True,
) -> TextField:
    """A field of a form: text, or a number, address or date, by its format."""
    return TextField(
        id=id,
        label=label,
        format=format,
        default=default,
        placeholder=placeholder,
        pattern=pattern,
        min_length=min_length,
        max_length=max_length,
        required=required,
    )


def file_field(
    id: str,
    label: str,
    *,
    types: Sequence[str] = (),
    max_files: int = 1,
    max_bytes: int | None = None,
    required: bool = True,
) -> FileField:
    """A field of a form: files, of these kinds (endings as `.csv`, or media types as `image/*`); none for any."""
    kinds = (types,) if isinstance(types, str) else tuple(types)
    return FileField(id=id, label=label, types=kinds, max_files=max_files, max_bytes=max_bytes, required=required)


def confirm_field(id: str, label: str, *, yes: str = "Yes", no: str = "No") -> ConfirmField:
    """A field of a form: yes or no; its value is a bool."""
    allow, deny = Option(id="yes", label=yes, effect="allow_once"), Option(id="no", label=no, effect="deny")
    return ConfirmField(id=id, label=label, options=(allow, deny))


def confirmation(
    title: str,
    *,
    tool: str | None,
    arguments: Mapping[str, Json] | None,
    message: str,
    restricted: bool,
    edit_schema: Mapping[str, Json] | None,
    timeout: float | None,
    given: Sequence[Option] | None,
) -> Question:
    """Ask for a yes; with a tool, for exactly this call."""
    return Question(
        title=title,
        message=message,
        fields=(ConfirmField(options=tuple(given or ())),),
        subject=Subject(tool=tool, arguments=dict(arguments or {})) if tool is not None else None,
        restricted=restricted,
        edit_schema=dict(edit_schema) if edit_schema is not None else None,
        timeout_ms=milliseconds(timeout),
    )


def routed(question: Question, copies: Sequence[str], responders: Sequence[str]) -> Question:
    """Say where else a question is shown, and who may answer it; one text is one of them."""
    places = (copies,) if isinstance(copies, str) else tuple(copies)
    people = (responders,) if isinstance(responders, str) else tuple(responders)
    return question.changed(copies=places, responders=people)


def secret_question(name: str, title: str, *, store: bool, message: str, timeout: float | None) -> Question:
    """Ask for a secret by its name."""
    return Question(
        title=title or f"Secret needed: {name}",
        message=message,
        fields=(SecretField(name=name, label=name, store=store),),
        timeout_ms=milliseconds(timeout),
    )


def unknown(name: str, *, error: str | None, subject: Subject | None) -> Question:
    """Sayso's own question: a call was begun, and nobody knows how it ended.

    subject: a guarded call, whose code cannot be skipped, so that it cannot be taken as done.
    """
    how = f"It failed: {error}" if error else "The worker stopped while it ran."
    repeat = Option(id="repeat", label="Repeat it", description="It runs again, from its beginning.")
    done = Option(id="done", label="Take it as done", description="It does not run again; its result stays empty.")
    cancel = Option(id="cancel", label="Cancel the task")
    return Question(
        title=f"{name}: it may have happened",
        message=f"{how} Whether it had its effect is not known, and it is not made to run twice.",
        fields=(ChoiceField(options=(repeat, done, cancel) if subject is None else (repeat, cancel)),),
        subject=subject,
    )


def milliseconds(seconds: float | None) -> int | None:
    """A span of the API in the form of a question: None is the default of its kind, 0 is without end."""
    return None if seconds is None else int(seconds * 1000)


# ── answers ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def approval(question: Question, answer: Accepted) -> Approval:
    """Read the answer to a confirmation."""
    picked = effect_of(question, answer.values)
    subject = question.subject
    arguments = answer.arguments if answer.arguments is not None else subject.arguments if subject else {}
    return Approval(
        picked=picked.id if picked is not None else str(next(iter(answer.values.values()), "")),
        arguments=arguments if isinstance(arguments, dict) else {},
    )


def value(field: AnyField, answer: Accepted) -> Json:
    """Read one field of an answer as an agent wants it."""
    given = answer.values.get(field.id)
    match field:
        case ChoiceField():
            if isinstance(given, list):
                return [_picked(field, one) for one in given]
            return [] if given is None and field.multiple else _picked(field, given)
        case ConfirmField():
            option = next((one for one in field.options if one.id == given), None)
            return option is not None and option.effect != "deny"
        case TextField() if given is None:
            return field.default if field.format not in ("integer", "number") else None
        case _:
            return given


def _picked(field: ChoiceField, given: Json) -> Json:
    if isinstance(given, dict):
        return given.get("other")
    option = next((one for one in field.options if one.id == given), None)
    if option is None:
        return given
    return option.label if option.id.startswith(OURS) else option.id
