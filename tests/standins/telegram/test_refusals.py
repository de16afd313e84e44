"""What the stand-in refuses, in the words of the official server. Source: PLATFORMS 2, the Bot API, its server."""

from __future__ import annotations

from typing import TypeAlias

import pytest

from tests.standins.telegram import TelegramServer
from tests.standins.telegram.probe import Probe
from tests.standins.telegram.wire import Json, Object

Row: TypeAlias = "list[Json]"
NOT_MODIFIED = (
    "400 Bad Request: message is not modified: specified new message content and reply markup are exactly the same as "
    "a current content and reply markup of the message"
)


def button(**action: Json) -> Object:
    return {"text": "Approve", **action}


def keys(*buttons: Object) -> Object:
    row: Row = [*buttons]
    return {"inline_keyboard": [row]}


def bold(offset: int, length: int, kind: str = "bold") -> Object:
    return {"type": kind, "offset": offset, "length": length}


# ── texts ────────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("text", "refusal"),
    [
        ("x" * 4096, ""),
        ("x" * 4097, "400 Bad Request: message is too long"),
        ("😀" * 2048, ""),
        ("😀" * 2048 + "x", "400 Bad Request: message is too long"),
        (" \n ", "400 Bad Request: message text is empty"),
    ],
    ids=["4096", "4097", "2048 emoji", "one more", "blank"],
)
async def test_length_is_counted_in_utf16_units(
    telegram: TelegramServer, probe: Probe, text: str, refusal: str
) -> None:
    answer = await probe.ask("sendMessage", chat_id=telegram.person("Ann").id, text=text)
    assert answer["ok"] is not bool(refusal)
    assert not refusal or f"{answer['error_code']} {answer['description']}" == refusal


async def test_an_entity_may_not_cut_a_character(telegram: TelegramServer, probe: Probe) -> None:
    ann = telegram.person("Ann")
    cut: list[Json] = [bold(1, 2)]
    assert await probe.refused("sendMessage", chat_id=ann.id, text="😀😀", entities=cut) == (
        "400 Bad Request: entity beginning at UTF-16 offset 1 begins in a middle of a UTF-16 symbol"
    )
    ends: list[Json] = [bold(0, 3)]
    assert "ends in a middle of a UTF-16 symbol" in await probe.refused(
        "sendMessage", chat_id=ann.id, text="😀😀", entities=ends
    )
    assert telegram.violations == []


@pytest.mark.parametrize(
    ("entities", "words"),
    [
        ([bold(0, 5)], ""),
        ([bold(0, 6)], "leaves the text"),
        ([bold(1, 0)], "is empty"),
        ([bold(0, 3), bold(2, 3, "italic")], "cross"),
        ([bold(0, 4), bold(1, 2, "italic")], ""),
        ([bold(0, 4, "code"), bold(1, 2)], "may not be nested"),
        ([bold(0, 4, "pre"), bold(0, 4)], "may not be nested"),
        ([bold(0, 4, "blockquote"), bold(1, 2, "code")], ""),
        ([bold(0, 1)] * 101, "more than 100"),
    ],
)
async def test_what_telegram_would_drop_is_complained_about(
    telegram: TelegramServer, probe: Probe, entities: list[Json], words: str
) -> None:
    await probe.result("sendMessage", chat_id=telegram.person("Ann").id, text="hello", entities=entities)
    assert bool(telegram.violations) is bool(words)
    assert not words or words in telegram.violations[0]


@pytest.mark.parametrize(
    ("mode", "text", "refusal"),
    [
        ("HTML", "<b>bold", 'Can\'t find end tag corresponding to start tag "b"'),
        ("HTML", "a <think>", 'Unsupported start tag "think" at byte offset 2'),
        ("HTML", "1 < 2", 'Unsupported start tag "" at byte offset 2'),
        ("HTML", "x</b>", "Unexpected end tag at byte offset 1"),
        ("HTML", "<b>x</i>", 'Unmatched end tag at byte offset 4, expected "</b>", found "</i>"'),
        ("MarkdownV2", "done.", "Character '.' is reserved and must be escaped with the preceding '\\'"),
        ("MarkdownV2", "*bold", "Can't find end of Bold entity at byte offset 0"),
    ],
)
async def test_a_wrong_markup_fails_the_whole_send(
    telegram: TelegramServer, probe: Probe, mode: str, text: str, refusal: str
) -> None:
    ann = telegram.person("Ann")
    told = await probe.refused("sendMessage", chat_id=ann.id, text=text, parse_mode=mode)
    assert told == f"400 Bad Request: can't parse entities: {refusal}"
    assert telegram.messages(ann) == []


async def test_a_right_markup_becomes_entities(telegram: TelegramServer, probe: Probe) -> None:
    ann = telegram.person("Ann")
    text = '<b>a</b> &lt; <a href="https://x.example">b</a>'
    await probe.result("sendMessage", chat_id=ann.id, text=text, parse_mode="HTML")
    (message,) = telegram.messages(ann)
    assert message.text == "a < b"
    link: Object = {"type": "text_link", "offset": 4, "length": 1, "url": "https://x.example"}
    assert message.entities == [bold(0, 1), link]


# ── buttons ──────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("markup", "refusal"),
    [
        (keys(button(callback_data="x" * 64)), ""),
        (keys(button(callback_data="x" * 65)), "BUTTON_DATA_INVALID"),
        (keys(button(callback_data="é" * 33)), "BUTTON_DATA_INVALID"),
        (keys(button(callback_data="")), "BUTTON_DATA_INVALID"),
        (keys(button()), "can't parse inline keyboard button: Text buttons are unallowed in the inline keyboard"),
        (keys(button(url="http://localhost:8000/q")), "URL 'http://localhost:8000/q' is invalid: Wrong HTTP URL"),
        (keys(button(url="https://sayso.example/q")), ""),
        (keys(button(callback_data="x", url="https://x.example")), "more than one action"),
        (keys(button(callback_data="x", style="purple")), "invalid button style"),
        (keys(*[button(callback_data="x")] * 9), "BUTTON_ROW_TOO_LONG"),
        ({"inline_keyboard": [[button(callback_data="x")]] * 100}, ""),
        ({"inline_keyboard": [[button(callback_data="x")]] * 101}, "reply markup is too long"),
        ({"force_reply": True, "input_field_placeholder": "x" * 65}, "INPUT_FIELD_PLACEHOLDER_INVALID"),
    ],
)
async def test_a_keyboard_has_to_be_right(telegram: TelegramServer, probe: Probe, markup: Object, refusal: str) -> None:
    answer = await probe.ask("sendMessage", chat_id=telegram.person("Ann").id, text="?", reply_markup=markup)
    assert answer["ok"] is not bool(refusal)
    assert not refusal or refusal in str(answer["description"])


# ── editing and deleting ─────────────────────────────────────────────────────────────────────────────────────────────


async def test_an_edit_has_to_change_something(telegram: TelegramServer, probe: Probe) -> None:
    ann = telegram.person("Ann")
    markup = keys(button(callback_data="x"))
    id = await probe.id_of("sendMessage", chat_id=ann.id, text="Deploy?", reply_markup=markup)
    at: Object = {"chat_id": ann.id, "message_id": id}
    assert await probe.refused("editMessageText", **at, text="Deploy?", reply_markup=markup) == NOT_MODIFIED
    assert await probe.refused("editMessageText", **at, text="Deploy?\n", reply_markup=markup) == NOT_MODIFIED
    await probe.result("editMessageText", **at, text="Deploy?")
    assert telegram.messages(ann)[0].rows == []
    assert await probe.refused("editMessageReplyMarkup", **at) == NOT_MODIFIED


async def test_only_what_is_there_and_ours_is_edited(telegram: TelegramServer, probe: Probe) -> None:
    ann = telegram.person("Ann")
    hers = ann.says("hello")
    told = "400 Bad Request: message to edit not found"
    assert await probe.refused("editMessageText", chat_id=ann.id, message_id=99, text="x") == told
    told = "400 Bad Request: message can't be edited"
    assert await probe.refused("editMessageText", chat_id=ann.id, message_id=hers.id, text="x") == told


async def test_messages_are_deleted_for_two_days(telegram: TelegramServer, probe: Probe) -> None:
    ann = telegram.person("Ann")
    young = await probe.id_of("sendMessage", chat_id=ann.id, text="young")
    hers = ann.says("my secret")
    assert await probe.result("deleteMessage", chat_id=ann.id, message_id=hers.id) is True
    assert hers.deleted
    telegram.clock.advance(48 * 3600)
    told = "400 Bad Request: message can't be deleted"
    assert await probe.refused("deleteMessage", chat_id=ann.id, message_id=young) == told
    told = "400 Bad Request: message to delete not found"
    assert await probe.refused("deleteMessage", chat_id=ann.id, message_id=hers.id) == told


async def test_in_groups_only_administrators_delete_what_people_write(telegram: TelegramServer, probe: Probe) -> None:
    ann = telegram.person("Ann")
    group = telegram.group("Ops", [ann])
    hers = ann.says("my secret", group)
    told = "400 Bad Request: message can't be deleted"
    assert await probe.refused("deleteMessage", chat_id=group.id, message_id=hers.id) == told
    telegram.promote_bot(group, can_delete=True)
    assert await probe.result("deleteMessage", chat_id=group.id, message_id=hers.id) is True


# ── presses ──────────────────────────────────────────────────────────────────────────────────────────────────────────

TOO_OLD = "400 Bad Request: query is too old and response timeout expired or query ID is invalid"


async def test_a_press_is_answered_once_and_soon(telegram: TelegramServer, probe: Probe) -> None:
    ann = telegram.person("Ann")
    markup = keys(button(callback_data="x"))
    await probe.result("sendMessage", chat_id=ann.id, text="?", reply_markup=markup)
    (message,) = telegram.messages(ann)
    query = ann.presses(message, "Approve")
    long = await probe.refused("answerCallbackQuery", callback_query_id=query.id, text="x" * 201)
    assert long == "400 Bad Request: MESSAGE_TOO_LONG"
    await probe.result("answerCallbackQuery", callback_query_id=query.id, text="x" * 200)
    assert await probe.refused("answerCallbackQuery", callback_query_id=query.id) == TOO_OLD
    late = ann.presses(message, "Approve")
    telegram.clock.advance(telegram.can.query_life + 1)
    assert await probe.refused("answerCallbackQuery", callback_query_id=late.id) == TOO_OLD
    assert await probe.refused("answerCallbackQuery", callback_query_id="77") == TOO_OLD


# ── who and where ────────────────────────────────────────────────────────────────────────────────────────────────────


async def test_tokens_and_methods_that_are_none(telegram: TelegramServer, probe: Probe) -> None:
    wrong = await probe.ask_as("4242:" + "x" * 35, "getMe")
    assert (wrong["error_code"], wrong["description"]) == (401, "Unauthorized")
    wrong = await probe.ask_as("rubbish", "getMe")
    assert (wrong["error_code"], wrong["description"]) == (404, "Not Found")
    assert await probe.refused("sendRubbish") == "404 Not Found: method not found"


async def test_a_chat_that_does_not_let_the_bot_in(telegram: TelegramServer, probe: Probe) -> None:
    ann, eve = telegram.person("Ann"), telegram.person("Eve", started=False)
    group, small = telegram.group("Ops", [ann]), telegram.group("Small", [ann], small=True)

    async def told(chat: int) -> str:
        return await probe.refused("sendMessage", chat_id=chat, text="hi")

    assert await told(99) == "400 Bad Request: chat not found"
    assert await told(eve.id) == "403 Forbidden: bot can't initiate conversation with a user"
    ann.blocks_bot()
    assert await told(ann.id) == "403 Forbidden: bot was blocked by the user"
    telegram.mute(group)
    assert await told(group.id) == "400 Bad Request: not enough rights to send text messages to the chat"
    telegram.kick_bot(group)
    assert await told(group.id) == "403 Forbidden: bot was kicked from the supergroup chat"
    await probe.result("leaveChat", chat_id=small.id)
    assert await told(small.id) == "403 Forbidden: bot is not a member of the group chat"
    telegram.delete_chat(small)
    assert await told(small.id) == "403 Forbidden: the group chat was deleted"
    ann.leaves_telegram()
    assert await told(ann.id) == "403 Forbidden: user is deactivated"


async def test_an_upgraded_group_says_its_new_id(telegram: TelegramServer, probe: Probe) -> None:
    small = telegram.group("Ops", [telegram.person("Ann")], small=True)
    new = telegram.migrate(small)
    answer = await probe.ask("sendMessage", chat_id=small.id, text="hi")
    assert answer["description"] == "Bad Request: group chat was upgraded to a supergroup chat"
    assert answer["parameters"] == {"migrate_to_chat_id": new.id}
    await probe.result("sendMessage", chat_id=new.id, text="hi")


async def test_topics_are_named_general_is_not(telegram: TelegramServer, probe: Probe) -> None:
    forum = telegram.group("Ops", [telegram.person("Ann")], forum=True)
    topic = telegram.topic(forum, "deploys")

    async def told(thread: int) -> str:
        return await probe.refused("sendMessage", chat_id=forum.id, text="hi", message_thread_id=thread)

    await probe.result("sendMessage", chat_id=forum.id, text="hi", message_thread_id=topic.id)
    assert [one.text for one in telegram.messages(forum, topic=topic)] == ["hi"]
    await probe.result("sendMessage", chat_id=forum.id, text="in General")
    assert await told(1) == "400 Bad Request: message thread not found"
    assert await told(77) == "400 Bad Request: message thread not found"
    telegram.close_topic(forum, topic)
    assert await told(topic.id) == "400 Bad Request: TOPIC_CLOSED"
    telegram.delete_topic(forum, topic)
    assert await told(topic.id) == "400 Bad Request: message thread not found"


async def test_a_reply_needs_its_message(telegram: TelegramServer, probe: Probe) -> None:
    ann = telegram.person("Ann")
    missing: Object = {"message_id": 99}
    told = await probe.refused("sendMessage", chat_id=ann.id, text="hi", reply_parameters=missing)
    assert told == "400 Bad Request: message to be replied not found"
    missing["allow_sending_without_reply"] = True
    await probe.result("sendMessage", chat_id=ann.id, text="hi", reply_parameters=missing)


@pytest.mark.parametrize(
    ("method", "fields", "words"),
    [
        ("sendMessage", {"chat_id": 1, "text": "x", "colour": "red"}, "has no field 'colour'"),
        ("sendMessage", {"text": "x"}, "needs 'chat_id'"),
        ("sendMessage", {"chat_id": 1, "text": 7}, "not of type String"),
        ("sendMessage", {"chat_id": 1, "text": "x", "reply_markup": {"inline_keyboard": [[{"label": "x"}]]}}, "label"),
        ("sendChatAction", {"chat_id": True, "action": "typing"}, "not of type"),
    ],
)
async def test_every_request_has_the_shape_of_the_specification(
    telegram: TelegramServer, probe: Probe, method: str, fields: Object, words: str
) -> None:
    assert words in await probe.refused(method, **fields)
    assert words in telegram.violations[0]
