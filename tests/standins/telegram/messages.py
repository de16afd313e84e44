"""Sending, editing and deleting: what becomes of a chat's messages. Source: PLATFORMS 2.2 to 2.5."""

from __future__ import annotations

from tests.standins.telegram import access
from tests.standins.telegram.access import method
from tests.standins.telegram.content import caption_of, file_of, previewed, shown, text_of
from tests.standins.telegram.keyboard import markup
from tests.standins.telegram.state import State
from tests.standins.telegram.wire import Fields, Json, bad
from tests.standins.telegram.world import Chat, Message, StoredFile

DELETABLE = 48 * 3600.0


def compose(state: State, call: Fields, chat: Chat) -> Message:
    """A new message of the bot, not yet in the chat: where it stands, what it replies to, its buttons."""
    topic = access.topic_of(state, chat, call)
    reply_to = access.replied(state, chat, call, topic)
    rows, prompt = markup(call)
    made = Message(chat, next(chat.ids), state.bot, state.clock.now(), rows=rows, prompt=prompt)
    made.reply_to = reply_to
    made.topic = topic or (reply_to.topic if reply_to is not None and reply_to.chat is chat else None)
    made.silent = call.flag("disable_notification")
    made.preview = previewed(call)
    return made


def send(state: State, call: Fields, message: Message) -> Json:
    """Put it into its chat, or show it to one person only."""
    parameters = call.object("ephemeral_message_parameters")
    if parameters is not None:
        message.only = _receiver(state, message.chat, parameters)
    return state.post(message).json


def _receiver(state: State, chat: Chat, parameters: Fields) -> int:
    """Who alone is to see a message: a tap of theirs is fresh, or the bot is an administrator."""
    if not state.can.newest:
        raise bad("unknown field ephemeral_message_parameters")
    if chat.private:
        raise bad("EPHEMERAL_MESSAGE_CHAT_INVALID")
    receiver = parameters.number("receiver_user_id") or 0
    member = chat.members.get(receiver)
    if member is None or not member.there:
        raise bad("USER_NOT_PARTICIPANT")
    query = state.queries.get(parameters.text("callback_query_id"))
    fresh = query is not None and query.user.id == receiver and query.message.chat is chat
    fresh = fresh and query is not None and state.clock.now() - query.at <= state.can.ephemeral_life
    if not fresh and not chat.members[state.bot.id].is_admin:
        raise bad("EPHEMERAL_MESSAGE_NOT_ALLOWED")
    return receiver


@method("sendMessage")
def send_message(state: State, call: Fields) -> Json:
    text, entities = text_of(state, call)
    made = compose(state, call, access.reach(state, call))
    made.text, made.entities = text, entities
    return send(state, call, made)


@method("sendDocument")
def send_document(state: State, call: Fields) -> Json:
    return _send_file(state, call, "document", photo=False)


@method("sendPhoto")
def send_photo(state: State, call: Fields) -> Json:
    return _send_file(state, call, "photo", photo=True)


def _send_file(state: State, call: Fields, name: str, *, photo: bool) -> Json:
    text, entities = caption_of(state, call)
    chat = access.reach(state, call)
    file = file_of(state, call, name, photo=photo)
    made = compose(state, call, chat)
    made.text, made.entities, made.file = text, entities, file
    return send(state, call, made)


@method("sendMediaGroup")
def send_media_group(state: State, call: Fields) -> Json:
    items = call.objects("media")
    if not 2 <= len(items) <= 10:
        raise bad("wrong number of items: 2-10 expected" if items else "media not found")
    chat = access.reach(state, call)
    kinds = {one.text("type") for one in items}
    if not kinds <= {"document", "photo"} or len(kinds) > 1:
        raise bad("Can't use the media of the specified type in the album")
    parts: list[tuple[StoredFile, Message]] = []
    for one in items:
        text, entities = caption_of(state, one)
        file = file_of(state, one, "media", photo=one.text("type") == "photo")
        made = compose(state, call, chat)
        made.text, made.entities = text, entities
        parts.append((file, made))
    album = f"album-{next(state.numbers)}"
    for file, made in parts:
        made.file, made.album = file, album
        state.post(made)
    return [made.json for _, made in parts]


@method("editMessageText")
def edit_text(state: State, call: Fields) -> Json:
    text, entities = text_of(state, call)
    chat = access.reach(state, call)
    message = access.editable(state, chat, call)
    if message.file is not None:
        raise bad("there is no text in the message to edit")
    rows, prompt = markup(call)
    if prompt is not None and message.prompt is None:
        state.complain("force_reply cannot be added by an edit")
    _change(state, message, text, entities, rows)
    message.preview = previewed(call)
    return message.json


@method("editMessageCaption")
def edit_caption(state: State, call: Fields) -> Json:
    text, entities = caption_of(state, call)
    message = access.editable(state, access.reach(state, call), call)
    if message.file is None:
        raise bad("there is no caption in the message to edit")
    _change(state, message, text, entities, markup(call)[0])
    return message.json


@method("editMessageReplyMarkup")
def edit_markup(state: State, call: Fields) -> Json:
    message = access.editable(state, access.reach(state, call), call)
    _change(state, message, message.text, message.entities, markup(call)[0])
    return message.json


def _change(state: State, message: Message, text: str, entities: list[Json], rows: list[list[dict[str, Json]]]) -> None:
    if shown(text, entities, rows) == shown(message.text, message.entities, message.rows):
        raise bad(
            "message is not modified: specified new message content and reply markup are exactly the same as a current "
            "content and reply markup of the message"
        )
    message.text, message.entities, message.rows = text, entities, rows
    message.edited_at = state.clock.now()
    message.shown.append(text)


@method("deleteMessage")
def delete_message(state: State, call: Fields) -> Json:
    chat = access.reach(state, call)
    message = access.message_of(state, chat, call, "message to delete")
    if not _deletable(state, chat, message):
        raise bad("message can't be deleted")
    message.deleted = True
    return True


@method("deleteMessages")
def delete_messages(state: State, call: Fields) -> Json:
    chat = access.reach(state, call)
    ids = [one for one in call.list("message_ids") if isinstance(one, int)]
    if not 1 <= len(ids) <= 100:
        raise bad("message identifiers are not specified" if not ids else "too many message identifiers specified")
    for message in (chat.stored.get(id) for id in ids):
        if message is not None and _deletable(state, chat, message):
            message.deleted = True
    return True


def _deletable(state: State, chat: Chat, message: Message) -> bool:
    """Under 48 hours: its own everywhere, those of people in private chats; as administrator with the right, all."""
    me = chat.members.get(state.bot.id)
    if me is not None and me.is_admin and me.can_delete:
        return chat.type == "supergroup" or state.clock.now() - message.date < DELETABLE
    ours = message.sender is state.bot or chat.private
    return ours and state.clock.now() - message.date < DELETABLE


@method("setMessageReaction")
def set_reaction(state: State, call: Fields) -> Json:
    chat = access.reach(state, call)
    message = access.message_of(state, chat, call, "message to react")
    if len(call.list("reaction")) > 1:
        raise bad("REACTIONS_TOO_MANY")
    for one in call.objects("reaction"):
        if one.text("type") != "emoji" or one.text("emoji") not in {*"👍👎❤🔥🥰👏😁🤔🤯😱🎉🤩🙏👌👀🫡💯✍⚡🏆"}:
            raise bad("REACTION_INVALID")
    message.reactions[state.bot.id] = call.list("reaction")
    return True
