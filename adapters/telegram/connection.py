"""The connection to the Bot API: the library's bot over requests that never show its token.

The library's debug lines hold what people write, secrets among it, and are switched off. This is the only file that
uses what the library does not document. Source: C108, C126.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping, Sequence
from typing import Final, TypeGuard

from telegram import Bot
from telegram.error import TelegramError

from adapters.telegram.settings import Settings
from adapters.telegram.transport import PLACEHOLDER, Requests, TooMany
from core.model import Json

PATIENT: Final = 120.0
"""seconds that a poll may take longer than it said; who polls gives up before that"""
KINDS: Final = (
    "message",
    "edited_message",
    "callback_query",
    "my_chat_member",
    "stopped_message_generation",
)
"""Every kind of update that we act on; the list stays with the server, so it is sent whole each time."""


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
        return _updates(found)


def wait_of(error: TelegramError, pause: float) -> float:
    """Tell how long to wait after an error: what the server said, or the caller's own pause."""
    return max(error.retry_after, pause) if isinstance(error, TooMany) else pause


def is_update(found: object) -> TypeGuard[dict[str, Json]]:
    """Tell whether something has the least that an update has: its number."""
    return _is_mapping(found) and isinstance(found.get("update_id"), int)


def updates_in(body: bytes) -> list[dict[str, Json]]:
    """Read what was kept: an update as Telegram sends one, or a page of them."""
    return _updates(json.loads(body))


def _updates(found: object) -> list[dict[str, Json]]:
    return [one for one in (found if _is_list(found) else [found]) if is_update(one)]


def open_bot(settings: Settings) -> Wire:
    """Make the bot; nothing is sent yet."""
    logging.getLogger("telegram").setLevel(logging.WARNING)
    server = settings.api_url.rstrip("/")
    token = settings.bot_token.get_secret_value().strip()
    return Wire(
        PLACEHOLDER,
        base_url=f"{server}/bot",
        base_file_url=f"{server}/file/bot",
        request=Requests(token, settings.send_timeout, settings.proxy),
        get_updates_request=Requests(token, settings.poll + settings.slack, settings.proxy),
        local_mode=settings.is_local,
    )


def _is_mapping(found: object) -> TypeGuard[Mapping[str, object]]:
    return isinstance(found, dict)


def _is_list(found: object) -> TypeGuard[Sequence[object]]:
    return isinstance(found, list)
