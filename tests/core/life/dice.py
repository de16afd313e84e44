"""What a random step is drawn from: for hypothesis a strategy, and where hypothesis cannot be used a roll of dice.

On a real server the clock goes on by itself, so the same draws need not lead to the same choices; hypothesis would take
that for a mistake of the test.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random

from hypothesis import strategies as st


@dataclass(frozen=True, slots=True)
class Draw:
    """One value to draw."""

    strategy: st.SearchStrategy[object]
    roll: Callable[[Random], object]


def integers(low: int, high: int) -> Draw:
    """A whole number from `low` to `high`."""
    return Draw(st.integers(low, high), lambda dice: dice.randint(low, high))


def booleans() -> Draw:
    """Yes or no."""
    return Draw(st.booleans(), lambda dice: dice.random() < 0.5)


def sampled_from(values: Sequence[object]) -> Draw:
    """One of these."""
    return Draw(st.sampled_from(values), lambda dice: dice.choice(values))


def mostly_nothing(high: int) -> Draw:
    """0, or a whole number up to `high`."""
    strategy = st.one_of(st.just(0), st.integers(0, high))
    return Draw(strategy, lambda dice: dice.choice((0, dice.randint(0, high))))
