"""The private store: one server per data folder, shared by every Sayso process of that folder.

    start.lock    held alone while a server is started or stopped, by nobody otherwise
    lease.lock    held together by everyone who uses the server; the last one out stops it
    server.lock   held by the server itself (it inherits the open file), so it is free exactly when no server lives

All three vanish with their holder, however it ends. Whoever comes in, or notices that the server is gone, takes
`start.lock` and looks at `server.lock`: free means start one, held means wait until it speaks. So two servers never
share one folder, an orphan is adopted, and of many that see it die one starts it again.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from types import TracebackType
from typing import Final, Literal, Self
from urllib.parse import quote

from gateway.flock import FileLock, exclusive
from gateway.private_server import PrivateServer
from gateway.server_binary import Candidate
from gateway.unavailable import RedisUnavailable

WATCH: Final = 0.1
"""seconds between two looks whether the server lives"""
SHORTEST_PAUSE: Final = 0.1
LONGEST_PAUSE: Final = 5.0
"""seconds between two tries to start a server that does not stay"""

_log = logging.getLogger("sayso.store")


class EmbeddedRedis:
    """A private server for as long as the block lasts; the same one for all processes of the folder.

    data_dir: the server keeps everything in the subfolder `redis`.
    fsync: "always" survives a power cut, "everysec" may lose its last second.
    candidates: programs to choose from; those of this machine when left out.
    patience: seconds that a start or a stop by another process may take.

    Raises: `RedisUnavailable` on entering.
    """

    def __init__(
        self,
        data_dir: Path,
        fsync: Literal["always", "everysec"],
        candidates: tuple[Candidate, ...] | None = None,
        *,
        patience: float = 90.0,
    ) -> None:
        self._patience = patience
        self._folder = data_dir.resolve() / "redis"
        self._server = PrivateServer(self._folder, fsync, candidates)
        self._open = AsyncExitStack()

    @property
    def url(self) -> str:
        """What redis-py connects to; it stays the same when the server is started again."""
        return f"unix://{quote(str(self._server.socket))}"

    async def __aenter__(self) -> Self:
        try:
            async with AsyncExitStack() as entering:
                self._folder.mkdir(parents=True, exist_ok=True)
                self._folder.chmod(0o700)
                await self._join(entering)
                await self._server.answering()
                await entering.enter_async_context(self._watched())
                self._open = entering.pop_all()
        except OSError as error:
            what = f"The data folder cannot be used: {error.strerror or error}"
            what_to_do = "Give this user the folder, free space on its disk, or set SAYSO_DATA_DIR."
            raise RedisUnavailable(what, str(self._folder), what_to_do) from error
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._open.aclose()

    async def _join(self, entering: AsyncExitStack) -> None:
        """Take a share of the lease and make sure that a server lives."""
        async with self._starting():
            lease = FileLock(self._folder / "lease.lock")
            if not lease.try_shared():
                lease.close()
                what_to_do = "End the program that holds lease.lock in that folder."
                raise RedisUnavailable("Another program keeps the store to itself", str(self._folder), what_to_do)
            try:
                await self._server.start_or_adopt()
            except BaseException:
                lease.close()
                raise
            entering.push_async_callback(self._leave, lease)

    async def _leave(self, lease: FileLock) -> None:
        """Give back the share; the last one stops the server."""
        try:
            async with self._starting():
                if lease.try_exclusive():
                    await self._server.stop()
        except RedisUnavailable as error:
            _log.warning("left the private store running: %s", error)
        finally:
            lease.close()

    @asynccontextmanager
    async def _starting(self) -> AsyncGenerator[None]:
        """Hold `start.lock` for a block."""
        async with AsyncExitStack() as stack:
            try:
                await stack.enter_async_context(exclusive(self._folder / "start.lock", self._patience))
            except TimeoutError:
                what = f"Another Sayso process has been starting or stopping the store for {self._patience:g} s"
                raise RedisUnavailable(what, str(self._folder), "End that process, then try again.") from None
            yield

    @asynccontextmanager
    async def _watched(self) -> AsyncGenerator[None]:
        """Start the server again whenever it is gone, for the length of a block."""
        watching = asyncio.create_task(self._watch(), name="watch the private store")
        try:
            yield
        finally:
            watching.cancel()
            await asyncio.wait([watching])
            if not watching.cancelled():
                watching.result()

    async def _watch(self) -> None:
        clock = asyncio.get_running_loop().time
        pause, seen = 0.0, clock()
        while True:
            await asyncio.sleep(WATCH)
            try:
                if self._server.lives():
                    continue
                settled = clock() - seen > 2 * LONGEST_PAUSE
                pause = 0.0 if settled else min(max(2 * pause, SHORTEST_PAUSE), LONGEST_PAUSE)
                await asyncio.sleep(pause)
                async with self._starting():
                    started = await self._server.start_or_adopt()
                _log.warning("the private store was gone; %s", "it is started again" if started else "it is back")
            except (RedisUnavailable, OSError) as error:
                _log.error("the private store is gone: %s", error)
            seen = clock()
