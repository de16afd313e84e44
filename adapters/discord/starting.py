"""Where a task in a channel gets its thread: from the message that asked for it, or from one that says what was asked.

Source: PLATFORMS sections 4.4 and 9.4.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import aiohttp
import discord

from adapters.discord import render
from adapters.discord.calls import Calls
from adapters.discord.places import place_of
from adapters.outcomes import Notice
from adapters.platform import Block, View
from adapters.text import clip
from core.model import Json, Person

if TYPE_CHECKING:
    from adapters.desk import Desk

_log = logging.getLogger(__name__)
DAY_MIN = 1_440
HAS_ONE = 160004
NAME = 80
THREADED = (discord.TextChannel,)
LOST = (discord.DiscordException, aiohttp.ClientError, OSError)
NOTHING = Notice(text="Say what you want done.", alert=True)
NOT_HERE = Notice(text="You are not on the list of people who may talk to the agent here.", alert=True)


async def thread(calls: Calls, channel: int, message: int, text: str) -> int | None:
    """Begin a thread at a message; None where that is not possible, and the channel itself has to do."""
    body: dict[str, Json] = {"name": clip(" ".join(text.split()), NAME) or "Task", "auto_archive_duration": DAY_MIN}
    route = "/channels/{channel_id}/messages/{message_id}/threads"
    try:
        await calls.raw("POST", route, body, channel_id=channel, message_id=message)
        return message
    except discord.HTTPException as error:
        if error.code == HAS_ONE:
            return message
        _log.warning("no thread could be begun in channel %s: %s (%s)", channel, error.text, error.code)
    except LOST as error:
        _log.warning("no thread could be begun in channel %s: %s", channel, type(error).__name__)
    return None


async def ask(desk: Desk, calls: Calls, interaction: discord.Interaction, place: str, text: str, who: Person) -> Notice:
    """Begin a task by a command: in a channel with a message of its own, from which its thread grows."""
    if not text.strip():
        return NOTHING
    key, message = f"i{interaction.id}", str(interaction.id)
    channel, here = interaction.channel, place
    if isinstance(channel, THREADED):
        if not await desk.finds.may_talk(place, who):
            return NOT_HERE
        view = View(blocks=(Block(kind="text", text=clip(f"{who.name}: {text}", 1_500)),))
        body = {**render.message(view), "nonce": key[:25], "enforce_nonce": True}
        made = await calls.raw("POST", "/channels/{channel_id}/messages", body, channel_id=channel.id)
        id = made.get("id") if isinstance(made, dict) else None
        if isinstance(id, str):
            message = id
            began = await thread(calls, channel.id, int(id), text)
            place = place_of(channel.id, began) if began is not None else place
    heard = await desk.finds.heard(here) if place != here else ()
    said = await desk.text(place, message, text, who, key=key, heard=heard)
    where = f"<#{place.rpartition('.')[2]}>" if "." in place and isinstance(channel, THREADED) else ""
    return said or Notice(text=f"Started{' in ' + where if where else ''}.")


def begins_threads(channel: object) -> bool:
    """Whether what is said in a channel gets a thread."""
    return isinstance(channel, THREADED)
