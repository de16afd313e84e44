"""Views brought into a platform's limits: cut into messages, squeezed into one, buttons checked where they are made.

The buttons stand on the last message. What is longer than a few messages becomes a beginning and a file; where the
platform takes no files, the caller is told that the whole cannot be shown. Source: DESIGN section 8, C49, C52, C58.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from adapters.platform import Block, Button, Limits, View
from adapters.text import MOST_PARTS, clip, split

CUTTABLE = frozenset({"text", "code", "markdown", "quote"})
IN_FILE = "The whole text is in the attached file."
BEGINNING = 600
MANY = 12
"""Messages of one card at most, where there are no files."""

Measure = Callable[[View], int]


@dataclass(frozen=True, slots=True)
class Fitted:
    """A view as messages. attach: the text of a file that goes before the last of them. whole: nothing is missing."""

    parts: tuple[View, ...]
    attach: str | None = None
    whole: bool = True

    @property
    def several(self) -> bool:
        """Whether it takes more than one message."""
        return len(self.parts) > 1 or self.attach is not None


def fit(view: View, limits: Limits, measure: Measure) -> Fitted:
    """Cut a view into messages that each fit."""
    view = checked(view, limits)
    if measure(view) <= limits.text_max:
        return Fitted((view,))
    messages = _messages(view, limits, measure, MOST_PARTS if limits.file_max else MANY)
    if messages is not None:
        before = [view.changed(blocks=one, menus=(), rows=(), prompt=None, asks=None) for one in messages[:-1]]
        return Fitted((*before, view.changed(blocks=messages[-1])))
    whole = view.text
    if 0 < len(whole.encode()) <= limits.file_max:
        return Fitted((squeezed(_beginning(view), limits, measure),), attach=whole)
    return Fitted((squeezed(view, limits, measure),), whole=False)


def _messages(view: View, limits: Limits, measure: Measure, most: int) -> list[tuple[Block, ...]] | None:
    """Lay blocks out over messages; None when it takes more of them than anybody wants to read."""
    messages: list[tuple[Block, ...]] = [()]
    for block in view.blocks:
        if measure(View(blocks=(*messages[-1], block), of=view.of)) <= limits.text_max:
            messages[-1] = (*messages[-1], block)
            continue
        if block.kind not in CUTTABLE or measure(View(blocks=(block,), of=view.of)) <= limits.text_max:
            messages.append((block,))
            continue
        if messages[-1] == ():
            messages.pop()
        for part in split(block.text, limits.text_max, lambda text, kind=block.kind: _size(kind, text, view, measure)):
            messages.append((Block(kind=block.kind, text=part.text),))
            if len(messages) > most:
                return None
    return messages if len(messages) <= most else None


def _size(kind: str, text: str, view: View, measure: Measure) -> int:
    return measure(View(blocks=(Block.model_construct(kind=kind, text=text),), of=view.of))


def _beginning(view: View) -> View:
    """The same card with the beginnings of its long texts, and a word on where the rest is."""
    blocks = [
        block.changed(text=clip(block.text, BEGINNING))
        if block.kind in CUTTABLE and len(block.text) > BEGINNING
        else block
        for block in view.blocks
    ]
    return view.changed(blocks=(*blocks, Block(kind="small", text=IN_FILE)))


def squeezed(view: View, limits: Limits, measure: Measure) -> View:
    """Shorten the longest texts of a view until it fits into one message."""
    view = checked(view, limits)
    for _ in range(40):
        over = measure(view) - limits.text_max
        if over <= 0:
            return view
        index = max(range(len(view.blocks)), key=lambda one: len(view.blocks[one].text))
        block = view.blocks[index]
        size = max(1, min(len(block.text) - over, len(block.text) * 3 // 4))
        made = block.changed(text=clip(block.text, size))
        view = view.changed(blocks=(*view.blocks[:index], made, *view.blocks[index + 1 :]))
    return view


def checked(view: View, limits: Limits) -> View:
    """Check payloads and lay the buttons out as the platform allows. Raises: ValueError for a payload too long."""
    rows: list[tuple[Button, ...]] = []
    count = 0
    for row in view.rows:
        kept = [_labelled(button, limits) for button in row if button.payload is not None or limits.links]
        count += len(kept)
        rows += [tuple(kept[i : i + limits.row_buttons]) for i in range(0, len(kept), limits.row_buttons)]
    if count > limits.card_buttons:
        raise ValueError(f"{count} buttons on the card of {view.of!r}, the platform allows {limits.card_buttons}")
    return view.changed(rows=tuple(rows))


def _labelled(button: Button, limits: Limits) -> Button:
    if button.payload is not None and len(button.payload.encode()) > limits.payload_max:
        raise ValueError(f"the payload {button.payload!r} is longer than {limits.payload_max} bytes")
    return (
        button if len(button.label) <= limits.label_max else button.changed(label=clip(button.label, limits.label_max))
    )
