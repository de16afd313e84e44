"""Texts as Telegram counts and refuses them: UTF-16 units, entities, and what a person's client marks by itself.

Source: Bot API, formatting options; PLATFORMS 2.2.
"""

from __future__ import annotations

import re

from tests.standins.telegram.wire import Json, Object, Refusal, bad

MOST_ENTITIES = 100
FOUND = re.compile(r"(?P<bot_command>(?<![\w/])/[A-Za-z0-9_]{1,32}(?:@\w{3,32})?)|(?P<mention>(?<!\w)@\w{3,32})")
NOT_INSIDE = {"pre", "code"}
"""Kinds that hold no others."""


def utf16(text: str) -> int:
    """Count UTF-16 units."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def boundaries(text: str) -> set[int]:
    """The offsets in UTF-16 units at which a character begins, and the end."""
    at, found = 0, {0}
    for char in text:
        at += 2 if char > "\uffff" else 1
        found.add(at)
    return found


def part(text: str, offset: int, length: int) -> str:
    """The piece of a text that an entity covers."""
    return text.encode("utf-16-le", "surrogatepass")[2 * offset : 2 * (offset + length)].decode("utf-16-le")


def marked(text: str) -> list[Json]:
    """The commands and mentions that a client marks in what a person wrote."""
    found: list[Json] = []
    for match in FOUND.finditer(text):
        kind = match.lastgroup or ""
        found.append({"type": kind, "offset": utf16(text[: match.start()]), "length": utf16(match.group())})
    return found


def entity_refusal(text: str, entities: list[Object]) -> Refusal | None:
    """What Telegram refuses in a list of entities."""
    allowed = boundaries(text)
    end = max(allowed)
    for entity in entities:
        offset, length = entity.get("offset"), entity.get("length")
        assert isinstance(offset, int)
        assert isinstance(length, int)
        if not 0 <= offset <= 1_000_000:
            return bad(f"can't parse entities: receive an entity with incorrect offset {offset}")
        if not 0 <= length <= 1_000_000:
            return bad(f"can't parse entities: receive an entity with incorrect length {length}")
        if offset < end and offset not in allowed:
            return bad(f"entity beginning at UTF-16 offset {offset} begins in a middle of a UTF-16 symbol")
        if offset + length < end and offset + length not in allowed:
            return bad(f"entity beginning at UTF-16 offset {offset} ends in a middle of a UTF-16 symbol")
        if entity.get("type") == "text_link" and not str(entity.get("url", "")).startswith(
            ("http://", "https://", "tg://")
        ):
            return bad(f"can't parse entities: wrong URL {entity.get('url', '')!r}")
    return None


def entity_losses(text: str, entities: list[Object]) -> list[str]:
    """What Telegram would drop or change without a word: never meant by who sends it, so the stand-in complains."""
    end = utf16(text)
    spans = [(int(str(one["offset"])), int(str(one["length"])), str(one["type"])) for one in entities]
    wrong = [f"more than {MOST_ENTITIES} entities" for _ in range(1) if len(spans) > MOST_ENTITIES]
    wrong += [f"the entity {one} is empty" for one in spans if one[1] == 0]
    wrong += [f"the entity {one} leaves the text of {end}" for one in spans if one[0] + one[1] > end]
    wrong += [
        f"the entity {one} covers only space" for one in spans if one[1] and not part(text, one[0], one[1]).strip()
    ]
    for place, first in enumerate(spans):
        for second in spans[place + 1 :]:
            if _cross(first, second):
                wrong.append(f"the entities {first} and {second} cross")
            elif _inside(first, second) and NOT_INSIDE & {first[2], second[2]} and not _quoted(first, second):
                wrong.append(f"the entities {first} and {second} may not be nested")
    return wrong


Span = tuple[int, int, str]


def _cross(one: Span, other: Span) -> bool:
    first, second = sorted((one, other), key=lambda span: (span[0], -span[1]))
    return first[0] < second[0] < first[0] + first[1] < second[0] + second[1]


def _inside(one: Span, other: Span) -> bool:
    return one[0] < other[0] + other[1] and other[0] < one[0] + one[1]


def _quoted(one: Span, other: Span) -> bool:
    """Whether one holds the other as a quotation does, which may hold everything but a quotation."""
    outer, inner = sorted((one, other), key=lambda span: -span[1])
    return outer[2] == "blockquote" and inner[2] != "blockquote"
