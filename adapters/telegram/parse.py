"""A Telegram update as what a person did: wrote, pressed, edited, stopped, moved the chat. Pure.

In groups only what is meant for the bot counts: a mention, a reply to it, a command; other lines are what people said
among themselves. Positions in texts are UTF-16 units; one that reaches beyond its text is ignored.
Source: C11, C38, C54, C61, C63.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias, TypeGuard

from telegram import Message, MessageEntity, Update, User
from telegram.constants import ChatType

from adapters.telegram.place import origin, person
from core.life.commands import COMMANDS
from core.model import Person

ANONYMOUS: Final = 1087968824
"""The account as which Telegram shows administrators that hide behind their group."""
ABC: Final = re.compile(r"[^\W_]")


@dataclass(frozen=True, slots=True)
class Attached:
    """A file of a message, still on the server. size: bytes, 0 when unknown."""

    file: str
    name: str
    type: str
    size: int


@dataclass(frozen=True, slots=True)
class Wrote:
    """A person wrote to the bot. album: its parts share this name."""

    place: str
    message: str
    text: str
    person: Person
    reply_to: str | None = None
    files: tuple[Attached, ...] = ()
    album: str | None = None
    odd: bool = False


@dataclass(frozen=True, slots=True)
class Overheard:
    """People of a group spoke among themselves."""

    place: str
    name: str
    text: str


@dataclass(frozen=True, slots=True)
class Edited:
    """A person edited what they wrote to the bot."""

    place: str
    message: str
    text: str
    person: Person


@dataclass(frozen=True, slots=True)
class Pressed:
    """A person pressed a button. query: to be acknowledged, once."""

    place: str
    message: str
    payload: str
    person: Person
    query: str


@dataclass(frozen=True, slots=True)
class Stopped:
    """A person pressed the Stop of what is being written to them."""

    place: str
    person: Person


@dataclass(frozen=True, slots=True)
class Moved:
    """A group has a new id."""

    old: str
    new: str


@dataclass(frozen=True, slots=True)
class Hidden:
    """Somebody wrote to the bot who hides behind the group: nobody knows whom to ask for rights."""

    place: str
    message: str


Deed: TypeAlias = Wrote | Overheard | Edited | Pressed | Stopped | Moved | Hidden


@dataclass(frozen=True, slots=True)
class Me:
    """The bot as people address it."""

    id: int
    username: str


@dataclass(frozen=True, slots=True)
class Query:
    """As much of a press as is needed to acknowledge it, and to wait for its turn. chat: 0 where none is named."""

    id: str
    chat: int


def query_in(raw: Mapping[str, object]) -> Query | None:
    """Tell whether an update is a press, at a glance."""
    query = raw.get("callback_query")
    id = query.get("id") if _mapping(query) else None
    if not _mapping(query) or not isinstance(id, str):
        return None
    message = query.get("message")
    chat = message.get("chat") if _mapping(message) else None
    at = chat.get("id") if _mapping(chat) else None
    return Query(id, at if isinstance(at, int) else 0)


def parsed(update: Update, me: Me) -> Deed | None:
    """Tell what a person did; None for what concerns nobody."""
    if update.callback_query is not None:
        return _pressed(update)
    if update.message is not None:
        return _message(update.message, me)
    if update.edited_message is not None:
        found = _message(update.edited_message, me)
        return Edited(found.place, found.message, found.text, found.person) if _worded(found) else None
    stopped: object = (update.api_kwargs or {}).get("stopped_message_generation")
    return _stopped(stopped) if stopped is not None else None


def _worded(found: Deed | None) -> TypeGuard[Wrote]:
    return isinstance(found, Wrote) and bool(found.text)


def _pressed(update: Update) -> Pressed | None:
    query = update.callback_query
    if query is None or query.message is None or query.data is None:
        return None
    message = query.message
    thread = message.message_thread_id if isinstance(message, Message) and message.is_topic_message else None
    place = origin(message.chat.id, thread)
    return Pressed(place, str(message.message_id), query.data, _who(query.from_user), query.id)


def _stopped(found: object) -> Stopped | None:
    chat = found.get("chat") if _mapping(found) else None
    id = chat.get("id") if _mapping(chat) else None
    thread = found.get("message_thread_id") if _mapping(found) else None
    if not isinstance(id, int) or id <= 0:
        return None
    first = chat.get("first_name") if _mapping(chat) else None
    name = first if isinstance(first, str) else ""
    return Stopped(origin(id, thread if isinstance(thread, int) else None), Person(id=person(id), name=name))


def _mapping(found: object) -> TypeGuard[dict[str, object]]:
    return isinstance(found, dict)


# ── messages ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def _message(message: Message, me: Me) -> Deed | None:
    chat = message.chat
    if message.migrate_to_chat_id:
        return Moved(origin(chat.id), origin(message.migrate_to_chat_id))
    if chat.type == ChatType.CHANNEL:
        return None
    place = origin(chat.id, _thread(message))
    raw = message.text if message.text is not None else message.caption or ""
    files = _files(message)
    odd = not raw and not files
    if odd and not _has_content(message):
        return None
    private = chat.type == ChatType.PRIVATE
    text, meant = (raw, True) if private else addressed(raw, message.entities or message.caption_entities, me)
    target = _target(message)
    to_us = target is not None and target.from_user is not None and target.from_user.id == me.id
    author = message.from_user
    if not meant and not to_us:
        by = author.full_name if author is not None and not _hidden(message) else chat.title or "somebody"
        return Overheard(place, by, raw) if raw and not _is_robot(message) else None
    if _hidden(message):
        return Hidden(place, str(message.message_id))
    if author is None or author.is_bot:
        return None
    reply_to = str(target.message_id) if target is not None and to_us else None
    album = message.media_group_id
    return Wrote(place, str(message.message_id), text, _who(author), reply_to, files, album, odd)


def _thread(message: Message) -> int | None:
    """The topic of a message; a chain of replies outside of forums has a number too, which is none."""
    if message.is_topic_message:
        return message.message_thread_id
    above = message.reply_to_message
    if message.chat.is_forum and above is not None and above.is_topic_message:
        return above.message_thread_id
    return None


def _target(message: Message) -> Message | None:
    """What a message replies to; in a topic each message replies to the topic's beginning, which means nothing."""
    above = message.reply_to_message
    if above is None or above.forum_topic_created is not None:
        return None
    return None if message.is_topic_message and above.message_id == message.message_thread_id else above


def _hidden(message: Message) -> bool:
    return message.sender_chat is not None or (message.from_user is not None and message.from_user.id == ANONYMOUS)


def _is_robot(message: Message) -> bool:
    return message.from_user is not None and message.from_user.is_bot and not _hidden(message)


def _who(user: User) -> Person:
    return Person(id=person(user.id), name=user.full_name)


def _has_content(message: Message) -> bool:
    """Whether a person meant to say something by it: service messages say nothing."""
    kinds = (message.sticker, message.location, message.contact, message.poll, message.venue, message.dice)
    return any(one is not None for one in (*kinds, message.story, message.game))


def _files(message: Message) -> tuple[Attached, ...]:
    number = message.message_id
    if message.photo:
        best = max(message.photo, key=lambda one: one.width * one.height)
        return (Attached(best.file_id, f"photo-{number}.jpg", "image/jpeg", best.file_size or 0),)
    if message.voice is not None:
        one = message.voice
        return (Attached(one.file_id, f"voice-{number}.ogg", one.mime_type or "audio/ogg", one.file_size or 0),)
    note = message.video_note
    if note is not None:
        return (Attached(note.file_id, f"video-{number}.mp4", "video/mp4", note.file_size or 0),)
    named = message.animation or message.document or message.audio or message.video
    if named is None:
        return ()
    kind = named.mime_type or "application/octet-stream"
    return (Attached(named.file_id, named.file_name or f"file-{number}", kind, named.file_size or 0),)


# ── what is meant for the bot ────────────────────────────────────────────────────────────────────────────────────────


def addressed(text: str, entities: Sequence[MessageEntity], me: Me) -> tuple[str, bool]:
    """Take the bot's name out of a text; tells whether it was meant for the bot by it.

    A command counts when it begins the text (emoji and the bot's name may stand before it), and names this bot or none.
    """
    units = text.encode("utf-16-le", "surrogatepass")
    name = f"@{me.username}".casefold()
    meant = False
    command: int | None = None
    cut: list[tuple[int, int]] = []
    for entity in sorted(entities, key=lambda one: one.offset):
        begin, end = entity.offset * 2, (entity.offset + entity.length) * 2
        if entity.offset < 0 or entity.length <= 0 or end > len(units):
            continue
        words = units[begin:end].decode("utf-16-le", "replace")
        by_id = entity.type == "text_mention" and entity.user is not None and entity.user.id == me.id
        if by_id or (entity.type == "mention" and words.casefold() == name):
            cut.append((begin, end))
            meant = True
        elif entity.type == "bot_command":
            verb, at, whom = words.partition("@")
            ours = f"@{whom}".casefold() == name if at else verb[1:].casefold() in COMMANDS
            if not ours:
                continue
            meant = True
            if at:
                cut.append((begin + len(verb.encode("utf-16-le")), end))
            if command is None and not ABC.search(_without(units[:begin], cut)):
                command = begin
    kept = units if command is None else units[command:]
    spans = [(a - (command or 0), b - (command or 0)) for a, b in cut if command is None or a >= command]
    return _without(kept, spans).strip(" ,:\n\t") if cut or command else text, meant


def _without(units: bytes, spans: list[tuple[int, int]]) -> str:
    """A text without some spans of it, and without the gaps that they leave."""
    parts: list[str] = []
    at = 0
    for begin, end in spans:
        if begin < at or end > len(units):
            continue
        parts.append(units[at:begin].decode("utf-16-le", "replace"))
        at = end
    parts.append(units[at:].decode("utf-16-le", "replace"))
    text = parts[0]
    for part in parts[1:]:
        text = text.rstrip(" ") + part if not part or part[0] in " ,:;.!?" else text + part
    return text
