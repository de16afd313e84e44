"""The library that the adapter uses runs against the stand-in: it sends, edits, polls, and gets its own errors."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

import pytest
from telegram import Bot, InlineKeyboardButton, InlineKeyboardMarkup, InputMediaDocument, LinkPreviewOptions, Update
from telegram import Message as Sent
from telegram.error import (
    BadRequest,
    ChatMigrated,
    Conflict,
    Forbidden,
    InvalidToken,
    NetworkError,
    RetryAfter,
    TimedOut,
)
from telegram.ext import Application, CallbackQueryHandler, ContextTypes, MessageHandler, filters
from telegram.request import HTTPXRequest

from tests.standins.telegram import Fault, TelegramServer, bad_gateway, cut, flood, half, silence
from tests.waiting import wait_until

APPROVE = InlineKeyboardButton("Approve", callback_data="v1:r:a")
DENY = InlineKeyboardButton("Deny", callback_data="v1:r:d")
KEYS = InlineKeyboardMarkup([[APPROVE, DENY]])


def client(telegram: TelegramServer, token: str | None = None, *, timeout: float = 5.0) -> Bot:
    """The library's bot, pointed at the stand-in."""
    request = HTTPXRequest(read_timeout=timeout)
    return Bot(
        token or telegram.token,
        base_url=telegram.base_url,
        base_file_url=telegram.base_file_url,
        request=request,
        get_updates_request=HTTPXRequest(read_timeout=timeout),
    )


@pytest.fixture
async def bot(telegram: TelegramServer) -> AsyncGenerator[Bot]:
    async with client(telegram) as one:
        yield one
    assert telegram.violations == []


async def test_a_message_stands_in_the_chat_with_its_buttons(telegram: TelegramServer, bot: Bot) -> None:
    ann = telegram.person("Ann")
    sent = await bot.send_message(
        ann.id, "Deploy?", reply_markup=KEYS, link_preview_options=LinkPreviewOptions(is_disabled=True)
    )
    (message,) = telegram.messages(ann)
    assert (message.id, message.text, message.labels) == (sent.message_id, "Deploy?", ["Approve", "Deny"])
    assert not message.preview
    await bot.edit_message_text("Approved", ann.id, sent.message_id)
    assert (message.text, message.labels, message.shown) == ("Approved", [], ["Deploy?", "Approved"])


async def test_a_press_arrives_and_its_answer_is_seen(telegram: TelegramServer, bot: Bot) -> None:
    ann = telegram.person("Ann")
    await bot.send_message(ann.id, "Deploy?", reply_markup=KEYS)
    query = ann.presses(telegram.messages(ann)[0], "Approve")
    (update,) = await bot.get_updates(timeout=5)
    assert update.callback_query is not None
    assert (update.callback_query.data, update.callback_query.from_user.id) == ("v1:r:a", ann.id)
    await update.callback_query.answer("Recorded", show_alert=True)
    assert (query.notice, query.alerted) == ("Recorded", True)
    with pytest.raises(BadRequest, match="Query is too old"):
        await update.callback_query.answer("again")


async def test_the_library_polls_and_answers_by_itself(telegram: TelegramServer) -> None:
    async def echo(update: Update, context: ContextTypes.DEFAULT_TYPE) -> None:
        assert isinstance(update.message, Sent)
        await update.message.reply_text(f"You said {update.message.text}", reply_markup=KEYS)

    async def press(update: Update, context: ContextTypes.DEFAULT_TYPE) -> None:
        assert update.callback_query is not None
        await update.callback_query.answer("ok")
        await update.callback_query.edit_message_text("done")

    app = Application.builder().bot(client(telegram)).build()
    app.add_handler(MessageHandler(filters.TEXT, echo))
    app.add_handler(CallbackQueryHandler(press))
    ann = telegram.person("Ann")
    async with app:
        assert app.updater is not None
        await app.start()
        await app.updater.start_polling(timeout=10)
        ann.says("hello")
        await wait_until(lambda: telegram.messages(ann))
        (message,) = telegram.messages(ann)
        assert message.text == "You said hello"
        query = ann.presses(message, "Approve")
        await wait_until(lambda: message.text == "done" and query.notice == "ok")
        await app.updater.stop()
        await app.stop()
    assert telegram.violations == []
    assert telegram.pending == []


async def test_files_go_both_ways(telegram: TelegramServer, bot: Bot) -> None:
    ann = telegram.person("Ann")
    ann.sends_file("notes.txt", b"hello", caption="read this")
    (update,) = await bot.get_updates(timeout=5)
    assert update.message is not None
    assert update.message.document is not None
    assert update.message.caption == "read this"
    file = await update.message.document.get_file()
    assert await file.download_as_bytearray() == b"hello"
    await bot.send_document(ann.id, b"# Answer", filename="answer.md", caption="whole")
    (sent,) = telegram.messages(ann)
    assert sent.file is not None
    assert (sent.file.name, sent.file.content, sent.text) == ("answer.md", b"# Answer", "whole")
    await bot.send_media_group(ann.id, [InputMediaDocument(b"a", filename="a"), InputMediaDocument(b"b", filename="b")])
    assert [one.file.content for one in telegram.messages(ann) if one.album and one.file] == [b"a", b"b"]


async def test_a_wrong_token_is_no_token(telegram: TelegramServer) -> None:
    for token in ("4242:" + "x" * 35, "4242:short"):
        bot = client(telegram, token)
        with pytest.raises(InvalidToken):
            await bot.initialize()
        await bot.shutdown()


@pytest.mark.filterwarnings("ignore:Deprecated since version v22.2")
async def test_the_library_knows_every_refusal(telegram: TelegramServer, bot: Bot) -> None:
    ann, eve = telegram.person("Ann"), telegram.person("Eve", started=False)
    with pytest.raises(Forbidden, match="can't initiate conversation"):
        await bot.send_message(eve.id, "hi")
    with pytest.raises(BadRequest, match="Chat not found"):
        await bot.send_message(99, "hi")
    ann.blocks_bot()
    with pytest.raises(Forbidden, match="blocked by the user"):
        await bot.send_message(ann.id, "hi")
    ann.unblocks_bot()
    telegram.fail_next("sendMessage", flood(35), ann)
    with pytest.raises(RetryAfter) as waits:
        await bot.send_message(ann.id, "hi")
    assert str(waits.value).endswith("Retry in 35 seconds")
    small = telegram.group("Ops", [ann], small=True)
    new = telegram.migrate(small)
    with pytest.raises(ChatMigrated) as moved:
        await bot.send_message(small.id, "hi")
    assert moved.value.new_chat_id == new.id


@pytest.mark.parametrize(
    ("fault", "error", "there"),
    [
        (bad_gateway(), NetworkError, 0),
        (bad_gateway(accepted=True), NetworkError, 1),
        (cut(), NetworkError, 0),
        (cut(accepted=True), NetworkError, 1),
        (half(), NetworkError, 1),
        (silence(), TimedOut, 1),
        (silence(accepted=False), TimedOut, 0),
    ],
)
async def test_nobody_knows_what_became_of_a_lost_call(
    telegram: TelegramServer, fault: Fault, error: type[Exception], there: int
) -> None:
    ann = telegram.person("Ann")
    telegram.fail_next("sendMessage", fault)
    async with client(telegram, timeout=0.5) as bot:
        with pytest.raises(error):
            await bot.send_message(ann.id, "hello?")
        assert len(telegram.messages(ann)) == there
        await bot.send_message(ann.id, "again")
    assert len(telegram.messages(ann)) == there + 1


async def test_the_second_poller_ends_the_first(telegram: TelegramServer, bot: Bot) -> None:
    async with client(telegram) as other:
        first = asyncio.create_task(bot.get_updates(timeout=30))
        await wait_until(lambda: telegram.polling)
        second = asyncio.create_task(other.get_updates(timeout=30))
        with pytest.raises(Conflict, match="terminated by other getUpdates request"):
            await first
        telegram.person("Ann").says("hello")
        assert [one.message.text for one in await second if one.message] == ["hello"]
