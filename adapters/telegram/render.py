"""A view as a Telegram message: plain text, entities counted in UTF-16 units, a keyboard. Pure.

There is never a parse mode, so no text can break a send. Telegram itself finds mentions, commands and addresses in
plain text; whatever looks like one is shown as code, which it leaves alone. Two are let be: an http(s) address in an
agent's words, which shows where it leads, and commands in our own notices. Source: C49, C50, C52, C59.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from telegram import ForceReply, InlineKeyboardButton, InlineKeyboardMarkup, MessageEntity, User

from adapters.platform import Block, Button, View
from adapters.telegram.markdown import Piece, Style, pieces
from adapters.telegram.place import user
from adapters.text import utf16

MOST_ENTITIES: Final = 100
PLACEHOLDER_MAX: Final = 64
JOINER: Final = "\u2060"
STYLES: Final = {"plain": None, "yes": "success", "no": "danger", "danger": "danger"}
ADDRESS: Final = r"[A-Za-z][A-Za-z0-9+.-]{1,15}://[^\s<>\"]+"
WEB: Final = re.compile(r"https?://[^\s<>\"]+", re.IGNORECASE)
ACTIVE: Final = re.compile(
    rf"""
    {ADDRESS}                                                        # an address with its scheme
  | (?<![\w.+-])[\w.+-]{{0,64}}@[\w.-]{{0,64}}\w                     # a mention, an e-mail address
  | (?<![\w/.])/[A-Za-z0-9_]{{1,64}}(?:@\w{{1,32}})?(?![\w/.])        # a command
  | [\#$]\w{{1,256}}                                                 # a tag
  | (?<![\w.-])(?:[\w-]{{1,63}}\.){{1,8}}[^\W\d_]{{2,24}}\b(?:[/:?][^\s<>"]*)?  # a host, or a file's name
    """,
    re.VERBOSE,
)
ID: Final = re.compile(r"[a-z][0-9a-z]{15}")


@dataclass(frozen=True, slots=True)
class Payload:
    """What is sent: the text as people see it, how it looks, and what can be pressed."""

    text: str
    entities: tuple[MessageEntity, ...] = ()
    keyboard: InlineKeyboardMarkup | ForceReply | None = None


def rendered(view: View, *, edit: bool = False) -> Payload:
    """Draw a view. edit: of a message that is there, to which an edit can add no forced reply."""
    drawn = [Piece(piece.text) for piece in _all(view)] if view.plain else _all(view)
    text = "".join(piece.text for piece in drawn)
    lead = len(text) - len(text.lstrip())
    shift = utf16(text[:lead])
    text = text.strip()
    entities = [] if view.plain else _entities(drawn, shift, utf16(text))
    return Payload(text, tuple(entities), _keyboard(view, opened=not edit))


def size(view: View) -> int:
    """Count a view's text as Telegram does: UTF-16 units, without what only formats it."""
    called = "➤ " if _called(view) is not None else ""
    parts = [*(_shown(block) for block in view.blocks if block.text), *_written_out(view)]
    return utf16((called + "\n\n".join(parts)).strip())


def _called(view: View) -> int | None:
    """Who is asked, in a group: a mention lets them know, also where they muted it."""
    asked = (view.prompt.person if view.prompt is not None else None) or view.asks
    return user(asked) if asked else None


def _shown(block: Block) -> str:
    return "".join(piece.text for piece in pieces(block.text)) if block.kind == "markdown" else block.text


def _all(view: View) -> list[Piece]:
    found: list[Piece] = []
    called = _called(view)
    if called is not None:
        found += [Piece("➤", frozenset([Style("text_mention", str(called))])), Piece(" ")]
    for block in view.blocks:
        if not block.text:
            continue
        if found and found[-1].text != " ":
            found.append(Piece("\n\n"))
        found += _block(block, notice=not view.of)
    for words in _written_out(view):
        found += [Piece("\n\n"), Piece(words, frozenset([Style("code")]))]
    return found


def _written_out(view: View) -> list[str]:
    """Addresses that Telegram takes on no button: those without a public name."""
    return [f"{button.label}: {button.url}" for button in view.buttons if button.url and not _on_a_button(button)]


def _on_a_button(button: Button) -> bool:
    return button.url is None or "." in (urlsplit(button.url).hostname or "")


def _block(block: Block, *, notice: bool) -> Iterable[Piece]:
    match block.kind:
        case "title":
            return _quiet([Piece(block.text, frozenset([Style("bold")]))])
        case "code":
            return [Piece(block.text, frozenset([Style("pre")]))]
        case "markdown":
            return _quiet(pieces(block.text), web=True)
        case "quote":
            return _quiet([Piece(block.text, frozenset([Style("blockquote")]))])
        case "small" if ID.fullmatch(block.text):
            return [Piece(block.text, frozenset([Style("code")]))]
        case "small":
            return _quiet([Piece(block.text, frozenset([Style("italic")]))])
        case "text" | "state":
            return _quiet([Piece(block.text)], commands=notice)


def _quiet(found: Iterable[Piece], *, web: bool = False, commands: bool = False) -> list[Piece]:
    """Show as code what Telegram would make active. web, commands: let these be."""
    done: list[Piece] = []
    for piece in found:
        if any(style.kind in ("code", "pre", "text_mention") for style in piece.styles):
            done.append(piece)
            continue
        at = 0
        quote = frozenset(style for style in piece.styles if style.kind == "blockquote")
        for hit in ACTIVE.finditer(piece.text):
            if (web and WEB.fullmatch(hit[0])) or (commands and hit[0].startswith("/") and "@" not in hit[0]):
                continue
            if hit.start() > at:
                done.append(Piece(piece.text[at : hit.start()], piece.styles))
            done.append(Piece(hit[0], quote | {Style("code")}))
            at = hit.end()
        if at < len(piece.text):
            done.append(Piece(piece.text[at:], piece.styles))
    return done


def _entities(found: Sequence[Piece], shift: int, length: int) -> list[MessageEntity]:
    """Entities of pieces, from the outermost; those that keep text quiet come before those that only look nice."""
    spans: list[tuple[int, int, Style]] = []
    running: dict[Style, int] = {}
    at = 0
    for piece in (*found, Piece("")):
        for style in [one for one in running if one not in piece.styles]:
            spans.append((running.pop(style), at, style))
        for style in piece.styles:
            running.setdefault(style, at)
        at += utf16(piece.text)
    cut = [(max(0, begin - shift), min(length, end - shift), style) for begin, end, style in spans]
    kept = sorted(one for one in cut if one[1] > one[0]) if len(cut) <= MOST_ENTITIES else _first(cut)
    return [_entity(begin, end, style) for begin, end, style in sorted(kept, key=lambda one: (one[0], -one[1]))]


def _first(spans: list[tuple[int, int, Style]]) -> list[tuple[int, int, Style]]:
    """Choose what is kept of more entities than a message can have."""
    weight = {"text_mention": 0, "code": 1, "pre": 1}
    return sorted(spans, key=lambda one: (weight.get(one[2].kind, 2), one[0]))[:MOST_ENTITIES]


def _entity(begin: int, end: int, style: Style) -> MessageEntity:
    size = end - begin
    match style.kind:
        case "text_mention":
            account = User(int(style.note), "person", is_bot=False)
            return MessageEntity("text_mention", begin, size, user=account)
        case "pre":
            return MessageEntity("pre", begin, size, language=style.note or None)
        case kind:
            return MessageEntity(kind, begin, size)


# ── what can be pressed ──────────────────────────────────────────────────────────────────────────────────────────────


def _keyboard(view: View, *, opened: bool) -> InlineKeyboardMarkup | ForceReply | None:
    """Buttons, with the reply opened where one is wanted (older servers do not know that and ignore it)."""
    kept = [[button for button in row if _on_a_button(button)] for row in view.rows]
    rows = [[_button(button) for button in row] for row in kept if row]
    if rows:
        return InlineKeyboardMarkup(
            rows, api_kwargs={"force_reply": True} if opened and view.prompt is not None else None
        )
    if view.prompt is None or not opened:
        return None
    return ForceReply(
        selective=view.prompt.person is not None, input_field_placeholder=view.prompt.placeholder[:64] or None
    )


def _button(button: Button) -> InlineKeyboardButton:
    style = STYLES[button.style]
    if button.url is not None:
        return InlineKeyboardButton(button.label, url=button.url, style=style)
    return InlineKeyboardButton(button.label, callback_data=button.payload, style=style)
