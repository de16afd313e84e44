"""What can be wrong with a bot on Discord, each in one sentence with what to do; and the link that invites it. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

import discord

from core.model import Json

BAD_TOKEN: Final = (
    "Discord does not accept the bot token: make a new one in the developer portal under Bot, Reset Token, and set it "
    "as DISCORD_BOT_TOKEN."
)
NO_INTENT: Final = (
    "Discord refuses an intent that the bot asks for: switch on Message Content Intent (and Server Members Intent, "
    "where roles let people in) in the developer portal, under Bot."
)
NO_CONTENT: Final = (
    "In servers the bot reads only what mentions it: switch on Message Content Intent in the developer portal, "
    "under Bot."
)
NO_ROLES: Final = (
    "A role that was taken from somebody counts until they do something on Discord: switch on Server Members Intent in "
    "the developer portal, under Bot, so that it ends at once."
)
WANTED: Final = {
    "view_channel": "View Channels",
    "send_messages": "Send Messages",
    "send_messages_in_threads": "Send Messages in Threads",
    "create_public_threads": "Create Public Threads",
    "read_message_history": "Read Message History",
    "attach_files": "Attach Files",
    "embed_links": "Embed Links",
    "add_reactions": "Add Reactions",
}


def permissions() -> discord.Permissions:
    """What the bot asks for when it is invited."""
    return discord.Permissions(**dict.fromkeys(WANTED, True))


def invite(application: int) -> str:
    """The link with which somebody lets the bot into a server of theirs."""
    asked = f"client_id={application}&scope=bot+applications.commands&permissions={permissions().value}"
    return f"https://discord.com/oauth2/authorize?{asked}"


def lacking(servers: Iterable[tuple[str, discord.Permissions]]) -> str | None:
    """What the bot may not do in servers where it is; None when nothing is missing."""
    for server, allowed in servers:
        missing = [words for name, words in WANTED.items() if not getattr(allowed, name)]
        if missing and not allowed.administrator:
            return (
                f"In the server {server!r} the bot lacks {', '.join(missing)}: "
                "give its role these permissions, or invite it anew with the link that `sayso doctor` prints."
            )
    return None


def listed(servers: Json) -> Iterator[tuple[str, discord.Permissions]]:
    """What the bot may do in each server, as Discord lists its servers."""
    for one in servers if isinstance(servers, list) else ():
        bits = one.get("permissions") if isinstance(one, dict) else None
        if isinstance(one, dict) and isinstance(bits, str) and bits.isdecimal():
            yield str(one.get("name")), discord.Permissions(int(bits))
