"""Is this a question that can be answered, and is this an answer to it: values against fields.

Only an explicit yes is a yes: anything that is not exactly an allowed value is refused with the field and the rule,
and the request stays open. Source: C14, C35, C56, C58, DESIGN section 6.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

from core.life.decision import Refusal
from core.life.handing import handed, normal_file
from core.life.sealing import handle_of
from core.model import EXACT, Json, digest
from core.question import (
    Accepted,
    AnyField,
    ChoiceField,
    ConfirmField,
    Declined,
    FileField,
    Handed,
    Option,
    Question,
    Request,
    SecretField,
    TextField,
)

APPROVE = Option(id="once", label="Approve", effect="allow_once")
FOR_RUN = Option(id="run", label="Approve for this task", effect="allow_run")
ALWAYS = Option(id="always", label="Always approve exactly this", effect="allow_always")
DENY = Option(id="deny", label="Deny", effect="deny")
NO_FILES: Mapping[str, Handed] = {}
DIGITS = 18
LARGEST = 10**DIGITS
LONGEST_OTHER = 16_384
LONGEST_REASON = 2_000
LONGEST_ARGUMENTS = 65_536
NUMBERS = re.compile(r"[+-]?\d{1,18}(\.\d{1,18})?")
PLACE = re.compile(r"[a-z][a-z0-9]{0,15}-[^\s\x00-\x1f\x7f]{1,200}")
SHAPES = {
    "email": (re.compile(r"[^@\s]+@[^@\s.]+(\.[^@\s.]+)+"), "an e-mail address"),
    "url": (re.compile(r"https?://[^\s/?#]+\S*"), "an http or https address"),
    "date": (re.compile(r"\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])"), "a date as YYYY-MM-DD"),
}


def normal(question: Question) -> Question | Refusal:
    """Fill in what a question leaves out, drop blank options, refuse what nobody could answer."""
    if not question.fields:
        return _bad("fields", "at least one field is needed")
    for place in question.copies:
        if (wrong := misplaced(place)) is not None:
            return _bad("copies", wrong)
    if any(not person.strip() for person in question.responders):
        return _bad("responders", "must be ids of people")
    seen: set[str] = set()
    fields: list[AnyField] = []
    for field in question.fields:
        if not field.id or field.id in seen:
            return _bad(field.id or "fields", "field ids must be present and distinct")
        seen.add(field.id)
        made = _normal_field(field, question)
        if isinstance(made, Refusal):
            return made
        fields.append(made)
    if any(isinstance(field, ConfirmField) for field in fields):
        if len(fields) > 1 and question.subject is not None:
            return _bad("subject", "a call is approved alone, not as part of a form")
        if question.subject is not None and not question.subject.tool.strip():
            return _bad("subject", "an approval must name its tool")
        if question.subject is None and not (question.title.strip() or question.message.strip()):
            return _bad("subject", "a confirmation without a subject, title or message shows nothing to approve")
    return question.changed(fields=tuple(fields))


def misplaced(place: str) -> str | None:
    """Tell what is wrong with a place where a card is to be shown, too."""
    if not PLACE.fullmatch(place):
        return f"{place!r} must be a place of a chat, such as tg-100200300"
    if place.startswith(("chat-", "cli-")):
        return f"{place!r} is no chat; the dashboard shows it anyway to who may answer"
    return None


def _normal_field(field: AnyField, question: Question) -> AnyField | Refusal:
    match field:
        case ConfirmField():
            return _normal_confirm(field, question)
        case ChoiceField():
            options = tuple(option for option in field.options if option.label.strip())
            if len({option.id for option in options}) < len(options):
                return _bad(field.id, "option ids must be distinct")
            if not options and not field.allow_other:
                return _bad(field.id, "a choice needs at least one option with a label")
            if not options:
                return TextField(id=field.id, label=field.label, required=field.required)
            return field.changed(options=options)
        case TextField():
            if field.pattern is not None:
                try:
                    re.compile(field.pattern)
                except re.error as error:
                    return _bad(field.id, f"the pattern is no regular expression: {error}")
            return field
        case SecretField():
            return field if field.name else field.changed(name=field.id)
        case FileField():
            made = normal_file(field)
            return _bad(field.id, made) if isinstance(made, str) else made


def _normal_confirm(field: ConfirmField, question: Question) -> ConfirmField | Refusal:
    options = field.options
    if not options:
        remember = () if question.subject is None or question.restricted else (FOR_RUN, ALWAYS)
        options = (APPROVE, *remember, DENY)
    if question.restricted:
        options = tuple(option for option in options if option.effect in ("allow_once", "deny"))
    if question.subject is None and any(option.effect in ("allow_run", "allow_always") for option in options):
        return _bad(field.id, "only a named call can be approved for longer")
    if any(option.effect is None for option in options):
        return _bad(field.id, "each option of a confirmation needs an effect")
    if not any(option.effect == "deny" for option in options):
        options = (*options, DENY)
    if len({option.id for option in options}) < len(options):
        return _bad(field.id, "option ids must be distinct")
    return field.changed(options=options)


def values(
    question: Question,
    given: Mapping[str, Json],
    *,
    whole: bool,
    sealed: Collection[str] = (),
    files: Mapping[str, Handed] = NO_FILES,
) -> dict[str, Json] | Refusal:
    """Check values against fields. whole: every required field must have one (a submit).

    sealed: handles of the secrets that were sealed for this request; no other value is one of a secret field. files:
    those that the person may use, by id; no other id is one of a file field.
    """
    fields = {field.id: field for field in question.fields}
    for name in given:
        if name not in fields:
            return _bad(name, f"there is no such field; the fields are {sorted(fields)!r}")
    checked: dict[str, Json] = {}
    for name, field in fields.items():
        if name not in given:
            required = True if isinstance(field, ConfirmField) else getattr(field, "required", True)
            if whole and required:
                return _bad(name, "a value is required")
            continue
        value = _value(field, given[name], sealed, files, whole=whole)
        if isinstance(value, Refusal):
            return value
        checked[name] = value
    return checked


def _value(
    field: AnyField, value: Json, sealed: Collection[str], files: Mapping[str, Handed], *, whole: bool
) -> Json | Refusal:
    match field:
        case ConfirmField():
            ids = [option.id for option in field.options]
            return value if isinstance(value, str) and value in ids else _bad(field.id, f"must be one of {ids!r}")
        case ChoiceField():
            return _choice(field, value, whole=whole)
        case TextField():
            return _text(field, value)
        case SecretField():
            if handle_of(value) in sealed:
                return value
            return _bad(field.id, "a secret is given on its one-time page, never in an answer")
        case FileField():
            made = handed(field, value, files, whole=whole)
            return _bad(field.id, made) if isinstance(made, str) else made


def _choice(field: ChoiceField, value: Json, *, whole: bool) -> Json | Refusal:
    ids = {option.id for option in field.options}
    picks = value if isinstance(value, list) else [value]
    if isinstance(value, list) != field.multiple:
        return _bad(field.id, "must be a list of option ids" if field.multiple else "must be one option id")
    named: list[str] = []
    for pick in picks:
        if isinstance(pick, dict):
            other = pick.get("other")
            if not field.allow_other or set(pick) != {"other"} or not isinstance(other, str) or not other.strip():
                rule = 'must be {"other": text}' if field.allow_other else "free text is not offered here"
                return _bad(field.id, rule)
            if len(other) > LONGEST_OTHER:
                return _bad(field.id, f"a text of one's own must have at most {LONGEST_OTHER} characters")
        elif isinstance(pick, str) and pick in ids:
            named.append(pick)
        else:
            return _bad(field.id, f"must be one of {sorted(ids)!r}")
    if len(set(named)) < len(named):
        return _bad(field.id, "each option counts once")
    if field.multiple and whole and len(picks) < field.min:
        return _bad(field.id, f"at least {field.min} must be picked")
    if field.multiple and field.max is not None and len(picks) > field.max:
        return _bad(field.id, f"at most {field.max} may be picked")
    return value


def _text(field: TextField, value: Json) -> Json | Refusal:
    if field.format in ("integer", "number"):
        if isinstance(value, str) and NUMBERS.fullmatch(value.strip()):
            value = float(value) if "." in value else int(value)
        return _number(field, value)
    if not isinstance(value, str):
        return _bad(field.id, "must be text")
    if not value.strip():
        return _bad(field.id, "must not be empty") if field.required else value
    if not field.min_length <= len(value) <= field.max_length:
        return _bad(field.id, f"must have {field.min_length} to {field.max_length} characters")
    shape = SHAPES.get(field.format)
    if shape and value and not shape[0].fullmatch(value.strip()):
        return _bad(field.id, f"must be {shape[1]}")
    if field.pattern is not None and not re.search(field.pattern, value):
        return _bad(field.id, f"must match {field.pattern!r}")
    return value


def _number(field: TextField, value: Json) -> Json | Refusal:
    kind = "an integer" if field.format == "integer" else "a number"
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value:
        return _bad(field.id, f"must be {kind}")
    if not -LARGEST < value < LARGEST:
        return _bad(field.id, f"must be {kind} of at most {DIGITS} digits")
    if field.format == "number":
        return value
    return int(value) if value == int(value) else _bad(field.id, "must be an integer")


def effect_of(question: Question, given: Mapping[str, Json]) -> Option | None:
    """Which option of a confirmation was picked, if the question has one."""
    for field in question.fields:
        if isinstance(field, ConfirmField):
            return next((option for option in field.options if option.id == given.get(field.id)), None)
    return None


def outcome(
    question: Question,
    answer: Accepted | Declined,
    sealed: Collection[str] = (),
    files: Mapping[str, Handed] = NO_FILES,
) -> Accepted | Declined | Refusal:
    """Turn what was sent into the answer that counts: a deny option is `Declined`, there is one encoding of no."""
    if isinstance(answer, Declined):
        if len(answer.reason or "") > LONGEST_REASON:
            return _bad("reason", f"must have at most {LONGEST_REASON} characters")
        return answer
    checked = values(question, answer.values, whole=True, sealed=sealed, files=files)
    if isinstance(checked, Refusal):
        return checked
    picked = effect_of(question, checked)
    if picked is not None and picked.effect == "deny" and len(question.fields) == 1:
        return Declined()
    if answer.arguments is not None:
        problem = _changed(question, answer.arguments)
        if problem is not None:
            return problem
    return answer.changed(values=checked)


def approved(request: Request, answer: Accepted) -> str | None:
    """The digest of the call that an accepted answer approves: the one shown, or the changed one.

    Only an allowing option approves; of our own question about a step that may have happened, only "repeat".
    """
    if request.ours == "unknown_step":
        return request.digest if "repeat" in answer.values.values() else None
    picked = effect_of(request.question, answer.values)
    subject = request.question.subject
    if subject is None or picked is None or picked.effect == "deny":
        return None
    return request.digest if answer.arguments is None else digest(subject.tool, answer.arguments)


KINDS: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "null": (type(None),),
}


def _changed(question: Question, arguments: Json) -> Refusal | None:
    if question.edit_schema is None or question.subject is None:
        return _bad("arguments", "the arguments of this call cannot be changed")
    if len(EXACT.encode(arguments)) > LONGEST_ARGUMENTS:
        return _bad("arguments", f"must have at most {LONGEST_ARGUMENTS} characters as JSON")
    return _fits(question.edit_schema, arguments, "arguments")


def _fits(schema: Mapping[str, Json], value: Json, path: str) -> Refusal | None:
    """Check a value against the part of JSON Schema that tools use: type, enum, required, properties, items."""
    kind = schema.get("type")
    if isinstance(kind, str) and (
        not isinstance(value, KINDS.get(kind, (object,))) or (isinstance(value, bool) and kind in ("integer", "number"))
    ):
        return _bad(path, f"must be of type {kind}")
    enum = schema.get("enum")
    if isinstance(enum, list) and value not in enum:
        return _bad(path, f"must be one of {enum!r}")
    if isinstance(value, dict):
        return _fits_object(schema, value, path)
    items = schema.get("items")
    if isinstance(value, list) and isinstance(items, dict):
        for index, item in enumerate(value):
            problem = _fits(items, item, f"{path}[{index}]")
            if problem is not None:
                return problem
    return None


def _fits_object(schema: Mapping[str, Json], value: dict[str, Json], path: str) -> Refusal | None:
    properties, required = schema.get("properties"), schema.get("required")
    known = properties if isinstance(properties, dict) else {}
    for name in required if isinstance(required, list) else []:
        if name not in value:
            return _bad(f"{path}.{name}", "a value is required")
    for name, item in value.items():
        inner = known.get(name)
        if inner is None and schema.get("additionalProperties") is False:
            return _bad(f"{path}.{name}", "there is no such argument")
        if isinstance(inner, dict):
            problem = _fits(inner, item, f"{path}.{name}")
            if problem is not None:
                return problem
    return None


def _bad(field: str, rule: str) -> Refusal:
    return Refusal("invalid", f"{field!r}: {rule}", {"field": field, "rule": rule})
