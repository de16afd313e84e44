"""Routes of users, guilds, channels, threads and messages."""

from __future__ import annotations

from tests.standins.discord import forms, telling, writing
from tests.standins.discord.calls import Call, answers
from tests.standins.discord.refusals import Refusal, bad_form
from tests.standins.discord.shapes import Json, Obj, number, section, snowflake, text
from tests.standins.discord.world import Archive, Channel, Guild, Message, World

CHANNEL = "/channels/{channel_id}"
MESSAGES = f"{CHANNEL}/messages"
MESSAGE = f"{MESSAGES}/{{message_id}}"


# ── who and where ────────────────────────────────────────────────────────────────────────────────────────────────────


@answers("GET /users/@me")
def get_me(world: World, call: Call) -> Json:
    return forms.me(world.bot)


@answers("GET /users/{user_id}")
def get_user(world: World, call: Call) -> Json:
    found = world.users.get(call.params["user_id"])
    if found is None:
        raise Refusal(10013)
    return forms.user(found)


@answers("GET /oauth2/applications/@me", "GET /applications/@me")
def get_application(world: World, call: Call) -> Json:
    return forms.application(world)


@answers("GET /gateway", "GET /gateway/bot")
def get_gateway(world: World, call: Call) -> Json:
    limits: Json = {"total": 1000, "remaining": 999, "reset_after": 86_400_000, "max_concurrency": 1}
    address = world.address.replace("http://", "ws://") + "/gateway"
    return {"url": address, "shards": 1, "session_start_limit": limits}


@answers("POST /users/@me/channels")
def open_dm(world: World, call: Call) -> Json:
    found = world.users.get(snowflake(call.form, "recipient_id"))
    if found is None:
        raise bad_form("recipient_id", "NUMBER_TYPE_COERCE", "unknown user")
    if found.bot:
        raise Refusal(50007)
    return forms.channel(world, world.dm(found))


def the_guild(world: World, call: Call) -> Guild:
    found = world.guilds.get(call.params["guild_id"])
    if found is None:
        raise Refusal(10004)
    if world.bot.id not in found.members:
        raise Refusal(50001)
    return found


@answers("GET /users/@me/guilds")
def get_guilds(world: World, call: Call) -> Json:
    mine = [one for one in world.guilds.values() if world.bot.id in one.members]
    return [
        {**forms.guild(world, one), "owner": False, "permissions": str(world.rights(one, world.bot))} for one in mine
    ]


@answers("GET /guilds/{guild_id}")
def get_guild(world: World, call: Call) -> Json:
    return forms.guild(world, the_guild(world, call))


@answers("GET /guilds/{guild_id}/channels")
def get_channels(world: World, call: Call) -> Json:
    home = the_guild(world, call)
    places = [one for one in world.channels.values() if one.guild is home and not one.gone and not one.is_thread]
    return [forms.channel(world, one) for one in places]


@answers("GET /guilds/{guild_id}/roles")
def get_roles(world: World, call: Call) -> Json:
    return [forms.role(one, place) for place, one in enumerate(the_guild(world, call).roles)]


@answers("GET /guilds/{guild_id}/members")
def get_members(world: World, call: Call) -> Json:
    home = the_guild(world, call)
    if not world.portal.members:
        raise Refusal(50001)
    return [forms.member(home, world.users[id]) for id in home.members][: int(call.query.get("limit", "1"))]


@answers("GET /guilds/{guild_id}/members/{user_id}")
def get_member(world: World, call: Call) -> Json:
    home = the_guild(world, call)
    if call.params["user_id"] not in home.members:
        raise Refusal(10007)
    return forms.member(home, world.users[call.params["user_id"]])


@answers("GET /guilds/{guild_id}/threads/active")
def get_threads(world: World, call: Call) -> Json:
    home = the_guild(world, call)
    every = [one for one in world.channels.values() if one.guild is home and one.is_thread and not one.gone]
    return {"threads": [forms.channel(world, one) for one in every if not one.archive.archived], "members": []}


# ── channels and threads ─────────────────────────────────────────────────────────────────────────────────────────────


def the_channel(world: World, call: Call) -> Channel:
    """The channel of a call. Raises: `Refusal` 10003, 50001."""
    found = world.channel(call.params["channel_id"])
    world.need(found)
    return found


@answers(f"GET {CHANNEL}")
def get_channel(world: World, call: Call) -> Json:
    return forms.channel(world, the_channel(world, call))


@answers(f"PATCH {CHANNEL}")
def change_channel(world: World, call: Call) -> Json:
    """Threads only: archive, lock, rename."""
    one = the_channel(world, call)
    if not one.is_thread:
        raise Refusal(50013) if one.guild else Refusal(50003)
    archived, locked = call.form.get("archived"), call.form.get("locked")
    wakes = archived is False and set(call.form) <= {"archived", "auto_archive_duration"}
    boss = world.may(one, world.bot, "manage_threads")
    if one.archive.locked and not boss:
        raise Refusal(50013)
    if one.archive.archived and archived is not False:
        raise Refusal(50083)
    if not boss and (locked is not None or (not wakes and one.owner is not world.bot)):
        raise Refusal(50013)
    if wakes and not world.may(one, world.bot, "send_messages_in_threads"):
        raise Refusal(50013)
    one.archive.archived = archived if isinstance(archived, bool) else one.archive.archived
    one.archive.locked = locked if isinstance(locked, bool) else one.archive.locked
    one.archive.minutes = number(call.form, "auto_archive_duration", one.archive.minutes)
    one.archive.at = world.now
    one.name = text(call.form, "name", one.name)
    telling.channel_changed(world, one, "UPDATE")
    return forms.channel(world, one)


@answers(f"DELETE {CHANNEL}")
def delete_channel(world: World, call: Call) -> Json:
    one = the_channel(world, call)
    if not one.is_thread or not world.may(one, world.bot, "manage_threads"):
        raise Refusal(50013) if one.guild else Refusal(50003)
    one.gone = True
    telling.channel_changed(world, one, "DELETE")
    return forms.channel(world, one)


@answers(f"POST {CHANNEL}/typing")
def type_here(world: World, call: Call) -> Json:
    one = the_channel(world, call)
    writing.may_send(world, one, {}, [])
    one.typed += 1
    return None


@answers(f"POST {MESSAGE}/threads")
def thread_from_message(world: World, call: Call) -> Json:
    place, root = the_channel(world, call), the_message(world, call)
    if place.is_dm or place.is_thread:
        raise Refusal(50024)
    world.need(place, "create_public_threads")
    if root.thread is not None:
        raise Refusal(160004)
    root.thread = made = _thread(world, call, place, root.id, 11)
    telling.message_changed(world, root, "MESSAGE_UPDATE")
    return forms.channel(world, made)


@answers(f"POST {CHANNEL}/threads")
def thread_without_message(world: World, call: Call) -> Json:
    place = the_channel(world, call)
    if place.is_dm or place.is_thread:
        raise Refusal(50024)
    kind = number(call.form, "type", 12)
    world.need(place, "create_public_threads" if kind == 11 else "create_private_threads")
    return forms.channel(world, _thread(world, call, place, world.snowflake(), kind))


def _thread(world: World, call: Call, place: Channel, id: str, kind: int) -> Channel:
    archive = Archive(minutes=number(call.form, "auto_archive_duration", 4320), at=world.now)
    made = Channel(id, kind, text(call.form, "name"), place.guild, place, [world.bot], world.bot, archive)
    world.channels[id] = made
    telling.channel_changed(world, made, "CREATE")
    return made


@answers(f"GET {CHANNEL}/threads/archived/public")
def archived_threads(world: World, call: Call) -> Json:
    place = the_channel(world, call)
    every = [one for one in world.channels.values() if one.parent is place and one.archive.archived and not one.gone]
    return {"threads": [forms.channel(world, one) for one in every], "members": [], "has_more": False}


@answers(f"PUT {CHANNEL}/thread-members/@me", f"PUT {CHANNEL}/thread-members/{{user_id}}")
def join_thread(world: World, call: Call) -> Json:
    place, who = the_channel(world, call), world.users.get(call.params.get("user_id", world.bot.id))
    if place.archive.archived:
        raise Refusal(50083)
    if who is None or place.guild is None or who.id not in place.guild.members:
        raise Refusal(10007)
    if who not in place.people:
        place.people.append(who)
    return None


@answers(f"DELETE {CHANNEL}/thread-members/@me", f"DELETE {CHANNEL}/thread-members/{{user_id}}")
def leave_thread(world: World, call: Call) -> Json:
    place = the_channel(world, call)
    place.people = [one for one in place.people if one.id != call.params.get("user_id", world.bot.id)]
    return None


@answers(f"GET {CHANNEL}/thread-members/{{user_id}}")
def get_thread_member(world: World, call: Call) -> Json:
    place = the_channel(world, call)
    for one in place.people:
        if one.id == call.params["user_id"]:
            return forms.thread_member(world, place, one)
    raise Refusal(10007)


# ── messages ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def the_message(world: World, call: Call) -> Message:
    return world.message(the_channel(world, call), call.params["message_id"])


def served(world: World, one: Message) -> Json:
    """A message as REST has it: privileged content only for an application that has the intent."""
    bare = not world.portal.message_content and not telling.shows_content(world, one)
    return forms.message(world, one, bare=bare)


@answers(f"POST {MESSAGES}")
def post_message(world: World, call: Call) -> Json:
    place = the_channel(world, call)
    again = writing.same_nonce(world, call.form)
    if again is not None:
        return served(world, again)
    files = writing.attach(world, place, call.files)
    writing.check(call.form, files)
    writing.may_send(world, place, call.form, call.files)
    return served(world, writing.write(world, place, world.bot, call.form, files))


@answers(f"GET {MESSAGES}")
def list_messages(world: World, call: Call) -> Json:
    """Newest first, as Discord has them."""
    place = the_channel(world, call)
    if not world.may(place, world.bot, "read_message_history"):
        return []
    after, before = int(call.query.get("after", "0")), int(call.query.get("before", "0")) or 1 << 63
    fits = sorted((one for one in place.seen if after < int(one.id) < before), key=lambda one: int(one.id))
    most = int(call.query.get("limit", "50"))
    chosen = fits[:most] if "after" in call.query else fits[-most:]
    return [served(world, one) for one in reversed(chosen)]


@answers(f"GET {MESSAGE}")
def get_message(world: World, call: Call) -> Json:
    place = the_channel(world, call)
    world.need(place, "read_message_history")
    return served(world, the_message(world, call))


@answers(f"PATCH {MESSAGE}")
def edit_message(world: World, call: Call) -> Json:
    one = the_message(world, call)
    if one.author is not world.bot:
        raise Refusal(50005)
    if one.channel.is_thread and one.channel.archive.archived:
        raise Refusal(50083)
    writing.rewrite(world, one, call.form, writing.attach(world, one.channel, call.files))
    return served(world, one)


@answers(f"DELETE {MESSAGE}")
def delete_message(world: World, call: Call) -> Json:
    one = the_message(world, call)
    if one.author is not world.bot:
        if one.channel.is_dm:
            raise Refusal(50003)
        world.need(one.channel, "manage_messages")
    if one.channel.is_thread and one.channel.archive.archived:
        raise Refusal(50083)
    writing.erase(world, one)
    return None


@answers(f"PUT {MESSAGE}/reactions/{{emoji_name}}/@me")
def react(world: World, call: Call) -> Json:
    one = _to_react(world, call)
    world.need(one.channel, "add_reactions", "read_message_history")
    if call.params["emoji_name"] not in one.reactions:
        one.reactions.append(call.params["emoji_name"])
    return None


@answers(f"DELETE {MESSAGE}/reactions/{{emoji_name}}/@me")
def react_no_more(world: World, call: Call) -> Json:
    one = _to_react(world, call)
    one.reactions = [each for each in one.reactions if each != call.params["emoji_name"]]
    return None


def _to_react(world: World, call: Call) -> Message:
    one = the_message(world, call)
    if one.channel.is_thread and one.channel.archive.archived:
        raise Refusal(50083)
    return one


# ── commands ─────────────────────────────────────────────────────────────────────────────────────────────────────────

GLOBAL = "/applications/{application_id}/commands"
IN_GUILD = "/applications/{application_id}/guilds/{guild_id}/commands"


@answers(f"GET {GLOBAL}", f"GET {IN_GUILD}")
def get_commands(world: World, call: Call) -> Json:
    return world.commands.get(call.params.get("guild_id", ""), [])


@answers(f"PUT {GLOBAL}", f"PUT {IN_GUILD}")
def sync_commands(world: World, call: Call) -> Json:
    """Replace all; a command that keeps its name keeps its id."""
    scope = call.params.get("guild_id", "")
    old = {(text(one, "name"), number(one, "type", 1)): text(one, "id") for one in world.commands.get(scope, [])}
    made: list[Obj] = []
    world.commands[scope] = made
    sent = call.body if isinstance(call.body, list) else []
    for one in (section({"one": each}, "one") for each in sent):
        key = text(one, "name"), number(one, "type", 1)
        if key[1] == 1 and not text(one, "description"):
            raise bad_form("description", "BASE_TYPE_REQUIRED", "This field is required")
        fixed: dict[str, Json] = {"id": old.get(key) or world.snowflake(), "application_id": world.bot.id}
        rest: dict[str, Json] = {"type": 1, "description": "", "version": "1", "default_member_permissions": None}
        made.append({**rest, **one, **fixed, **({"guild_id": scope} if scope else {})})
    return made
