"""Which dispatch follows a change, and which intents let a session hear it.

Source: Discord developer page "Gateway", list of intents.
"""

from __future__ import annotations

from tests.standins.discord import forms
from tests.standins.discord.shapes import Json
from tests.standins.discord.world import Channel, Event, Guild, Interaction, Message, World

GUILDS, MEMBERS, GUILD_MESSAGES, DIRECT_MESSAGES, CONTENT = 1 << 0, 1 << 1, 1 << 9, 1 << 12, 1 << 15
PRESENCES = 1 << 8


def message_changed(world: World, one: Message, name: str) -> None:
    """MESSAGE_CREATE or MESSAGE_UPDATE, unless the bot cannot see the place; nobody hears of ephemeral ones."""
    place = one.channel
    if one.only is not None or not world.permissions(place, world.bot):
        return
    bare = None if shows_content(world, one) else forms.message(world, one, live=True, bare=True)
    heard = DIRECT_MESSAGES if place.is_dm else GUILD_MESSAGES
    world.dispatch(Event(name, forms.message(world, one, live=True), heard, bare))


def shows_content(world: World, one: Message) -> bool:
    """Whether a bot without the content intent reads this message all the same."""
    return one.channel.is_dm or one.author is world.bot or world.bot in one.mentions


def message_gone(world: World, one: Message) -> None:
    place = one.channel
    if one.only is None and world.permissions(place, world.bot):
        body: dict[str, Json] = {"id": one.id, "channel_id": place.id}
        if place.guild is not None:
            body["guild_id"] = place.guild.id
        world.dispatch(Event("MESSAGE_DELETE", body, DIRECT_MESSAGES if place.is_dm else GUILD_MESSAGES))


def channel_changed(world: World, one: Channel, what: str) -> None:
    """what: CREATE, UPDATE or DELETE."""
    name = f"{'THREAD' if one.is_thread else 'CHANNEL'}_{what}"
    body: dict[str, Json] = forms.channel(world, one)
    if name == "THREAD_CREATE":
        body["newly_created"] = True
    world.dispatch(Event(name, body, GUILDS))


def guild_there(world: World, one: Guild) -> None:
    world.dispatch(Event("GUILD_CREATE", forms.guild(world, one, live=True), GUILDS))


def guild_gone(world: World, one: Guild) -> None:
    world.dispatch(Event("GUILD_DELETE", {"id": one.id}, GUILDS))


def member_changed(world: World, home: Guild, user: str, what: str) -> None:
    """what: ADD, UPDATE or REMOVE."""
    body: dict[str, Json] = {**forms.member(home, world.users[user]), "guild_id": home.id}
    world.dispatch(Event(f"GUILD_MEMBER_{what}", body, MEMBERS))


def interacted(world: World, one: Interaction, content: dict[str, Json]) -> None:
    world.dispatch(Event("INTERACTION_CREATE", forms.interaction(world, one, content)))
