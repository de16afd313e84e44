"""What exists on the stand-in: users, chats, topics, messages as they are now, files, queries; and their JSON.

It keeps and shows; what may be done to it is decided by the methods, what people do is in `people`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count
from typing import Literal

from tests.standins.telegram.wire import Json, Object

ChatType = Literal["private", "group", "supergroup"]
Status = Literal["creator", "administrator", "member", "left", "kicked"]
ANONYMOUS_ADMIN = 1087968824
ADMIN_RIGHTS = (
    "can_manage_chat",
    "can_manage_video_chats",
    "can_restrict_members",
    "can_promote_members",
    "can_change_info",
    "can_invite_users",
    "can_post_stories",
    "can_edit_stories",
    "can_delete_stories",
    "can_send_welcome_messages",
)


@dataclass(eq=False)
class User:
    """A person or a bot."""

    id: int
    first_name: str
    username: str | None = None
    is_bot: bool = False
    deactivated: bool = False

    @property
    def json(self) -> Object:
        shown: Object = {"id": self.id, "is_bot": self.is_bot, "first_name": self.first_name}
        return shown | ({"username": self.username} if self.username else {})


@dataclass(eq=False)
class Member:
    """What a user is in a chat."""

    user: User
    status: Status = "member"
    can_delete: bool = False
    can_manage_topics: bool = False
    anonymous: bool = False

    @property
    def there(self) -> bool:
        """Whether they are in it."""
        return self.status not in ("left", "kicked")

    @property
    def is_admin(self) -> bool:
        return self.status in ("creator", "administrator")

    @property
    def json(self) -> Object:
        shown: Object = {"status": self.status, "user": self.user.json}
        if self.status == "kicked":
            return shown | {"until_date": 0}
        if self.status == "creator":
            return shown | {"is_anonymous": self.anonymous}
        if self.status != "administrator":
            return shown
        shown |= dict.fromkeys(ADMIN_RIGHTS, False)
        shown |= {"can_be_edited": False, "is_anonymous": self.anonymous, "can_manage_chat": True}
        return shown | {"can_delete_messages": self.can_delete, "can_manage_topics": self.can_manage_topics}


@dataclass(eq=False)
class Topic:
    """A forum topic. id: the message that opened it; 1 is General."""

    id: int
    name: str
    closed: bool = False
    deleted: bool = False


@dataclass(eq=False)
class StoredFile:
    """A file that somebody sent."""

    id: str
    name: str
    content: bytes
    mime: str
    path: str
    photo: bool = False
    claimed_size: int | None = None

    @property
    def size(self) -> int:
        """Bytes; a test may let it claim more than it holds."""
        return self.claimed_size if self.claimed_size is not None else len(self.content)

    @property
    def json(self) -> Object:
        """As a document, or as one size of a photo."""
        shown: Object = {"file_id": self.id, "file_unique_id": f"u{self.id}", "file_size": self.size}
        return shown | (
            {"width": 640, "height": 480} if self.photo else {"file_name": self.name, "mime_type": self.mime}
        )


@dataclass(eq=False)
class Chat:
    """A place of messages. started, blocked: what its person did. muted: only administrators write."""

    id: int
    type: ChatType
    title: str = ""
    person: User | None = None
    forum: bool = False
    members: dict[int, Member] = field(default_factory=dict[int, Member])
    topics: dict[int, Topic] = field(default_factory=dict[int, Topic])
    stored: dict[int, Message] = field(default_factory=dict[int, "Message"])
    ids: Iterator[int] = field(default_factory=lambda: count(2))
    started: bool = True
    blocked: bool = False
    deleted: bool = False
    muted: bool = False
    migrated_to: Chat | None = None

    @property
    def private(self) -> bool:
        return self.type == "private"

    @property
    def messages(self) -> list[Message]:
        """Those that are still there, oldest first."""
        return [one for one in self.stored.values() if not one.deleted]

    def in_topic(self, topic: Topic | None) -> list[Message]:
        """The messages of a topic; None: of no topic, or of General."""
        return [one for one in self.messages if one.topic is topic]

    @property
    def json(self) -> Object:
        shown: Object = {"id": self.id, "type": self.type}
        if self.person is not None:
            shown |= {"first_name": self.person.first_name}
            return shown | ({"username": self.person.username} if self.person.username else {})
        shown |= {"title": self.title}
        return shown | ({"is_forum": True} if self.forum else {})


@dataclass(eq=False)
class Message:
    """One message as people see it now. shown: each text it ever had; rows: its inline keyboard."""

    chat: Chat
    id: int
    sender: User
    date: float
    text: str = ""
    entities: list[Json] = field(default_factory=list[Json])
    rows: list[list[Object]] = field(default_factory=list[list[Object]])
    file: StoredFile | None = None
    reply_to: Message | None = None
    topic: Topic | None = None
    sender_chat: Chat | None = None
    album: str | None = None
    prompt: Object | None = None
    service: Object = field(default_factory=dict[str, Json])
    edited_at: float | None = None
    deleted: bool = False
    only: int | None = None
    preview: bool = True
    silent: bool = False
    reactions: dict[int, list[Json]] = field(default_factory=dict[int, list[Json]])
    shown: list[str] = field(default_factory=list[str])

    @property
    def buttons(self) -> list[Object]:
        """Every button, in order."""
        return [button for row in self.rows for button in row]

    @property
    def labels(self) -> list[str]:
        """What the buttons say."""
        return [str(button["text"]) for button in self.buttons]

    @property
    def edits(self) -> int:
        """How often its text was changed."""
        return len(self.shown) - 1

    @property
    def json(self) -> Object:
        """As the Bot API shows it; a message that this one replies to is shown without what it replies to."""
        shown = self._plain
        above = self.reply_to or self._opening
        if above is not None:
            shown["reply_to_message"] = above._plain
        return shown

    @property
    def _opening(self) -> Message | None:
        """What a message in a topic replies to when it replies to nothing: the message that opened the topic."""
        if self.topic is None or self.id == self.topic.id or not self.chat.forum:
            return None
        return self.chat.stored.get(self.topic.id)

    @property
    def _plain(self) -> Object:
        shown: Object = {"message_id": self.id, "date": int(self.date), "chat": self.chat.json}
        shown["from"] = self.sender.json
        if self.sender_chat is not None:
            shown["sender_chat"] = self.sender_chat.json
        if self.topic is not None:
            shown |= {"message_thread_id": self.topic.id, "is_topic_message": True}
        elif self.chat.type == "supergroup" and not self.chat.forum and self.reply_to is not None:
            shown["message_thread_id"] = self.reply_to.id
        if self.only is not None:
            shown["ephemeral_message_id"] = self.id
        if self.edited_at is not None:
            shown["edit_date"] = int(self.edited_at)
        if self.album is not None:
            shown["media_group_id"] = self.album
        return shown | self._content | self.service | self._markup

    @property
    def _content(self) -> Object:
        shown: Object = {}
        if self.file is not None:
            shown["photo" if self.file.photo else "document"] = [self.file.json] if self.file.photo else self.file.json
        if self.text:
            shown["caption" if self.file else "text"] = self.text
        if self.entities:
            shown["caption_entities" if self.file else "entities"] = self.entities
        return shown

    @property
    def _markup(self) -> Object:
        rows: list[Json] = [[*row] for row in self.rows]
        return {"reply_markup": {"inline_keyboard": rows}} if rows else {}


@dataclass(eq=False)
class Query:
    """A button was pressed. answers: what the bot said to it, with `text` and `show_alert`."""

    id: str
    user: User
    message: Message
    data: str
    at: float
    answers: list[Object] = field(default_factory=list[Object])

    @property
    def notice(self) -> str | None:
        """The words of the answer, None before there is one."""
        return str(self.answers[0].get("text", "")) if self.answers else None

    @property
    def alerted(self) -> bool:
        """Whether the answer has to be clicked away."""
        return bool(self.answers and self.answers[0].get("show_alert"))

    def json(self, *, accessible: bool = True) -> Object:
        """As the Bot API shows it; the message may have become inaccessible."""
        message = self.message
        hidden: Object = {"chat": message.chat.json, "message_id": message.id, "date": 0}
        shown: Object = {"id": self.id, "from": self.user.json, "data": self.data}
        shown["message"] = message.json if accessible else hidden
        return shown | {"chat_instance": f"c{message.chat.id}"}


@dataclass(eq=False)
class Draft:
    """A text that is still being written, in a private chat; it fades after 30 s."""

    chat: Chat
    id: int
    text: str
    at: float
    topic: Topic | None = None
    can_stop: bool = False
    shown: list[str] = field(default_factory=list[str])
