"""How things look on the wire: complete objects, because discord.py stops on less."""

from __future__ import annotations

from datetime import UTC, datetime

from tests.standins.discord.components import walked
from tests.standins.discord.shapes import Json, Obj, text
from tests.standins.discord.world import EVERYTHING, Attachment, Channel, Guild, Interaction, Message, Role, User, World


def moment(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat()


def user(one: User) -> dict[str, Json]:
    return {
        "id": one.id,
        "username": one.name,
        "global_name": None if one.bot else one.name.title(),
        "discriminator": "0000",
        "avatar": None,
        "bot": one.bot,
        "public_flags": 0,
        "flags": 0,
    }


def me(one: User) -> Obj:
    return {**user(one), "mfa_enabled": True, "verified": True, "locale": "en-US", "email": None, "premium_type": 0}


def application(world: World) -> Obj:
    portal = world.portal
    flags = (portal.presences and 1 << 12) | (portal.members and 1 << 14) | (portal.message_content and 1 << 18)
    return {
        "id": world.bot.id,
        "name": world.bot.name,
        "icon": None,
        "description": "",
        "bot_public": False,
        "bot_require_code_grant": False,
        "owner": user(next(iter(world.users.values()))),
        "verify_key": "00" * 32,
        "flags": int(flags),
        "team": None,
        "interactions_endpoint_url": None,
        "approximate_guild_count": len(world.guilds),
    }


def role(one: Role, position: int) -> Obj:
    return {
        "id": one.id,
        "name": one.name,
        "permissions": str(one.permissions),
        "position": position,
        "color": 0,
        "colors": {"primary_color": 0, "secondary_color": None, "tertiary_color": None},
        "hoist": False,
        "managed": False,
        "mentionable": True,
        "flags": 0,
    }


def member(guild: Guild, one: User, *, whole: bool = True) -> dict[str, Json]:
    made: dict[str, Json] = {
        "roles": [each.id for each in guild.members.get(one.id, [])],
        "joined_at": moment(guild.joined),
        "nick": None,
        "avatar": None,
        "premium_since": None,
        "deaf": False,
        "mute": False,
        "pending": False,
        "flags": 0,
        "communication_disabled_until": None,
    }
    return {"user": user(one), **made} if whole else made


def channel(world: World, one: Channel) -> dict[str, Json]:
    last = max(one.messages, key=int, default=None)
    made: dict[str, Json] = {"id": one.id, "type": one.type, "last_message_id": last, "flags": 0}
    if one.is_dm:
        return {**made, "recipients": [user(each) for each in one.people]}
    assert one.guild is not None
    made |= {"guild_id": one.guild.id, "name": one.name, "rate_limit_per_user": 0}
    if one.is_thread:
        assert one.parent is not None
        assert one.owner is not None
        archive = one.archive
        made |= {
            "parent_id": one.parent.id,
            "owner_id": one.owner.id,
            "message_count": len(one.seen),
            "total_message_sent": len(one.messages),
            "member_count": len(one.people),
            "thread_metadata": {
                "archived": archive.archived,
                "locked": archive.locked,
                "auto_archive_duration": archive.minutes,
                "archive_timestamp": moment(archive.at),
                "create_timestamp": moment(world.now),
            },
        }
        if world.bot in one.people:
            made["member"] = thread_member(world, one, world.bot)
        return made
    overwrites: list[Json] = [
        {"id": id, "type": int(id in one.guild.members), "allow": "0", "deny": str(bits)}
        for id, bits in one.denied.items()
    ]
    place = [each.id for each in world.channels.values() if each.guild is one.guild].index(one.id)
    made |= {"position": place, "permission_overwrites": overwrites, "nsfw": False, "parent_id": None, "topic": None}
    return made


def thread_member(world: World, thread: Channel, one: User) -> Obj:
    return {"id": thread.id, "user_id": one.id, "join_timestamp": moment(world.now), "flags": 0}


def guild(world: World, one: Guild, *, live: bool = False) -> dict[str, Json]:
    """A guild; live: as GUILD_CREATE has it, with channels and the members the bot is told of."""
    made: dict[str, Json] = {
        "id": one.id,
        "name": one.name,
        "owner_id": one.owner.id,
        "icon": None,
        "splash": None,
        "discovery_splash": None,
        "description": None,
        "banner": None,
        "afk_channel_id": None,
        "afk_timeout": 300,
        "verification_level": 0,
        "default_message_notifications": 0,
        "explicit_content_filter": 0,
        "mfa_level": 0,
        "nsfw_level": 0,
        "premium_tier": 0,
        "premium_progress_bar_enabled": False,
        "preferred_locale": "en-US",
        "system_channel_id": None,
        "system_channel_flags": 0,
        "rules_channel_id": None,
        "public_updates_channel_id": None,
        "safety_alerts_channel_id": None,
        "vanity_url_code": None,
        "application_id": None,
        "features": [],
        "emojis": [],
        "stickers": [],
        "roles": [role(each, place) for place, each in enumerate(one.roles)],
    }
    if not live:
        return made
    places = [each for each in world.channels.values() if each.guild is one and not each.gone]
    return made | {
        "joined_at": moment(one.joined),
        "large": False,
        "unavailable": False,
        "member_count": len(one.members),
        "members": [member(one, world.bot)],
        "channels": [channel(world, each) for each in places if not each.is_thread],
        "threads": [channel(world, each) for each in places if each.is_thread and not each.archive.archived],
        "presences": [],
        "voice_states": [],
        "stage_instances": [],
        "guild_scheduled_events": [],
        "soundboard_sounds": [],
    }


def attachment(one: Attachment) -> Obj:
    return {
        "id": one.id,
        "filename": one.name,
        "size": len(one.content),
        "url": one.url,
        "proxy_url": one.url,
        "content_type": one.kind,
    }


def message(world: World, one: Message, *, live: bool = False, bare: bool = False) -> dict[str, Json]:
    """A message; live: as the gateway has it. bare: as somebody without the content intent gets it."""
    made: dict[str, Json] = {
        "id": one.id,
        "channel_id": one.channel.id,
        "author": user(one.author),
        "content": "" if bare else one.content,
        "timestamp": moment(one.created),
        "edited_timestamp": None if one.edited is None else moment(one.edited),
        "tts": False,
        "mention_everyone": one.everyone,
        "mentions": [user(each) for each in one.mentions],
        "mention_roles": [each.id for each in one.roles],
        "attachments": [] if bare else [attachment(each) for each in one.attachments],
        "embeds": [] if bare else one.embeds,
        "components": [] if bare else [_served(each, one) for each in one.components],
        "pinned": False,
        "type": 19 if one.reply_to else 0,
        "flags": one.flags,
    }
    if one.nonce is not None:
        made["nonce"] = one.nonce
    if one.author is world.bot:
        made["application_id"] = world.bot.id
    if one.cause is not None:
        made["type"] = 20 if one.cause.kind == 2 else made["type"]
        made["webhook_id"] = world.bot.id
        kind = {"id": one.cause.id, "type": one.cause.kind, "user": user(one.cause.person)}
        made["interaction_metadata"] = {**kind, "authorizing_integration_owners": {}}
    if one.reply_to is not None:
        made["message_reference"] = {"type": 0, "message_id": one.reply_to.id, "channel_id": one.channel.id}
        made["referenced_message"] = None if one.reply_to.gone else message(world, one.reply_to)
    if one.thread is not None:
        made["thread"] = channel(world, one.thread)
    if one.reactions:
        made["reactions"] = [_reaction(each) for each in one.reactions]
    home = one.channel.guild
    if live and home is not None:
        made |= {"guild_id": home.id, "member": member(home, one.author, whole=False)}
    return made


def _reaction(emoji: str) -> Json:
    details: Obj = {"burst": 0, "normal": 1}
    named: Obj = {"id": None, "name": emoji}
    return {"emoji": named, "count": 1, "count_details": details, "me": True, "me_burst": False, "burst_colors": []}


def _served(component: Obj, one: Message) -> Obj:
    """A component with real addresses where it names an attachment."""
    files = {f"attachment://{each.name}": each.url for each in one.attachments}
    if not files or not any(text(each, "url") in files for part in walked([component]) for each in _media(part)):
        return component
    return {key: _address(value, files) for key, value in component.items()}


def _media(component: Obj) -> list[Obj]:
    return [each for each in component.values() if isinstance(each, dict)]


def _address(value: Json, files: dict[str, str]) -> Json:
    if isinstance(value, dict):
        return {key: _address(each, files) for key, each in value.items()}
    if isinstance(value, list):
        return [_address(each, files) for each in value]
    return files.get(value, value) if isinstance(value, str) else value


def interaction(world: World, one: Interaction, content: Obj) -> Obj:
    """An INTERACTION_CREATE. content: its `data`."""
    place, home = one.channel, one.channel.guild
    made: dict[str, Json] = {
        "id": one.id,
        "application_id": world.bot.id,
        "type": one.kind,
        "data": content,
        "token": one.token,
        "version": 1,
        "channel_id": place.id,
        "channel": {**channel(world, place), "permissions": str(world.permissions(place, one.person))},
        "app_permissions": str(world.permissions(place, world.bot) or EVERYTHING),
        "locale": "en-US",
        "entitlements": [],
        "authorizing_integration_owners": {"0": home.id if home else "0"},
        "context": 0 if home else 1,
        "attachment_size_limit": 10 << 20,
    }
    if one.message is not None:
        made["message"] = message(world, one.message)
    if home is None:
        return made | {"user": user(one.person)}
    who = {**member(home, one.person), "permissions": str(world.permissions(place, one.person))}
    about: Obj = {"id": home.id, "locale": "en-US", "features": []}
    return made | {"guild_id": home.id, "guild": about, "guild_locale": "en-US", "member": who}
