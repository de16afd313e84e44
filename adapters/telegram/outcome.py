"""What became of a call to the Bot API: the library's errors, and the server's words, as outcomes of the kit.

Telegram tells kinds of refusals apart by words only; they are matched here and nowhere else. The order matters: to the
library a refused request is a kind of network error. Source: C50, C51, C63, C107.
"""

from __future__ import annotations

from typing import Final

from telegram.error import BadRequest, ChatMigrated, Forbidden, InvalidToken, TelegramError

from adapters.platform import Migrated, Outcome, Refused, Unclear
from adapters.telegram.place import origin
from adapters.telegram.transport import Broken, TooMany, Unsent

SAME: Final = ("message is not modified",)
GONE: Final = (
    "message to edit not found",
    "message to delete not found",
    "message can't be edited",
    "message_id_invalid",
    "message identifier is not specified",
)
MARKUP: Final = ("can't parse", "entit", "unsupported parse_mode")
NO_RIGHT: Final = "the bot may not write there: give it the right to send messages"
WORDS: Final = {
    "bot was blocked by the user": "the bot was blocked by the person",
    "bot can't initiate conversation with a user": "the person has not opened a chat with the bot yet",
    "user is deactivated": "the person's account was deleted",
    "bot was kicked": "the bot was removed from the group",
    "bot is not a member": "the bot is not in the group",
    "not enough rights": NO_RIGHT,
    "have no rights to send": NO_RIGHT,
    "chat not found": "there is no such chat, or the bot is not in it",
    "topic_closed": "the topic is closed",
    "message thread not found": "the topic was deleted",
}
WAIT: Final = 30.0


def refused(error: TelegramError, thread: int | None = None) -> Outcome:
    """Tell what an error means. thread: of the place, kept when its chat has moved."""
    said = error.message
    match error:
        case TooMany():
            return Refused("later", f"Telegram says to wait: {said}", error.retry_after)
        case ChatMigrated():
            return Migrated(origin(error.new_chat_id, thread))
        case Broken():
            return Unclear(f"the server failed: {said}")
        case InvalidToken():
            return Refused("later", "Telegram refuses the bot's token", WAIT, wide=True)
        case Forbidden():
            return Refused("final", words(said))
        case BadRequest():
            return _bad(said)
        case Unsent():
            return Refused("later", f"Telegram cannot be reached: {said}")
        case _:
            return Unclear(said)


def _bad(said: str) -> Refused:
    low = said.casefold()
    if any(one in low for one in SAME):
        return Refused("same", said)
    if any(one in low for one in GONE):
        return Refused("gone", said)
    if any(one in low for one in MARKUP):
        return Refused("markup", said)
    return Refused("final", words(said))


def words(said: str) -> str:
    """Say the server's words so that a person can act on them."""
    low = said.casefold()
    return next((ours for theirs, ours in WORDS.items() if theirs in low), said)
