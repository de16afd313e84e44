"""The session with Discord: one client of the library at a time, supervised, logged in and connected, made anew.

    login ──▶ connecting ──▶ up ⇄ resuming ──▶ ended or silent ──▶ a new client, after growing pauses

The library resumes by itself; an end, an error inside it, or a gateway that answers nothing starts a new one. It knows
no desk. Source: PLATFORMS sections 4.5 and 5.2 (3, 4).
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Protocol

import aiohttp
import discord
import yarl
from discord.gateway import DiscordWebSocket
from discord.http import Route

from adapters.discord.calls import Calls
from adapters.discord.parse import Membership, membership
from adapters.discord.settings import Settings
from adapters.discord.words import BAD_TOKEN, NO_INTENT, lacking
from adapters.platform import NotLetIn

_log = logging.getLogger(__name__)
LONG_WAIT = 30.0
"""seconds; a longer pause of a bucket comes back as an error instead of being slept through"""
LAST_PAUSE = 300.0
CLOSED: dict[int, str] = {4004: BAD_TOKEN, 4013: NO_INTENT, 4014: NO_INTENT}


@dataclass(frozen=True, slots=True)
class Pauses:
    """Seconds that are waited. anew: before a new client, at first; identify: before a client begins its session anew;
    servers: for the servers that Discord tells of after a session began.
    """

    anew: float = 1.0
    identify: float = 5.0
    servers: float = 1.0


PAUSES = Pauses()


class Ears(Protocol):
    """Whoever hears what comes in."""

    async def fresh(self, bot: Bot) -> None:
        """A session began that is no continuation of another one."""
        ...

    async def interaction(self, bot: Bot, interaction: discord.Interaction) -> None:
        """Somebody pressed, picked, filled in or gave a command."""
        ...

    async def message(self, bot: Bot, message: discord.Message) -> None:
        """Somebody wrote something."""
        ...

    async def edited(self, change: discord.RawMessageUpdateEvent) -> None:
        """Somebody edited a message."""
        ...

    async def member(self, bot: Bot, told: Membership) -> None:
        """Somebody has other roles in a server, or left it."""
        ...


class Bot(discord.Client):
    """The library's client. up: tells whether the gateway talks to us; changed: set with each event,
    and when the session begins or ends.

    direct: channels of which an event said that they are direct chats. left: those of servers that are not there any
    more. served: it was up once.
    """

    def __init__(self, ears: Ears, silence: float = 60.0, pauses: Pauses = PAUSES, *, roles: bool = False) -> None:
        self.wanted = discord.Intents.none()
        self.wanted.guilds = self.wanted.guild_messages = self.wanted.dm_messages = True
        super().__init__(
            intents=self.wanted,
            allowed_mentions=discord.AllowedMentions.none(),
            max_ratelimit_timeout=LONG_WAIT,
            chunk_guilds_at_startup=False,
            heartbeat_timeout=silence,
            guild_ready_timeout=pauses.servers,
            member_cache_flags=discord.MemberCacheFlags.none(),
            enable_debug_events=roles,
        )
        self._ears = ears
        self._pauses = pauses
        self.up = self.served = False
        self.reads_content = self.hears_roles = False
        self._roles = roles
        self.direct: set[int] = set()
        self.left: set[int] = set()
        self.changed = asyncio.Event()

    async def setup_hook(self) -> None:
        """Ask for the texts of servers, and for changes of roles where roles count, only where the portal allows it."""
        flags = self.application_flags
        self.reads_content = flags.gateway_message_content or flags.gateway_message_content_limited
        self.hears_roles = self._roles and (flags.gateway_guild_members or flags.gateway_guild_members_limited)
        self.wanted.message_content, self.wanted.members = self.reads_content, self.hears_roles

    def dispatch(self, event: str, /, *args: object, **kwargs: object) -> None:
        """Hand an event on while we are open; the library tells of some later, and fails over it."""
        if not self.is_closed():
            super().dispatch(event, *args, **kwargs)

    async def before_identify_hook(self, shard_id: int | None, *, initial: bool = False) -> None:
        """Leave Discord the time that it wants between two sessions."""
        if not initial:
            await asyncio.sleep(self._pauses.identify)

    def _turn(self, *, up: bool) -> None:
        self.up = up
        self.served = self.served or up
        self.changed.set()

    async def on_socket_event_type(self, event_type: str) -> None:
        """Discord says something."""
        self.changed.set()

    async def on_socket_raw_receive(self, frame: str) -> None:
        """Hear of roles; the library tells of changes only for members that it keeps, and it keeps none."""
        told = membership(frame) if self.hears_roles else None
        if told is not None:
            await self._ears.member(self, told)

    async def on_ready(self) -> None:
        """A new session."""
        self._turn(up=True)
        await self._ears.fresh(self)

    async def on_resumed(self) -> None:
        """The old session goes on, and everything that was missed came with it."""
        self._turn(up=True)

    async def on_disconnect(self) -> None:
        """The socket closed."""
        self._turn(up=False)

    async def on_guild_remove(self, guild: discord.Guild) -> None:
        """The bot is in a server no more."""
        self.left.update(channel.id for channel in guild.channels)

    async def on_guild_channel_delete(self, channel: discord.abc.GuildChannel) -> None:
        """A channel is there no more."""
        self.left.add(channel.id)

    async def on_interaction(self, interaction: discord.Interaction) -> None:
        """Hand on."""
        if interaction.guild_id is None and interaction.channel_id is not None:
            self.direct.add(interaction.channel_id)
        await self._ears.interaction(self, interaction)

    async def on_message(self, message: discord.Message) -> None:
        """Hand on."""
        if message.guild is None:
            self.direct.add(message.channel.id)
        await self._ears.message(self, message)

    async def on_raw_message_edit(self, change: discord.RawMessageUpdateEvent) -> None:
        """Hand on."""
        await self._ears.edited(change)

    async def on_error(self, event_method: str, /, *args: object, **kwargs: object) -> None:
        """The edge of what one event does."""
        _log.exception("Discord's %s was not handled", event_method.removeprefix("on_"))


def _rights(bot: Bot) -> Iterator[tuple[str, discord.Permissions]]:
    """What the bot may do in each server; nothing is known of one that Discord itself cannot reach."""
    for guild in bot.guilds:
        me = guild.get_member(bot.user.id) if bot.user is not None else None
        if me is not None:
            yield guild.name, me.guild_permissions


Dial = Callable[[Bot, str], Awaitable[None]]


async def dial(bot: Bot, token: str) -> None:
    """Log in and stay connected until something ends it."""
    await bot.login(token)
    await bot.connect(reconnect=True)


class Session:
    """The one client, as long as the context of `connected` lasts."""

    def __init__(self, settings: Settings, ears: Ears, dial: Dial = dial, pauses: Pauses = PAUSES) -> None:
        self._settings = settings
        self._ears = ears
        self._dial = dial
        self._pauses = pauses
        self.bot: Bot | None = None
        self.calls: Calls | None = None
        self._trouble: str | None = None
        self._told: str | None = None
        logging.getLogger("discord").setLevel(max(logging.INFO, logging.getLogger("discord").level))
        discord.VoiceClient.warn_nacl = discord.VoiceClient.warn_dave = False  # nothing is said aloud here
        Route.BASE = settings.api_url.rstrip("/")
        DiscordWebSocket.DEFAULT_GATEWAY = yarl.URL(settings.gateway_url)

    def up(self) -> bool:
        """Tell whether the gateway talks to us."""
        return self.bot is not None and self.bot.up

    def trouble(self) -> str | None:
        """Tell what is wrong, in one sentence."""
        if self._trouble is not None:
            return self._trouble
        return lacking(_rights(self.bot)) if self.bot is not None and self.up() else None

    @asynccontextmanager
    async def connected(self) -> AsyncGenerator[None]:
        """Be connected; entered when the first session is there.

        Raises: `NotLetIn` when Discord does not let us in.
        """
        first: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        task = asyncio.create_task(self._keep(first), name="discord session")
        try:
            await first
            yield
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            self.bot = self.calls = None

    async def _keep(self, first: asyncio.Future[None]) -> None:
        tries = 0
        while True:
            bot = Bot(self._ears, self._settings.silence, self._pauses, roles=bool(self._settings.roles))
            bot.left |= self.bot.left if self.bot is not None else set()
            refused: NotLetIn | None = None
            try:
                await self._live(bot, first)
            except NotLetIn as no:
                self._trouble, refused = str(no), no
                _log.error("%s", no)
            except (discord.DiscordException, aiohttp.ClientError, OSError, TimeoutError) as lost:
                _log.warning("the session with Discord ended, a new one begins: %s", lost or type(lost).__name__)
            except Exception:  # noqa: BLE001  # the edge of a session: what breaks inside the library starts a new one
                _log.exception("the session with Discord broke, a new one begins")
            finally:
                self.calls = None
                await bot.close()
            if refused is not None and not first.done():
                first.set_exception(refused)
                return
            tries = 0 if bot.served else tries + 1
            await asyncio.sleep(min(LAST_PAUSE, self._pauses.anew * 2.0 ** min(tries, 10)))

    async def _live(self, bot: Bot, first: asyncio.Future[None]) -> None:
        """Live with one client until it ends."""
        self.bot = bot
        token = self._settings.bot_token.get_secret_value()
        tasks = [asyncio.ensure_future(self._dial(bot, token)), asyncio.create_task(self._watch(bot, first))]
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
        except discord.LoginFailure:
            raise NotLetIn(BAD_TOKEN) from None
        except discord.PrivilegedIntentsRequired:
            raise NotLetIn(NO_INTENT) from None
        except discord.ConnectionClosed as closed:
            if closed.code in CLOSED:
                raise NotLetIn(CLOSED[closed.code]) from None
            raise
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    def _warn(self) -> None:
        """Write down what is wrong although a session began, once."""
        told = self.trouble()
        if told is not None and told != self._told:
            _log.warning("%s", told)
        self._told = told

    async def _watch(self, bot: Bot, first: asyncio.Future[None]) -> None:
        """Wait for each session to come up, for so long as Discord may take; a silent gateway is left."""
        while True:
            bot.changed.clear()
            if bot.up:
                began = self.calls is None
                self.calls, self._trouble = self.calls or Calls(bot), None
                if began:
                    self._warn()
                if not first.done():
                    first.set_result(None)
                await bot.changed.wait()
                continue
            try:
                async with asyncio.timeout(self._settings.silence):
                    await bot.changed.wait()
            except TimeoutError:
                self._trouble = "Discord's gateway says nothing: Sayso connects to it anew."
                raise TimeoutError("the gateway says nothing") from None
