"""The ladder: cooperative, terminate, kill, verify, and then "stop not confirmed". Each step has its time.

Whoever climbs says what each step does; a second press of *Stop now* takes the next step at once. It knows no process.
Source: DESIGN section 4.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Rung:
    """One step: what it does, and seconds until the next one is taken."""

    name: str
    climb: Callable[[], None]
    seconds: float


class Ladder:
    """The steps that make a turn end, one after the other, until `stop` says that it ended."""

    def __init__(self, rungs: Sequence[Rung]) -> None:
        self._rungs = tuple(rungs)
        self._at = -1
        self._alarm: asyncio.TimerHandle | None = None

    @property
    def step(self) -> str:
        """The name of the step last taken; empty before the first."""
        return self._rungs[self._at].name if self._at >= 0 else ""

    def begin(self) -> None:
        """Take the first step, once."""
        if self._at < 0:
            self._next()

    def hurry(self) -> None:
        """Take the next step now."""
        self._next()

    def stop(self) -> None:
        """Take no more steps."""
        if self._alarm is not None:
            self._alarm.cancel()

    def _next(self) -> None:
        if self._alarm is not None:
            self._alarm.cancel()
        if self._at + 1 >= len(self._rungs):
            return
        self._at += 1
        rung = self._rungs[self._at]
        rung.climb()
        if self._at + 1 < len(self._rungs):
            self._alarm = asyncio.get_running_loop().call_later(rung.seconds, self._next)
