"""Text cut to a platform's measure: at paragraphs, lines, words, never inside a character; fences closed and reopened.

`measure` counts a text in the platform's own units after its own formatting. The sources of the parts, joined, are the
original. It knows no platform. Source: DESIGN section 8, C52, C118.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice

MOST_PARTS = 3
FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})([^\n`]*)$", re.MULTILINE)
Measure = Callable[[str], int]


@dataclass(frozen=True, slots=True)
class Part:
    """One message of several. text: what is sent; source: the piece of the original that it shows."""

    text: str
    source: str


@dataclass(frozen=True, slots=True)
class Cut:
    """A text cut for a platform: the parts to send, and whether there is more, which goes as a file."""

    parts: tuple[Part, ...]
    more: bool = False


def utf16(text: str) -> int:
    """Count UTF-16 code units."""
    return len(text) + sum(char > "\uffff" for char in text)


def utf8(text: str) -> int:
    """Count bytes of UTF-8."""
    return len(text.encode("utf-8", "surrogatepass"))


def cut(text: str, room: int, measure: Measure = len, *, most: int = MOST_PARTS) -> Cut:
    """Cut a text into at most `most` parts that each fit into `room`; where that is not enough, the first of them.

    What is more than that many parts is not sent in parts at all but as its beginning and a file: see `Cut.more`.
    """
    parts = tuple(islice(split(text, room, measure), most + 1))
    if len(parts) <= most:
        return Cut(parts)
    return Cut(parts[:1], more=True)


def split(text: str, room: int, measure: Measure = len) -> Iterator[Part]:
    """Cut a text into parts that each fit into `room`."""
    opened = ""
    while text:
        lead = f"{opened}\n" if opened else ""
        if measure(lead + text) <= room:
            yield Part(lead + text, text)
            return
        size = _fitting(lead, text, room, measure)
        source = text[:size]
        now = _open_fence(lead + source)
        yield Part(_closed(lead + source, now), source)
        text, opened = text[size:], now


def _fitting(lead: str, text: str, room: int, measure: Measure) -> int:
    """How many characters of a text fit, cut at the best place in reach, with a fence closed if one is open."""

    def fits(size: int) -> bool:
        piece = lead + text[:size]
        return measure(_closed(piece, _open_fence(piece))) <= room

    low, high = 1, 64
    while high < len(text) and fits(high):
        low, high = high, high * 2
    high = min(high, len(text))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(middle) else (low, middle - 1)
    size = _nice(text, low)
    while size > 1 and not fits(size):
        size -= 1
    return size


def _nice(text: str, size: int) -> int:
    """Move a cut back to the end of a paragraph, a line or a word, if one is near; never between joined characters."""
    for mark, least in (("\n\n", size // 2), ("\n", size // 2), (" ", size * 2 // 3)):
        found = text.rfind(mark, 0, size)
        if found >= least and found > 0:
            return found + len(mark)
    while size > 1 and size < len(text) and (_joins(text[size]) or text[size - 1] == "\u200d"):
        size -= 1
    return size


def _joins(char: str) -> bool:
    """Whether a character belongs to the one before it: joiners, variation selectors, skin tones, combining marks."""
    return char in "\u200d\ufe0f\u20e3" or "\U0001f3fb" <= char <= "\U0001f3ff" or "\u0300" <= char <= "\u036f"


def _open_fence(text: str) -> str:
    """The opening line of the fence that a text leaves open; empty for none."""
    opened = ""
    for found in FENCE.finditer(text):
        if not opened:
            opened = found[0].strip()
        elif found[1][0] == opened[0] and len(found[1]) >= len(_ticks(opened)) and not found[2].strip():
            opened = ""
    return opened


def _ticks(line: str) -> str:
    return line[: len(line) - len(line.lstrip(line[0]))]


def _closed(text: str, opened: str) -> str:
    return text if not opened else f"{text.rstrip(chr(10))}\n{_ticks(opened)}"


def clip(text: str, most: int) -> str:
    """Shorten a text to a number of characters, with a mark where something is missing."""
    text = text.strip()
    if len(text) <= most:
        return text
    size = max(1, most - 1)
    while size > 1 and (_joins(text[size]) or text[size - 1] == "\u200d"):
        size -= 1
    return text[:size].rstrip() + "…"
