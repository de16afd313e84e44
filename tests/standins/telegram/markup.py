"""The parse modes: HTML and MarkdownV2 into a text and entities, refused in Telegram's words where they are wrong.

Kept small: what a program would send by mistake is refused, what a person reads is not the point.
Source: Bot API, formatting options.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator

from tests.standins.telegram.text import utf16
from tests.standins.telegram.wire import Json, Object, bad

TAGS = {
    "b": "bold",
    "strong": "bold",
    "i": "italic",
    "em": "italic",
    "u": "underline",
    "ins": "underline",
    "s": "strikethrough",
    "strike": "strikethrough",
    "del": "strikethrough",
    "tg-spoiler": "spoiler",
    "code": "code",
    "pre": "pre",
    "a": "text_link",
    "blockquote": "blockquote",
}
TAG = re.compile(r"<(?P<end>/?)(?P<name>[a-zA-Z][\w-]*)(?P<rest>[^<>]*)>")
ENTITY = re.compile(r"&(?:lt|gt|amp|quot|#\d+|#x[0-9a-fA-F]+);")
RESERVED = "_*[]()~`>#+-=|{}.!"
MARKS = {"*": "bold", "_": "italic", "__": "underline", "~": "strikethrough", "||": "spoiler", "`": "code"}
CODE = "```"


def parsed(text: str, mode: str) -> tuple[str, list[Json]]:
    """The text and its entities.

    Raises: `Refusal`, `can't parse entities: …`.
    """
    match mode.lower():
        case "html":
            return _html(text)
        case "markdownv2":
            return _markdown(text)
        case "markdown":
            raise bad("can't parse entities: the old Markdown is not modelled here")
        case _:
            raise bad("unsupported parse_mode")


def _html(text: str) -> tuple[str, list[Json]]:
    out, entities, opened, at = "", list[Json](), list[tuple[str, int, str]](), 0
    for place in _tags(text):
        out += _unescaped(text[at : place.start()])
        at = place.end()
        name = place["name"].lower()
        offset = len(text[: place.start()].encode())
        if name not in TAGS:
            raise bad(f'can\'t parse entities: Unsupported start tag "{name}" at byte offset {offset}')
        if not place["end"]:
            link = re.search(r'href="([^"]*)"', place["rest"])
            opened.append((name, utf16(out), html.unescape(link[1]) if link else ""))
            continue
        if not opened:
            raise bad(f"can't parse entities: Unexpected end tag at byte offset {offset}")
        begun, start, url = opened.pop()
        if begun != name:
            words = f'Unmatched end tag at byte offset {offset}, expected "</{begun}>", found "</{name}>"'
            raise bad(f"can't parse entities: {words}")
        entities.append(_entity(TAGS[name], start, utf16(out) - start, url))
    out += _unescaped(text[at:])
    if opened:
        raise bad(f"can't parse entities: Can't find end tag corresponding to start tag \"{opened[-1][0]}\"")
    return out, entities


def _tags(text: str) -> Iterator[re.Match[str]]:
    at = 0
    while (at := text.find("<", at)) >= 0:
        found = TAG.match(text, at)
        if found is None:
            offset = len(text[:at].encode())
            raise bad(f'can\'t parse entities: Unsupported start tag "" at byte offset {offset}')
        yield found
        at = found.end()


def _unescaped(text: str) -> str:
    return ENTITY.sub(lambda found: html.unescape(found[0]), text)


def _entity(kind: str, offset: int, length: int, url: str) -> Object:
    entity: Object = {"type": kind, "offset": offset, "length": length}
    return entity | ({"url": url} if kind == "text_link" else {})


def _markdown(text: str) -> tuple[str, list[Json]]:
    out, entities, opened, at = "", list[Json](), list[tuple[str, int]](), 0
    while at < len(text):
        inside = opened[-1][0] if opened and opened[-1][0] in ("`", CODE) else ""
        char = text[at]
        if char == "\\" and at + 1 < len(text):
            out += text[at + 1]
            at += 2
            continue
        mark = _mark(text, at, inside)
        if mark:
            if opened and opened[-1][0] == mark:
                _, start = opened.pop()
                entities.append(_entity("pre" if mark == CODE else MARKS[mark], start, utf16(out) - start, ""))
            else:
                opened.append((mark, utf16(out)))
            at += len(mark)
            continue
        if char in RESERVED and not inside:
            raise bad(
                f"can't parse entities: Character '{char}' is reserved and must be escaped with the preceding '\\'"
            )
        out += char
        at += 1
    if opened:
        mark, start = opened[-1]
        kind = "pre" if mark == CODE else MARKS[mark]
        raise bad(f"can't parse entities: Can't find end of {kind.capitalize()} entity at byte offset {start}")
    return out, entities


def _mark(text: str, at: int, inside: str) -> str:
    if inside:
        return inside if text.startswith(inside, at) else ""
    return next((mark for mark in (CODE, "__", "||", "*", "_", "~", "`") if text.startswith(mark, at)), "")
