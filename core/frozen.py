"""The freeze: while it stands in a partition, no turn starts there and nothing that acts begins. Nothing else stops."""

from __future__ import annotations

from core.model import Person, Value


class Frozen(Value):
    """Who froze everything, when, and why. Answers, cancels and deletes still work."""

    by: Person
    since_ms: int
    reason: str = ""
