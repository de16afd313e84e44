"""What comes in from Discord, brought to the desk: interactions are acknowledged first, texts in the order of a chat.

Presses, forms and commands are read from their raw data, so that those of before a restart are as good as any other.
Nothing is remembered here. Source: PLATFORMS sections 4.1, 4.4, 5.2; C06, C42, C47, C110.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING

import discord

from adapters.discord import acts, parse, writing
from adapters.discord.backlog import read_back
from adapters.discord.calls import Calls
from adapters.discord.commands import definitions, differ
from adapters.discord.parse import Membership
from adapters.discord.places import place_of
from adapters.discord.session import Bot
from adapters.discord.settings import Settings
from adapters.platform import Limits
from core.errors import StoreError

if TYPE_CHECKING:
    from adapters.desk import Desk

_log = logging.getLogger(__name__)
LAST = 0.8
"""seconds that what people just did is waited for at the end"""


class Incoming:
    """Brings events to the desk while `bringing` lasts."""

    def __init__(self, settings: Settings, limits: Limits) -> None:
        self._settings = settings
        self._limits = limits
        self._desk: Desk | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._orders: dict[int, asyncio.Lock] = {}
        self._under_way: set[asyncio.Task[object]] = set()

    @asynccontextmanager
    async def bringing(self, desk: Desk) -> AsyncGenerator[None]:
        """Bring what comes to a desk."""
        self._desk = desk
        try:
            yield
        finally:
            self._desk = None
            for task in tuple(self._tasks):
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)

    @asynccontextmanager
    async def brought(self) -> AsyncGenerator[None]:
        """Bring to its end what is under way when the context ends, while Discord can still be told of it."""
        try:
            yield
        finally:
            if self._under_way:
                await asyncio.wait(tuple(self._under_way), timeout=LAST)

    # ── what the session tells ───────────────────────────────────────────────────────────────────────────────────────

    async def fresh(self, bot: Bot) -> None:
        """Register the commands if they are not as they should be, and read what was missed."""
        desk = self._desk
        if desk is None or bot.application_id is None or bot.user is None:
            return
        self._spawn(self._register(Calls(bot), bot.application_id))
        self._spawn(read_back(bot, desk, lambda message: self._message(bot, message, fresh=False)))

    async def interaction(self, bot: Bot, interaction: discord.Interaction) -> None:
        """Acknowledge, bring it to the desk, show what came of it."""
        desk = self._desk
        found = parse.act(interaction.type.value, dict(interaction.data or {}))
        if desk is None or found is None or interaction.channel_id is None:
            return
        self._vouch(desk, parse.place(interaction.channel, interaction.channel_id), interaction.user)
        with self._counted():
            await acts.bring(desk, Calls(bot), interaction, found, self._limits, self._settings)

    async def message(self, bot: Bot, message: discord.Message) -> None:
        """Bring a text to the desk, after those that came before it in its chat."""
        await self._message(bot, message, fresh=True)

    async def _message(self, bot: Bot, message: discord.Message, *, fresh: bool) -> None:
        desk, me = self._desk, bot.user
        if desk is None or me is None or not parse.is_text(message):
            return
        self._vouch(desk, parse.place(message.channel, message.channel.id), message.author)
        order = self._orders.setdefault(message.channel.id, asyncio.Lock())
        with self._counted():
            async with order:
                await writing.bring(desk, Calls(bot), message, me.id, self._settings, self._limits, fresh=fresh)

    async def edited(self, change: discord.RawMessageUpdateEvent) -> None:
        """Tell somebody that edits are not read."""
        desk = self._desk
        if desk is not None:
            await writing.edited(desk, change)

    async def member(self, bot: Bot, told: Membership) -> None:
        """Let a role that somebody lost count no more, at once."""
        server, desk = bot.get_guild(told.server), self._desk
        if server is None or desk is None:
            return
        chats = [place_of(channel.id) for channel in server.channels]
        try:
            await desk.vouched.changed(chats, told.person, self._settings.role_of(told.roles))
        except StoreError as lost:
            _log.warning("roles of %s count from what they do next: %s", told.person.id, lost)

    # ── below ────────────────────────────────────────────────────────────────────────────────────────────────────────

    def _vouch(self, desk: Desk, place: str, user: discord.abc.User) -> None:
        """Say what somebody's roles in the server make them to us, with every event anew."""
        if self._settings.roles:
            desk.vouched.vouch(place, parse.person(user), self._settings.role_of(parse.roles(user)))

    @contextmanager
    def _counted(self) -> Generator[None]:
        task = asyncio.current_task()
        assert task is not None
        self._under_way.add(task)
        try:
            yield
        finally:
            self._under_way.discard(task)

    async def _register(self, calls: Calls, application: int) -> None:
        route = "/applications/{application_id}/commands"
        try:
            if differ(await calls.raw("GET", route, application_id=application)):
                await calls.raw("PUT", route, [dict(one) for one in definitions()], application_id=application)
                _log.info("Discord knows the commands now")
        except (discord.DiscordException, OSError) as error:
            _log.warning("Discord did not take the commands, at the next start again: %s", error)

    def _spawn(self, doing: object) -> None:
        assert asyncio.iscoroutine(doing)
        task: asyncio.Task[None] = asyncio.create_task(doing)
        self._tasks.add(task)
        task.add_done_callback(self._done)

    def _done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and task.exception() is not None:
            _log.error("something of Discord's session failed", exc_info=task.exception())
