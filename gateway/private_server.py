"""The server of one data folder: started when none lives, adopted when one does, stopped in order.

It knows nothing of who uses it. Every method but `answering` is called by a holder of `start.lock`.
"""

import asyncio
import contextlib
import hashlib
import logging
import os
import stat
import subprocess
from pathlib import Path
from typing import Final, Literal

from gateway.flock import FileLock
from gateway.server_binary import Candidate, choose, installed, remember
from gateway.settings import runtime_dir
from gateway.spawn import log_size, say, spawn, why_ended
from gateway.unavailable import RedisUnavailable

LOOK: Final = 0.02
"""seconds between two looks at something that is about to change"""
SILENCE_LIMIT: Final = 60.0
"""seconds that a living server may stay without a word"""
STOP_LIMIT: Final = 20.0
"""seconds for the server to write what it has and end"""
SUN_PATH: Final = 103
"""bytes of a socket's path that every system takes"""

_children: list[subprocess.Popen[bytes]] = []
_log = logging.getLogger("sayso.store")


class PrivateServer:
    """The one server of a folder, whoever started it."""

    def __init__(
        self, folder: Path, fsync: Literal["always", "everysec"], candidates: tuple[Candidate, ...] | None
    ) -> None:
        self.socket = Path()
        self._folder = folder
        self._fsync: Literal["always", "everysec"] = fsync
        self._candidates = candidates
        self._log_before = 0

    def lives(self) -> bool:
        """Whether a server process exists, in whatever state: it holds `server.lock` to its end."""
        reap()
        lock = FileLock(self._lock_path)
        try:
            return not lock.try_shared()
        finally:
            lock.close()

    async def start_or_adopt(self) -> bool:
        """Leave with a server that has opened its socket; True if it was started now.

        Raises: `RedisUnavailable` when it cannot be started, or lives and cannot be reached.
        """
        lock = FileLock(self._lock_path)
        try:
            async with asyncio.timeout(SILENCE_LIMIT):
                while not lock.try_exclusive():
                    reap()
                    if (socket := self._recorded_socket()) and await say(socket, "PING") is not None:
                        self.socket = socket
                        if self._fsync == "always":  # the most careful of its users decides
                            await say(socket, "CONFIG SET appendfsync always")
                        self._log_before = log_size(self._folder)
                        return False
                    await asyncio.sleep(LOOK)
            await self._start(lock)
            return True
        except TimeoutError:
            raise self._silent() from None
        finally:
            lock.close()

    async def answering(self) -> None:
        """Return when it serves; one that still loads its data is waited for as long as it takes.

        Raises: `RedisUnavailable` when it ends or stays silent.
        """
        silent_for = 0.0
        while silent_for < SILENCE_LIMIT:
            line = await say(self.socket, "PING")
            if line is None:
                raise why_ended(self._folder, self._log_before, None)
            if line and not line.startswith(("-LOADING", "-BUSY", "-MASTERDOWN")):
                return
            silent_for = 0.0 if line else silent_for + SILENCE_LIMIT / 30
            await asyncio.sleep(LOOK)
        raise self._silent()

    async def stop(self) -> None:
        """Let it write what it has and end; one that will not is left to the next start, with a warning."""
        for order in ("SHUTDOWN", "SHUTDOWN FORCE"):
            answer = await say(self.socket, order)
            if not answer:
                break
            _log.warning("the private store answered %s with %r", order, answer)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(STOP_LIMIT):
                while self.lives():  # noqa: ASYNC110 - another process cannot set our event
                    await asyncio.sleep(LOOK)
                return
        _log.warning("the private store in %s did not stop within %g s; it is left running", self._folder, STOP_LIMIT)

    async def _start(self, lock: FileLock) -> None:
        binary = await choose(self._folder, self._candidates if self._candidates is not None else installed())
        remember(self._folder, binary)
        self.socket = self._fresh_socket()
        self._log_before = log_size(self._folder)
        child = spawn(binary, self._folder, self.socket, self._fsync, lock.fd)
        _children.append(child)
        try:
            async with asyncio.timeout(SILENCE_LIMIT):
                while await say(self.socket, "PING") is None:
                    if child.poll() is not None:
                        raise why_ended(self._folder, self._log_before, child.returncode)
                    await asyncio.sleep(LOOK)
        except TimeoutError:
            child.kill()
            raise
        _log.info("started %s as process %d for %s", binary, child.pid, self._folder)

    @property
    def _lock_path(self) -> Path:
        return self._folder / "server.lock"

    def _recorded_socket(self) -> Path | None:
        record = self._folder / "socket"
        return Path(record.read_text("utf-8")) if record.exists() else None

    def _fresh_socket(self) -> Path:
        """Where the next server listens: where the last one did if that place is still there, so that links find it.

        A record that came with a copied folder is not believed: the socket there may be another server's.
        """
        last = self._recorded_socket()
        ours = (
            last and last.parent.is_dir() and (last == _beside(self._folder) or last.name == _short_name(self._folder))
        )
        socket = last if last and ours else _socket_for(self._folder)
        socket.unlink(missing_ok=True)
        (self._folder / "socket").write_text(str(socket), "utf-8")
        return socket

    def _silent(self) -> RedisUnavailable:
        what = f"The private store lives but did not answer for {SILENCE_LIMIT:g} s"
        return RedisUnavailable(what, str(self._folder), "Look at server.log there; end that server if it is stuck.")


def reap() -> None:
    """Take note of servers that this process started and that have ended."""
    _children[:] = [child for child in _children if child.poll() is None]


def _beside(folder: Path) -> Path:
    return folder / "redis.sock"


def _short_name(folder: Path) -> str:
    return f"{hashlib.sha256(os.fsencode(folder)).hexdigest()[:16]}.sock"


def _socket_for(folder: Path) -> Path:
    """`redis.sock` beside the data, or in a short private folder when that path is too long for a socket."""
    beside = _beside(folder)
    if len(os.fsencode(beside)) <= SUN_PATH:
        return beside
    short = runtime_dir() / f"sayso-{os.getuid()}"
    short.mkdir(mode=0o700, exist_ok=True)
    seen = short.lstat()
    if not stat.S_ISDIR(seen.st_mode) or seen.st_uid != os.getuid() or seen.st_mode & 0o077:
        raise RedisUnavailable("A folder for the socket is not private to this user", str(short), "Remove that folder.")
    socket = short / _short_name(folder)
    if len(os.fsencode(socket)) > SUN_PATH:
        what_to_do = "Set SAYSO_DATA_DIR or TMPDIR to a shorter path."
        raise RedisUnavailable("The path of the private store's socket is too long", str(socket), what_to_do)
    return socket
