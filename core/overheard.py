"""What people said among themselves in a place with several people, before somebody spoke to the agent.

It is context, never an instruction: nothing of it starts, steers or answers anything. It stands beside what was said to
the agent, in the history, with the names of those who said it. This file must not know how it is kept.
Source: DESIGN section 6 (group, thread), PLATFORMS 2.5.
"""

from __future__ import annotations

from collections.abc import Iterable

from core.model import Entry, Value

MOST = 20
"""lines that are kept of a place, the newest"""
LONGEST = 300
"""characters of a line"""
FRESH_MS = 3_600_000
"""how long a line is kept"""


class Line(Value):
    """One line. by: the name under which they are seen there. key: of the platform's update."""

    by: str
    text: str
    at: int
    key: str = ""


class Overheard(Value):
    """The last lines of a place, oldest first."""

    lines: tuple[Line, ...] = ()


def heard_in(entries: Iterable[Entry]) -> list[Line]:
    """Read the lines that stand beside what people said to the agent, oldest first."""
    found: list[Line] = []
    for entry in entries:
        lines = entry.data.get("overheard")
        found += [Line.model_validate(one) for one in lines] if isinstance(lines, list) else []
    return found
