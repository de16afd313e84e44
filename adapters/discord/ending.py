"""The end of a task, marked in the channel where its thread began: a reaction to the message that asked for it.

Nothing is remembered: what stands there already is read first, so the same mark again changes nothing, and the next
task of the same thread replaces it.
"""

from __future__ import annotations

from collections.abc import Iterator

import aiohttp
import discord

from adapters.discord.calls import Calls
from adapters.platform import Outcome, Refused, Sent, Unclear
from core.model import Json, State

MARKS: dict[State, str] = {"completed": "✅", "failed": "❌", "canceled": "🛑"}
MESSAGE = "/channels/{channel_id}/messages/{message_id}"
REACTION = f"{MESSAGE}/reactions/{{emoji}}/@me"


async def mark(calls: Calls, channel: int, message: int, me: int, state: State) -> Outcome:
    """Mark a message that has a thread of ours, and take other marks of ours away; a thread of others is left alone."""
    wanted = MARKS.get(state)
    try:
        begun = await calls.raw("GET", MESSAGE, channel_id=channel, message_id=message)
    except discord.HTTPException as error:
        return Refused("gone", f"where the thread began cannot be read ({error.code})")
    except (discord.DiscordException, aiohttp.ClientError, OSError) as error:
        return Unclear(type(error).__name__)
    if not isinstance(begun, dict) or not _is_ours(begun, me) or wanted is None:
        return Sent(str(message))
    there = set(_marks(begun))
    outcome: Outcome = Sent(str(message))
    if wanted not in there:
        outcome = await calls.sent("PUT", REACTION, channel_id=channel, message_id=message, emoji=wanted)
    for other in there - {wanted} if isinstance(outcome, Sent) else ():
        await calls.sent("DELETE", REACTION, channel_id=channel, message_id=message, emoji=other)
    return outcome


def _is_ours(begun: dict[str, Json], me: int) -> bool:
    thread = begun.get("thread")
    return isinstance(thread, dict) and thread.get("owner_id") == str(me)


def _marks(begun: dict[str, Json]) -> Iterator[str]:
    """The marks of ours that stand at a message."""
    found = begun.get("reactions")
    for one in found if isinstance(found, list) else ():
        emoji = one.get("emoji") if isinstance(one, dict) and one.get("me") is True else None
        name = emoji.get("name") if isinstance(emoji, dict) else None
        if isinstance(name, str) and name in MARKS.values():
            yield name
