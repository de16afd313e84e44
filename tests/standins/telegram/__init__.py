"""A strict stand-in for Telegram's Bot API, see README.md."""

from tests.standins.telegram.faults import (
    Fault,
    bad_gateway,
    cut,
    flood,
    half,
    refusing,
    rubbish,
    server_error,
    silence,
    slow,
)
from tests.standins.telegram.limits import Rates
from tests.standins.telegram.people import Person
from tests.standins.telegram.server import TOKEN, TelegramServer, telegram_server
from tests.standins.telegram.wire import Refusal
from tests.standins.telegram.world import Chat, Message, Query, Topic

__all__ = [
    "TOKEN",
    "Chat",
    "Fault",
    "Message",
    "Person",
    "Query",
    "Rates",
    "Refusal",
    "TelegramServer",
    "Topic",
    "bad_gateway",
    "cut",
    "flood",
    "half",
    "refusing",
    "rubbish",
    "server_error",
    "silence",
    "slow",
    "telegram_server",
]
