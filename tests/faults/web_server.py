"""The web role in a process of its own, as `sayso web` starts it, on the same port each time, to be killed."""

from __future__ import annotations

import asyncio
import signal
from pathlib import Path

from tests import forked
from tests.contract.web import free_port
from tests.forked import Forked
from tests.house.sources import ROOT


class Process:
    """One of our roles as a process: `web`, `worker`. sign: what it prints when it is there."""

    def __init__(self, words: tuple[str, ...], env: dict[str, str], sign: str | None = None) -> None:
        self._words = words
        self.env = env
        self._sign = sign
        self._process: Forked | None = None

    async def start(self) -> None:
        """Start it, and wait until it says that it is there."""
        self._process = await forked.start(*self._words, env=self.env, out=forked.PIPE if self._sign else None)
        if self._sign is None:
            return
        async with asyncio.timeout(90):
            while self._sign not in (line := (await self._process.stdout.readline()).decode()):
                assert line, f"{self._words} ended"

    @property
    def pid(self) -> int:
        """Its process id."""
        assert self._process is not None
        return self._process.pid

    def send(self, what: signal.Signals) -> None:
        """Send it a signal."""
        assert self._process is not None
        self._process.send_signal(what)

    async def kill(self) -> None:
        """End it as the kernel does."""
        if self._process is not None:
            self._process.kill()
            await self._process.wait()
            self._process = None

    async def again(self, *, hard: bool = True) -> None:
        """Kill it, or wait for its end when it was told to end, and start it."""
        if not hard and self._process is not None:
            await self._process.wait()
        await self.kill()
        await self.start()


def web_role(redis_url: str, folder: Path, **more: str) -> tuple[Process, str]:
    """The web role, and the address it always has."""
    port = free_port()
    env = {
        "PATH": "/usr/bin:/bin",
        "PYTHONPATH": str(ROOT),
        "PYTHONUNBUFFERED": "1",
        "REDIS_URL": redis_url,
        "SAYSO_DATA_DIR": str(folder),
        "SAYSO_PORT": str(port),
        "SAYSO_LOG_LEVEL": "warning",
        **more,
    }
    return Process(("gateway", "web"), env, "Listening"), f"http://127.0.0.1:{port}"
