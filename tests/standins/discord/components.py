"""Components: what Discord's document does not say about them, and how a person finds one.

Source: Discord developer pages "Component Reference" and "Using Message Components".
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Final

from tests.standins.discord.refusals import bad_form
from tests.standins.discord.shapes import Json, Obj, listed, number, section, text, words

ROW: Final = 1
BUTTON: Final = 2
SELECT: Final = 3
INPUT: Final = 4
SELECTS: Final = {3, 5, 6, 7, 8}
TEXT: Final = 10
LABEL: Final = 18
UPLOAD: Final = 19
RADIO: Final = 21
CHECKS: Final = 22
CHECK: Final = 23
V2_ONLY: Final = {9, 10, 12, 13, 14, 17}
MOST_COMPONENTS: Final = 40
MOST_TEXT: Final = 4000


@dataclass(frozen=True)
class Pressable:
    """A button or a select as a person sees it. raw: as the bot sent it."""

    raw: Obj

    @property
    def label(self) -> str:
        return text(self.raw, "label") or text(self.raw, "placeholder")

    @property
    def custom_id(self) -> str:
        return text(self.raw, "custom_id")

    @property
    def url(self) -> str:
        return text(self.raw, "url")

    @property
    def style(self) -> int:
        return number(self.raw, "style")

    @property
    def disabled(self) -> bool:
        return self.raw.get("disabled") is True

    @property
    def options(self) -> list[str]:
        """What a select offers."""
        return [text(one, "label") for one in listed(self.raw, "options")]


def walked(components: Sequence[Obj]) -> Generator[Obj]:
    """Every component, from top to bottom, outer ones first."""
    for one in components:
        yield one
        inner = section(one, "component"), section(one, "accessory")
        yield from walked([*listed(one, "components"), *(each for each in inner if each)])


def shown_text(components: Sequence[Obj]) -> str:
    """All text displays, one below the other."""
    return "\n".join(text(one, "content") for one in walked(components) if number(one, "type") == TEXT)


def numbered(components: Sequence[Obj]) -> list[Obj]:
    """The components with an id each, as Discord gives them."""
    taken = {number(one, "id") for one in walked(components)}
    free = (one for one in range(1, 1000) if one not in taken)

    def mark(one: Obj) -> Obj:
        made: dict[str, Json] = {**one, "id": number(one, "id") or next(free)}
        if "components" in one:
            made["components"] = [mark(each) for each in listed(one, "components")]
        for key in ("component", "accessory"):
            if key in one:
                made[key] = mark(section(one, key))
        return made

    return [mark(one) for one in components]


def check_message(components: Sequence[Obj], *, v2: bool, files: set[str]) -> None:
    """Refuse what a message may not show. files: names of its attachments."""
    every = list(walked(components))
    if not v2:
        if any(number(one, "type") in V2_ONLY for one in every):
            raise bad_form("components", "BASE_TYPE_CHOICES", "Value must be one of {1} without the v2 flag.")
        if len(components) > 5:
            raise bad_form("components", "BASE_TYPE_MAX_LENGTH", "Must be 5 or fewer in length.")
    if len(every) > MOST_COMPONENTS:
        raise bad_form("components", "COMPONENT_MAX_TOTAL_COMPONENTS_EXCEEDED", f"{len(every)} of {MOST_COMPONENTS}")
    if _texts(every) > MOST_TEXT:
        raise bad_form("components", "COMPONENT_DISPLAYABLE_TEXT_SIZE_EXCEEDED", f"{_texts(every)} of {MOST_TEXT}")
    for one in every:
        match number(one, "type"):
            case 1:
                _check_row(one)
            case 2:
                _check_button(one)
            case 3:
                _check_select(one)
            case 13 if text(section(one, "file"), "url").removeprefix("attachment://") not in files:
                raise bad_form("components", "UNFURLED_MEDIA_ITEM_REFERENCED_ATTACHMENT_NOT_FOUND", "no such file")
            case _:
                pass
    _check_ids(every)


def check_modal(form: Obj) -> None:
    """Refuse what a modal may not show."""
    top = listed(form, "components")
    if not 1 <= len(top) <= 5:
        raise bad_form("data.components", "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 5 in length.")
    every = list(walked(top))
    for one in every:
        match number(one, "type"):
            case 3 | 22:
                _check_select(one)
            case 21:
                _check_options(one)
            case 19 if odd := [each for each in words(one, "file_types") if not each.startswith(".")]:
                raise bad_form("data.components", "FILE_TYPES_INVALID", f"{odd} are no endings of names")
            case 4 if (least := number(one, "min_length")) > (most := number(one, "max_length", 4000)):
                raise bad_form("data.components", "COMPONENT_LENGTHS_INVALID", f"{least} to {most}")
            case _:
                pass
    _check_ids(every)


def _texts(every: Sequence[Obj]) -> int:
    return sum(len(text(one, "content")) for one in every if number(one, "type") == TEXT)


def _check_row(row: Obj) -> None:
    kinds = [number(one, "type") for one in listed(row, "components")]
    selects = [kind for kind in kinds if kind in SELECTS]
    if selects and len(kinds) > 1:
        raise bad_form("components", "COMPONENT_LAYOUT_WIDTH_EXCEEDED", "A row holds one select or up to 5 buttons.")


def _check_button(button: Obj) -> None:
    link = number(button, "style") == 5
    if link is not bool(text(button, "url")) or link is bool(text(button, "custom_id")):
        raise bad_form("components", "BUTTON_COMPONENT_ACTION", "A link has a url, every other button a custom_id.")
    if not text(button, "label").strip() and not section(button, "emoji"):
        raise bad_form("components", "BUTTON_COMPONENT_LABEL_REQUIRED", "A button has a label or an emoji.")


def _check_select(select: Obj) -> None:
    options = _check_options(select)
    least, most = number(select, "min_values", 1), number(select, "max_values", 1)
    if number(select, "type") == CHECKS:
        most = number(select, "max_values", len(options))
    if least > most or most > len(options):
        raise bad_form("components", "SELECT_COMPONENT_BOUNDS", f"{least} to {most} of {len(options)} options")


def _check_options(select: Obj) -> list[Obj]:
    options = listed(select, "options")
    if len({text(one, "value") for one in options}) < len(options):
        raise bad_form("components", "SELECT_COMPONENT_OPTION_VALUE_DUPLICATED", "Two options have one value.")
    return options


def _check_ids(every: Sequence[Obj]) -> None:
    ids = [text(one, "custom_id") for one in every if text(one, "custom_id")]
    if len(set(ids)) < len(ids):
        raise bad_form("components", "COMPONENT_CUSTOM_ID_DUPLICATED", "Component custom id cannot be duplicated")


def picked(select: Obj, labels: Sequence[str]) -> list[str]:
    """The values of the options with these labels; a label may be given by its beginning."""
    values: list[str] = []
    for label in labels:
        options = listed(select, "options")
        found = [one for one in options if text(one, "label") == label] or [
            one for one in options if text(one, "label").startswith(label)
        ]
        assert found, f"no option {label!r} among {[text(one, 'label') for one in options]}"
        values.append(text(found[0], "value"))
    return values


def preset(select: Obj) -> list[str]:
    """The values that are chosen before anybody chooses."""
    chosen = [text(one, "value") for one in listed(select, "options") if one.get("default") is True]
    return chosen or words(select, "values")
