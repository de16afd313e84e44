"""Finding what a request names, and whether the bot may touch it, with Telegram's refusals.

The order of the checks is the server's: the chat, the rights in it, the topic, the message.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from tests.standins.telegram.state import State
from tests.standins.telegram.wire import Fields, Json, Refusal, bad, forbidden
from tests.standins.telegram.world import Chat, Member, Message, Query, Topic

Method: TypeAlias = "Callable[[State, Fields], Json]"
METHODS: dict[str, Method] = {}
"""What the stand-in can do, by name."""
GENERAL = 1


def method(name: str) -> Callable[[Method], Method]:
    """Register what a method does; it runs under the lock and returns the result, or raises a `Refusal`."""

    def register(function: Method) -> Method:
        METHODS[name] = function
        return function

    return register


def reach(state: State, call: Fields, *, write: bool = True) -> Chat:
    """The chat of a request, if the bot may write (or read) there."""
    id = call.number("chat_id")
    if id is None:
        raise bad("chat_id is empty" if not call.text("chat_id") else "chat not found")
    chat = state.chats.get(id)
    if chat is None:
        if id in state.users and id != state.bot.id:
            raise forbidden("bot can't initiate conversation with a user")
        raise bad("chat not found")
    refusal = closed(state, chat, write)
    if refusal is not None:
        raise refusal
    return chat


def closed(state: State, chat: Chat, write: bool) -> Refusal | None:
    """Why the bot may not write (or read) in a chat."""
    if chat.migrated_to is not None and write:
        words = "Bad Request: group chat was upgraded to a supergroup chat"
        return Refusal(400, words, migrate_to=chat.migrated_to.id)
    if chat.deleted:
        return forbidden("the group chat was deleted")
    if chat.private:
        return _closed_by_person(chat, write)
    kind = "supergroup" if chat.type == "supergroup" else "group"
    me = chat.members.get(state.bot.id, Member(state.bot, "left"))
    if me.status == "kicked":
        return forbidden(f"bot was kicked from the {kind} chat")
    if not me.there:
        return forbidden(f"bot is not a member of the {kind} chat")
    muted = write and chat.muted and not me.is_admin
    return bad("not enough rights to send text messages to the chat") if muted else None


def _closed_by_person(chat: Chat, write: bool) -> Refusal | None:
    if not write:
        return None
    if chat.person is not None and chat.person.deactivated:
        return forbidden("user is deactivated")
    if not chat.started:
        return forbidden("bot can't initiate conversation with a user")
    return forbidden("bot was blocked by the user") if chat.blocked else None


def topic_of(state: State, chat: Chat, call: Fields) -> Topic | None:
    """The topic of a request; General is named by leaving the number out."""
    id = call.number("message_thread_id")
    if id is None or id == 0:
        return None
    if not (chat.forum or chat.private):
        state.complain(f"message_thread_id {id} in a chat without topics is ignored")
        return None
    topic = chat.topics.get(id)
    if topic is None or topic.deleted or id == GENERAL:
        raise bad("message thread not found")
    if topic.closed and not manages_topics(state, chat):
        raise bad("TOPIC_CLOSED")
    return topic


def manages_topics(state: State, chat: Chat) -> bool:
    """Whether the bot may write into closed topics."""
    me = chat.members.get(state.bot.id)
    return me is not None and me.is_admin and me.can_manage_topics


def message_of(state: State, chat: Chat, call: Fields, what: str) -> Message:
    """The message of a request. what: what it is called when it is not there, as in `message to edit`."""
    message = chat.stored.get(call.number("message_id") or 0)
    if message is None or message.deleted or message.only is not None:
        raise bad(f"{what} not found")
    return message


def editable(state: State, chat: Chat, call: Fields) -> Message:
    """The bot's own message that a request wants to change."""
    message = message_of(state, chat, call, "message to edit")
    if message.sender is not state.bot or message.service:
        raise bad("message can't be edited")
    return message


def replied(state: State, chat: Chat, call: Fields, topic: Topic | None) -> Message | None:
    """The message that a request replies to."""
    parameters = call.object("reply_parameters")
    if parameters is None:
        return None
    id = parameters.number("message_id")
    other = parameters.number("chat_id")
    place = chat if other is None else state.chats.get(other)
    found = place.stored.get(id or 0) if place is not None else None
    if found is None or found.deleted or (topic is not None and place is chat and found.topic is not topic):
        if parameters.flag("allow_sending_without_reply"):
            return None
        raise bad("message to be replied not found")
    return found


def query_of(state: State, id: str) -> Query:
    """A press that still waits for its answer."""
    query = state.queries.get(id)
    if query is None or query.answers or state.clock.now() - query.at > state.can.query_life:
        raise bad("query is too old and response timeout expired or query ID is invalid")
    return query
