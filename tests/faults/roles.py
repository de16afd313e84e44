"""Processes of a whole Sayso that are killed, cut off, put to sleep and started again: roles, and the Redis below."""

import asyncio
import signal
import subprocess
from contextlib import suppress
from pathlib import Path

from tests.forked import fork
from tests.gateway.shell import BASE
from tests.house.sources import ROOT
from tests.redis_server import binary, say
from tests.waiting import wait_until

QUICK = {
    "SAYSO_LEASE": "2",
    "SAYSO_SINGLETON_LEASE": "1",
    "SAYSO_LISTENER_LEASE": "2",
    "SAYSO_HOT_WINDOW": "0.2",
    "SAYSO_INDEX_LOOK": "0.2",
    "SAYSO_FREE_AFTER_STOP": "2",
    "SAYSO_STOP_COOPERATIVE": "0.3",
    "SAYSO_STOP_TERMINATE": "0.3",
    "SAYSO_STOP_KILL": "0.5",
    "SAYSO_STOP_HANDOVER": "1",
    "SAYSO_LOG_LEVEL": "error",
}


async def breathe(seconds: float) -> None:
    """Let the world go on for a while."""
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await asyncio.Event().wait()


class Store:
    """A Redis that writes before it replies, and that is killed and started again on the same folder."""

    def __init__(self, folder: Path) -> None:
        self.socket = folder / "redis.sock"
        self._folder = folder

    def start(self) -> None:
        """Start it, and wait for its first word."""
        options = ["--port", "0", "--unixsocket", str(self.socket), "--dir", str(self._folder), "--save", ""]
        options += ["--appendonly", "yes", "--appendfsync", "always"]
        with (self._folder / "redis.log").open("ab") as log:
            self.process = subprocess.Popen([binary(), *options], stdout=log, stderr=log)

    async def up(self) -> None:
        """Wait until it answers."""

        def answers() -> bool:
            with suppress(OSError, Exception):
                return say(self.socket, "PING") == "PONG"
            return False

        await wait_until(answers, 20)

    def kill(self) -> None:
        """End it as a power cut would."""
        self.process.kill()
        self.process.wait()


class Role:
    """One process of Sayso that is killed, put to sleep and started again. port: of a web; 0 takes a free one."""

    def __init__(self, word: str, folder: Path, url: str, agent: str, port: int = 0) -> None:
        self.word = word
        self._folder = folder
        self._env = {
            **BASE,
            **QUICK,
            "PYTHONPATH": str(ROOT),
            "HOME": str(folder),
            "SAYSO_DATA_DIR": str(folder / "data"),
            "REDIS_URL": url,
            "SAYSO_AGENT": f"tests.faults.chaotic:{agent}",
            "SAYSO_PORT": str(port),
        }

    def start(self) -> None:
        """Start it."""
        with (self._folder / f"{self.word}.log").open("ab") as log:
            self.process = fork("gateway", self.word, cwd=self._folder, env=self._env, out=log, err=log)

    def again(self) -> None:
        """Start it again when it is not there."""
        if self.process.returncode is not None:
            self.start()

    def end(self) -> None:
        """End it for good, also when it sleeps."""
        self.tell(signal.SIGCONT)
        self.tell(signal.SIGKILL)
        self.process.join()

    def tell(self, number: signal.Signals) -> None:
        """Send it a signal."""
        self.process.send_signal(number)
