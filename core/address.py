"""Where Redis is and how to log in there; for what Sentinels watch, which server is the primary just now.

redis-py opens the connections (URL, TLS, AUTH, SELECT, the client's name). It knows no command of ours.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Coroutine
from contextlib import suppress
from typing import TypeVar
from urllib.parse import parse_qs, unquote, urlsplit

from redis.asyncio import Redis
from redis.asyncio.connection import AbstractConnection, ConnectionPool
from redis.asyncio.retry import Retry
from redis.asyncio.sentinel import Sentinel
from redis.backoff import NoBackoff
from redis.exceptions import RedisError

T = TypeVar("T")
WATCHED = {"redis+sentinel": "redis", "rediss+sentinel": "rediss"}
SCHEMES = frozenset({"redis", "rediss", "unix", *WATCHED})
SENTINEL_PORT = 26_379


class Address:
    """One server, the name under which its CLIENT LIST shows us, and how many seconds connecting may take.

    Raises: ValueError for a URL that is none.
    """

    def __init__(self, url: str, name: str = "sayso", timeout: float = 2.0) -> None:
        scheme, _, rest = url.partition("://")
        self.place = f"{scheme}://{rest.split('?')[0].rpartition('@')[2]}"
        self.timeout = timeout
        self._pool = _pool(url, name, timeout)

    async def connected(self) -> AbstractConnection:
        """Open a connection.

        Raises: RedisError, OSError.
        """
        return await _connected(self._pool.make_connection())


class Watched(Address):
    """The primary that Sentinels name: `redis+sentinel://user:password@host:26379,host/name/0?sentinel_password=...`.

    They are asked before every connection, so that a new primary is found. User and password are those of the primary.

    Raises: ValueError for a URL that is none.
    """

    def __init__(self, url: str, name: str = "sayso", timeout: float = 2.0) -> None:
        parts = urlsplit(url)
        login, at, hosts = parts.netloc.rpartition("@")
        service, _, database = parts.path.strip("/").partition("/")
        if not hosts or not service or not (database or "0").isdigit():
            raise ValueError(
                "write it as redis+sentinel://host:26379,host:26379/NAME, NAME being the watched primary's"
            )
        self.place = f"{parts.scheme}://{hosts}/{service}"
        self.timeout = timeout
        self._login = f"{login}{at}"
        self._scheme, self._database = WATCHED[parts.scheme], database or "0"
        self._service, self._name = unquote(service), name
        self._sentinels = [_host(one) for one in hosts.split(",") if one]
        given = parse_qs(parts.query)
        self._options: dict[str, str] = {
            option: given[key][0]
            for option, key in (("username", "sentinel_username"), ("password", "sentinel_password"))
            if key in given
        }

    async def connected(self) -> AbstractConnection:
        """Ask for the primary and open a connection to it."""
        return await _connected(_pool(await self.primary(), self._name, self.timeout).make_connection())

    async def primary(self) -> str:
        """Tell the address of the server that is the primary just now.

        Raises: RedisError, OSError.
        """
        share = self.timeout / (len(self._sentinels) + 1)  # of the whole, so that a silent one does not use it up
        limits = {"socket_timeout": share, "socket_connect_timeout": share}
        options = {**limits, **self._options, "ssl": self._scheme == "rediss", "protocol": 2}
        asked = Sentinel(self._sentinels, sentinel_kwargs={**options, "retry": Retry(NoBackoff(), 0)})
        watchers: list[Redis] = list(asked.sentinels)  # it puts the one that answered first
        try:
            found: tuple[str, int] = await unswallowed(asked.discover_master(self._service))  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]  # untyped
        finally:
            for one in watchers:
                with suppress(RedisError, OSError):
                    await one.aclose()
        host = f"[{found[0]}]" if ":" in found[0] else found[0]
        return f"{self._scheme}://{self._login}{host}:{found[1]}/{self._database}"


def address_of(url: str, name: str = "sayso", timeout: float = 2.0) -> Address:
    """Read an address.

    Raises: ValueError for a URL that is none.
    """
    return (Watched if url.partition("://")[0] in WATCHED else Address)(url, name, timeout)


def pause_before(attempt: int) -> float:
    """Return the seconds to wait before connecting again: none at first, then growing to 2, with jitter."""
    return 0.0 if attempt == 0 else min(2.0, 0.05 * 2 ** min(attempt, 8)) * random.uniform(0.5, 1.0)


async def unswallowed(work: Coroutine[object, object, T]) -> T:
    """Await what redis-py does, and be cancelled when told so: it sends within `wait_for`, which can swallow that."""
    task = asyncio.current_task()
    told_before = task.cancelling() if task else 0
    try:
        return await work
    finally:
        if task and task.cancelling() > told_before:
            raise asyncio.CancelledError


def _pool(url: str, name: str, timeout: float) -> ConnectionPool:
    options = {} if url.startswith("unix://") else {"socket_keepalive": True}
    return ConnectionPool.from_url(  # pyright: ignore[reportUnknownMemberType]  # **kwargs without a type
        url,
        client_name=name,
        protocol=2,
        retry=Retry(NoBackoff(), 0),
        socket_timeout=timeout,
        socket_connect_timeout=timeout,
        **options,
    )


async def _connected(connection: AbstractConnection) -> AbstractConnection:
    try:
        await unswallowed(connection.connect())
    except BaseException:
        with suppress(RedisError, OSError):
            await connection.disconnect(nowait=True)
        raise
    return connection


def _host(text: str) -> tuple[str, int]:
    host, colon, port = text.rpartition(":")
    if not colon or port.endswith("]"):
        return text.strip("[]"), SENTINEL_PORT
    return host.strip("[]"), int(port)
