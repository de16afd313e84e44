"""The connection to the Bot API: the library's bot over HTTP requests that never show its token.

The bot is given a placeholder; the token is put into the address below everything that logs, raises or is shown, in the
transport. So no log of any library holds it, at any level. A 429 and a 5xx become errors of ours, which the library
passes on as they are. The library's debug lines hold what people write, secrets among it, and are switched off. This is
the only file that uses what the library does not document. Source: C108, C126.
"""

from __future__ import annotations

import json
import logging
import ssl
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Final, TypeGuard

import httpx
from telegram import Bot
from telegram.error import TelegramError
from telegram.request import HTTPXRequest

from adapters.telegram.settings import Settings
from core.model import Json

PLACEHOLDER: Final = "hidden"
TOO_MANY: Final = 429
BROKEN: Final = 500
CONNECT: Final = 5.0
PATIENT: Final = 120.0
"""seconds that a poll may take longer than it said; who polls gives up before that"""
UPLOAD: Final = 60.0
CONNECTIONS: Final = 64
KINDS: Final = (
    "message",
    "edited_message",
    "callback_query",
    "my_chat_member",
    "stopped_message_generation",
)
"""Every kind of update that we act on; the list stays with the server, so it is sent whole each time."""


class TooMany(TelegramError):
    """Telegram said to wait. retry_after: seconds."""

    def __init__(self, message: str, retry_after: float) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class Broken(TelegramError):
    """The server failed in the middle: whether it did what it was asked is unknown."""


class Wire(Bot):
    """The library's bot, with updates as they were sent: one that does not parse must not hide the others."""

    async def close_lines(self) -> None:
        """Close every connection, whatever was begun."""
        for request in self._request:
            await request.shutdown()

    async def updates(self, offset: int | None, timeout: float) -> list[dict[str, Json]]:
        """Ask for updates; those before `offset` are confirmed by that. timeout: seconds that the server waits."""
        asked: dict[str, object] = {"timeout": int(timeout), "allowed_updates": [*KINDS]}
        if offset is not None:
            asked["offset"] = offset
        found: object = await self._post("getUpdates", asked, read_timeout=timeout + PATIENT)
        return [one for one in found if is_update(one)] if _is_list(found) else []


def wait_of(error: TelegramError, pause: float) -> float:
    """Tell how long to wait after an error: what the server said, or the caller's own pause."""
    return max(error.retry_after, pause) if isinstance(error, TooMany) else pause


def is_update(found: object) -> TypeGuard[dict[str, Json]]:
    """Tell whether something has the least that an update has: its number."""
    return _is_mapping(found) and isinstance(found.get("update_id"), int)


def open_bot(settings: Settings) -> Wire:
    """Make the bot; nothing is sent yet."""
    logging.getLogger("telegram").setLevel(logging.WARNING)
    server = settings.api_url.rstrip("/")
    token = settings.bot_token.get_secret_value().strip()
    return Wire(
        PLACEHOLDER,
        base_url=f"{server}/bot",
        base_file_url=f"{server}/file/bot",
        request=_request(token, settings.send_timeout, settings.proxy),
        get_updates_request=_request(token, settings.poll + settings.slack, settings.proxy),
        local_mode=settings.is_local,
    )


def _request(token: str, read: float, proxy: str | None) -> HTTPXRequest:
    return HTTPXRequest(
        connection_pool_size=CONNECTIONS,
        read_timeout=read,
        write_timeout=read,
        connect_timeout=CONNECT,
        pool_timeout=CONNECT,
        media_write_timeout=UPLOAD,
        httpx_kwargs={"transport": _Hidden(token, proxy), "trust_env": False},
    )


@lru_cache(maxsize=1)
def _trust() -> ssl.SSLContext:
    """Whom to believe; read from disk once, not for each connection that is made anew."""
    return httpx.create_ssl_context(trust_env=False)


class _Hidden(httpx.AsyncHTTPTransport):
    """A transport that puts the token into the path of each request, where nobody sees it."""

    def __init__(self, token: str, proxy: str | None) -> None:
        super().__init__(verify=_trust(), limits=httpx.Limits(max_connections=CONNECTIONS), proxy=proxy)
        self._token = token.encode()

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request with the token in place of the placeholder. Raises: `TooMany`, `Broken`."""
        path = request.url.raw_path.replace(f"/bot{PLACEHOLDER}/".encode(), b"/bot" + self._token + b"/", 1)
        url = request.url.copy_with(raw_path=path)
        sent = httpx.Request(
            request.method, url, headers=request.headers, stream=request.stream, extensions=request.extensions
        )
        response = await super().handle_async_request(sent)
        if response.status_code != TOO_MANY and response.status_code < BROKEN:
            return response
        told = _told(await response.aread())
        await response.aclose()
        words = told.get("description")
        words = words if isinstance(words, str) else f"the server answered {response.status_code}"
        if response.status_code == TOO_MANY:
            raise TooMany(words, _pause(told.get("parameters")))
        raise Broken(words)


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


def _is_list(found: object) -> TypeGuard[Sequence[object]]:
    return isinstance(found, list)
