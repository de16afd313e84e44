"""What people write on Discord: which of it is meant for the bot, where it belongs, and the files that come with it.

    direct message              all of it
    thread of a task            all of it (where the bot may read it), replies and mentions
    channel                     mentions of the bot and replies to it; they begin a thread
    channel, other thread       what people say among themselves is overheard, where it is bound and the bot may read;
                                it goes with the next task that begins there, or in a thread that grows from there

Source: PLATFORMS sections 4.4 and 9.4; C11, C38, C123.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

import discord

from adapters.discord import attached, parse, render, starting
from adapters.discord.calls import Calls
from adapters.discord.places import place_of
from adapters.discord.settings import Settings
from adapters.fit import squeezed
from adapters.outcomes import Notice
from adapters.platform import Limits
from adapters.status import notice_view
from core.errors import StoreError
from core.model import Person
from core.overheard import Line

if TYPE_CHECKING:
    from adapters.desk import Desk

_log = logging.getLogger(__name__)
AGAIN = (0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 30.0)
NOT_KEPT = Notice(text="Not stored: Sayso cannot reach its store right now. Send it again.", alert=True)


async def bring(
    desk: Desk, calls: Calls, message: discord.Message, me: int, settings: Settings, limits: Limits, *, fresh: bool
) -> None:
    """Bring a message to the desk, in a thread of its own where it begins one. fresh: it was written just now."""
    private = message.guild is None
    if not private and not parse.is_for(message, me):
        if fresh:
            await _overhear(desk, message)
        return
    who = parse.person(message.author)
    text = parse.words(message.content, me)
    if not text and not message.attachments:
        if private or not any(user.id == me for user in message.mentions):
            return
        text = "/help"
    reply = parse.replies_to(message)
    try:
        place = await _place(desk, calls, message, who, text, reply, settings)
        uploads = attached.of_message(message)
        if uploads and not await desk.finds.may_hand(place, who, private=private, reply_to=reply):
            uploads = []  # nothing is loaded, and nobody hears aloud what becomes of a stranger's files
        taken = await attached.take(desk, calls, place, uploads, who, settings, limits)
        files = tuple(taken.ids.values())
        if taken.refused:
            await say(calls, message, Notice(text="\n".join(taken.refused), alert=True), limits)
        if text or files or not taken.refused:
            here = parse.place(message.channel, message.channel.id)
            heard = await desk.finds.heard(here) if place != here else ()
            await _text(desk, place, message, text, who, reply, files, heard)
    except StoreError as lost:
        _log.error("message %s was not stored, and its writer is told: %s", message.id, lost)
        await say(calls, message, NOT_KEPT, limits)


async def _overhear(desk: Desk, message: discord.Message) -> None:
    """Keep what people say among themselves; nobody minds when that fails. Without the intent there is no text."""
    text, place = message.clean_content.strip(), parse.place(message.channel, message.channel.id)
    if not text:
        return
    try:
        await desk.overheard(place, message.author.display_name, text, key=f"m{message.id}")
    except StoreError as lost:
        _log.debug("something that was said at %s is no context: %s", place, lost)


async def _place(
    desk: Desk,
    calls: Calls,
    message: discord.Message,
    who: Person,
    text: str,
    reply: str | None,
    settings: Settings,
) -> str:
    """Where a message belongs: a new thread, for what begins a task in a channel."""
    place = parse.place(message.channel, message.channel.id)
    if message.guild is None or not settings.threads or not starting.begins_threads(message.channel):
        return place
    if reply is not None and await desk.finds.run_of(place, reply) is not None:
        return place
    if text.startswith("/") or not await desk.finds.may_talk(place, who):
        return place
    began = await starting.thread(calls, message.channel.id, message.id, text)
    return place_of(message.channel.id, began) if began is not None else place


async def _text(
    desk: Desk,
    place: str,
    message: discord.Message,
    text: str,
    who: Person,
    reply: str | None,
    files: tuple[str, ...],
    heard: tuple[Line, ...],
) -> None:
    """Bring it until it is stored: Discord does not deliver it again. Raises: `StoreError` after the last try."""
    for pause in (*AGAIN, None):
        try:
            key, id = f"m{message.id}", str(message.id)
            await desk.text(place, id, text, who, key=key, reply_to=reply, files=files, heard=heard)
            return
        except StoreError as lost:
            if pause is None:
                raise
            _log.warning("message %s could not be stored yet: %s", message.id, lost)
            await asyncio.sleep(pause)


async def say(calls: Calls, message: discord.Message, notice: Notice, limits: Limits) -> None:
    """Answer a message where it stands, once."""
    body = render.message(squeezed(notice_view(notice), limits, render.measure))
    body["message_reference"] = {"message_id": str(message.id), "fail_if_not_exists": False}
    body |= {"nonce": f"w{message.id}", "enforce_nonce": True}
    await calls.sent("POST", "/channels/{channel_id}/messages", body, channel_id=message.channel.id)


async def edited(desk: Desk, change: discord.RawMessageUpdateEvent) -> None:
    """Tell somebody that what they wrote first stands; only where all that is written is meant for the bot."""
    message, before = change.message, change.cached_message
    me = message.guild.me if message.guild is not None else None
    if message.edited_at is None or message.author.bot or (before is not None and before.content == message.content):
        return
    if message.guild is not None and (me is None or not parse.is_for(message, me.id)):
        return
    thread = message.thread.id if message.thread is not None else None
    place = parse.place(message.channel, message.channel.id) if thread is None else place_of(message.channel.id, thread)
    key = f"e{message.id}.{int(message.edited_at.timestamp() * 1000)}"
    text = parse.words(message.content, me.id if me is not None else 0)
    try:
        await desk.edit(place, str(message.id), text, parse.person(message.author), key=key)
    except StoreError as lost:
        _log.warning("an edit of message %s was not answered: %s", message.id, lost)
