"""Interactions: presses, picks, forms and commands, acknowledged within three seconds, then brought to the desk.

    press, pick, form        deferred update ─▶ desk, however long it takes ─▶ a private word, where the card does not
                             say it
    a press that opens a form                   desk ─▶ the modal (it has to be the first response)
    /pair                    as a press that opens a form; where that is not known in time, as a command
    command                  private "thinking" ─▶ desk ─▶ the word takes its place

What arrives too late to be acknowledged is done all the same. Source: PLATFORMS sections 4.1, 9; C06, C42, C47, C126.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING

import aiohttp
import discord
from discord import app_commands

from adapters.desk import NOT_STORED
from adapters.discord import attached, commands, modals, parse, render, starting
from adapters.discord.attached import Upload
from adapters.discord.calls import Calls, refused
from adapters.discord.parse import Act, Command, Filled, OnMessage, Pressed, Typing
from adapters.discord.settings import Settings
from adapters.fit import squeezed
from adapters.forms import opens_form, plain
from adapters.outcomes import Notice
from adapters.platform import Form, Limits, Refused
from adapters.status import notice_view
from adapters.text import clip
from core.errors import StoreError
from core.model import Json, Person
from core.press import read

if TYPE_CHECKING:
    from adapters.desk import Desk

_log = logging.getLogger(__name__)
HARMLESS = frozenset({40060, 10062, 10015, 50027})
"""acknowledged already, too late, the webhook of the interaction is gone: the card shows what came of it"""
WEBHOOK = "/webhooks/{webhook_id}/{webhook_token}"
ORIGINAL = f"{WEBHOOK}/messages/@original"
PLAIN = 1_900
IN_TIME = 0.8
"""seconds for what must be known before it is acknowledged, because a form has to be the first response"""
SLOW_PAIR = Notice(text="Sayso is slow just now: give the command again.", alert=True)
NO_CARD = Notice(text="That is no card of a task: choose this on one, or give the command /cancel.", alert=True)
FAILED = "That failed on our side; the log says why."
LOST = (discord.DiscordException, aiohttp.ClientError, OSError)


class Answering:
    """One interaction, and what is said about it."""

    def __init__(self, calls: Calls, interaction: discord.Interaction, limits: Limits) -> None:
        self._calls = calls
        self._limits = limits
        self.of = interaction
        self.acknowledged = False
        self.thinking = False

    async def defer(self, *, thinking: bool = False) -> None:
        """Acknowledge. thinking: a private message says so until there is something to say."""
        try:
            await self.of.response.defer(ephemeral=True, thinking=thinking)
            self.acknowledged, self.thinking = True, thinking
        except LOST as error:
            self._note("was not acknowledged", error)

    async def open(self, form: Form) -> None:
        """Show a form as the first response."""
        try:
            await self.of.response.send_modal(_Opened(form))
            self.acknowledged = True
        except LOST as error:
            self._note("got no form", error)

    async def tell(self, notice: Notice) -> None:
        """Say something to this person alone."""
        view = squeezed(notice_view(notice), self._limits, render.measure)
        body = render.message(view)
        flags = body.get("flags")
        body["flags"] = (flags if isinstance(flags, int) else 0) | render.EPHEMERAL
        names: dict[str, str | int] = {"webhook_id": self.of.application_id, "webhook_token": self.of.token}
        try:
            if self.thinking:
                self.thinking = False
                await self._instead(body, notice.text, names)
            elif self.acknowledged:
                await self._calls.raw("POST", WEBHOOK, body, **names)
            elif not self.of.response.is_done():
                await self.of.response.send_message(notice.text, ephemeral=True, suppress_embeds=True)
                self.acknowledged = True
        except LOST as error:
            self._note("was not told", error)

    async def _instead(self, body: dict[str, Json], text: str, names: dict[str, str | int]) -> None:
        """Put words in the place of "thinking"; if they are refused the bare words: the first follow-up goes there."""
        try:
            await self._calls.raw("PATCH", ORIGINAL, body, **names)
        except LOST as error:
            if isinstance(error, discord.HTTPException) and error.code in HARMLESS:
                raise
            self._note("kept thinking", error)
            plain: dict[str, Json] = {"content": clip(render.escaped(text), PLAIN), "allowed_mentions": {"parse": []}}
            await self._calls.raw("POST", WEBHOOK, {**plain, "flags": render.EPHEMERAL | render.NO_PREVIEWS}, **names)

    async def choices(self, found: list[tuple[str, str]]) -> None:
        """Offer what can stand there."""
        try:
            offered = [app_commands.Choice(name=words[:100], value=id[:100]) for id, words in found[:25]]
            await self.of.response.autocomplete(offered)
        except LOST as error:
            self._note("got no completion", error)

    def _note(self, what: str, error: Exception) -> None:
        code = error.code if isinstance(error, discord.HTTPException) else 0
        level = logging.DEBUG if code in HARMLESS else logging.WARNING
        _log.log(level, "an interaction %s: %s (%s)", what, type(error).__name__, code)


class _Opened(discord.ui.Modal):
    """A modal that the library sends and does not remember: what is filled in is read from the raw data."""

    def __init__(self, form: Form) -> None:
        self._payload = modals.modal(form)
        super().__init__(title=str(self._payload["title"]), custom_id=form.payload, timeout=None)
        self.stop()

    def to_dict(self) -> dict[str, object]:
        return dict(self._payload)


async def bring(
    desk: Desk, calls: Calls, interaction: discord.Interaction, found: Act, limits: Limits, settings: Settings
) -> None:
    """Bring an interaction to the desk."""
    answering = Answering(calls, interaction, limits)
    place = parse.place(interaction.channel, interaction.channel_id or 0)
    who, key = parse.person(interaction.user), f"i{interaction.id}"
    try:
        match found:
            case Pressed(payload) if opens_form(payload):
                await _open(desk, answering, place, payload, who, key)
            case Pressed(payload):
                await answering.defer()
                await _told(answering, await desk.decide(place, _message(interaction), payload, who, key=key))
            case Filled(payload, values, _) if payload == commands.PAIR:
                await answering.defer(thinking=True)
                await answering.tell(await desk.link(place, who, next(iter(values.get("code", ())), "")))
            case Filled(payload, values, uploads):
                await answering.defer()
                wanted = uploads.values() if await _counts(desk, interaction, place, payload, who, uploads) else ()
                taken = await attached.take(desk, calls, place, wanted, who, settings, limits)
                given = attached.filled(values, uploads, taken)
                if taken.refused:
                    await answering.tell(Notice(text="\n".join(taken.refused), alert=True))
                if given or not taken.refused:
                    told = await desk.decide(place, _message(interaction), payload, who, key=key, values=given)
                    await _told(answering, told)
            case Typing(command, typed):
                await _complete(desk, answering, place, command, typed, who)
            case OnMessage(_, message):
                await answering.defer(thinking=True)
                direct = interaction.guild_id is None
                await answering.tell(await _cancel(desk, place, message, who, key, direct=direct))
            case Command(commands.PAIR, _):
                await _pair(desk, answering, place, who)
            case Command(commands.ASK, options):
                await answering.defer(thinking=True)
                await answering.tell(await starting.ask(desk, calls, interaction, place, options.get("text", ""), who))
            case Command(name, options):
                await answering.defer(thinking=True)
                argument = commands.argument(name, options)
                await answering.tell(await desk.command(place, name, argument, who, key=key))
    except StoreError as lost:
        _log.warning("an interaction of %s was not stored: %s", who.id, lost)
        await answering.tell(NOT_STORED)
    except discord.HTTPException as error:
        no = refused(error)
        await answering.tell(Notice(text=f"{no.reason}." if isinstance(no, Refused) else FAILED, alert=True))
    except Exception:  # noqa: BLE001  # the edge of an interaction: whoever waits for its end must hear of it
        _log.exception("an interaction of %s failed", who.id)
        await answering.tell(Notice(text=FAILED, alert=True))


def _message(interaction: discord.Interaction) -> str | None:
    """The message on which something was pressed, if it was on one."""
    return str(interaction.message.id) if interaction.message is not None else None


async def _counts(
    desk: Desk, interaction: discord.Interaction, place: str, payload: str, who: Person, uploads: Mapping[str, Upload]
) -> bool:
    """Tell whether files in a form are of somebody who may answer it."""
    of, private = read(payload), interaction.guild_id is None
    return not uploads or await desk.finds.may_hand(place, who, private=private, of=of.id if of is not None else None)


async def _told(answering: Answering, notice: Notice) -> None:
    """Say what came of it, unless the card says it itself."""
    if not notice.seen and not notice.pending:
        await answering.tell(notice)


async def _open(desk: Desk, answering: Answering, place: str, payload: str, who: Person, key: str) -> None:
    """Open a form; where nobody could say in time what it asks, one that only asks for a text."""
    notice = await desk.press(place, _message(answering.of), payload, who, key=key)
    press = read(payload)
    if notice.form is not None:
        await answering.open(notice.form)
    elif notice.pending and press is not None and press.verb == "text":
        await answering.open(plain(press.id))
    else:
        await answering.tell(
            notice if not notice.pending else Notice(text="Sayso is slow just now: press again.", alert=True)
        )


async def _pair(desk: Desk, answering: Answering, place: str, who: Person) -> None:
    """Show a stranger their code; let somebody who is known enter the code of another account."""
    linking = asyncio.ensure_future(desk.link(place, who, None))
    try:
        in_time, _ = await asyncio.wait((linking,), timeout=IN_TIME)
        if not in_time:
            await answering.defer(thinking=True)
        notice = await linking
    finally:
        linking.cancel()
    if notice.form is None:
        await answering.tell(notice)
    elif in_time:
        await answering.open(notice.form)
    else:
        await answering.tell(SLOW_PAIR)


async def _complete(desk: Desk, answering: Answering, place: str, command: str, typed: str, who: Person) -> None:
    found = await desk.finds.ids(place, command, who)
    wanted = typed.casefold().strip()
    await answering.choices([one for one in found if wanted in one[1].casefold() or wanted in one[0]])


async def _cancel(desk: Desk, place: str, message: str, who: Person, key: str, *, direct: bool) -> Notice:
    """Cancel the run whose card this is, or whose thread began with this message; direct: there are no threads."""
    run = await desk.finds.run_of(place, message)
    if run is None and direct:
        return NO_CARD
    where = place if run is not None or "." in place else f"{place}.{message}"
    return await desk.command(where, "cancel", run or "", who, key=key)
