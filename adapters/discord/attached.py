"""Files that people send, with a message or in a form: fetched from Discord's own hosts, and taken in by the desk.

Source: C123, C124.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import aiohttp
import discord
from pydantic import BaseModel

from adapters.discord.calls import Calls
from adapters.discord.settings import API, Settings
from adapters.forms import Filled
from adapters.platform import Limits
from core.errors import FileRefused
from core.model import Person

if TYPE_CHECKING:
    from adapters.desk import Desk

_log = logging.getLogger(__name__)
HOSTS = frozenset({"cdn.discordapp.com", "media.discordapp.net"})
DOWNLOAD = 60.0
LOST = (discord.DiscordException, aiohttp.ClientError, OSError, TimeoutError)


class Upload(BaseModel):
    """A file that lies with Discord. size: bytes, as Discord says."""

    id: str
    filename: str
    url: str
    size: int = 0
    content_type: str | None = None


@dataclass(frozen=True, slots=True)
class Taken:
    """What became of files. ids: Discord's id → the one that the desk gave. refused: why others were not taken."""

    ids: Mapping[str, str]
    refused: tuple[str, ...] = ()


def of_message(message: discord.Message) -> list[Upload]:
    """The files that came with a message."""
    return [
        Upload(id=str(one.id), filename=one.filename, url=one.url, size=one.size, content_type=one.content_type)
        for one in message.attachments
    ]


async def take(
    desk: Desk, calls: Calls, place: str, uploads: Iterable[Upload], who: Person, settings: Settings, limits: Limits
) -> Taken:
    """Take files in; what is not taken, in words."""
    ids: dict[str, str] = {}
    refused: list[str] = []
    for one in uploads:
        try:
            kind = one.content_type or "application/octet-stream"
            ids[one.id] = await desk.file(place, one.filename, _content(calls, one, settings, limits), who, kind)
        except FileRefused as no:
            refused.append(f"I did not take the file {one.filename!r}: {no}.")
        except LOST as error:
            _log.warning("a file of %s was not loaded: %s", who.id, type(error).__name__)
            refused.append(f"I could not load the file {one.filename!r}: send it again.")
    return Taken(ids, tuple(refused))


def filled(values: Filled, uploads: Mapping[str, Upload], taken: Taken) -> dict[str, tuple[str, ...]]:
    """What was filled in, with our ids of the files in it; those that were not taken are left out."""
    known = {**dict.fromkeys(uploads), **taken.ids}
    found = {name: tuple(new for one in given if (new := known.get(one, one))) for name, given in values.items()}
    return {name: given for name, given in found.items() if given or not values[name]}


async def _content(calls: Calls, one: Upload, settings: Settings, limits: Limits) -> AsyncGenerator[bytes]:
    """Load a file when somebody wants it (of a stranger nobody does), from Discord's own hosts only."""
    host = urlsplit(one.url).hostname or ""
    ours = host == urlsplit(settings.api_url).hostname and settings.api_url != API
    if host not in HOSTS and not ours:
        raise FileRefused("it does not come from Discord")
    if one.size > limits.take_max:
        raise FileRefused("it is too large")
    async with asyncio.timeout(DOWNLOAD):
        content = await calls.fetched(one.url)
    yield content
