"""What was written while nobody listened: read after a session began anew, in the places where a question is open.

Each message has its own key, so what was heard before has no effect again. Nothing older than what keys are remembered
for is read. Source: C110, PLATFORMS section 4.5.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

import aiohttp
import discord

from adapters.discord.places import first_after, standing
from core.errors import StoreError

if TYPE_CHECKING:
    from adapters.desk import Desk

_log = logging.getLogger(__name__)
OLDEST_S = 20 * 3_600
MOST = 2_000
"""messages of one channel; what is after them is not read, and the log says so"""
Heard = Callable[[discord.Message], Awaitable[None]]


async def read_back(bot: discord.Client, desk: Desk, heard: Heard) -> None:
    """Read what is newer than the open questions, oldest first."""
    begin: dict[int, int] = {}
    try:
        asked = await desk.finds.asked()
    except StoreError as lost:
        _log.warning("what was missed could not be looked up: %s", lost)
        return
    for one in asked:
        for channel, message in (standing(one.place, message) for message in one.messages):
            if channel is not None and message.isdecimal():
                begin[channel] = min(begin.get(channel, int(message)), int(message))
    oldest = first_after(int((time.time() - OLDEST_S) * 1000))
    for channel, first in begin.items():
        try:
            await _read(bot, channel, max(first, oldest), heard)
        except (discord.DiscordException, aiohttp.ClientError, OSError) as error:
            _log.warning("what was missed in channel %s could not be read: %s", channel, type(error).__name__)


async def _read(bot: discord.Client, channel: int, first: int, heard: Heard) -> None:
    place = bot.get_channel(channel) or await bot.fetch_channel(channel)
    if not isinstance(place, discord.abc.Messageable):
        return
    read = 0
    async for message in place.history(after=discord.Object(first), limit=MOST, oldest_first=True):
        read += 1
        await heard(message)
    if read >= MOST:
        _log.warning("more than %s messages were missed in channel %s: what came after them is not read", MOST, channel)
