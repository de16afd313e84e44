"""Cut long texts to a size, visibly: the beginning and the end stay, `...[N bytes elided]...` stands between.

Sizes are bytes of UTF-8, and no character is cut in two. This file must not know what the texts are.
Source: DESIGN section 11.
"""

import json

from core.model import Json

__all__ = ["ARGUMENTS", "RESULT", "clamp", "clamp_json"]

RESULT = 32 * 1024
"""The most that one tool result may take."""

ARGUMENTS = 4 * 1024
"""The most that the arguments of one call may take."""


def clamp(text: str, limit: int = RESULT) -> str:
    """Return the text, or its beginning and end with a mark between, in at most `limit` bytes (at least 64)."""
    plain = text.encode("utf-8", "replace")
    if len(plain) <= limit:
        return text
    room = max(limit, 64) - len(_mark(len(plain)))
    head = _whole(plain[: room - room // 4])
    tail = _whole_from(plain[-(room // 4) :])
    return f"{head}{_mark(len(plain) - len(head.encode()) - len(tail.encode())).decode()}{tail}"


def clamp_json(value: Json, limit: int = ARGUMENTS) -> Json:
    """Return the value, or the clamped text of its JSON when that is longer than `limit` bytes."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return value if len(text.encode("utf-8", "replace")) <= limit else clamp(text, limit)


def _mark(elided: int) -> bytes:
    return b"...[%d bytes elided]..." % elided


def _whole(plain: bytes) -> str:
    """The text without a character that was cut at the end."""
    return plain.decode("utf-8", "ignore")


def _whole_from(plain: bytes) -> str:
    """The text without a character that was cut at the beginning."""
    start = 0
    while start < min(4, len(plain)) and plain[start] & 0xC0 == 0x80:
        start += 1
    return plain[start:].decode("utf-8", "ignore")
