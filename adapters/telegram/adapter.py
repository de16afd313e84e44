"""The connection to Telegram: one bot, the shape of `Platform`.

It sends what the kit draws, and brings in what people do, by asking for updates or by a webhook. Everything else
(rules, order, repeats, repair) is the kit's. Source: C40, C63, C104, C107.
"""

from __future__ import annotations

import asyncio
import hmac
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Final

from telegram import InlineKeyboardMarkup, LinkPreviewOptions, ReplyParameters
from telegram.constants import ChatAction
from telegram.error import BadRequest, TelegramError

from adapters.desk import Desk
from adapters.platform import Finding, Hook, Limits, NotLetIn, Outcome, Refused, Sent, View
from adapters.telegram.acks import Acks
from adapters.telegram.connection import Wire, open_bot, updates_in
from adapters.telegram.incoming import Incoming
from adapters.telegram.letting_in import checked, let_in, watch_hook
from adapters.telegram.outcome import NO_RIGHT, refused
from adapters.telegram.parse import Me
from adapters.telegram.place import PREFIX, Spot, spot
from adapters.telegram.polling import Polling
from adapters.telegram.render import rendered, size
from adapters.telegram.settings import MIB, Settings

_log = logging.getLogger(__name__)
NO_PREVIEW: Final = LinkPreviewOptions(is_disabled=True)
PICTURES: Final = (".jpg", ".jpeg", ".png")
LARGEST_PICTURE: Final = 10 * MIB
HEADER: Final = "x-telegram-bot-api-secret-token"


class Telegram:
    """One bot on Telegram."""

    prefix = PREFIX
    name = "Telegram"

    def __init__(self, settings: Settings) -> None:
        self.limits = Limits(
            text_max=4096,
            payload_max=64,
            label_max=40,
            row_buttons=4,
            card_buttons=60,
            file_max=settings.largest_up,
            take_max=settings.largest_down,
            notice_max=200,
            edit_gap=settings.edit_gap,
            draft_gap=settings.draft_gap,
            takes_secrets=True,
            typing_every=4.0,
            send_timeout=settings.send_timeout,
        )
        self._settings = settings
        self._bot = open_bot(settings)
        self._incoming: Incoming | None = None
        self._polling: Polling | None = None
        self._trouble: str | None = None
        self._mute: dict[str, None] = {}

    # ── receiving ────────────────────────────────────────────────────────────────────────────────────────────────────

    @asynccontextmanager
    async def connect(self, desk: Desk) -> AsyncGenerator[None]:
        """Receive while the context lasts. Raises: `NotLetIn`."""
        bot = self._bot = open_bot(self._settings)
        try:
            me = await let_in(bot, self._settings)
            async with Acks(self._settings, desk.patience) as acks, asyncio.TaskGroup() as group:
                own = Me(me.id, me.username or "")
                self._incoming = incoming = Incoming(desk, bot, own, self._settings, acks)
                if self._settings.hook_url is None:
                    self._polling = Polling(self._settings, incoming.fetched, incoming.take, desk.inbox)
                    task = group.create_task(self._polling.run(), name="telegram updates")
                else:
                    watch = watch_hook(bot, self._settings, self._say)
                    task = group.create_task(watch, name="telegram webhook")
                try:
                    yield
                finally:
                    task.cancel()
        finally:
            self._incoming = self._polling = self._trouble = None
            await bot.close_lines()

    def hook(self) -> Hook | None:
        """Tell how Telegram calls us, where a webhook is wanted."""
        if self._settings.hook_url is None:
            return None
        return Hook(self._settings.hook_path, self._genuine, self._called)

    def _genuine(self, headers: Mapping[str, str]) -> bool:
        return hmac.compare_digest(headers.get(HEADER, "").encode(), self._settings.hook_secret.encode())

    async def _called(self, body: bytes) -> None:
        """Take an update, or a page that was kept before; raises when it was not stored, so that it comes again."""
        if self._incoming is None:
            raise NotLetIn("This process does not hold the bot: Telegram has to try again.")
        for raw in updates_in(body):
            await self._incoming.take(raw)

    def _say(self, trouble: str | None) -> None:
        self._trouble = trouble

    def alive(self) -> bool:
        """Whether updates come in."""
        if self._polling is not None:
            return self._polling.alive()
        return self._incoming is not None and self._trouble is None

    def trouble(self) -> str | None:
        """What is wrong, in one sentence."""
        told = self._polling.trouble if self._polling is not None else self._trouble
        mute = next(iter(self._mute), None)
        return told or (mute and f"The bot may not write in {mute}: give it the right to send messages there.")

    async def check(self) -> tuple[Finding, ...]:
        """Look at token, webhook and rights, without changing a thing."""
        bot = open_bot(self._settings)
        try:
            return await checked(bot, self._settings)
        finally:
            await bot.close_lines()

    # ── places ───────────────────────────────────────────────────────────────────────────────────────────────────────

    def measure(self, view: View) -> int:
        """Count UTF-16 units."""
        return size(view)

    def chat(self, place: str) -> str:
        """Topics of a group share one lane."""
        return place.partition(".")[0]

    def is_private(self, place: str) -> bool:
        """Chats of one person have positive numbers."""
        return spot(place).chat > 0

    # ── sending ──────────────────────────────────────────────────────────────────────────────────────────────────────

    async def post(self, place: str, view: View, *, nonce: str, reply_to: str | None = None) -> Outcome:
        """Send a message."""
        payload = rendered(view)

        async def send(bot: Wire, at: Spot) -> str:
            sent = await bot.send_message(
                at.chat,
                payload.text,
                entities=payload.entities or None,
                reply_markup=payload.keyboard,
                message_thread_id=at.thread,
                link_preview_options=NO_PREVIEW,
                reply_parameters=_replying(reply_to),
            )
            return str(sent.message_id)

        return await self._call(place, send)

    async def edit(self, place: str, message: str, view: View) -> Outcome:
        """Change a message; without buttons in the view it has none."""
        payload = rendered(view, edit=True)
        keyboard = payload.keyboard if isinstance(payload.keyboard, InlineKeyboardMarkup) else None

        async def send(bot: Wire, at: Spot) -> str:
            await bot.edit_message_text(
                payload.text,
                at.chat,
                int(message),
                entities=payload.entities or None,
                reply_markup=keyboard,
                link_preview_options=NO_PREVIEW,
            )
            return message

        return await self._call(place, send)

    async def draft(self, place: str, of: str, view: View) -> Outcome:
        """Show what is being written, with Telegram's own Stop button."""
        payload = rendered(view)
        number = int.from_bytes(of.encode()[-6:], "big") or 1

        async def send(bot: Wire, at: Spot) -> str:
            await bot.send_message_draft(
                at.chat,
                number,
                payload.text,
                message_thread_id=at.thread,
                entities=payload.entities or None,
                api_kwargs={"can_stop": True, "keep_on_stop": True},
            )
            return of

        found = await self._call(place, send)
        return Refused("final", "drafts are not known here") if _unknown_method(found) else found

    async def remove(self, place: str, message: str) -> Outcome:
        """Delete a message."""

        async def send(bot: Wire, at: Spot) -> str:
            await bot.delete_message(at.chat, int(message))
            return message

        return await self._call(place, send)

    async def typing(self, place: str) -> None:
        """Show that something is being written."""
        at = spot(place)
        await self._bot.send_chat_action(at.chat, ChatAction.TYPING, message_thread_id=at.thread)

    async def upload(self, place: str, name: str, content: bytes, *, nonce: str, asks: str | None = None) -> Outcome:
        """Send a file: a picture as one that is seen at once, everything else as it is."""

        async def picture(bot: Wire, at: Spot) -> str:
            sent = await bot.send_photo(at.chat, content, message_thread_id=at.thread, filename=name)
            return str(sent.message_id)

        async def document(bot: Wire, at: Spot) -> str:
            sent = await bot.send_document(
                at.chat, content, message_thread_id=at.thread, filename=name, disable_content_type_detection=True
            )
            return str(sent.message_id)

        if name.casefold().endswith(PICTURES) and len(content) <= LARGEST_PICTURE:
            found = await self._call(place, picture)
            if not isinstance(found, Refused) or found.kind != "final":
                return found
        return await self._call(place, document)

    async def _call(self, place: str, send: Callable[[Wire, Spot], Awaitable[str]]) -> Outcome:
        at = spot(place)
        try:
            sent = Sent(await send(self._bot, at))
            self._mute.pop(place, None)
            return sent
        except TelegramError as error:
            found = refused(error, at.thread)
            if isinstance(found, Refused) and found.reason == NO_RIGHT:
                self._mute[place] = None
            if isinstance(error, BadRequest):
                _log.debug("Telegram refused something at %s: %s", place, error.message)
            return found


def _replying(reply_to: str | None) -> ReplyParameters | None:
    if reply_to is None:
        return None
    return ReplyParameters(int(reply_to), allow_sending_without_reply=True)


def _unknown_method(found: Outcome) -> bool:
    return isinstance(found, Refused) and found.kind == "later" and found.wide
