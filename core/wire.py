"""One socket to Redis, opened by redis-py and then read and written without it.

redis-py does what is worth having (`core/address.py`); once it has connected, its transport gets this file's protocol,
which hands replies over as they come. That is much faster than awaiting redis-py's streams.
It knows neither commands nor waiters, and never connects again by itself: that is for `core.link` and `core.feed`.
"""

import asyncio
from collections.abc import Callable
from typing import TypeAlias

import hiredis
from redis.exceptions import RedisError

from core.address import Address
from core.errors import LinkDown, ServerRefused

Argument: TypeAlias = bytes | str | int | float
Reply: TypeAlias = bytes | int | list["Reply"] | None

_NOTHING_YET = object()

pack: Callable[[tuple[Argument, ...]], bytes] = hiredis.pack_command  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType, reportAssignmentType]  # its stub is wrong
"""Return a command in the form in which it travels."""


def refusal(text: str) -> ServerRefused:
    """Return an error reply of the server ("WRONGTYPE Operation against ...") as our error."""
    code, _, rest = text.partition(" ")
    return ServerRefused(code, rest)


class Wire(asyncio.Protocol):
    """A connected socket: whole replies come out of it in order, bytes go into it, once closed it stays closed."""

    def __init__(
        self, on_reply: Callable[[Reply | ServerRefused], None], on_lost: Callable[["Wire", str], None]
    ) -> None:
        self.heard = 0.0
        self._on_reply = on_reply
        self._on_lost = on_lost
        self._loop = asyncio.get_running_loop()
        self._reader = hiredis.Reader(replyError=refusal, notEnoughData=_NOTHING_YET)
        self._why = "the server closed the connection"

    async def open(self, address: Address) -> None:
        """Connect, within the address's timeout in all.

        Raises: LinkDown.
        """
        try:
            async with asyncio.timeout(address.timeout):
                connection = await address.connected()
        except (RedisError, OSError) as error:
            raise LinkDown(
                f"Redis cannot be reached at {address.place}: {str(error) or type(error).__name__}"
            ) from error
        # From here on redis-py must not touch the socket: its streams are left without it, its writer is kept
        # so that it does not close the transport when it is collected. No reply is owed between the two lines.
        writer = connection._writer  # pyright: ignore[reportPrivateUsage]  # redis-py has no public way to it
        connection._reader = connection._writer = None  # pyright: ignore[reportPrivateUsage]  # we own it now
        if writer is None or writer.is_closing():
            raise LinkDown(f"Redis closed the connection to {address.place} at once")
        self._writer = writer
        self._transport = writer.transport
        self._transport.set_protocol(self)
        self.heard = self._loop.time()

    def write(self, packed: bytes) -> None:
        """Send bytes; on a closed socket they are dropped, and `on_lost` has told or will tell."""
        self._transport.write(packed)

    def close(self) -> None:
        """Close once what was written has left; `on_lost` follows."""
        self._transport.close()

    def cut(self, why: str) -> None:
        """Close at once, whatever is under way; `on_lost` follows with this reason."""
        self._why = why
        self._transport.abort()

    def data_received(self, data: bytes) -> None:
        """Take bytes from the socket and hand over the replies they complete."""
        self.heard = self._loop.time()
        reader = self._reader
        try:
            reader.feed(data)
            while (reply := reader.gets()) is not _NOTHING_YET:
                self._on_reply(reply)
        except hiredis.ProtocolError as error:
            self.cut(f"the server did not speak the Redis protocol: {error}")

    def connection_lost(self, exc: Exception | None) -> None:
        """Tell that the socket is closed."""
        self._on_lost(self, f"{exc or self._why}")
