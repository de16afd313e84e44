"""The stand-in's clock: real time plus what the test added, or a time that stands still."""

import time


class Clock:
    """Seconds since 1970. A frozen clock moves by `advance` only."""

    def __init__(self, *, frozen: bool = False) -> None:
        self._ahead = 0.0
        self._stands_at = time.time() if frozen else None

    def now(self) -> float:
        """The time."""
        return (time.time() if self._stands_at is None else self._stands_at) + self._ahead

    def advance(self, seconds: float) -> None:
        """Let so much time pass at once."""
        self._ahead += seconds
