"""Discord as the kit sees it: the connection, what it can show, and what became of each call.

It keeps nothing of cards, prompts or people: buttons carry ids, and what a place is, the channels of the session tell.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import discord

from adapters.discord import ending, render
from adapters.discord.calls import ARCHIVED, Calls
from adapters.discord.incoming import Incoming
from adapters.discord.places import channel_of, parent_of, standing
from adapters.discord.session import PAUSES, Bot, Dial, Pauses, Session, dial
from adapters.discord.settings import Settings
from adapters.discord.words import BAD_TOKEN, NO_CONTENT, NO_ROLES, invite, lacking, listed
from adapters.platform import Finding, Hook, Limits, Outcome, Refused, Sent, View
from core.model import Json, State

if TYPE_CHECKING:
    from adapters.desk import Desk

_log = logging.getLogger(__name__)
LIMITS = Limits(
    text_max=3_900,
    payload_max=100,
    label_max=80,
    row_buttons=5,
    card_buttons=20,
    file_max=10 * 1024 * 1024,
    notice_max=200,
    edit_gap=1.8,
    typing_every=8.0,
    repeats=True,
    menu_max=25,
    form_max=5,
    form_files=True,
    take_max=20 * 1024 * 1024,
    send_timeout=60.0,
)
NOT_YET = Refused("later", "Discord is not connected yet", 0.5)
SEND = "/channels/{channel_id}/messages"
NO_PLACE = Refused("final", "this is no place on Discord")


class Discord:
    """The platform, with the shape of `Platform`.

    dial: how a client is logged in and kept connected. pauses: how long is waited for Discord.
    """

    prefix = "dc"
    name = "Discord"

    def __init__(
        self, settings: Settings, *, dial: Dial = dial, limits: Limits = LIMITS, pauses: Pauses = PAUSES
    ) -> None:
        self.limits = limits
        self._settings = settings
        self._incoming = Incoming(settings, limits)
        self.session = Session(settings, self._incoming, dial, pauses)

    # ── the connection ───────────────────────────────────────────────────────────────────────────────────────────────

    @asynccontextmanager
    async def connect(self, desk: Desk) -> AsyncGenerator[None]:
        """Receive events while the context lasts."""
        async with self._incoming.bringing(desk), self.session.connected(), self._incoming.brought():
            yield

    def hook(self) -> Hook | None:
        """Discord is asked."""
        return None

    def alive(self) -> bool:
        """Tell whether the gateway talks to us."""
        return self.session.up()

    def trouble(self) -> str | None:
        """Tell what is wrong, in one sentence with what to do."""
        return self.session.trouble()

    async def check(self) -> tuple[Finding, ...]:
        """Look at token and portal, without a connection of our own."""
        bot = Bot(self._incoming, roles=bool(self._settings.roles))
        try:
            await bot.login(self._settings.bot_token.get_secret_value())
            missing = lacking(listed(await Calls(bot).raw("GET", "/users/@me/guilds")))
        except discord.LoginFailure:
            return (Finding(ok=False, words=BAD_TOKEN),)
        except (discord.DiscordException, OSError) as error:
            return (Finding(ok=False, words=f"Discord cannot be reached: {error}. Try again later."),)
        finally:
            await bot.close()
        user, application = bot.user, bot.application_id
        found = [Finding(ok=True, words=f"Discord knows the bot as {user}.")]
        found.append(
            Finding(ok=True, words="The bot may read what is written in its threads.")
            if bot.reads_content
            else Finding(ok=False, words=NO_CONTENT)
        )
        if self._settings.roles and not bot.hears_roles:
            found.append(Finding(ok=False, words=NO_ROLES))
        if missing is not None:
            found.append(Finding(ok=False, words=missing))
        if application is not None:
            found.append(Finding(ok=True, words=f"Invite the bot to a server: {invite(application)}"))
        return tuple(found)

    # ── what a place is ──────────────────────────────────────────────────────────────────────────────────────────────

    def measure(self, view: View) -> int:
        """Count a view; a text has half the room of a card."""
        return render.measure(view)

    def chat(self, place: str) -> str:
        """Each thread is a channel with limits of its own."""
        return place

    def is_private(self, place: str) -> bool:
        """A direct message: what is no thread, and no channel of a server where the bot is."""
        channel, bot = channel_of(place), self.session.bot
        if channel is None or bot is None or parent_of(place) is not None:
            return False
        found = bot.get_channel(channel)
        if found is None and channel in bot.left:
            return False
        if found is None and channel in bot.direct:
            return True
        if found is None:
            return not any(guild.unavailable for guild in bot.guilds)
        return isinstance(found, discord.DMChannel | discord.PartialMessageable) and found.guild is None

    # ── outbound ─────────────────────────────────────────────────────────────────────────────────────────────────────

    async def post(self, place: str, view: View, *, nonce: str, reply_to: str | None = None) -> Outcome:
        """Send a message; a repeat under the same nonce is the same message."""
        body = {**render.message(view), **_once(nonce)}
        if reply_to is not None and reply_to.isdecimal():
            body["message_reference"] = {"message_id": reply_to, "fail_if_not_exists": False}
        calls, channel = self._to(place)
        if not isinstance(calls, Calls):
            return calls
        found = await calls.sent("POST", SEND, body, channel_id=channel)
        who = self._instead(place, found, view.asks)
        if who is None:
            return found
        aside = render.elsewhere(body, channel)
        return await calls.privately(who, lambda direct: calls.sent("POST", SEND, aside, channel_id=direct)) or found

    async def edit(self, place: str, message: str, view: View) -> Outcome:
        """Make a card show a view; an archived thread is opened for it."""
        calls, channel, message = self._at(place, message)
        if not isinstance(calls, Calls):
            return calls
        if not message.isdecimal():
            return Refused("gone", "this is no message on Discord")
        route = f"{SEND}/{{message_id}}"
        body = render.card(view)
        found = await calls.sent("PATCH", route, body, channel_id=channel, message_id=message)
        if isinstance(found, Refused) and found.reason.endswith(f"({ARCHIVED})"):
            await calls.sent("PATCH", "/channels/{channel_id}", {"archived": False}, channel_id=channel)
            found = await calls.sent("PATCH", route, body, channel_id=channel, message_id=message)
        return found

    async def remove(self, place: str, message: str) -> Outcome:
        """Delete a message."""
        calls, channel, message = self._at(place, message)
        if not isinstance(calls, Calls):
            return calls
        return await calls.sent("DELETE", f"{SEND}/{{message_id}}", channel_id=channel, message_id=message)

    async def typing(self, place: str) -> None:
        """Show that something is being written."""
        calls, channel = self._to(place)
        if isinstance(calls, Calls):
            await calls.sent("POST", "/channels/{channel_id}/typing", channel_id=channel)

    async def draft(self, place: str, of: str, view: View) -> Outcome:
        """Discord has no drafts."""
        return Refused("final", "Discord has no drafts")

    async def upload(self, place: str, name: str, content: bytes, *, nonce: str, asks: str | None = None) -> Outcome:
        """Send a file."""
        calls, channel = self._to(place)
        if not isinstance(calls, Calls):
            return calls
        body: dict[str, Json] = {**_once(nonce), "allowed_mentions": {"parse": []}}
        found = await calls.upload(channel, name, content, body)
        who = self._instead(place, found, asks)
        if who is None:
            return found
        aside = render.elsewhere({"content": "", **body}, channel)
        return await calls.privately(who, lambda direct: calls.upload(direct, name, content, aside)) or found

    async def mark(self, place: str, state: State) -> Outcome:
        """Mark the message in the channel from which a thread of ours grew."""
        calls, thread = self._to(place)
        parent, bot = parent_of(place), self.session.bot
        if not isinstance(calls, Calls):
            return calls
        if parent is None or bot is None or bot.user is None:
            return Sent("")
        return await ending.mark(calls, parent, thread, bot.user.id, state)

    def _instead(self, place: str, found: Outcome, asks: str | None) -> str | None:
        """To whom something goes directly that a place with several people never takes; None where it goes nowhere."""
        final = isinstance(found, Refused) and found.kind == "final"
        return render.person(asks) if final and not self.is_private(place) else None

    def _to(self, place: str) -> tuple[Calls | Refused, int]:
        channel = channel_of(place)
        if channel is None:
            return NO_PLACE, 0
        return self.session.calls or NOT_YET, channel

    def _at(self, place: str, message: str) -> tuple[Calls | Refused, int, str]:
        calls, _ = self._to(place)
        channel, id = standing(place, message)
        return calls, channel or 0, id


def _once(nonce: str) -> dict[str, Json]:
    """Let Discord recognise a send that is repeated; a nonce has at most 25 characters."""
    return {"nonce": hashlib.sha256(nonce.encode()).hexdigest()[:24], "enforce_nonce": True}
