"""What a bot asks about itself and does beside messages: commands, answers to presses, files, actions, drafts."""

from __future__ import annotations

import json
import re

from tests.standins.telegram import access
from tests.standins.telegram.access import method
from tests.standins.telegram.content import draft_of, text_of
from tests.standins.telegram.keyboard import markup
from tests.standins.telegram.state import State
from tests.standins.telegram.wire import Fields, Json, bad
from tests.standins.telegram.world import Chat, Draft, Message

COMMAND = re.compile(r"[a-z0-9_]{1,32}")
ACTIONS = {
    "typing",
    "upload_photo",
    "record_video",
    "upload_video",
    "record_voice",
    "upload_voice",
    "upload_document",
    "choose_sticker",
    "find_location",
    "record_video_note",
    "upload_video_note",
}
NOTICE_MAX = 200


@method("getMe")
def get_me(state: State, call: Fields) -> Json:
    shown = state.bot.json
    shown |= {"can_join_groups": True, "can_read_all_group_messages": state.can.reads_all}
    shown |= {"supports_inline_queries": False, "can_connect_to_business": False, "has_main_web_app": False}
    shown |= {"has_topics_enabled": state.can.has_topics, "allows_users_to_create_topics": False}
    if state.can.newest:
        shown |= {"can_manage_bots": False, "supports_guest_queries": False, "supports_join_request_queries": False}
    return shown


@method("logOut")
def log_out(state: State, call: Fields) -> Json:
    state.complain("logOut locks a bot out of the cloud server for ten minutes")
    return True


@method("close")
def close(state: State, call: Fields) -> Json:
    return True


def _scope(call: Fields) -> str:
    scope = call.object("scope")
    values = scope.values if scope is not None else {"type": "default"}
    return json.dumps([dict(values), call.text("language_code")], sort_keys=True)


@method("setMyCommands")
def set_commands(state: State, call: Fields) -> Json:
    commands = call.objects("commands")
    if len(commands) > 100:
        raise bad("BOT_COMMANDS_TOO_MUCH")
    for one in commands:
        if not COMMAND.fullmatch(one.text("command").removeprefix("/")):
            raise bad("BOT_COMMAND_INVALID")
        if not 1 <= len(one.text("description")) <= 256:
            raise bad("BOT_COMMAND_DESCRIPTION_INVALID")
    state.commands[_scope(call)] = call.list("commands")
    return True


@method("getMyCommands")
def get_commands(state: State, call: Fields) -> Json:
    return state.commands.get(_scope(call), [])


@method("deleteMyCommands")
def delete_commands(state: State, call: Fields) -> Json:
    state.commands.pop(_scope(call), None)
    return True


@method("answerCallbackQuery")
def answer_query(state: State, call: Fields) -> Json:
    if len(call.text("text")) > NOTICE_MAX:
        raise bad("MESSAGE_TOO_LONG")
    query = access.query_of(state, call.text("callback_query_id"))
    query.answers.append(dict(call.values))
    return True


@method("sendChatAction")
def send_action(state: State, call: Fields) -> Json:
    chat = access.reach(state, call)
    if call.text("action") not in ACTIONS:
        raise bad("wrong parameter action in request")
    access.topic_of(state, chat, call)
    state.actions.append((chat.id, call.text("action")))
    return True


@method("getFile")
def get_file(state: State, call: Fields) -> Json:
    file = state.files.get(call.text("file_id"))
    if file is None:
        raise bad("invalid file_id" if call.text("file_id") else "file_id not specified")
    if file.size > state.can.download_max:
        raise bad("file is too big")
    return {"file_id": file.id, "file_unique_id": f"u{file.id}", "file_size": file.size, "file_path": file.path}


@method("sendMessageDraft")
def send_draft(state: State, call: Fields) -> Json:
    if not state.can.drafts:
        raise bad("method is not available for this bot")
    chat = access.reach(state, call)
    if not chat.private:
        raise bad("TEXTDRAFT_PEER_INVALID")
    if not call.number("draft_id"):
        raise bad("RANDOM_ID_INVALID")
    text = draft_of(state, call)
    topic = access.topic_of(state, chat, call)
    id = call.number("draft_id") or 0
    known = state.drafts.get((chat.id, id)) or Draft(chat, id, text, state.clock.now())
    known.text, known.at, known.topic, known.can_stop = text, state.clock.now(), topic, call.flag("can_stop")
    known.shown.append(text)
    state.drafts[(chat.id, id)] = known
    return True


# ── messages for one person ──────────────────────────────────────────────────────────────────────────────────────────


def _ephemeral(state: State, call: Fields, what: str) -> Message:
    chat: Chat = access.reach(state, call)
    message = chat.stored.get(call.number("ephemeral_message_id") or 0)
    if message is None or message.deleted or message.only != call.number("receiver_user_id"):
        raise bad(f"message to {what} not found")
    return message


@method("editEphemeralMessageText")
def edit_ephemeral_text(state: State, call: Fields) -> Json:
    message = _ephemeral(state, call, "edit")
    message.text, message.entities = text_of(state, call)
    message.rows = markup(call)[0]
    message.shown.append(message.text)
    return True


@method("editEphemeralMessageReplyMarkup")
def edit_ephemeral_markup(state: State, call: Fields) -> Json:
    _ephemeral(state, call, "edit").rows = markup(call)[0]
    return True


@method("deleteEphemeralMessage")
def delete_ephemeral(state: State, call: Fields) -> Json:
    _ephemeral(state, call, "delete").deleted = True
    return True
