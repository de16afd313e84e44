"""Chats, members and topics, as far as a bot may ask and change. Source: PLATFORMS 2.5."""

from __future__ import annotations

from tests.standins.telegram import access
from tests.standins.telegram.access import method
from tests.standins.telegram.places import open_topic
from tests.standins.telegram.state import State
from tests.standins.telegram.wire import Fields, Json, Object, bad, forbidden
from tests.standins.telegram.world import Chat


@method("getChat")
def get_chat(state: State, call: Fields) -> Json:
    chat = access.reach(state, call, write=False)
    gifts: Object = dict.fromkeys(
        ("unlimited_gifts", "limited_gifts", "unique_gifts", "premium_subscription", "gifts_from_channels"), False
    )
    more: Object = {"accent_color_id": 0, "max_reaction_count": 11, "accepted_gift_types": gifts}
    return chat.json | more


@method("getChatMember")
def get_chat_member(state: State, call: Fields) -> Json:
    chat = access.reach(state, call, write=False)
    member = chat.members.get(call.number("user_id") or 0)
    if member is not None:
        return member.json
    known = state.users.get(call.number("user_id") or 0)
    if known is None or chat.private:
        raise bad("PARTICIPANT_ID_INVALID" if known is None else "member not found")
    return {"status": "left", "user": known.json}


@method("getChatAdministrators")
def get_administrators(state: State, call: Fields) -> Json:
    chat = access.reach(state, call, write=False)
    if chat.private:
        raise bad("there are no administrators in the private chat")
    return [
        one.json for one in chat.members.values() if one.is_admin and (not one.user.is_bot or one.user is state.bot)
    ]


@method("leaveChat")
def leave_chat(state: State, call: Fields) -> Json:
    chat = access.reach(state, call, write=False)
    if chat.private:
        raise bad("chat not found")
    chat.members[state.bot.id].status = "left"
    return True


def _topic_rights(state: State, call: Fields) -> Chat:
    chat = access.reach(state, call)
    if chat.private:
        if not state.can.has_topics:
            raise bad("the chat is not a forum")
        return chat
    if not chat.forum:
        raise bad("the chat is not a forum")
    if not access.manages_topics(state, chat):
        raise bad("not enough rights to create a topic")
    return chat


@method("createForumTopic")
def create_topic(state: State, call: Fields) -> Json:
    if not 1 <= len(call.text("name")) <= 128:
        raise bad("TOPIC_TITLE_INVALID" if call.text("name") else "TOPIC_TITLE_EMPTY")
    topic = open_topic(state, _topic_rights(state, call), call.text("name"), state.bot)
    return {"message_thread_id": topic.id, "name": topic.name, "icon_color": 7322096}


@method("editForumTopic")
def edit_topic(state: State, call: Fields) -> Json:
    chat = _topic_rights(state, call)
    topic = chat.topics.get(call.number("message_thread_id") or 0)
    if topic is None or topic.deleted:
        raise bad("message thread not found")
    if call.text("name") == topic.name:
        raise bad("TOPIC_NOT_MODIFIED")
    topic.name = call.text("name") or topic.name
    return True


@method("closeForumTopic")
def close_topic(state: State, call: Fields) -> Json:
    return _set_closed(state, call, True)


@method("reopenForumTopic")
def reopen_topic(state: State, call: Fields) -> Json:
    return _set_closed(state, call, False)


def _set_closed(state: State, call: Fields, closed: bool) -> Json:
    topic = _topic_rights(state, call).topics.get(call.number("message_thread_id") or 0)
    if topic is None or topic.deleted:
        raise bad("message thread not found")
    if topic.closed is closed:
        raise bad("TOPIC_NOT_MODIFIED")
    topic.closed = closed
    return True


@method("deleteForumTopic")
def delete_topic(state: State, call: Fields) -> Json:
    chat = _topic_rights(state, call)
    me = chat.members.get(state.bot.id)
    if not chat.private and (me is None or not me.can_delete):
        raise forbidden("not enough rights to delete a topic")
    topic = chat.topics.get(call.number("message_thread_id") or 0)
    if topic is None or topic.deleted:
        raise bad("message thread not found")
    topic.deleted = True
    for message in chat.in_topic(topic):
        message.deleted = True
    return True
