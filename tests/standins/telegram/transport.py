"""The HTTP protocol of uvicorn, with a way for the app to get at the connection: to break it."""

from __future__ import annotations

import asyncio
import socket

from starlette.requests import Request
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

EXTENSION = "standin.transport"


class Breakable(HttpToolsProtocol):
    """Puts the transport into the scope of each request, and logs none: their paths hold the token.

    Small answers leave at once: a listening socket that was made by hand does not see to that.
    """

    def connection_made(self, transport: asyncio.Transport) -> None:
        super().connection_made(transport)
        transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.access_log = False

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self.scope["extensions"] = {EXTENSION: {"transport": self.transport}}


def transport_of(request: Request) -> asyncio.Transport:
    """The connection of a request."""
    extensions: dict[str, dict[str, object]] = request.scope["extensions"]
    transport = extensions[EXTENSION]["transport"]
    assert isinstance(transport, asyncio.Transport)
    return transport


def cut(request: Request) -> None:
    """Reset the connection: the client sees it end without an answer."""
    transport_of(request).abort()


def cut_in_half(request: Request, body: bytes) -> None:
    """Begin an answer and end the connection before it is whole."""
    transport = transport_of(request)
    head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n" % len(body)
    transport.write(head + body[: len(body) // 2])
    transport.close()
