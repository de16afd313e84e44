"""Forms: what is filled in together, away from the chat, on platforms that have such a thing (a dialog, a modal).

    a press on "Answer…", "Fill in…", "Deny with a reason…", "Enter it here…" ──▶ `Form` ──▶ filled in ──▶ values

A form holds nothing: its payload says what it is of, and what is filled in is read against the request as it stands
then. The rules stand in `core/life`; it knows no platform. Source: DESIGN section 6 ("a form"), C55, C126, C127.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pydantic import SecretStr

from adapters.outcomes import Notice, notice, refused
from adapters.platform import Ask, Choice, Form, Limits
from adapters.wanted import file_ask
from core.broker import Broker
from core.life.decision import Refusal
from core.life.event import Reply
from core.life.result import Answered
from core.life.words import field_answer
from core.model import Json, Person
from core.press import FORMS, Press, payload, read
from core.question import (
    Accepted,
    AnyField,
    ChoiceField,
    ConfirmField,
    Declined,
    FileField,
    Handed,
    Request,
    SecretField,
    TextField,
)
from core.safe import Gift
from core.visible import visible

Filled = Mapping[str, Sequence[str]]
"""What was filled in: the id of each question, and its values (a text, or the values of the picked choices)."""

OTHER = ".other"
NOT_A_FORM = Refusal("invalid", "this cannot be filled in here: answer on the card")
LONGEST = 4_000
MOST_CHOICES = 25
"""more than that are asked for by number"""

CODE = Form(
    payload="pair",
    title="Link another account",
    asks=(Ask(id="code", label="The code that it shows", kind="line", least=6, most=20),),
)


def opens_form(text: str) -> bool:
    """Whether a button's payload asks for a form; such a press is only acknowledged by showing it."""
    press = read(text)
    return press is not None and press.verb in FORMS


def reasons(id: str) -> Form:
    """Ask for the reason of a no."""
    ask = Ask(id="reason", label="Why not?", kind="text", required=False, most=2_000)
    return Form(payload=payload(id, "reason"), title="Deny with a reason", asks=(ask,))


def plain(id: str) -> Form:
    """Ask for a text without knowing the question, when nobody could look at it in time; the card says what it is."""
    return Form(
        payload=payload(id, "text"),
        title="Your answer",
        asks=(Ask(id="0", label="Your answer", kind="text", most=LONGEST),),
    )


def pages(request: Request, limits: Limits) -> list[list[int]]:
    """Lay the fields of a request out over forms; secrets are not among them, nor files where no form takes them."""
    found: list[list[int]] = []
    room, most = 0, limits.form_max
    for number, field in enumerate(request.question.fields):
        if isinstance(field, SecretField) or (isinstance(field, FileField) and not limits.form_files):
            continue
        size = 2 if _has_other(field) and most > 1 else 1
        if size > room:
            found.append([])
            room = most
        found[-1].append(number)
        room -= size
    return found


def fillable(request: Request) -> bool:
    """Whether a request may be filled in by a form: an approval is only given where its whole subject is shown."""
    fields = request.question.fields
    return not (request.question.subject and any(isinstance(field, ConfirmField) for field in fields))


def drawn(request: Request, press: Press, limits: Limits) -> Form | Refusal:
    """Draw the form that a press asks for."""
    fields = request.question.fields
    title = visible(request.question.title, prose=True) or "Your answer"
    match press.verb:
        case "reason":
            return reasons(request.id)
        case "give":
            secret = [number for number, field in enumerate(fields) if isinstance(field, SecretField)]
            return _form(request, payload(request.id, "give"), title, secret[: limits.form_max], limits)
        case "text" if len(fields) == 1 and isinstance(fields[0], TextField | ChoiceField):
            ask = _text(fields[0], 0) if isinstance(fields[0], TextField) else _other(fields[0], 0, alone=True)
            return Form(payload=payload(request.id, "text"), title=title, asks=(ask,))
        case "form" if fillable(request) and press.number < len(laid := pages(request, limits)):
            return _form(request, payload(request.id, "form", number=press.number), title, laid[press.number], limits)
        case _:
            return NOT_A_FORM


def _form(request: Request, name: str, title: str, numbers: Sequence[int], limits: Limits) -> Form | Refusal:
    asks: list[Ask] = []
    for number in numbers:
        field = request.question.fields[number]
        given = request.given.get(field.id)
        asks += _asks(field, number, given.value if given is not None else None, limits)
    return Form(payload=name, title=title, asks=tuple(asks)) if asks else NOT_A_FORM


def _asks(field: AnyField, number: int, given: Json, limits: Limits) -> list[Ask]:
    match field:
        case FileField():
            return [file_ask(field, number, _label(field), limits, given=bool(given))]
        case TextField():
            return [_text(field, number, given, long=field.format == "multiline")]
        case SecretField():
            label = visible(field.label or field.name or field.id, prose=True)
            return [Ask(id=str(number), label=label, kind="line", most=LONGEST)]
        case ConfirmField() | ChoiceField() if len(field.options) <= MOST_CHOICES:
            other = [_other(field, number)] if isinstance(field, ChoiceField) and field.allow_other else []
            return [_pick(field, number, given), *other]
        case ConfirmField() | ChoiceField():
            words = "Numbers, with commas" if isinstance(field, ChoiceField) and field.multiple else "Its number"
            return [Ask(id=str(number), label=_label(field), kind="line", placeholder=words, most=LONGEST)]


def _has_other(field: AnyField) -> bool:
    return isinstance(field, ChoiceField) and field.allow_other and len(field.options) <= MOST_CHOICES


def _label(field: AnyField) -> str:
    return visible(field.label or field.id, prose=True)


def _text(field: TextField, number: int, given: Json = None, *, long: bool | None = None) -> Ask:
    long = field.format in ("text", "multiline") and field.max_length > 200 if long is None else long
    stands = given if isinstance(given, str | int | float) and not isinstance(given, bool) else field.default or ""
    return Ask(
        id=str(number),
        label=_label(field),
        kind="text" if long else "line",
        placeholder=visible(field.placeholder or "", prose=True),
        required=field.required,
        least=min(field.min_length, LONGEST),
        most=min(field.max_length, LONGEST),
        value=str(stands),
    )


def _other(field: ChoiceField, number: int, *, alone: bool = False) -> Ask:
    label = _label(field) if alone else f"Or your own: {_label(field)}"
    return Ask(id=f"{number}{OTHER}", label=label, kind="line", required=alone, most=LONGEST)


def _pick(field: ConfirmField | ChoiceField, number: int, given: Json) -> Ask:
    picked = given if isinstance(given, list) else [given]
    multiple = isinstance(field, ChoiceField) and field.multiple
    choices = tuple(
        Choice(
            label=visible(option.label, prose=True),
            value=str(index),
            description=visible(option.description or "", prose=True),
            picked=option.id in picked,
        )
        for index, option in enumerate(field.options)
    )
    most = (field.max or len(choices)) if isinstance(field, ChoiceField) else 1
    required = not isinstance(field, ChoiceField) or (field.required and not field.allow_other)
    return Ask(
        id=str(number),
        label=_label(field),
        kind="many" if multiple else "one",
        choices=choices,
        required=required and not (multiple and isinstance(field, ChoiceField) and not field.min),
        least=field.min if isinstance(field, ChoiceField) and multiple else 0,
        most=min(most, len(choices)) if multiple else 1,
    )


# ── what was filled in ───────────────────────────────────────────────────────────────────────────────────────────────


def value_of(request: Request, number: int, filled: Filled) -> Json | Refusal:
    """Read what was filled in for a field; None when nothing was."""
    field = request.question.fields[number]
    values = [one for one in filled.get(str(number), ()) if one.strip()]
    other = [one for one in filled.get(f"{number}{OTHER}", ()) if one.strip()]
    match field:
        case SecretField():
            return None
        case FileField():
            return [*values] if values else None
        case TextField():
            return values[0] if values else None
        case ConfirmField() | ChoiceField() if len(field.options) > MOST_CHOICES and values:
            return field_answer(request, field, values[0])
        case ConfirmField():
            return next(iter(_ids(field, values)), None)
        case ChoiceField(multiple=True):
            return [*_ids(field, values), *({"other": one} for one in other)] if values or other else None
        case ChoiceField():
            return {"other": other[0]} if other else next(iter(_ids(field, values)), None)


def _ids(field: ConfirmField | ChoiceField, values: Sequence[str]) -> list[Json]:
    numbers = [int(one) for one in values if one.isdecimal()]
    return [field.options[number].id for number in numbers if number < len(field.options)]


@dataclass(frozen=True, slots=True)
class Filling:
    """A person filled in what a press at a place had opened. via: the surface, as `dc`. files: as they are stored."""

    press: Press
    values: Filled
    person: Person
    via: str
    key: str
    place: str
    files: Mapping[str, Handed] = dataclasses.field(default_factory=dict[str, Handed])


class Forms:
    """Takes in what people filled in."""

    def __init__(self, broker: Broker, limits: Limits) -> None:
        self._broker = broker
        self._limits = limits

    async def form(self, press: Press) -> Form | Refusal:
        """Draw the form that a press asks for; whether the person may answer was looked at before."""
        request = await self._request(press.id)
        return NOT_A_FORM if request is None else drawn(request, press, self._limits)

    async def fill(self, e: Filling) -> Notice:
        """Answer with what was filled in; what is good is kept even when something else is not.

        Whether the person may answer was looked at before, and is looked at again by the answer.
        """
        request = await self._request(e.press.id)
        if request is None:
            return refused(NOT_A_FORM)
        match e.press.verb:
            case "reason":
                reason = next(iter(e.values.get("reason", ())), "").strip()
                told = await self._reply(e, Declined(reason=reason or None))
            case "give":
                told = await self._give(e, request)
            case "pick":
                told = await self._pick(e, request)
            case "text" | "form" if isinstance(drawn(request, e.press, self._limits), Form):
                return await self._values(e, request)
            case _:
                told = NOT_A_FORM
        return notice(told) or Notice(text="Done.")

    async def _values(self, e: Filling, request: Request) -> Notice:
        fields = request.question.fields
        laid = pages(request, self._limits)
        page = laid[e.press.number] if e.press.verb == "form" and e.press.number < len(laid) else [0]
        good: dict[str, Json] = {}
        wrong: list[str] = []
        for number in page:
            value = value_of(request, number, e.values)
            if isinstance(value, Refusal):
                wrong.append(f"{_label(fields[number])}: {value.text}")
            elif value is not None:
                good[fields[number].id] = value
        if len(fields) == 1 and not wrong:
            return notice(await self._reply(e, Accepted(values=good))) or Notice(text="Done.")
        for id, value in good.items():
            told = await self._reply(e, Accepted(values={id: value}), id, submit=False)
            if isinstance(told, Refusal) and told.code != "invalid":
                return notice(told) or Notice(text="Done.")
            if isinstance(told, Refusal):
                label = next(_label(field) for field in fields if field.id == id)
                wrong.append(f"{label}: {told.standing.get('rule') or told.text}")
        if wrong:
            return Notice(text="Not taken, the rest is kept. " + " · ".join(wrong), alert=True)
        if len(laid) == 1 and len(laid[0]) == len(fields):
            return notice(await self._reply(e, Accepted(), "submit")) or Notice(text="Done.")
        return Notice(text="Kept. Submit it on the card when all is filled in.")

    async def _pick(self, e: Filling, request: Request) -> Answered | Refusal:
        """What was picked from one page of a menu replaces what was picked there before."""
        fields = request.question.fields
        field = fields[e.press.field] if e.press.field < len(fields) else None
        if not isinstance(field, ChoiceField) or not field.multiple:
            return NOT_A_FORM
        first = e.press.number * self._limits.menu_max
        here = [option.id for option in field.options[first : first + self._limits.menu_max]]
        given = request.given.get(field.id)
        before = given.value if given is not None and isinstance(given.value, list) else []
        kept = [one for one in before if one not in here]
        order = {option.id: number for number, option in enumerate(field.options)}
        picked = [*kept, *_ids(field, list(e.values.get("", ())))]
        picked.sort(key=lambda one: order.get(one, 0) if isinstance(one, str) else len(order))
        return await self._reply(e, Accepted(values={field.id: picked}), submit=False)

    async def _give(self, e: Filling, request: Request) -> Answered | Refusal:
        fields = request.question.fields
        values = {
            field.id: SecretStr(e.values[str(number)][0])
            for number, field in enumerate(fields)
            if isinstance(field, SecretField) and e.values.get(str(number))
        }
        whole = all(isinstance(field, SecretField) for field in fields)
        return await self._broker.safe.give(
            Gift(request.id, e.person, e.via, values, store=False, submit=whole, key=e.key)
        )

    async def _request(self, id: str) -> Request | None:
        at = self._broker.store.partition(id)
        model = (
            (await self._broker.store.read(at, [("request", id)]))[("request", id)].model if at is not None else None
        )
        return await self._broker.whole(model) if isinstance(model, Request) else None

    async def _reply(
        self, e: Filling, sent: Accepted | Declined, part: str = "", *, submit: bool = True
    ) -> Answered | Refusal:
        key = f"{e.key}.{part}" if part else e.key
        answer = Reply(e.press.id, sent, e.person, e.via, key, submit=submit, files=e.files, place=e.place)
        return await self._broker.answer(answer)
