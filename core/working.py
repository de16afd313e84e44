"""What a worker needs of a lease and of a claimed turn; `Job` and `Apart` are such turns."""

from __future__ import annotations

from typing import Protocol

from core.model import Cause


class Holding(Protocol):
    """The lease of this process: its id, and whether it may be trusted."""

    id: str

    def valid(self) -> bool:
        """Whether this process may still trust it."""
        ...


class Working(Protocol):
    """A claimed turn, as its worker sees it."""

    run: str
    fence: int
    worker: str
    overdue: bool

    @property
    def root(self) -> str:
        """The name that its run keeps when it moves."""
        ...

    @property
    def ending(self) -> bool:
        """Whether it was told to stop, or lost its run."""
        ...

    async def work(self) -> None:
        """Run it, and record how it ended."""
        ...

    def stop(self, cause: Cause | None, *, urgent: int = 0) -> None:
        """Stop it, for a cause. urgent: how often *Stop now* was pressed so far."""
        ...

    def lose(self) -> None:
        """Forget it: its run is somebody else's now."""
        ...

    def let_go(self) -> None:
        """Park it as soon as only questions are outstanding."""
        ...

    def shut_down(self) -> None:
        """Stop it because the worker ends."""
        ...
