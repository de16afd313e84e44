"""Text of agents as safe HTML: Markdown rendered, code coloured by classes, then sanitised by an allow-list.

What comes out never fetches anything, runs nothing and styles nothing: pictures become links, links are absolute http,
https or mailto, raw HTML is shown as text, classes are those of highlighted code and of table columns. The time is
bounded: long texts are shown plain, code is coloured only in known languages and up to a size. This file must not know
where a text comes from. Source: C135.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from html import escape
from typing import Final

import nh3
from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore
from markdown_it.token import Token
from pygments.formatters import HtmlFormatter
from pygments.lexers import (
    get_lexer_by_name,  # pyright: ignore[reportUnknownVariableType]  # its options have no types
)
from pygments.token import STANDARD_TYPES

LONGEST: Final = 64 * 1024
"""bytes of text that are rendered; longer text is shown plain"""
LONGEST_CODE: Final = 16 * 1024
"""characters of one code block that are coloured"""
MOST_BRACKETS: Final = 2000
"""opening brackets in one text; each may begin a link, which costs a look at all that follows"""
NESTING: Final = 20
"""levels of quotes, lists and emphasis within each other"""
# fmt: off
LANGUAGES: Final = frozenset(
    (
        "bash", "c", "cpp", "css", "csharp", "diff", "docker", "dockerfile", "go", "html", "http", "ini",
        "java", "javascript", "js", "json", "jsx", "kotlin", "lua", "make", "makefile", "md", "markdown",
        "nginx", "php", "powershell", "python", "py", "rb", "ruby", "rust", "sh", "shell", "sql", "swift",
        "toml", "ts", "tsx", "typescript", "xml", "yaml", "yml"
    )
)
# fmt: on
CLASSES: Final = frozenset(STANDARD_TYPES.values()) | {"align-left", "align-center", "align-right", "plain"}
TAGS: Final = {
    *("a", "blockquote", "br", "code", "del", "em", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "li", "ol", "p", "pre"),
    *("s", "span", "strong", "table", "tbody", "td", "th", "thead", "tr", "ul"),
}
ATTRIBUTES: Final[dict[str, set[str]]] = {
    "*": set(),
    "a": {"href"},
    "ol": {"start"},
    "pre": {"class"},
    "span": {"class"},
    "td": {"class"},
    "th": {"class"},
}
SCHEMES: Final = {"http", "https", "mailto"}
ADDRESS: Final = re.compile(r"(?:https?://[^\s/]|mailto:[^\s@]+@)", re.IGNORECASE)
SURROGATE: Final = re.compile(r"[\ud800-\udfff]")
BARE: Final = re.compile(r"https?://[^\s<>\"'`]{1,2000}", re.IGNORECASE)


@lru_cache(maxsize=512)
def render(text: str) -> str:
    """Render a text as HTML that is safe to put into the page as it is; the same text gives the same HTML."""
    text = SURROGATE.sub("\ufffd", text)
    if len(text.encode()) > LONGEST or text.count("[") > MOST_BRACKETS:
        return f'<pre class="plain">{escape(text)}</pre>'
    return nh3.clean(
        _markdown().render(text),
        tags=TAGS,
        attributes=ATTRIBUTES,
        attribute_filter=_kept,
        url_schemes=SCHEMES,
        link_rel="noopener noreferrer nofollow",
        set_tag_attribute_values={"a": {"target": "_blank"}},
    )


def _kept(_tag: str, name: str, value: str) -> str | None:
    """Keep of classes only those that the stylesheet knows."""
    if name != "class":
        return value
    return " ".join(one for one in value.split() if one in CLASSES) or None


@lru_cache(maxsize=1)
def _markdown() -> MarkdownIt:
    rendering = MarkdownIt("commonmark", {"html": False, "maxNesting": NESTING, "highlight": _highlighted})
    rendering.enable(["table", "strikethrough"])
    rendering.validateLink = _allowed
    rendering.core.ruler.push("pictures_are_links", _pictures_are_links)
    rendering.core.ruler.push("bare_links", _bare_links)
    rendering.core.ruler.push("columns", _columns)
    return rendering


def _allowed(url: str) -> bool:
    return ADDRESS.match(url.strip()) is not None


# ── code ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


def _highlighted(code: str, language: str, _attributes: str) -> str:
    """Colour a code block by classes; an empty string leaves it as it is."""
    name = language.casefold()
    if name not in LANGUAGES or len(code) > LONGEST_CODE:
        return ""
    lines: list[str] = []
    formatter = HtmlFormatter[str](nowrap=True)
    formatter.format(get_lexer_by_name(name, stripnl=False).get_tokens(code), _Lines(lines))
    return f"<pre><code>{''.join(lines)}</code></pre>"


class _Lines:
    """Where a formatter writes to."""

    def __init__(self, lines: list[str]) -> None:
        self.write: Callable[[str], None] = lines.append


# ── links, pictures, columns ─────────────────────────────────────────────────────────────────────────────────────────


def _pictures_are_links(state: StateCore) -> None:
    """Turn each picture into a link with its words, so that nothing is fetched."""
    for token in state.tokens:
        if token.type != "inline" or not token.children:
            continue
        depth, kept = 0, list[Token]()
        for child in token.children:
            depth += child.nesting if child.type in ("link_open", "link_close") else 0
            kept.extend(_linked_picture(child, linked=depth > 0) if child.type == "image" else [child])
        token.children = kept


def _linked_picture(image: Token, *, linked: bool) -> list[Token]:
    source = str(image.attrGet("src") or "")
    words = image.content or source or "picture"
    return [_text(words)] if linked or not source else _link(source, words)


def _bare_links(state: StateCore) -> None:
    """Make links of addresses that stand in the text as they are."""
    for token in state.tokens:
        if token.type != "inline" or not token.children or "://" not in token.content:
            continue
        depth, kept = 0, list[Token]()
        for child in token.children:
            depth += child.nesting if child.type in ("link_open", "link_close") else 0
            plain = child.type == "text" and depth == 0
            kept.extend(_split(child.content) if plain else [child])
        token.children = kept


def _split(text: str) -> Iterator[Token]:
    at = 0
    for found in BARE.finditer(text):
        address = _without_punctuation(found.group())
        if not _allowed(address):
            continue
        if found.start() > at:
            yield _text(text[at : found.start()])
        yield from _link(address, address)
        at = found.start() + len(address)
    if at < len(text):
        yield _text(text[at:])


def _without_punctuation(address: str) -> str:
    """Leave out what ends the sentence, not the address; a closing bracket stays when it was opened inside."""
    while address and address[-1] in ".,;:!?*_~)]}":
        if address[-1] == ")" and address.count("(") >= address.count(")"):
            break
        address = address[:-1]
    return address


def _text(words: str) -> Token:
    return Token("text", "", 0, content=words)


def _link(address: str, words: str) -> list[Token]:
    return [Token("link_open", "a", 1, attrs={"href": address}), _text(words), Token("link_close", "a", -1)]


def _columns(state: StateCore) -> None:
    """Say the alignment of a table's column by a class, never by a style."""
    for token in state.tokens:
        if token.type not in ("th_open", "td_open"):
            continue
        side = str(token.attrs.pop("style", "")).removeprefix("text-align:")
        if side:
            token.attrSet("class", f"align-{side}")
