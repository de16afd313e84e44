"""Holders of the private store as a test sees them: processes to talk to, to dismiss and to kill."""

import asyncio
import re
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import unquote

import hiredis

from tests import forked
from tests.forked import Forked
from tests.redis_server import say

LIMIT = 30.0


class RemoteHolder:
    """A process that runs `tests.gateway.holder`."""

    def __init__(self, process: Forked) -> None:
        self._process = process
        self.socket = Path()

    async def ready(self) -> "RemoteHolder":
        """Wait until it holds the store."""
        self.socket = Path(unquote((await self._hear("ready ")).removeprefix("unix://")))
        return self

    async def write(self) -> None:
        """Let it write as fast as it can."""
        await self._tell("write")

    async def acked(self) -> int:
        """How many writes the store has acknowledged to it by now."""
        await self._tell("count")
        return int(await self._hear("acked "))

    async def leave(self) -> None:
        """Let it leave in order, and see it end."""
        await self._tell("leave")
        await self._hear("left")
        async with asyncio.timeout(LIMIT):
            assert await self._process.wait() == 0

    async def kill(self) -> None:
        """End it without a chance to do anything."""
        self._process.kill()
        async with asyncio.timeout(LIMIT):
            await self._process.wait()

    async def _tell(self, order: str) -> None:
        self._process.stdin.write(f"{order}\n".encode())
        await self._process.stdin.drain()

    async def _hear(self, start: str) -> str:
        async with asyncio.timeout(LIMIT):
            line = (await self._process.stdout.readline()).decode().strip()
        assert line.startswith(start), f"the holder said {line!r}"
        return line.removeprefix(start)


@asynccontextmanager
async def holders(folder: Path, count: int, binary: Path | None = None) -> AsyncGenerator[list[RemoteHolder]]:
    """Start this many at once; those still there at the end are killed."""
    command = ["tests.gateway.holder", str(folder), *([str(binary)] if binary else [])]
    started = [RemoteHolder(await forked.start(*command, stdin=forked.PIPE)) for _ in range(count)]
    try:
        yield started
    finally:
        await asyncio.gather(*(holder.kill() for holder in started))


def server_pid(socket: Path) -> int | None:
    """The process id of the server at a socket; None while nobody serves there."""
    try:
        said = say(socket, "INFO", "server")
    except (OSError, hiredis.ReplyError):
        return None
    found = re.search(r"process_id:(\d+)", str(said))
    return int(found[1]) if found else None


def servers_started(folder: Path) -> int:
    """How many servers have ever been started for a data folder."""
    log = (folder / "redis" / "server.log").read_text("utf-8", "replace")
    return len(re.findall(r"Server initialized", log))
