"""Options as a menu, and the buttons that open forms: for platforms that have such things.

A few options stay buttons; more, or several to pick, become menus of as many as the platform allows, page by page. It
knows no platform. Source: DESIGN section 8, C55.
"""

from __future__ import annotations

from collections.abc import Sequence

from adapters.forms import fillable, pages
from adapters.platform import Button, Choice, Limits, Menu
from adapters.text import clip
from core.model import Json
from core.press import payload
from core.question import ChoiceField, Request, TextField
from core.visible import visible

FEW = 5


def wants_menu(field: ChoiceField, limits: Limits) -> bool:
    """Whether a choice is shown as a menu."""
    return bool(limits.menu_max) and (field.multiple or len(field.options) > FEW)


def menu(request: Request, index: int, page: int, limits: Limits, picked: Sequence[Json]) -> Menu:
    """Draw one page of a choice as a menu."""
    field = request.question.fields[index]
    assert isinstance(field, ChoiceField)
    first = page * limits.menu_max
    shown = list(enumerate(field.options))[first : first + limits.menu_max]
    choices = tuple(
        Choice(
            label=clip(f"{number + 1}. {visible(option.label.replace(chr(10), ' '), prose=True)}", limits.label_max),
            value=str(number) if field.multiple else payload(request.id, "option", field=index, number=number),
            description=clip(visible(option.description or "", prose=True), limits.label_max),
            picked=option.id in picked,
        )
        for number, option in shown
    )
    if not field.multiple:
        return Menu(choices=choices, placeholder="Pick one")
    most = min(field.max or len(choices), len(choices))
    words = f"Pick up to {most}" if field.max else "Pick any"
    name = payload(request.id, "pick", field=index, number=page)
    return Menu(choices=choices, payload=name, placeholder=words, least=0, most=max(1, most))


def form_buttons(request: Request, limits: Limits) -> tuple[tuple[Button, ...], ...]:
    """The buttons that open the forms of a request with several questions."""
    if not limits.form_max or not fillable(request):
        return ()
    laid = pages(request, limits)
    if len(laid) == 1:
        return ((_open("Fill in…", request.id, 0),),)
    buttons = [_open(_pages(page), request.id, n) for n, page in enumerate(laid)]
    size = max(1, limits.row_buttons)
    return tuple(tuple(buttons[i : i + size]) for i in range(0, len(buttons), size))


def _pages(page: Sequence[int]) -> str:
    return f"Fill in {page[0] + 1} to {page[-1] + 1}…" if len(page) > 1 else f"Fill in {page[0] + 1}…"


def _open(label: str, id: str, number: int) -> Button:
    return Button(label=label, payload=payload(id, "form", number=number), style="yes")


def text_button(request: Request, field: TextField | ChoiceField, limits: Limits) -> tuple[tuple[Button, ...], ...]:
    """The button that opens a form for one text."""
    if not limits.form_max or len(request.question.fields) > 1:
        return ()
    label = "Answer…" if isinstance(field, TextField) else "Your own answer…"
    return ((Button(label=label, payload=payload(request.id, "text"), style="yes"),),)
