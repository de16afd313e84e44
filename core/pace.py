"""The spans of a worker, as one value; the settings give them (`docs/settings.md`)."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Pace:
    """The spans of a worker, in seconds.

    hot: how long a turn that asks is held before it is parked. look: the longest pause between two looks at what is
    owed. ready: the same for runs to start. cooperative, terminate, kill, verify: what a cancelled turn may take for
    each step of the ladder. grace: how long turns may go on when their worker shuts down.
    """

    hot: float = 2.0
    look: float = 2.0
    ready: float = 1.0
    cooperative: float = 5.0
    terminate: float = 5.0
    kill: float = 2.0
    verify: float = 2.0
    grace: float = 5.0
