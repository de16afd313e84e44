"""Chats and topics as people make them, and which of their messages a bot gets to see. Source: PLATFORMS 2.5."""

from __future__ import annotations

from tests.standins.telegram.state import State
from tests.standins.telegram.text import part
from tests.standins.telegram.updates import Update
from tests.standins.telegram.wire import Object, as_objects
from tests.standins.telegram.world import Chat, Member, Message, Status, Topic, User


def private_chat(state: State, person: User, *, started: bool = True) -> Chat:
    """The chat of a person with the bot."""
    known = state.chats.get(person.id)
    if known is None:
        known = state.chat(Chat(person.id, "private", person=person, started=started))
    known.started = known.started or started
    return known


def open_topic(state: State, chat: Chat, name: str, by: User) -> Topic:
    """Open a topic; its id is that of the message that says so."""
    topic = Topic(next(chat.ids), name)
    chat.topics[topic.id] = topic
    opened: Object = {"forum_topic_created": {"name": name, "icon_color": 7322096}}
    message = Message(chat, topic.id, by, state.clock.now(), topic=topic, service=opened)
    state.post(message)
    if by is not state.bot:
        deliver(state, message)
    return topic


def tell(state: State, chat: Chat, by: User, service: Object, topic: Topic | None = None) -> Message:
    """A service message: the bot always gets it."""
    message = state.post(Message(chat, next(chat.ids), by, state.clock.now(), topic=topic, service=service))
    deliver(state, message)
    return message


def set_my_status(state: State, chat: Chat, status: Status, by: User) -> None:
    """Change what the bot is in a chat, and tell it."""
    me = chat.members.setdefault(state.bot.id, Member(state.bot, "left"))
    before = me.json
    me.status = status
    _member_update(state, chat, by, before, me.json)


def set_blocked(state: State, chat: Chat, blocked: bool) -> None:
    """The person of a private chat blocks the bot, or lets it in again."""
    assert chat.person is not None
    if chat.blocked is blocked:
        return
    chat.blocked = blocked
    was, now = Member(state.bot, "member").json, Member(state.bot, "kicked").json
    _member_update(state, chat, chat.person, *((was, now) if blocked else (now, was)))


def _member_update(state: State, chat: Chat, by: User, before: Object, after: Object) -> None:
    body: Object = {"chat": chat.json, "from": by.json, "date": int(state.clock.now())}
    body["old_chat_member"], body["new_chat_member"] = before, after
    state.updates.push("my_chat_member", body, chat.id)


def migrate(state: State, chat: Chat, by: User) -> Chat:
    """Turn a small group into a supergroup with another id; the bot is told in both."""
    new = state.chat(Chat(-1_000_000_000_000 - next(state.numbers), "supergroup", chat.title, members=chat.members))
    tell(state, chat, by, {"migrate_to_chat_id": new.id})
    chat.migrated_to = new
    tell(state, new, by, {"migrate_from_chat_id": chat.id})
    return new


def deliver(state: State, message: Message, kind: str = "message") -> Update | None:
    """Queue a message for the bot, if it is let see it."""
    return state.updates.push(kind, message.json, message.chat.id) if sees(state, message) else None


def sees(state: State, message: Message) -> bool:
    """Whether the bot gets a message: all in private chats, in groups what privacy mode lets through."""
    chat = message.chat
    if chat.private:
        return not chat.blocked
    me = chat.members.get(state.bot.id)
    if me is None or not me.there:
        return False
    if message.service or me.is_admin or state.can.reads_all:
        return True
    replied = message.reply_to is not None and message.reply_to.sender is state.bot
    return replied or _is_called(state, message)


def _is_called(state: State, message: Message) -> bool:
    """Whether a command or a mention means the bot."""
    name = f"@{state.bot.username}".lower()
    for entity in as_objects(message.entities):
        offset, length = entity["offset"], entity["length"]
        assert isinstance(offset, int)
        assert isinstance(length, int)
        words = part(message.text, offset, length).lower()
        if entity["type"] == "mention" and words == name and state.can.hears_mentions:
            return True
        if entity["type"] == "bot_command" and (words.endswith(name) or "@" not in words):
            return True
    return False
