"""What Discord says, as what it means to us: where it was, who it was, what they did. Pure.

Reads the objects of the library, and the raw data of interactions, so that a press or a form of before a restart is
as good as any other. Source: PLATFORMS sections 4.1, 4.4.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import discord
from pydantic import TypeAdapter

from adapters.discord.attached import Upload
from adapters.discord.modals import values
from adapters.discord.places import place_of
from core.model import Json, Person

DATA: TypeAdapter[dict[str, Json]] = TypeAdapter(dict[str, Json])
MEMBERSHIP = ("GUILD_MEMBER_UPDATE", "GUILD_MEMBER_REMOVE")
TEXTS = frozenset({discord.MessageType.default, discord.MessageType.reply})


@dataclass(frozen=True, slots=True)
class Pressed:
    """A button was pressed, or one line of a menu picked; `payload` is what it carries."""

    payload: str


@dataclass(frozen=True, slots=True)
class Filled:
    """A form was sent, or several lines of a menu were picked. uploads: the files in it, by the ids in its values."""

    payload: str
    values: Mapping[str, tuple[str, ...]]
    uploads: Mapping[str, Upload] = field(default_factory=dict[str, Upload])


@dataclass(frozen=True, slots=True)
class Command:
    """A slash command. options: by name, as text."""

    name: str
    options: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class OnMessage:
    """A command was chosen on a message."""

    name: str
    message: str


@dataclass(frozen=True, slots=True)
class Typing:
    """A person types an option of a command, and wants to know what can stand there."""

    command: str
    typed: str


Act = Pressed | Filled | Command | OnMessage | Typing
Kind = Literal[2, 3, 4, 5]


def act(kind: int, data: Mapping[str, object]) -> Act | None:
    """Read the data of an interaction; None for what is nothing to us."""
    found = DATA.validate_python(dict(data))
    match kind:
        case 2:
            return _command(found)
        case 3:
            return _pressed(found)
        case 4:
            options = _options(found)
            typed = next((_text(one) for one in _list(found, "options") if _dict(one).get("focused")), "")
            return Typing(str(found.get("name", "")), typed or next(iter(options.values()), ""))
        case 5:
            return Filled(str(found.get("custom_id", "")), values(_list(found, "components")), _uploads(found))
        case _:
            return None


def _command(data: dict[str, Json]) -> Act | None:
    name = str(data.get("name", ""))
    match data.get("type"):
        case 1 | None:
            return Command(name, _options(data))
        case 3:
            return OnMessage(name, str(data.get("target_id", "")))
        case _:
            return None


def _pressed(data: dict[str, Json]) -> Act:
    name = str(data.get("custom_id", ""))
    picked = tuple(str(one) for one in _list(data, "values"))
    if data.get("component_type") == 2:
        return Pressed(name)
    if name.startswith("menu:"):
        return Pressed(picked[0] if picked else "")
    return Filled(name, {"": picked})


def _uploads(data: dict[str, Json]) -> dict[str, Upload]:
    sent = _dict(_dict(data.get("resolved")).get("attachments"))
    return {id: Upload.model_validate(one) for id, one in sent.items()}


def _options(data: dict[str, Json]) -> dict[str, str]:
    return {str(_dict(one).get("name", "")): _text(one) for one in _list(data, "options")}


def _text(option: Json) -> str:
    return str(_dict(option).get("value", ""))


def _list(data: dict[str, Json], name: str) -> list[Json]:
    found = data.get(name)
    return found if isinstance(found, list) else []


def _dict(value: Json) -> dict[str, Json]:
    return value if isinstance(value, dict) else {}


# ── where and who ────────────────────────────────────────────────────────────────────────────────────────────────────


def person(user: discord.abc.User) -> Person:
    """Who somebody is, as Discord has authenticated them."""
    return Person(id=f"dc:{user.id}", name=user.display_name)


def roles(user: object) -> tuple[str, ...]:
    """The roles that somebody has in the server where something happened."""
    return tuple(str(role.id) for role in user.roles) if isinstance(user, discord.Member) else ()


@dataclass(frozen=True, slots=True)
class Membership:
    """What somebody is in a server from now on. roles: their ids, none of who left."""

    server: int
    person: Person
    roles: tuple[str, ...]


def membership(frame: str) -> Membership | None:
    """Read a frame of the gateway that tells of somebody's roles; None for all others."""
    if not any(f'"{name}"' in frame for name in MEMBERSHIP):
        return None
    told = DATA.validate_json(frame)
    content = _dict(told.get("d"))
    user, server = _dict(content.get("user")), str(content.get("guild_id", ""))
    if told.get("t") not in MEMBERSHIP or not server.isdecimal():
        return None
    roles = tuple(str(role) for role in _list(content, "roles")) if told.get("t") == MEMBERSHIP[0] else ()
    return Membership(int(server), Person(id=f"dc:{user.get('id', '')}"), roles)


def place(channel: object, id: int) -> str:
    """Where something happened. id: of the channel, when nothing else is known of it."""
    if isinstance(channel, discord.Thread):
        return place_of(channel.parent_id, channel.id)
    return place_of(id)


# ── messages ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def is_text(message: discord.Message) -> bool:
    """Whether a message is something a person wrote."""
    return message.type in TEXTS and not message.author.bot and message.webhook_id is None


def replies_to(message: discord.Message) -> str | None:
    """The message that one replies to."""
    reference = message.reference
    if message.type is not discord.MessageType.reply or reference is None or reference.message_id is None:
        return None
    return str(reference.message_id)


def is_for(message: discord.Message, me: int) -> bool:
    """Whether a message in a server is meant for the bot: a mention, a reply to it, or what is said in its thread."""
    if any(user.id == me for user in message.mentions):
        return True
    resolved = message.reference.resolved if message.reference is not None else None
    if isinstance(resolved, discord.Message) and resolved.author.id == me:
        return True
    return isinstance(message.channel, discord.Thread) and message.channel.owner_id == me


def words(content: str, me: int) -> str:
    """What was written, without the mention of the bot."""
    return re.sub(rf"<@!?{me}>", "", content).strip()
