"""The floor's client: a protocol written by hand around hiredis, with nothing in it that a program needs besides."""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import TypeAlias
from urllib.parse import urlsplit

import hiredis

from core.wire import Argument, Reply, pack

Heard: TypeAlias = dict[str, Callable[[str], None]]
"""What to call with the id of a hint, by its kind."""

Send: TypeAlias = Callable[..., "asyncio.Future[Reply]"]


class Raw(asyncio.Protocol):
    """One connection: commands of one turn of the loop leave together, replies meet a queue of futures."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._reader = hiredis.Reader()
        self._waiting: deque[asyncio.Future[Reply]] = deque()
        self._batch: list[bytes] = []
        self.transport: asyncio.Transport

    def send(self, *args: Argument) -> asyncio.Future[Reply]:
        """Send a command; the future is its reply."""
        future: asyncio.Future[Reply] = self._loop.create_future()
        if not self._batch:
            self._loop.call_soon(self._flush)
        self._batch.append(pack(args))
        self._waiting.append(future)
        return future

    def _flush(self) -> None:
        self.transport.write(b"".join(self._batch))
        self._batch.clear()

    def data_received(self, data: bytes) -> None:
        """Hand the replies in these bytes to who waits for them."""
        self._reader.feed(data)
        while (reply := self._reader.gets()) is not False:
            future = self._waiting.popleft()
            if isinstance(reply, hiredis.ReplyError):
                future.set_exception(reply)
            else:
                future.set_result(reply)


async def connected(url: str) -> Raw:
    """Return a connection to "unix:///path" or "redis://host:port", without password or database."""
    loop = asyncio.get_running_loop()
    place = urlsplit(url)
    if place.scheme == "unix":
        transport, raw = await loop.create_unix_connection(Raw, place.path)
    else:
        transport, raw = await loop.create_connection(Raw, place.hostname or "127.0.0.1", place.port or 6379)
    raw.transport = transport
    return raw


@asynccontextmanager
async def raw_side(url: str, feed: str, heard: Heard) -> AsyncGenerator[Send]:
    """Open a connection for commands and another that reads hints."""
    commands, reader = await connected(url), await connected(url)
    position = b"0-0"

    def read(done: "asyncio.Future[Reply] | None" = None) -> None:
        nonlocal position
        match done.result() if done else None:
            case [[_, list(entries)]]:
                for entry in entries:
                    match entry:
                        case [bytes(position), [_, bytes(hint)]]:
                            kind, _, ident = hint.decode().partition(" ")
                            if kind in heard:
                                heard[kind](ident)
                        case _:
                            raise TypeError(entry)
            case _:
                pass
        if not reader.transport.is_closing():
            reader.send("XREAD", "COUNT", 500, "BLOCK", 2000, "STREAMS", feed, position).add_done_callback(read)

    read()
    yield commands.send
    commands.transport.close()
    reader.transport.close()
