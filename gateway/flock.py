"""Locks between processes that vanish with their holder, `kill -9` included; local disks only (flock)."""

import asyncio
import fcntl
import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

PAUSE = 0.02


class FileLock:
    """One open lock file; it is held by this process until `close`, or by whoever inherited `fd`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)

    def try_exclusive(self) -> bool:
        """Take it for this process alone, or give up a shared hold; False if somebody else has it."""
        return self._try(fcntl.LOCK_EX)

    def try_shared(self) -> bool:
        """Take it together with others; False if somebody has it alone."""
        return self._try(fcntl.LOCK_SH)

    def close(self) -> None:
        """Let go. A process that inherited the file goes on holding it. A second call does nothing."""
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1

    def _try(self, kind: int) -> bool:
        try:
            fcntl.flock(self.fd, kind | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True


@asynccontextmanager
async def exclusive(path: Path, timeout: float) -> AsyncGenerator[None]:
    """Hold the lock alone for a block; waits without blocking the loop.

    timeout: seconds.
    Raises: `TimeoutError` if others keep it that long.
    """
    lock = FileLock(path)
    try:
        async with asyncio.timeout(timeout):
            while not lock.try_exclusive():  # noqa: ASYNC110 - another process cannot set our event
                await asyncio.sleep(PAUSE)
        yield
    finally:
        lock.close()
