"""An agent's Markdown as pieces of text with styles, for entities; nothing in it can become a link or a mention.

A link is shown as its words with its whole address behind them, a picture likewise; raw HTML is shown as text. The time
is bounded: long texts are left as they are. This file must not know entities. Source: C50, C135.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final, Literal

from markdown_it import MarkdownIt
from markdown_it.token import Token

LONGEST: Final = 32 * 1024
"""characters of a text that is formatted"""
MOST_BRACKETS: Final = 1_000
NESTING: Final = 16
Kind = Literal["bold", "italic", "strikethrough", "code", "pre", "blockquote", "text_mention"]


@dataclass(frozen=True, slots=True)
class Style:
    """How a piece of text looks. note: the language of code, the account of a mention."""

    kind: Kind
    note: str = ""


@dataclass(frozen=True, slots=True)
class Piece:
    """A text with the styles that all of it has."""

    text: str
    styles: frozenset[Style] = frozenset()


@lru_cache(maxsize=256)
def pieces(text: str) -> tuple[Piece, ...]:
    """Format a text; the same text gives the same pieces."""
    if len(text) > LONGEST or text.count("[") > MOST_BRACKETS:
        return (Piece(text),)
    writer = _Writer()
    writer.blocks(_parser().parse(text))
    return tuple(writer.done) or (Piece(text),)


@lru_cache(maxsize=1)
def _parser() -> MarkdownIt:
    found = MarkdownIt("commonmark", {"html": False, "maxNesting": NESTING})
    found.enable(["table", "strikethrough"])
    found.disable(["reference", "entity"])
    found.validateLink = lambda url: True
    return found


_STYLES: Final[dict[str, Kind]] = {"strong": "bold", "em": "italic", "s": "strikethrough"}


@dataclass
class _Writer:
    """Writes tokens down as pieces. prefix: what each line of a list item begins with."""

    done: list[Piece] = field(default_factory=list[Piece])
    open: list[Style] = field(default_factory=list[Style])
    lists: list[int | None] = field(default_factory=list[int | None])
    waits: str = ""
    table: list[list[str]] = field(default_factory=list[list[str]])

    def blocks(self, tokens: Sequence[Token]) -> None:
        for number, token in enumerate(tokens):
            match token.type:
                case "inline" if self.table:
                    self.table[-1].append(_plain(token.children or ()))
                case "inline":
                    self.inline(token.children or ())
                case "fence" | "code_block":
                    self.write(token.content.rstrip("\n"), Style("pre", (token.info.split() or [""])[0][:32]))
                    self.waits = "\n\n"
                case "hr":
                    self.write("———")
                    self.waits = "\n\n"
                case _:
                    self.block(token, tokens[number - 1].type if number else "")

    def block(self, token: Token, before: str) -> None:
        """What begins or ends a block."""
        match token.type:
            case "paragraph_close" | "heading_close":
                self.waits = "\n" if self.lists and token.hidden else "\n\n"
                if token.type == "heading_close":
                    self.open.pop()
            case "heading_open":
                self.open.append(Style("bold"))
            case "blockquote_open":
                self.open.append(Style("blockquote"))
            case "blockquote_close":
                self.open.pop()
                self.waits = "\n\n"
            case "bullet_list_open":
                self.begin(None)
            case "ordered_list_open":
                self.begin(int(token.attrGet("start") or 1))
            case "list_item_open":
                self.item()
            case "list_item_close":
                self.waits = "\n"
            case "bullet_list_close" | "ordered_list_close":
                self.lists.pop()
                self.waits = "\n" if self.lists else "\n\n"
            case "table_open" | "tr_open":
                self.table.append([])
            case "table_close":
                self.write(_columns(self.table), Style("pre"))
                self.table = []
                self.waits = "\n\n"
            case _:
                pass

    def begin(self, number: int | None) -> None:
        """Begin a list. number: of its first item, None for bullets."""
        self.waits = "\n" if self.lists else self.waits
        self.lists.append(number)

    def item(self) -> None:
        number = self.lists[-1]
        indent = "  " * (len(self.lists) - 1)
        self.write(f"{indent}• " if number is None else f"{indent}{number}. ")
        if number is not None:
            self.lists[-1] = number + 1

    def inline(self, tokens: Iterable[Token]) -> None:
        """What stands in a line."""
        links: list[tuple[str, int]] = []
        for token in tokens:
            name = token.type.removesuffix("_open").removesuffix("_close")
            if name in _STYLES and token.nesting == 1:
                self.open.append(Style(_STYLES[name]))
            elif name in _STYLES:
                self.open.pop()
            elif token.type == "code_inline":
                self.write(token.content, Style("code"))
            elif token.type in ("softbreak", "hardbreak"):
                self.write("\n")
            elif token.type == "link_open":
                links.append((str(token.attrGet("href") or ""), len(self.done)))
            elif token.type == "link_close":
                address, at = links.pop()
                words = "".join(piece.text for piece in self.done[at:])
                self.write("" if address in (words, f"mailto:{words}") else f" ({address})")
            elif token.type == "image":
                self.write(f"{token.content or 'picture'} ({token.attrGet('src') or ''})")
            else:
                self.write(token.content)

    def write(self, text: str, style: Style | None = None) -> None:
        """Add a text in the styles that are open; code takes none but a quote's."""
        if not text:
            return
        if self.waits and self.done:
            quoted = frozenset(one for one in self.open if one.kind == "blockquote")
            both = quoted if any(one.kind == "blockquote" for one in self.done[-1].styles) else frozenset[Style]()
            self.done.append(Piece(self.waits, both))
        self.waits = ""
        if style is None:
            self.done.append(Piece(text, frozenset(self.open)))
        else:
            kept = [one for one in self.open if one.kind == "blockquote" and style.kind == "code"]
            self.done.append(Piece(text, frozenset([style, *kept])))


def _plain(tokens: Iterable[Token]) -> str:
    writer = _Writer()
    writer.inline(tokens)
    return "".join(piece.text for piece in writer.done).replace("\n", " ")


def _columns(rows: list[list[str]]) -> str:
    """A table in columns of equal width."""
    rows = [row for row in rows if row]
    widths = [max(len(row[at]) if at < len(row) else 0 for row in rows) for at in range(max(map(len, rows), default=0))]
    lines = [" │ ".join(cell.ljust(widths[at]) for at, cell in enumerate(row)).rstrip() for row in rows]
    if len(lines) > 1:
        lines.insert(1, "─┼─".join("─" * width for width in widths))
    return "\n".join(lines)
