"""What people did on Telegram, brought to the desk: in order in each chat, side by side otherwise, each once.

Presses are acknowledged in time, whatever waits before them (`acks.py`); files are fetched from Telegram's own server
before the text that they came with is told; the parts of an album become one text. An update that cannot be digested is
set aside, with its number only, and the rest goes on. It must not know rules, nor how updates come in.
Source: C06, C102, C123, C127.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Final, assert_never

from telegram import Update
from telegram.error import TelegramError

from adapters.desk import NOT_STORED, Desk
from adapters.outcomes import Notice
from adapters.telegram.acks import Acks
from adapters.telegram.connection import Wire
from adapters.telegram.parse import (
    Attached,
    Deed,
    Edited,
    Hidden,
    Me,
    Moved,
    Overheard,
    Pressed,
    Query,
    Stopped,
    Wrote,
    parsed,
    query_in,
)
from adapters.telegram.place import spot
from adapters.telegram.settings import Settings
from core.errors import FileRefused, StoreError
from core.model import Json
from core.trace import emit

_log = logging.getLogger(__name__)
FETCH: Final = 60.0
AT_ONCE: Final = 32
"""presses that are decided at once; more would only stand in each other's way"""
UNREADABLE = Notice(text="This button is not known.", alert=True)
FAILED = Notice(text="That failed on our side; the log says why.", alert=True)
ODD = Notice(text="I can read texts and files, not this kind of message.", alert=True)


@dataclass
class _Album:
    """The parts of an album that came in so far."""

    parts: list[Wrote]
    key: str
    more: asyncio.Event = field(default_factory=asyncio.Event)
    done: asyncio.Future[None] | None = None


class Incoming:
    """Brings updates to the desk. me: the bot."""

    def __init__(self, desk: Desk, bot: Wire, me: Me, settings: Settings, acks: Acks) -> None:
        self._desk = desk
        self._bot = bot
        self._me = me
        self._settings = settings
        self._acks = acks
        self._room = asyncio.Semaphore(AT_ONCE)
        self._chats: dict[int, tuple[asyncio.Lock, int]] = {}
        self._albums: dict[tuple[str, str], _Album] = {}

    def fetched(self, raw: dict[str, Json]) -> None:
        """An update came in and is about to be stored: who pressed a button waits from now on."""
        query = query_in(raw)
        if query is not None:
            self._acks.fetched(query.id)

    async def take(self, raw: dict[str, Json]) -> None:
        """Bring one update to the desk; it took effect when this returns. Raises: `StoreError`."""
        key = f"{self._me.id}.{raw.get('update_id')}"
        query = query_in(raw)
        if query is not None:
            self._acks.stored(query.id)
            await self._pressed(raw, query, key)
            return
        deed = self._parsed(raw, key)
        if deed is None or isinstance(deed, Pressed):
            return
        if isinstance(deed, Wrote) and deed.album is not None:
            await self._album(deed, key)
        else:
            await self._in_order(deed, key)

    def _parsed(self, raw: dict[str, Json], key: str) -> Deed | None:
        try:
            return parsed(Update.de_json(raw, self._bot), self._me)
        except Exception:  # noqa: BLE001  # whatever is in it: an update that no library reads must not stop the others
            self._set_aside(key, "cannot be read")
            return None

    async def _in_order(self, deed: Deed, key: str) -> None:
        place = deed.old if isinstance(deed, Moved) else deed.place
        async with self._turn(spot(place).chat):
            try:
                await self._bring(deed, key)
            except StoreError:
                raise
            except Exception:  # noqa: BLE001  # a bug on the way must not let the same update come for ever
                self._set_aside(key, "failed", exc_info=True)

    def _set_aside(self, key: str, what: str, *, exc_info: bool = False) -> None:
        _log.warning("update %s %s and is set aside", key, what, exc_info=exc_info)
        emit("update.set_aside", key=key)

    @asynccontextmanager
    async def _turn(self, chat: int) -> AsyncGenerator[None]:
        """Wait for everything that came before in a chat."""
        lock, waiting = self._chats.get(chat, (asyncio.Lock(), 0))
        self._chats[chat] = (lock, waiting + 1)
        try:
            async with lock:
                yield
        finally:
            lock, waiting = self._chats[chat]
            if waiting > 1:
                self._chats[chat] = (lock, waiting - 1)
            else:
                del self._chats[chat]

    async def _bring(self, deed: Deed, key: str) -> None:
        match deed:
            case Wrote():
                await self._wrote(deed, key)
            case Edited():
                await self._desk.edit(deed.place, deed.message, deed.text, deed.person, key=key)
            case Stopped():
                await self._desk.command(deed.place, "pause", "", deed.person, key=key)
            case Moved():
                await self._desk.moved(deed.old, deed.new)
            case Hidden():
                await self._desk.unnamed(deed.place, deed.message, key=key)
            case Overheard():
                await self._desk.overheard(deed.place, deed.name, deed.text, key=key)
            case Pressed():
                pass
            case _:
                assert_never(deed)

    # ── presses ──────────────────────────────────────────────────────────────────────────────────────────────────────

    async def _pressed(self, raw: dict[str, Json], query: Query, key: str) -> None:
        """Decide a press when it is its chat's turn. Raises: `StoreError` when somebody heard that it was received."""
        notice = UNREADABLE
        try:
            async with self._turn(query.chat), self._room:
                await self._acks.silence()
                deed = self._parsed(raw, key)
                if isinstance(deed, Pressed):
                    notice = await self._decided(deed, key)
        except StoreError:
            raise
        except Exception:  # noqa: BLE001  # a bug on the way must not let the same update come for ever
            self._set_aside(key, "failed", exc_info=True)
            notice = FAILED
            deed = None
        told = self._acks.decided(query.id, notice)
        if not told and notice.alert and isinstance(deed, Pressed) and spot(deed.place).chat > 0:
            await self._desk.tell(deed.place, deed.message, notice, key=f"{key}.told")

    async def _decided(self, deed: Pressed, key: str) -> Notice:
        notice = await self._desk.decide(deed.place, deed.message, deed.payload, deed.person, key=key)
        if notice is NOT_STORED and self._acks.is_told(deed.query):
            raise StoreError("a press that was said to be received has to be stored")
        return notice

    # ── texts and files ──────────────────────────────────────────────────────────────────────────────────────────────

    async def _album(self, part: Wrote, key: str) -> None:
        """Gather the parts of an album; each returns when the whole was told."""
        name = (part.place, part.album or "")
        album = self._albums.get(name)
        if album is not None and album.done is not None:
            album.parts.append(part)
            album.more.set()
            await asyncio.shield(album.done)
            return
        album = self._albums[name] = _Album([part], key)
        album.done = asyncio.ensure_future(self._whole(name, album))
        await asyncio.shield(album.done)

    async def _whole(self, name: tuple[str, str], album: _Album) -> None:
        try:
            while True:
                album.more.clear()
                async with asyncio.timeout(self._settings.album_gap):
                    await album.more.wait()
        except TimeoutError:
            del self._albums[name]
        parts = sorted(album.parts, key=lambda one: int(one.message))
        text = "\n".join(part.text for part in parts if part.text)
        reply_to = next((part.reply_to for part in parts if part.reply_to is not None), None)
        files = tuple(file for part in parts for file in part.files)
        await self._in_order(replace(parts[0], text=text, files=files, reply_to=reply_to), album.key)

    async def _wrote(self, deed: Wrote, key: str) -> None:
        if deed.odd:
            await self._desk.tell(deed.place, deed.message, ODD, key=key)
            return
        ids: list[str] = []
        refused: list[str] = []
        for file in deed.files if await self._counts(deed) else ():
            try:
                content = self._content(file)
                ids.append(await self._desk.file(deed.place, file.name, content, deed.person, file.type))
            except FileRefused as why:
                refused.append(f"{file.name}: {why}")
        if deed.text or ids or not refused:
            await self._desk.text(
                deed.place, deed.message, deed.text, deed.person, key=key, reply_to=deed.reply_to, files=tuple(ids)
            )
        if refused:
            words = Notice(text="Not taken:\n" + "\n".join(refused), alert=True)
            await self._desk.tell(deed.place, deed.message, words, key=f"{key}.files")

    async def _counts(self, deed: Wrote) -> bool:
        """Tell whether somebody's files can count where they were sent; they are not fetched otherwise."""
        if not deed.files:
            return False
        private, finds = spot(deed.place).chat > 0, self._desk.finds
        return await finds.may_hand(deed.place, deed.person, private=private, reply_to=deed.reply_to)

    async def _content(self, file: Attached) -> AsyncGenerator[bytes]:
        """A file's content, fetched when somebody wants it: of a stranger nobody does."""
        yield await self._fetched(file)

    async def _fetched(self, file: Attached) -> bytes:
        """Fetch a file from Telegram's server. Raises: `FileRefused` with words for the person."""
        most = self._settings.largest_down
        if file.size > most:
            raise FileRefused(f"larger than the {most // (1024 * 1024)} MB that Telegram gives to bots")
        try:
            async with asyncio.timeout(FETCH):
                found = await self._bot.get_file(file.file)
                return bytes(await found.download_as_bytearray())
        except (TelegramError, TimeoutError, OSError) as error:
            _log.warning("a file could not be fetched: %s", type(error).__name__)
            raise FileRefused("Telegram did not give it to me; send it again") from error
