"""Buttons of cards: what one carries, and how many of them stand side by side. It knows no card and no platform."""

from __future__ import annotations

from typing import Literal

from adapters.platform import Button, Limits
from core.press import Verb, payload

Style = Literal["plain", "yes", "no", "danger"]


def in_rows(buttons: list[Button], limits: Limits, most: int) -> tuple[tuple[Button, ...], ...]:
    """Lay buttons out in rows."""
    size = max(1, min(most, limits.row_buttons))
    return tuple(tuple(buttons[i : i + size]) for i in range(0, len(buttons), size))


def button(label: str, id: str, verb: Verb, style: Style = "plain", *, field: int = 0, number: int = 0) -> Button:
    """Make a button of the card of a request."""
    return Button(label=label, payload=payload(id, verb, field=field, number=number), style=style)
