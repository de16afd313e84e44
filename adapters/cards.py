"""The one model of cards: what a request, a run's status, a text or a notice looks like, on whatever platform.

A card shows the whole subject with visible escapes, or has no Approve. Options are numbered wherever their labels are
long; buttons carry ids, all meaning is in Redis. It knows no platform; the limits it is given are declared ones.
Source: DESIGN sections 6 and 8, C49, C55, C58, C59, C131.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

from adapters.approval import confirm_view, cut, link_row, offered, says_yes
from adapters.buttons import button, in_rows
from adapters.menus import form_buttons, menu, text_button, wants_menu
from adapters.outcomes import Clock, outcome, said
from adapters.platform import Block, Button, Limits, Prompt, Tone, View
from adapters.text import clip
from adapters.wanted import file_view
from core.card import Card
from core.life.words import is_only_secret
from core.model import Run
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
    Subject,
    TextField,
)
from core.visible import unseen, visible

PAGE = 8
SHORT = 40


@dataclass(frozen=True, slots=True)
class Sight:
    """What a card is drawn for: the platform's limits, the place, and the words around it.

    link: the address of the request's page on the dashboard, when there is a public one. clock: milliseconds → "13:05".
    private: a one-to-one place. whole: the subject can be shown as a whole here. person: whose reply is wanted.
    written: a secret may be written here, because there is no page that it could be given on.
    """

    limits: Limits
    private: bool
    clock: Clock
    link: str | None = None
    whole: bool = True
    person: str | None = None
    written: bool = False


# ── requests ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def request_view(request: Request, card: Card, run: Run | None, sight: Sight) -> View:
    """Draw a request as it stands now."""
    state = outcome(request, run, sight.clock)
    if request.state == "open":
        return _open(request, card, sight, state)
    rows: tuple[tuple[Button, ...], ...] = ()
    if request.state == "withdrawn":
        resume = button("Resume", request.id, "resume", "yes")
        rows = _sure(request.id) if card.asking else ((resume, button("Cancel task", request.id, "cancel", "danger")),)
    blocks = [Block(kind="title", text=_title(request)), *_closed_subject(request), Block(kind="state", text=state)]
    return View(blocks=tuple(blocks), rows=rows, of=request.id, tone=_tone(request))


def _tone(request: Request) -> Tone:
    if request.state == "withdrawn":
        return "halt"
    match request.answer:
        case Accepted():
            return "yes"
        case Declined():
            return "no"
        case _:
            return "over"


def _closed_subject(request: Request) -> list[Block]:
    subject = request.question.subject
    if subject is not None:
        return [Block(kind="code", text=clip(subject_text(subject), 600))]
    message = request.question.message
    return [Block(kind="text", text=clip(visible(message, prose=True), 400))] if message else []


def _title(request: Request) -> str:
    question = request.question
    if question.title:
        return visible(question.title, prose=True)
    if question.subject is not None:
        return f"May I call {visible(question.subject.tool)}?"
    return "Question"


def _open(request: Request, card: Card, sight: Sight, state: str) -> View:
    question = request.question
    blocks = [Block(kind="title", text=_title(request))]
    if question.message:
        blocks.append(Block(kind="text", text=visible(question.message, prose=True)))
    if question.subject is not None:
        blocks.append(Block(kind="code", text=subject_text(question.subject)))
    fields = question.fields
    if len(fields) > 1:
        drawn = _form(request, card, sight)
    else:
        drawn = _field(request, fields[0], 0, card, sight) if fields else View()
    foot = [Block(kind="state", text=state)] if state else []
    rows = _sure(request.id) if card.asking else (*drawn.rows, *_stops(request))
    menus = () if card.asking else drawn.menus
    if card.asking:
        foot.append(Block(kind="state", text="Cancel discards the task. Sure?"))
    foot.append(Block(kind="small", text=f"{request.id}"))
    return View(
        blocks=(*blocks, *drawn.blocks, *foot),
        menus=menus,
        rows=rows,
        prompt=drawn.prompt,
        of=request.id,
        tone="ask",
        asks=sight.person,
    )


def _stops(request: Request) -> tuple[tuple[Button, ...], ...]:
    return ((button("Abort (pause)", request.id, "abort"), button("Cancel task", request.id, "cancel", "danger")),)


def _sure(id: str) -> tuple[tuple[Button, ...], ...]:
    return ((button("Yes, cancel the task", id, "sure", "danger"), button("Keep it", id, "keep")),)


def subject_text(subject: Subject) -> str:
    """A call as a person reads it: the tool, then each argument; nothing left out, nothing hidden."""
    arguments = subject.arguments
    if arguments is None:
        return visible(subject.tool)
    if isinstance(arguments, dict) and all(isinstance(value, str) for value in arguments.values()):
        lines = [f"{visible(name)}: {visible(str(value))}" for name, value in arguments.items()]
    else:
        lines = [visible(json.dumps(arguments, ensure_ascii=False, indent=1))]
    return "\n".join([visible(subject.tool), *lines])


def _field(request: Request, field: AnyField, index: int, card: Card, sight: Sight) -> View:
    match field:
        case ConfirmField():
            return confirm_view(request, field, index, sight)
        case ChoiceField():
            return _choice(request, field, index, card, sight)
        case TextField():
            return _text(request, field, sight)
        case SecretField():
            return _secret(request, sight)
        case FileField():
            return file_view(request, field, sight)


def _choice(request: Request, field: ChoiceField, index: int, card: Card, sight: Sight) -> View:
    as_menu = wants_menu(field, sight.limits) and (
        len(request.question.fields) == 1 or len(field.options) <= sight.limits.menu_max
    )
    page_size = sight.limits.menu_max if as_menu else min(PAGE, sight.limits.card_buttons - 6)
    pages = max(1, -(-len(field.options) // page_size))
    page = min(card.page, pages - 1) if len(request.question.fields) == 1 else 0
    if len(request.question.fields) > 1:
        page_size, pages = max(page_size, len(field.options)), 1
    given = request.given.get(field.id)
    picked = given.value if given is not None and isinstance(given.value, list) else []
    first = page * page_size
    shown = offered(request, field, sight)[first : first + page_size]
    most = min(sight.limits.label_max - 5 if as_menu else SHORT, sight.limits.label_max)
    long = any((option.description and not as_menu) or len(option.label) > most for option in field.options)
    blocks = [Block(kind="text", text=visible(field.label, prose=True))] if field.label else []
    missing = len(offered(request, field, sight)) < len(field.options)
    blocks += [cut(sight)] if missing else []
    if long or _alike(field.options, most) or pages > 1:
        lines = [_line(number, option) for number, option in shown]
        blocks.append(Block(kind="text", text="\n".join(lines)))
    buttons: list[Button] = []
    for number, option in shown if not as_menu else ():
        mark = "☑ " if option.id in picked else "☐ " if field.multiple else ""
        label = f"{mark}{number + 1}. {option.label}" if long or pages > 1 else f"{mark}{option.label}"
        label = clip(visible(label.replace("\n", " "), prose=True), sight.limits.label_max)
        buttons.append(button(label, request.id, "option", field=index, number=number))
    rows = list(in_rows(buttons, sight.limits, 1 if any(len(b.label) > 12 for b in buttons) else 4))
    if pages > 1:
        rows.append(_turns(request, page, pages))
    if field.multiple and len(request.question.fields) == 1:
        rows.append((button(f"Done ({len(picked)})", request.id, "done", "yes"),))
    if field.allow_other:
        blocks.append(Block(kind="small", text=_how(sight, "Or write your own answer")))
    elif pages > 1:
        blocks.append(Block(kind="small", text=_how(sight, "Pick by a button or write the number")))
    if field.allow_other:
        rows += text_button(request, field, sight.limits)
    if missing:
        rows += link_row(sight)
    return View(
        blocks=tuple(blocks),
        menus=(menu(request, index, page, sight.limits, picked),) if as_menu else (),
        rows=tuple(rows),
        prompt=Prompt(person=sight.person) if field.allow_other else None,
    )


def _alike(options: tuple[Option, ...], most: int) -> bool:
    """Whether two labels would look the same on buttons: also those that differ in marks and spaces only."""
    labels = [clip(unseen(option.label), most).casefold() for option in options]
    return len(set(labels)) < len(labels)


def _line(number: int, option: Option) -> str:
    description = f" — {visible(option.description, prose=True)}" if option.description else ""
    return f"{number + 1}. {visible(option.label, prose=True)}{description}"


def _turns(request: Request, page: int, pages: int) -> tuple[Button, ...]:
    back = [button(f"← {page}/{pages}", request.id, "turn", number=page - 1)] if page else []
    on = [button(f"{page + 2}/{pages} →", request.id, "turn", number=page + 1)] if page + 1 < pages else []
    return (*back, *on)


def _text(request: Request, field: TextField, sight: Sight) -> View:
    blocks = [Block(kind="text", text=visible(field.label, prose=True))] if field.label else []
    shape = {"integer": "a whole number", "number": "a number", "email": "an e-mail address", "date": "YYYY-MM-DD"}
    hint = f" ({shape[field.format]})" if field.format in shape else ""
    blocks.append(Block(kind="small", text=_how(sight, f"Write your answer{hint}")))
    prompt = Prompt(placeholder=clip(field.placeholder or "", 60), person=sight.person)
    return View(blocks=tuple(blocks), rows=text_button(request, field, sight.limits), prompt=prompt)


def _how(sight: Sight, words: str) -> str:
    return f"{words}." if sight.private else f"{words} as a reply to this message."


def _secret(request: Request, sight: Sight) -> View:
    name = visible(next((f.name or f.id for f in request.question.fields if isinstance(f, SecretField)), "secret"))
    if not sight.private:
        words = f"The secret “{name}” is never asked for in a group: give it on the dashboard or privately (/pending)."
        return View(blocks=(Block(kind="state", text=words),))
    if (sight.link is None or not sight.limits.links) and sight.limits.form_max:
        words = f"Give the secret “{name}” by the button. Do not write it here."
        give = button("Enter it here…", request.id, "give", "yes")
        return View(blocks=(Block(kind="state", text=words),), rows=((give,),))
    if sight.written and is_only_secret(request):
        words = f"Write the secret “{name}” as your next message: it is taken sealed, and deleted here at once."
        return View(blocks=(Block(kind="state", text=words),), prompt=Prompt(placeholder=clip(name, 60)))
    if sight.link is None or not sight.limits.links:
        words = f"Give the secret “{name}” on the dashboard, under pending. Do not write it here."
        return View(blocks=(Block(kind="state", text=words),))
    words = f"Give the secret “{name}” on its one-time page. Do not write it here."
    there = Button(label="Open the one-time page", url=sight.link, style="yes")
    return View(blocks=(Block(kind="state", text=words),), rows=((there,),))


def _form(request: Request, card: Card, sight: Sight) -> View:
    """One field at a time; the page after the last one is the summary."""
    fields = request.question.fields
    forms = form_buttons(request, sight.limits) if sight.whole or not says_yes(request) else ()
    page = min(card.page, len(fields))
    back = [button("← Back", request.id, "back")] if page else []
    if page == len(fields):
        lines = [f"{visible(field.label or field.id, prose=True)}: {_given(request, field)}" for field in fields]
        submit = button("Submit", request.id, "done", "yes")
        return View(blocks=(Block(kind="text", text="\n".join(lines)),), rows=(*forms, (*back, submit)))
    field = fields[page]
    drawn = _field(request, field, page, card, sight)
    head = f"{page + 1} of {len(fields)}: {visible(field.label or field.id, prose=True)}"
    blocks = [Block(kind="text", text=head)]
    if field.id in request.given:
        blocks.append(Block(kind="small", text=f"So far: {_given(request, field)}"))
    required = isinstance(field, ConfirmField | SecretField) or field.required
    label = "Next →" if field.id in request.given or not required else "Later →"
    steps = (*back, button(label, request.id, "skip"))
    rest = tuple(block for block in drawn.blocks if block.text != visible(field.label, prose=True))
    rows = (*forms, *drawn.rows, steps)
    return View(blocks=(*blocks, *rest), menus=drawn.menus, rows=rows, prompt=drawn.prompt)


def _given(request: Request, field: AnyField) -> str:
    given = request.given.get(field.id)
    return clip(said(field, given.value), 200) if given is not None else "—"
