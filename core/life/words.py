"""Words as answers: an option's number or label, a bare yes, free text, for one request.

Nothing here guesses: what is not exactly an offered answer is refused with the options, and consumes nothing.
Source: DESIGN section 6, C09, C14, C26, C35, C55.
"""

from __future__ import annotations

from core.life.decision import Refusal
from core.life.handing import OR_CANCEL, file_answer
from core.model import Json
from core.question import (
    Accepted,
    AnyField,
    ChoiceField,
    ConfirmField,
    Declined,
    FileField,
    Option,
    Request,
    SecretField,
    TextField,
)

NOT_KEPT = "a secret is given as its card says, this message was not kept"
NO_FILES = Refusal("choose", "no file is asked for, so nothing was taken: answer in a message without one")
YES = frozenset({"yes", "y", "ok", "approve"})
NO = frozenset({"no", "n", "deny"})


def text_answer(request: Request, text: str, attachments: tuple[str, ...] = ()) -> Accepted | Declined | Refusal:
    """Read a person's text, or the files that came with it, as the answer to one request."""
    if len(request.question.fields) != 1:
        return Refusal("choose", "this is a form: fill it in on its card, or cancel", {"request": request.id})
    field = request.question.fields[0]
    if attachments and not isinstance(field, FileField | SecretField):
        return NO_FILES
    match field:
        case SecretField():
            return Refusal("secret", NOT_KEPT)
        case TextField():
            return Accepted(values={field.id: text})
        case ConfirmField():
            return _confirm(request, field, text)
        case ChoiceField():
            return _choice(request, field, text)
        case FileField():
            files = file_answer(field, text, attachments)
            return files if isinstance(files, Refusal) else Accepted(values={field.id: files})


def is_only_secret(request: Request) -> bool:
    """Tell whether a request asks for one secret and nothing else."""
    return [field.kind for field in request.question.fields] == ["secret"]


def without_code(text: str) -> str:
    """What was said besides the one-time code at its end; a code alone is a yes."""
    words = text.rsplit(None, 1)
    return words[0] if len(words) > 1 else "yes"


def field_answer(request: Request, field: AnyField, text: str, attachments: tuple[str, ...] = ()) -> Json | Refusal:
    """Read a person's text, or the files that came with it, as the value of one field of a form."""
    if attachments and not isinstance(field, FileField | SecretField):
        return NO_FILES
    match field:
        case SecretField():
            return Refusal("secret", NOT_KEPT)
        case TextField():
            return text
        case ConfirmField():
            answer = _confirm(request, field, text)
            no = next((o.id for o in field.options if o.effect == "deny"), None)
            if isinstance(answer, Declined):
                return no
            return answer.values[field.id] if isinstance(answer, Accepted) else answer
        case ChoiceField():
            answer = _choice(request, field, text)
            return answer.values[field.id] if isinstance(answer, Accepted) else answer
        case FileField():
            return file_answer(field, text, attachments)


def word_answer(request: Request, text: str) -> Accepted | Declined:
    """Read a text as an answer to a request that is closed already, only to tell what stands."""
    field = request.question.fields[0].id if request.question.fields else "text"
    return Accepted(values={field: text})


def _confirm(request: Request, field: ConfirmField, text: str) -> Accepted | Declined | Refusal:
    word = text.strip().rstrip(".!").casefold()
    option = _option(field.options, text)
    if option is None and word in YES:
        option = next((o for o in field.options if o.effect == "allow_once"), None)
    if option is None and word in NO:
        return Declined()
    if option is None:
        return _again(request, field.options)
    return Declined() if option.effect == "deny" else Accepted(values={field.id: option.id})


def _choice(request: Request, field: ChoiceField, text: str) -> Accepted | Refusal:
    if not field.multiple:
        option = _option(field.options, text)
        if option is not None:
            return Accepted(values={field.id: option.id})
        return Accepted(values={field.id: {"other": text}}) if field.allow_other else _again(request, field.options)
    whole = _option(field.options, text)
    parts = [whole] if whole is not None else [_option(field.options, part) for part in text.split(",")]
    picked = [option.id for option in parts if option is not None]
    if len(picked) == len(parts) and len(set(picked)) == len(picked):
        values: list[Json] = list(picked)
        return Accepted(values={field.id: values})
    return Accepted(values={field.id: [{"other": text}]}) if field.allow_other else _again(request, field.options)


def _option(options: tuple[Option, ...], text: str) -> Option | None:
    """Find an option by its label, its label in another case, or its number; only if exactly one fits."""
    plain = text.strip()
    for fits in (
        [o for o in options if o.label == plain],
        [o for o in options if o.label.casefold() == plain.casefold()],
    ):
        if len(fits) == 1:
            return fits[0]
    number = plain.rstrip(".)")
    if len(number) < 5 and number.isascii() and number.isdigit() and 1 <= int(number) <= len(options):
        return options[int(number) - 1]
    return None


def _again(request: Request, options: tuple[Option, ...]) -> Refusal:
    lines = [f"{number}. {option.label}" for number, option in enumerate(options, 1)]
    title = request.question.title or "Please pick one"
    words = f"{title}\n" + "\n".join(lines) + f"\nPick one by number or name{OR_CANCEL}."
    return Refusal("choose", words, {"request": request.id})
