"""Visible text: what could deceive the eye is written out, so that what is shown is what runs.

Control characters, direction overrides, zero-width and tag characters, unusual spaces, terminal codes and long padding
become ⟨names⟩. Ordinary writing in any script is untouched. The text itself is never changed, only its showing.
Source: C59.
"""

from __future__ import annotations

import re
import unicodedata

NAMES = {"\r": "CR", "\x1b": "ESC", "\x00": "NUL", "\x08": "BS", "\x07": "BEL", "\x7f": "DEL"}
BLANKS = frozenset("\u115f\u1160\u3164\uffa0\u2800\u034f\u17b4\u17b5")
"""Letters and marks that show nothing."""

PROSE = frozenset("\u200c\u200d\u200e\u200f\u00a0\u202f\u3000\u2009\u061c")
"""Joiners, marks and spaces that ordinary writing needs; bidi marks do not reorder what stands beside them."""

PADDING = 16
BREAKS = 5
_PAD = re.compile(rf"(?<=[^\n ]) {{{PADDING},}}|(?:^|(?<=\n)) {{{4 * PADDING},}}")
_TABS = re.compile(r"\t{8,}")
_BREAKS = re.compile(rf"\n{{{BREAKS},}}")


def visible(text: str, *, prose: bool = False) -> str:
    """Write out what cannot be seen. prose: let through what ordinary writing needs; a subject is shown strictly."""
    if not text.isascii() or not text.isprintable():
        text = _written(text, prose)
    text = _PAD.sub(lambda found: f"⟨{len(found[0])} spaces⟩", text)
    text = _TABS.sub(lambda found: f"⟨{len(found[0])} tabs⟩", text)
    return _BREAKS.sub(lambda found: f"\n⟨{len(found[0])} line breaks⟩\n", text)


def unseen(text: str) -> str:
    """A text without what ordinary writing needs and nobody sees, to tell whether two look the same."""
    return " ".join("".join("" if unicodedata.category(char) == "Cf" else char for char in text).split())


def _written(text: str, prose: bool) -> str:
    out: list[str] = []
    before, count = "", 0
    for char in text:
        name = None if prose and char in PROSE else _name(char)
        if name is not None and name == before:
            count += 1
            continue
        if before:
            out.append(_shown(before, count))
        before, count = (name, 1) if name is not None else ("", 0)
        if name is None:
            out.append(char)
    if before:
        out.append(_shown(before, count))
    return "".join(out)


def _shown(name: str, count: int) -> str:
    return f"⟨{name}⟩" if count == 1 else f"⟨{name} x{count}⟩"


def _name(char: str) -> str | None:
    """Name a character that must not be shown as it is."""
    if char in "\n\t" or " " <= char <= "~":
        return None
    kind = unicodedata.category(char)
    hidden = kind in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp", "Zs") or char in BLANKS
    if not hidden and not "\U000e0100" <= char <= "\U000e01ef":
        return None
    return NAMES.get(char, f"U+{ord(char):04X}")
