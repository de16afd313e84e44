"""Calls of Discord's HTTP API through the library, each with what became of it. It knows no view and no desk.

The library waits out short pauses of a bucket and repeats what a server error swallowed; longer pauses come back as
`later`. Source: PLATFORMS sections 4.4, 4.5, 5.2.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Literal

import aiohttp
import discord
from discord.http import Route
from pydantic import TypeAdapter

from adapters.discord.places import place_of
from adapters.platform import Outcome, Refused, Sent, Unclear
from core.model import Json

_log = logging.getLogger(__name__)
JSON: TypeAdapter[Json] = TypeAdapter(Json)
Method = Literal["GET", "POST", "PUT", "PATCH", "DELETE"]
Caller = Callable[..., Awaitable[object]]

NOT_THERE = frozenset({10008})
UNKNOWN_PLACE = frozenset({10003, 10004})
ARCHIVED = 50083
WORDS: Mapping[int, str] = {
    10003: "the channel is not there any more",
    10004: "the bot is not in this server any more",
    50001: "the bot may not see this channel: give it the permission View Channel",
    50007: "this person does not take direct messages from the bot",
    50013: "the bot lacks a permission here: Send Messages, Send Messages in Threads or Attach Files",
    50278: "this person does not take direct messages from the bot",
    160005: "the thread is locked",
    40005: "the file is too large for Discord",
}
EDITS_SPENT = 30046
SPENT_PAUSE = 120.0
UNTOLD_PAUSE = 30.0
LONGEST_PAUSE = 3_600.0


class Calls:
    """The HTTP API of one logged-in client."""

    def __init__(self, client: discord.Client) -> None:
        self._request: Caller = client.http.request
        self._fetch: Callable[[str], Awaitable[bytes]] = client.http.get_from_cdn

    async def raw(self, method: Method, path: str, body: Json = None, **names: int | str) -> Json:
        """Call a route and return what it says. names: of the path's placeholders.

        Raises: what the library raises.
        """
        route = Route(method, path, metadata=None, **names)
        found = await (self._request(route) if body is None else self._request(route, json=body))
        return JSON.validate_python(found) if found != "" else None

    async def fetched(self, url: str) -> bytes:
        """Load what lies at an address. Raises: what the library raises."""
        return await self._fetch(url)

    async def sent(self, method: Method, path: str, body: Json = None, **names: int | str) -> Outcome:
        """Call a route that makes or changes a message."""
        return await self._outcome(self.raw(method, path, body, **names), str(names.get("message_id", "")))

    async def privately(self, person: str, send: Callable[[int], Awaitable[Outcome]]) -> Outcome | None:
        """Send something to somebody directly instead; None where that is not possible either.

        send: to a channel. Its id names the direct chat, too: `<channel>/<message>`.
        """
        try:
            made = await self.raw("POST", "/users/@me/channels", {"recipient_id": person})
        except (discord.DiscordException, aiohttp.ClientError, OSError) as error:
            _log.info("no direct chat with %s: %s", person, type(error).__name__)
            return None
        channel = made.get("id") if isinstance(made, dict) else None
        if not isinstance(channel, str):
            return None
        found = await send(int(channel))
        if isinstance(found, Refused) and found.kind == "final":
            return None
        if not isinstance(found, Sent):
            return found
        return Sent(f"{channel}/{found.message}", instead=(place_of(int(channel)), found.message))

    async def upload(self, channel: int, name: str, content: bytes, body: Mapping[str, Json]) -> Outcome:
        """Send a file."""
        route = Route("POST", "/channels/{channel_id}/messages", channel_id=channel)
        part = {"id": 0, "filename": name}
        form = [
            {"name": "payload_json", "value": json.dumps({**body, "attachments": [part]})},
            {"name": "files[0]", "value": content, "filename": name, "content_type": "application/octet-stream"},
        ]

        async def send() -> Json:
            return JSON.validate_python(await self._request(route, form=form))

        return await self._outcome(send(), "")

    async def _outcome(self, call: Awaitable[Json], message: str) -> Outcome:
        try:
            found = await call
        except discord.RateLimited as wait:
            return Refused("later", "Discord says: too many requests", wait.retry_after)
        except discord.DiscordServerError as error:
            return Unclear(f"Discord failed with {error.status}")
        except discord.HTTPException as error:
            return refused(error)
        except aiohttp.ClientConnectorError as error:
            return Refused("later", f"Discord cannot be reached: {error.__class__.__name__}")
        except (TimeoutError, OSError, aiohttp.ClientError) as error:
            return Unclear(f"the connection broke: {error.__class__.__name__}")
        id = found.get("id") if isinstance(found, dict) else None
        return Sent(id if isinstance(id, str) else message)


def refused(error: discord.HTTPException) -> Outcome:
    """What a refusal of Discord means."""
    if error.status == 429:
        return Refused("later", "Discord says: too many requests", _pause(error), wide=True)
    if error.code in NOT_THERE:
        return Refused("gone", "the message is not there any more")
    if error.code == EDITS_SPENT:
        return Refused("later", "Discord limits edits of old messages", SPENT_PAUSE)
    if error.status == 401:
        return Refused("later", "Discord does not accept the bot token any more", 60.0, wide=True)
    words = WORDS.get(error.code)
    if words is None:
        _log.warning("Discord refused a call: %s (%s, code %s)", error.text, error.status, error.code)
    return Refused("final", words or f"Discord refused it: {error.text[:200]} ({error.code})")


def _pause(error: discord.HTTPException) -> float:
    """How long a 429 asks us to wait: one of the proxy before Discord says it in its head alone; seconds."""
    told = error.response.headers.get("Retry-After", "")
    return min(LONGEST_PAUSE, max(1.0, float(told))) if told.isdecimal() else UNTOLD_PAUSE
