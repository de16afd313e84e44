"""Writing, editing and deleting messages: the rules that hold whichever route is taken.

Source: Discord developer pages "Messages Resource", "Threads", "Permissions".
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from urllib.parse import quote

from tests.standins.discord import telling
from tests.standins.discord.components import check_message, numbered
from tests.standins.discord.refusals import Refusal, bad_form
from tests.standins.discord.shapes import Json, Obj, listed, number, section, snowflake, snowflakes, text, words
from tests.standins.discord.world import (
    EPHEMERAL,
    V2,
    Attachment,
    Channel,
    Interaction,
    Message,
    Permission,
    User,
    World,
)

MOST_CONTENT = 2000
MOST_FILES = 10
BIGGEST_FILE = 10 << 20
BIGGEST_CALL = 25 << 20
NONCE_LIVES = 300.0
"""Seconds in which a nonce under `enforce_nonce` finds the message it made."""
SETTABLE = EPHEMERAL | V2 | 1 << 2 | 1 << 12
Upload = tuple[str, str, bytes]
"""A file of a multipart call: its field's number, its name, its content."""


def attach(world: World, channel: Channel, uploads: Sequence[Upload]) -> list[Attachment]:
    """Keep files. Raises: `Refusal` 40005, 50035."""
    if len(uploads) > MOST_FILES:
        raise bad_form("attachments", "BASE_TYPE_MAX_LENGTH", f"Must be {MOST_FILES} or fewer in length.")
    sizes = [len(content) for _, _, content in uploads]
    if max(sizes, default=0) > BIGGEST_FILE or sum(sizes) > BIGGEST_CALL:
        raise Refusal(40005)
    made: list[Attachment] = []
    for _, name, content in uploads:
        id = world.snowflake()
        kind = "image/png" if name.endswith(".png") else "text/plain; charset=utf-8"
        url = f"{world.cdn or world.address}/attachments/{channel.id}/{id}/{quote(name, safe='')}"
        made.append(Attachment(id, name, content, kind, url))
        world.attachments[id] = made[-1]
    return made


def check(body: Obj, files: Sequence[Attachment], *, edited: Message | None = None) -> int:
    """Refuse a body that no message can have; return its flags. edited: what it changes."""
    flags = number(body, "flags") & SETTABLE
    if edited is not None:
        flags |= edited.flags & V2
    v2 = bool(flags & V2)
    content = text(body, "content")
    if len(content) > MOST_CONTENT:
        raise bad_form("content", "BASE_TYPE_MAX_LENGTH", f"Must be {MOST_CONTENT} or fewer in length.")
    old = section({}, "") if edited is None else {"content": edited.content, "embeds": edited.embeds}
    legacy = [key for key in ("content", "embeds", "poll", "sticker_ids") if body.get(key, old.get(key))]
    if v2 and legacy:
        code = "MESSAGE_CANNOT_USE_LEGACY_FIELDS_WITH_COMPONENTS_V2"
        raise bad_form(legacy[0], code, f"The {legacy[0]!r} field cannot be used with IS_COMPONENTS_V2")
    check_message(listed(body, "components"), v2=v2, files={one.name for one in files})
    return flags


def write(
    world: World,
    channel: Channel,
    author: User,
    body: Obj,
    files: Sequence[Attachment] = (),
    *,
    only: User | None = None,
    cause: Interaction | None = None,
) -> Message:
    """Make a message and tell of it; the body was found good by Discord's document."""
    flags = check(body, files)
    content, components = text(body, "content"), listed(body, "components")
    if not content.strip() and not components and not files and not listed(body, "embeds"):
        raise Refusal(50006)
    made = Message(world.snowflake(), channel, author, content, numbered(components), created=world.now)
    made.flags, made.attachments, made.only, made.cause = flags, list(files), only, cause
    made.embeds = listed(body, "embeds")
    nonce = body.get("nonce")
    made.nonce = nonce if isinstance(nonce, str | int) else None
    reference = section(body, "message_reference")
    if reference:
        made.reply_to = channel.messages.get(snowflake(reference, "message_id"))
        if made.reply_to is None or made.reply_to.gone:
            if reference.get("fail_if_not_exists") is not False:
                raise bad_form("message_reference", "REPLIES_UNKNOWN_MESSAGE", "Unknown message")
            made.reply_to = None
    read_mentions(world, made, body)
    made.shown.append(made.text)
    channel.messages[made.id] = made
    if channel.is_thread and author not in channel.people and only is None:
        channel.people.append(author)
    telling.message_changed(world, made, "MESSAGE_CREATE")
    return made


def rewrite(world: World, one: Message, body: Obj, files: Sequence[Attachment] = ()) -> None:
    """Change a message; what the body does not name stays."""
    kept = one.attachments
    if "attachments" in body:
        ids = {snowflake(each, "id") for each in listed(body, "attachments")}
        kept = [each for each in kept if each.id in ids]
    flags = check({**body, "flags": number(body, "flags", one.flags)}, [*kept, *files], edited=one)
    one.flags, one.attachments = flags | one.flags & EPHEMERAL, [*kept, *files]
    if "content" in body:
        one.content = text(body, "content")
    if "embeds" in body:
        one.embeds = listed(body, "embeds")
    if "components" in body:
        one.components = numbered(listed(body, "components"))
    if not one.text.strip() and not one.components and not one.attachments and not one.embeds:
        raise Refusal(50006)
    read_mentions(world, one, body)
    one.edited = world.now
    one.shown.append(one.text)
    telling.message_changed(world, one, "MESSAGE_UPDATE")


def read_mentions(world: World, one: Message, body: Obj) -> None:
    """Whom the text mentions, and whom that rings: what `allowed_mentions` lets through, never on an edit."""
    said, home = one.text, one.channel.guild
    allowed = body.get("allowed_mentions")
    rules: Obj = {"parse": ["users", "roles", "everyone"], "replied_user": True}
    if isinstance(allowed, dict):
        rules = allowed
    parse = set(words(rules, "parse"))
    users = [world.users[id] for id in dict.fromkeys(re.findall(r"<@!?(\d+)>", said)) if id in world.users]
    roles = dict.fromkeys(re.findall(r"<@&(\d+)>", said))
    one.mentions = [user for user in users if "users" in parse or user.id in snowflakes(rules, "users")]
    named = [role for role in (home.roles if home else []) if role.id in roles]
    one.roles = [role for role in named if "roles" in parse or role.id in snowflakes(rules, "roles")]
    loud = world.may(one.channel, one.author, "mention_everyone")
    one.everyone = bool(re.search(r"@(everyone|here)\b", said)) and "everyone" in parse and loud
    replied = one.reply_to
    if replied is not None and rules.get("replied_user") is True and replied.author not in one.mentions:
        one.mentions.append(replied.author)
    if not one.shown and home is not None:
        rung = {user.id for user in one.mentions if user.id in home.members}
        ringing = set(one.roles)
        rung |= {id for id, have in home.members.items() if one.everyone or ringing.intersection(have)}
        one.pinged = rung - {one.author.id}
    elif not one.shown:
        one.pinged = {user.id for user in one.channel.people}


def may_send(world: World, channel: Channel, body: Obj, files: Sequence[Upload]) -> None:
    """Refuse what the bot may not send here; an archived thread that is not locked wakes up."""
    if channel.is_dm:
        if not channel.people[0].open:
            raise Refusal(50007)
        return
    wanted: list[Permission] = ["send_messages_in_threads" if channel.is_thread else "send_messages"]
    if files:
        wanted.append("attach_files")
    world.need(channel, *wanted)
    if section(body, "message_reference") and not world.may(channel, world.bot, "read_message_history"):
        raise Refusal(160002)
    if channel.is_thread and channel.archive.locked and not world.may(channel, world.bot, "manage_threads"):
        raise Refusal(160005)
    if channel.is_thread and channel.archive.archived:
        channel.archive.archived = False
        telling.channel_changed(world, channel, "UPDATE")


def same_nonce(world: World, body: Obj) -> Message | None:
    """The message that the same nonce made within the last minutes, when the body asks for that."""
    nonce = body.get("nonce")
    if body.get("enforce_nonce") is not True or nonce is None:
        return None
    for channel in world.channels.values():
        for one in channel.messages.values():
            if one.author is world.bot and one.nonce == nonce and world.now - one.created < NONCE_LIVES:
                return one
    return None


def erase(world: World, one: Message) -> None:
    one.gone = True
    telling.message_gone(world, one)


def uploads_of(files: dict[str, tuple[str, bytes]]) -> list[Upload]:
    """The files of a multipart call, in the order of their fields `files[n]`."""
    found = [(match[1], name, content) for field, (name, content) in files.items() if (match := _field(field))]
    return sorted(found, key=lambda one: int(one[0]))


def _field(name: str) -> re.Match[str] | None:
    return re.fullmatch(r"files\[(\d+)\]", name)


def forms_of(value: Json) -> Obj:
    return value if isinstance(value, dict) else {}
