"""The part of a card that says yes or no: how far a yes reaches, and none where not all of it can be read.

It knows no platform. Source: DESIGN section 6, C58, C131.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from adapters.buttons import button, in_rows
from adapters.platform import Block, Button, View
from adapters.text import clip
from core.life.whole import CUT, THERE, approving
from core.question import ChoiceField, ConfirmField, Option, Request
from core.visible import visible

if TYPE_CHECKING:
    from adapters.cards import Sight

SCOPE = (
    "“For this task” allows exactly this call until the task ends. “Always” allows exactly this call, for you, in this "
    "conversation; /grants lists it and takes it back."
)
PROOF = (
    "This needs a proof that you are there: “sayso code” prints a one-time code. Reply to this message with the code, "
    "or send"
)


def confirm_view(request: Request, field: ConfirmField, index: int, sight: Sight) -> View:
    """Draw a confirmation."""
    blocks: list[Block] = []
    restricted = request.question.restricted
    allowed = sight.whole and not restricted
    if not sight.whole:
        blocks.append(cut(sight))
    elif restricted:
        blocks.append(Block(kind="state", text=f"{PROOF} /approve {request.id} code"))
    if allowed and any(option.effect in ("allow_run", "allow_always") for option in field.options):
        blocks.append(Block(kind="small", text=SCOPE))
    if not sight.limits.form_max:
        blocks.append(Block(kind="small", text=f"To say no with a reason: /deny {request.id} reason"))
    order = {"allow_once": 0, "deny": 1, "allow_run": 2, "allow_always": 3}
    numbered = sorted(enumerate(field.options), key=lambda one: order[one[1].effect or "deny"])
    buttons = [
        button(
            clip(visible(option.label, prose=True), sight.limits.label_max),
            request.id,
            "option",
            "no" if option.effect == "deny" else "yes" if option.effect == "allow_once" else "plain",
            field=index,
            number=number,
        )
        for number, option in numbered
        if allowed or option.effect == "deny"
    ]
    if sight.limits.form_max:
        buttons.insert(2 if allowed else 1, button("Deny with a reason…", request.id, "reason"))
    link = link_row(sight) if not allowed else ()
    return View(blocks=tuple(blocks), rows=(*in_rows(buttons, sight.limits, 3 if sight.limits.form_max else 2), *link))


def offered(request: Request, field: ChoiceField, sight: Sight) -> list[tuple[int, Option]]:
    """The options of a choice with their numbers, without those that would say yes to what cannot be read here."""
    return [
        (number, option)
        for number, option in enumerate(field.options)
        if sight.whole or not approving(request, {field.id: option.id})
    ]


def says_yes(request: Request) -> bool:
    """Tell whether a form has a field that has to be read as a whole before it is filled in."""
    return any(isinstance(field, ConfirmField) for field in request.question.fields)


def cut(sight: Sight) -> Block:
    """Say that not all of it can be read here, and where it can."""
    return Block(kind="state", text=f"{CUT} {'Open it on the dashboard.' if sight.link else THERE}")


def link_row(sight: Sight) -> tuple[tuple[Button, ...], ...]:
    """The button that opens a request on the dashboard, where there are such buttons."""
    if sight.link is None or not sight.limits.links:
        return ()
    return ((Button(label="Open on the dashboard", url=sight.link),),)
