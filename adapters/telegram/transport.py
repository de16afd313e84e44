"""Requests to the Bot API, in which nobody sees the token: the library's seam over plain aiohttp.

The library is given a placeholder; the token is put into the address here, below everything that logs, raises or is
shown. Errors of the network name the address, so none of them leaves this file: errors of ours do. A 429 and a 5xx
become errors of ours too, which the library passes on as they are. It must not know what is asked. Source: C108, C126.
"""

from __future__ import annotations

import json
import ssl
from collections.abc import Mapping
from functools import lru_cache
from typing import Final, TypeGuard
from urllib.parse import urlencode

import aiohttp
import httpx
from telegram.error import NetworkError, TelegramError, TimedOut
from telegram.request import BaseRequest, RequestData
from yarl import URL

PLACEHOLDER: Final = "hidden"
TOO_MANY: Final = 429
BROKEN: Final = 500
CONNECT: Final = 5.0
CONNECTIONS: Final = 64
KEPT: Final = 5.0
"""seconds that an idle connection is kept"""
FORM: Final = "application/x-www-form-urlencoded"


class TooMany(TelegramError):
    """Telegram said to wait. retry_after: seconds."""

    def __init__(self, message: str, retry_after: float) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class Broken(TelegramError):
    """The server failed in the middle: whether it did what it was asked is unknown."""


class Unsent(NetworkError):
    """There was no connection, so nothing was asked."""


class Requests(BaseRequest):
    """Requests over connections of their own. read: seconds without a byte after which an answer is given up."""

    def __init__(self, token: str, read: float, proxy: str | None) -> None:
        self._token = token
        self._read = read
        self._proxy = proxy
        self._session: aiohttp.ClientSession | None = None
        self._closed = False

    @property
    def read_timeout(self) -> float:
        """Seconds, where a call does not say its own."""
        return self._read

    async def initialize(self) -> None:
        """Allow requests again."""
        self._closed = False

    async def shutdown(self) -> None:
        """Close every connection."""
        self._closed = True
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    async def do_request(
        self,
        url: str,
        method: str,
        request_data: RequestData | None = None,
        read_timeout: object = BaseRequest.DEFAULT_NONE,
        write_timeout: object = BaseRequest.DEFAULT_NONE,
        connect_timeout: object = BaseRequest.DEFAULT_NONE,
        pool_timeout: object = BaseRequest.DEFAULT_NONE,
    ) -> tuple[int, bytes]:
        """Send a request with the token in place of the placeholder. Raises: `TooMany`, `Broken`, `NetworkError`."""
        body, kind = _body(url, request_data)
        read = float(read_timeout) if isinstance(read_timeout, int | float) else self._read
        found = await self._sent(method, url, body, kind, read)
        if isinstance(found, NetworkError):
            raise found
        status, content = found
        if status != TOO_MANY and status < BROKEN:
            return status, content
        told = _told(content)
        words = told.get("description")
        words = words if isinstance(words, str) else f"the server answered {status}"
        raise TooMany(words, _pause(told.get("parameters"))) if status == TOO_MANY else Broken(words)

    async def _sent(
        self, method: str, url: str, body: bytes | None, kind: str, read: float
    ) -> tuple[int, bytes] | NetworkError:
        """Send; an error is returned, so that it does not carry the one that it stands for."""
        if self._closed:
            return Unsent("the connection was closed")
        whole = _address(url, self._token)
        if whole is None:
            return Unsent("the address of the Bot API is none")
        headers = {"User-Agent": self.USER_AGENT}
        if body is not None:
            headers["Content-Type"] = kind
        try:
            async with self._lines().request(
                method,
                whole,
                data=body,
                headers=headers,
                allow_redirects=False,
                proxy=self._proxy,
                timeout=aiohttp.ClientTimeout(total=None, connect=read, sock_connect=CONNECT, sock_read=read),
            ) as response:
                return response.status, await response.read()
        except (aiohttp.ClientConnectorError, aiohttp.ClientConnectorDNSError) as error:
            return Unsent(f"no connection: {error.os_error.strerror or type(error.os_error).__name__}")
        except (aiohttp.ConnectionTimeoutError, aiohttp.InvalidURL) as error:
            return Unsent(f"no connection: {type(error).__name__}")
        except TimeoutError:
            return TimedOut()
        except (aiohttp.ClientError, OSError) as error:
            return NetworkError(f"the connection broke: {type(error).__name__}")

    def _lines(self) -> aiohttp.ClientSession:
        if self._session is None:
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(ssl=_trust(), limit=CONNECTIONS, keepalive_timeout=KEPT),
                cookie_jar=aiohttp.DummyCookieJar(),
            )
        return self._session


@lru_cache(maxsize=1)
def _trust() -> ssl.SSLContext:
    """Whom to believe; read from disk once, not for each connection that is made anew."""
    return httpx.create_ssl_context(trust_env=False)


def _address(url: str, token: str) -> URL | None:
    """The address with the token in it; None where there can be no such place."""
    try:
        whole = URL(url.replace(f"/bot{PLACEHOLDER}/", f"/bot{token}/", 1), encoded=True)
        return whole if whole.host and whole.port else None
    except ValueError:
        return None


def _body(url: str, asked: RequestData | None) -> tuple[bytes | None, str]:
    """What is sent, and its type. Files are rare: another library puts them together."""
    if asked is None:
        return None, FORM
    if not asked.contains_files:
        return urlencode(asked.json_parameters).encode(), FORM
    made = httpx.Request("POST", url, data=asked.json_parameters, files=asked.multipart_data)
    return made.read(), made.headers["Content-Type"]


def _told(body: bytes) -> Mapping[str, object]:
    try:
        found: object = json.loads(body)
    except ValueError:
        return {}
    return found if _is_mapping(found) else {}


def _is_mapping(found: object) -> TypeGuard[Mapping[str, object]]:
    return isinstance(found, dict)


def _pause(parameters: object) -> float:
    found = parameters.get("retry_after") if _is_mapping(parameters) else None
    return float(found) if isinstance(found, int | float) else 1.0
