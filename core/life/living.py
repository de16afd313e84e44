"""What happens to processes: they live, listen, leave, hold what only one may hold; timers that have nothing to do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from core.listening import Serves
from core.model import Incarnation


@dataclass(frozen=True, slots=True)
class Beat:
    """A process takes (`first`) or renews its lease, and what it serves, until `incarnation.until_ms`."""

    incarnation: Incarnation
    serves: tuple[Serves, ...] = ()
    first: bool = False


@dataclass(frozen=True, slots=True)
class Leave:
    """A process says goodbye, or its lease lapsed: what it held can be settled."""

    incarnation: str
    lapsed: bool = False


@dataclass(frozen=True, slots=True)
class Swept:
    """What a process held that is gone was settled. open: not all of it, so look for proof again in a while."""

    incarnation: str
    open: bool = False


@dataclass(frozen=True, slots=True)
class Hold:
    """A process takes or renews what only one may hold (the sweeping of a partition, a bot)."""

    name: str
    incarnation: Incarnation


@dataclass(frozen=True, slots=True)
class Stray:
    """A timer whose event was refused: it goes, if nobody moved it meanwhile."""

    what: Literal["deadline", "free", "shrink"]
    id: str
    at_ms: int
