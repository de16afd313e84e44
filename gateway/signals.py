"""What tells a process to end."""

import asyncio
import signal


def on_signals(stop: asyncio.Event) -> None:
    """Have Ctrl-C and SIGTERM set `stop`."""
    loop = asyncio.get_running_loop()
    for one in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(one, stop.set)
