"""A loopback proxy before a server: delays, holds and cuts what passes, so that faults come when a test wants them."""

import asyncio
import contextlib
import re
from collections.abc import Generator
from pathlib import Path
from types import TracebackType
from typing import Self

LISTENING = (b"XREAD", b"EVALSHA")
"""Words by which a connection shows what it is for."""


class Proxy:
    """Listens on a TCP port of its own and passes everything on to a unix socket.

    delay: seconds each piece waits in each direction. `requests` and `replies` are gates, open unless cleared: what
    comes while they are closed waits; within `deaf` it waits on some connections only. `passed` counts bytes that
    reached the server. `welcome`: whether new connections are let in; those that are not are closed at once. `stop_at`:
    the first request that it is found in, after `spare` others, closes the gate of requests, before it or, with
    `stop_after`, behind it.
    """

    def __init__(self, target: Path, delay: float = 0.0) -> None:
        self.delay = delay
        self.passed = 0
        self.welcome = True
        self.accepted = 0
        self.requests = asyncio.Event()
        self.replies = asyncio.Event()
        self.stop_at: re.Pattern[bytes] | None = None
        self.stop_after = False
        self.spare = 0
        self.requests.set()
        self.replies.set()
        self._target = target
        self._open: set[asyncio.StreamWriter] = set()
        self._mute = b""
        self._heard = asyncio.Event()
        self._heard.set()
        self._pumps: set[asyncio.Task[None]] = set()

    @property
    def url(self) -> str:
        """What a client connects to."""
        return f"redis://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.welcome = False
        self._server.close()
        self.cut()
        for pump in self._pumps:
            pump.cancel()
        await asyncio.gather(*self._pumps, return_exceptions=True)

    def cut(self) -> None:
        """Close every connection at once; what is on its way is lost."""
        for writer in self._open:
            writer.transport.abort()

    @contextlib.contextmanager
    def deaf(self, word: bytes) -> Generator[None]:
        """Hold back the replies on connections that said this word, for as long as the block lasts."""
        self._mute = word
        self._heard.clear()
        try:
            yield
        finally:
            self._mute = b""
            self._heard.set()

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.accepted += 1
        if not self.welcome:
            writer.transport.abort()
            return
        try:
            up_reader, up_writer = await asyncio.open_unix_connection(self._target)
        except OSError:
            writer.transport.abort()
            return
        self._open |= {writer, up_writer}
        said = set[bytes]()
        for source, sink, gate in ((reader, up_writer, self.requests), (up_reader, writer, self.replies)):
            pump = asyncio.create_task(self._pump(source, sink, gate, said))
            self._pumps.add(pump)
            pump.add_done_callback(self._pumps.discard)

    async def _pump(
        self, source: asyncio.StreamReader, sink: asyncio.StreamWriter, gate: asyncio.Event, said: set[bytes]
    ) -> None:
        with contextlib.suppress(OSError):
            while piece := await source.read(65536):
                if self.delay:
                    await _later(self.delay)
                found = gate is self.requests and self.stop_at is not None and self.stop_at.search(piece)
                if found and self.spare:
                    self.spare, found = self.spare - 1, None
                if found and not self.stop_after:
                    self.requests.clear()
                await gate.wait()
                if gate is self.requests:
                    said |= {word for word in LISTENING if word in piece}
                elif self._mute in said:
                    await self._heard.wait()
                if sink.is_closing():
                    break
                sink.write(piece)
                if found and self.stop_after:
                    self.requests.clear()
                if gate is self.requests:
                    self.passed += len(piece)
                await sink.drain()
        sink.transport.abort()
        self._open.discard(sink)


async def _later(delay: float) -> None:
    passed = asyncio.Event()
    asyncio.get_running_loop().call_later(delay, passed.set)
    await passed.wait()
