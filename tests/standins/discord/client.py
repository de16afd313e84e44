"""A small bot on the real discord.py, by which the stand-in itself is tried: it keeps what it hears."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import discord
from discord import app_commands

from tests.standins.discord.standin import DiscordStandin
from tests.waiting import wait_until


def intents(*, content: bool = True) -> discord.Intents:
    wanted = discord.Intents.default()
    wanted.message_content = content
    return wanted


class Listener(discord.Client):
    """Hears everything, answers nothing unless a test says so."""

    def __init__(self, *, content: bool = True, silence: float = 60.0) -> None:
        super().__init__(
            intents=intents(content=content),
            heartbeat_timeout=silence,
            guild_ready_timeout=0.05,
            max_ratelimit_timeout=30.0,
            allowed_mentions=discord.AllowedMentions.none(),
        )
        self.tree = app_commands.CommandTree(self)
        self.heard: list[discord.Message] = []
        self.interactions: list[discord.Interaction] = []
        self.resumes = 0

    async def before_identify_hook(self, shard_id: int | None, *, initial: bool = False) -> None:
        """Do not rest five seconds before a new session, as discord.py does."""

    async def on_message(self, message: discord.Message) -> None:
        self.heard.append(message)

    async def on_interaction(self, interaction: discord.Interaction) -> None:
        self.interactions.append(interaction)

    async def on_resumed(self) -> None:
        self.resumes += 1

    @property
    def texts(self) -> list[str]:
        """What others wrote."""
        return [one.content for one in self.heard if one.author != self.user]

    async def interaction(self) -> discord.Interaction:
        """Wait for an interaction and take it."""
        await wait_until(lambda: self.interactions)
        return self.interactions.pop(0)


@asynccontextmanager
async def listening(there: DiscordStandin, *, content: bool = True, silence: float = 60.0) -> AsyncGenerator[Listener]:
    """The bot, connected and ready, until the end of the context."""
    bot = Listener(content=content, silence=silence)
    with there.pointed():
        task = asyncio.create_task(bot.start(there.token))
        try:
            await wait_until(lambda: bot.is_ready() or task.done())
            yield bot
        finally:
            await bot.close()
            await asyncio.gather(task, return_exceptions=True)
