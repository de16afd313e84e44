"""The library's bot does the same against our stand-in and against an emulator by others: neither knows the other."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
from telegram import Bot, InlineKeyboardButton, InlineKeyboardMarkup, User
from telegram.error import BadRequest, Conflict

from tests.standins.telegram import TelegramServer
from tests.standins.telegram.second import Second, second_opinion
from tests.standins.telegram.test_client import client
from tests.standins.telegram.wire import Object

ANN: Object = {"id": 7_000_001, "is_bot": False, "first_name": "Ann"}
CHAT: Object = {"id": 7_000_001, "type": "private", "first_name": "Ann"}


class Either:
    """One of the two servers, with Ann who writes and presses."""

    def __init__(self, bot: Bot, ours: TelegramServer | Second) -> None:
        self.bot = bot
        self.ours = ours
        self.chat = 7_000_001

    async def says(self, text: str) -> None:
        if isinstance(self.ours, TelegramServer):
            self.ours.person("Ann", self.chat).says(text)
        else:
            message: Object = {"message_id": 5, "date": 1_790_000_000, "chat": CHAT, "from": ANN, "text": text}
            await self.ours.update(message=message)


@pytest.fixture(params=["ours", "theirs"])
async def either(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncGenerator[Either]:
    if request.param == "ours":
        with TelegramServer() as telegram:
            telegram.person("Ann", 7_000_001)
            async with client(telegram) as bot:
                yield Either(bot, telegram)
        assert telegram.violations == []
        return
    async with second_opinion(tmp_path) as second:
        bot = Bot(second.token, base_url=f"{second.url}/bot", base_file_url=f"{second.url}/file/bot")
        async with bot:
            yield Either(bot, second)


async def test_updates_come_until_they_are_confirmed(either: Either) -> None:
    for text in ("one", "two", "three"):
        await either.says(text)
    found = await either.bot.get_updates()
    assert [one.message.text for one in found if one.message] == ["one", "two", "three"]
    assert await either.bot.get_updates() == found
    later = await either.bot.get_updates(offset=found[0].update_id + 1, limit=1)
    assert [one.message.text for one in later if one.message] == ["two"]
    last = await either.bot.get_updates(offset=-1)
    assert [one.message.text for one in last if one.message] == ["three"]
    assert await either.bot.get_updates(offset=found[-1].update_id + 1) == ()


async def test_a_webhook_and_a_poll_exclude_each_other(either: Either) -> None:
    await either.bot.set_webhook("https://sayso.example/hook", secret_token="s3cret")
    assert (await either.bot.get_webhook_info()).url == "https://sayso.example/hook"
    with pytest.raises(Conflict):
        await either.bot.get_updates()
    await either.bot.delete_webhook()
    assert await either.bot.get_updates() == ()


async def test_what_is_too_large_is_refused(either: Either) -> None:
    def keys(payload: str) -> InlineKeyboardMarkup:
        return InlineKeyboardMarkup([[InlineKeyboardButton("Approve", callback_data=payload)]])

    await either.bot.send_message(either.chat, "😀" * 2048, reply_markup=keys("x" * 64))
    with pytest.raises(BadRequest):
        await either.bot.send_message(either.chat, "😀" * 2048 + "x")
    with pytest.raises(BadRequest):
        await either.bot.send_message(either.chat, "?", reply_markup=keys("x" * 65))


async def test_files_and_commands_are_taken(either: Either) -> None:
    sent = await either.bot.send_document(either.chat, b"# Answer", filename="answer.md")
    assert sent.document is not None
    await either.bot.set_my_commands([("status", "What is going on"), ("cancel", "Stop it")])
    me = await either.bot.get_me()
    assert isinstance(me, User)
    assert me.is_bot
