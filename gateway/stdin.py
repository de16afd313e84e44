"""The end of standard input tells a process that whoever started it is gone, however that ended."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable


def watch_stdin(stop: asyncio.Event) -> Callable[[], object]:
    """Set `stop` at the end of standard input; returns what ends the watch."""
    loop, fd = asyncio.get_running_loop(), sys.stdin.fileno()

    def look() -> None:
        if not os.read(fd, 1_024):
            loop.remove_reader(fd)
            stop.set()

    loop.add_reader(fd, look)
    return lambda: loop.remove_reader(fd)
