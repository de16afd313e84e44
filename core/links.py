"""What the rest of the program wants of a connection to Redis, be it one server or a cluster, and which an address is.

One server has one partition; a cluster has sixteen, and each lies on the node that holds its slot.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Protocol

from core.address import Address
from core.cluster import Cluster
from core.link import Link
from core.script import Outcome
from core.wire import Argument, Reply


class Links(Protocol):
    """A way to Redis. Its commands name a key, by which the server is found."""

    @property
    def url(self) -> str:
        """The address that was given."""
        ...

    @property
    def partitions(self) -> int:
        """How many partitions a new deployment on it gets."""
        ...

    async def call(self, *args: Argument) -> Reply:
        """Send a command and return its reply."""
        ...

    async def many(self, commands: Sequence[Sequence[Argument]]) -> list[Reply]:
        """Send commands and return their replies in order."""
        ...

    async def commit(self, keys: Sequence[str], argv: Sequence[Argument], *, oom: bool) -> Outcome:
        """Call the one script."""
        ...

    async def each(self, *args: Argument) -> list[Reply]:
        """Ask every server."""
        ...

    def on_reconnect(self, callback: Callable[[], None]) -> None:
        """Have something called after every connection but the first."""
        ...

    def address(self, key: str, name: str) -> Address:
        """Return where the server of a key is, for a connection of its own."""
        ...


@asynccontextmanager
async def open_links(url: str, *, name: str = "sayso", patience: float = 2.0) -> AsyncGenerator[Links]:
    """Connect to what an address leads to.

    Raises: as `Link` and `Cluster`.
    """
    async with Link(url, name=name, patience=patience) as link:
        if not link.clustered:
            yield link
            return
    async with Cluster(url, name=name, patience=patience) as cluster:
        yield cluster
