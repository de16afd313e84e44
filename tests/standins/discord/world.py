"""What Discord knows: users, guilds, channels, messages, interactions; and the clock it lives by.

The clock stands still until a test moves it, so a slow machine never breaks the 3 seconds of an interaction.
Whatever changes is told to `listeners` as an `Event`; who gets it is the gateway's business.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from typing import Literal

from tests.standins.discord.components import BUTTON, SELECTS, Pressable, shown_text, walked
from tests.standins.discord.refusals import Refusal
from tests.standins.discord.shapes import Obj, number, text

EPOCH_MS = 1_420_070_400_000
EPHEMERAL, LOADING, V2 = 1 << 6, 1 << 7, 1 << 15
Permission = Literal[
    "add_reactions", "administrator", "attach_files", "create_public_threads", "create_private_threads", "embed_links",
    "manage_messages", "manage_threads", "mention_everyone", "read_message_history", "send_messages",
    "send_messages_in_threads", "use_application_commands", "view_channel",
]  # fmt: skip
BITS: dict[Permission, int] = {
    "administrator": 1 << 3,
    "add_reactions": 1 << 6,
    "view_channel": 1 << 10,
    "send_messages": 1 << 11,
    "manage_messages": 1 << 13,
    "embed_links": 1 << 14,
    "attach_files": 1 << 15,
    "read_message_history": 1 << 16,
    "mention_everyone": 1 << 17,
    "use_application_commands": 1 << 31,
    "manage_threads": 1 << 34,
    "create_public_threads": 1 << 35,
    "create_private_threads": 1 << 36,
    "send_messages_in_threads": 1 << 38,
}
EVERYTHING = sum(BITS.values())
EVERYONE_MAY = EVERYTHING & ~(1 << 3) & ~(1 << 13) & ~(1 << 17) & ~(1 << 34)


@dataclass(eq=False)
class User:
    """Somebody with an account. open: whether the bot may write to them directly."""

    id: str
    name: str
    bot: bool = False
    open: bool = True


@dataclass(eq=False)
class Role:
    id: str
    name: str
    permissions: int = 0


@dataclass(eq=False)
class Guild:
    """A server. members: the roles of each user by user id. away: Discord itself cannot reach it."""

    id: str
    name: str
    owner: User
    roles: list[Role] = field(default_factory=list[Role])
    users: dict[str, User] = field(default_factory=dict[str, User])
    members: dict[str, list[Role]] = field(default_factory=dict[str, list[Role]])
    joined: float = 0.0
    away: bool = False


@dataclass(eq=False)
class Archive:
    """A thread's state."""

    archived: bool = False
    locked: bool = False
    minutes: int = 4320
    at: float = 0.0


@dataclass(eq=False)
class Channel:
    """A DM (type 1), a text channel (0), or a thread (11 public, 12 private). denied: bits taken, by role or user."""

    id: str
    type: int
    name: str = ""
    guild: Guild | None = None
    parent: Channel | None = None
    people: list[User] = field(default_factory=list[User])
    owner: User | None = None
    archive: Archive = field(default_factory=Archive)
    denied: dict[str, int] = field(default_factory=dict[str, int])
    messages: dict[str, Message] = field(default_factory=dict[str, "Message"])
    typed: int = 0
    gone: bool = False

    @property
    def is_thread(self) -> bool:
        return self.type in {10, 11, 12}

    @property
    def is_dm(self) -> bool:
        return self.type == 1

    @property
    def seen(self) -> list[Message]:
        """The messages everybody here sees now, oldest first."""
        return [one for one in self.messages.values() if not one.gone and one.only is None]


@dataclass(eq=False)
class Attachment:
    id: str
    name: str
    content: bytes
    kind: str
    url: str


@dataclass(eq=False)
class Message:
    """One message as it is now. only: who alone sees it. pinged: ids of whom it rang. shown: the texts it ever had.

    reactions: of the bot.
    """

    id: str
    channel: Channel
    author: User
    content: str = ""
    components: list[Obj] = field(default_factory=list[Obj])
    embeds: list[Obj] = field(default_factory=list[Obj])
    attachments: list[Attachment] = field(default_factory=list[Attachment])
    flags: int = 0
    nonce: str | int | None = None
    reply_to: Message | None = None
    only: User | None = None
    cause: Interaction | None = None
    created: float = 0.0
    edited: float | None = None
    everyone: bool = False
    mentions: list[User] = field(default_factory=list[User])
    roles: list[Role] = field(default_factory=list[Role])
    pinged: set[str] = field(default_factory=set[str])
    shown: list[str] = field(default_factory=list[str])
    thread: Channel | None = None
    reactions: list[str] = field(default_factory=list[str])
    gone: bool = False

    @property
    def text(self) -> str:
        """All that can be read in it: content, then text displays."""
        return "\n".join(part for part in (self.content, shown_text(self.components)) if part)

    @property
    def buttons(self) -> list[Pressable]:
        return [Pressable(one) for one in walked(self.components) if number(one, "type") == BUTTON]

    @property
    def selects(self) -> list[Pressable]:
        return [Pressable(one) for one in walked(self.components) if number(one, "type") in SELECTS]

    @property
    def labels(self) -> list[str]:
        """What its buttons say."""
        return [one.label for one in self.buttons]

    @property
    def live(self) -> list[str]:
        """Labels of all that a person could press or choose from now; links are not counted."""
        return [one.label for one in (*self.buttons, *self.selects) if not one.disabled and not one.url]


@dataclass(eq=False)
class Modal:
    """A form that was shown to somebody, as the bot sent it."""

    raw: Obj
    person: User
    channel: Channel
    message: Message | None
    submitted: bool = False

    @property
    def title(self) -> str:
        return text(self.raw, "title")

    @property
    def custom_id(self) -> str:
        return text(self.raw, "custom_id")

    @property
    def fields(self) -> list[str]:
        """The labels of its questions."""
        return [text(one, "label") for one in walked(list(self.tops)) if text(one, "label")]

    @property
    def tops(self) -> list[Obj]:
        """Its top components."""
        found = self.raw.get("components")
        return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []


@dataclass(eq=False)
class Interaction:
    """Somebody pressed, chose, submitted or typed a command. acked: type of the first response, None before it."""

    id: str
    token: str
    kind: int
    person: User
    channel: Channel
    created: float
    message: Message | None = None
    acked: int | None = None
    original: Message | None = None
    answers: list[Message] = field(default_factory=list[Message])
    modal: Modal | None = None
    choices: list[Obj] = field(default_factory=list[Obj])
    waiting: bool = False

    @property
    def texts(self) -> list[str]:
        """What was answered to it and is still there."""
        return [one.text for one in self.answers if not one.gone]


@dataclass(frozen=True)
class Event:
    """One dispatch. intents: any of these bits lets a session hear it, 0 everyone. bare: without privileged content."""

    name: str
    body: Obj
    intents: int = 0
    bare: Obj | None = None


@dataclass
class Portal:
    """What is set for the bot in the developer portal."""

    token: str = "MTIzNDU2Nzg5MDEyMzQ1Njc4.GsTand.in-for-tests-only"
    message_content: bool = True
    members: bool = True
    presences: bool = False


class World:
    """Everything there is, and the clock. cdn: where attachments say they are; our own address, if none."""

    def __init__(self) -> None:
        self.now = float(int(time.time()))
        self.ids = count(1)
        self.portal = Portal()
        self.address = self.cdn = ""
        self.users: dict[str, User] = {}
        self.guilds: dict[str, Guild] = {}
        self.channels: dict[str, Channel] = {}
        self.interactions: dict[str, Interaction] = {}
        self.attachments: dict[str, Attachment] = {}
        self.commands: dict[str, list[Obj]] = {}
        self.listeners: list[Callable[[Event], None]] = []
        self.bot = self.user("sayso", bot=True)

    def snowflake(self) -> str:
        """A fresh id: rises with time, and within one instant."""
        return str((int(self.now * 1000) - EPOCH_MS << 22) + next(self.ids))

    def dispatch(self, event: Event) -> None:
        for listener in self.listeners:
            listener(event)

    def user(self, name: str, *, bot: bool = False) -> User:
        made = User(self.snowflake(), name, bot)
        self.users[made.id] = made
        return made

    def channel(self, id: str) -> Channel:
        """Raises: `Refusal` 10003."""
        found = self.channels.get(id)
        if found is None or found.gone:
            raise Refusal(10003)
        return found

    def message(self, channel: Channel, id: str) -> Message:
        """A message that everybody in the channel sees. Raises: `Refusal` 10008."""
        found = channel.messages.get(id)
        if found is None or found.gone or found.only is not None:
            raise Refusal(10008)
        return found

    def dm(self, person: User) -> Channel:
        """The direct channel between the bot and somebody."""
        for one in self.channels.values():
            if one.is_dm and person in one.people:
                return one
        made = Channel(self.snowflake(), 1, people=[person])
        self.channels[made.id] = made
        return made

    def permissions(self, channel: Channel, user: User) -> int:
        """What somebody may do in a channel, as bits."""
        guild, place = channel.guild, channel.parent or channel
        if guild is None:
            return EVERYTHING if user is self.bot or user in channel.people else 0
        if user.id not in guild.members:
            return 0
        bits = self.rights(guild, user)
        if bits == EVERYTHING:
            return EVERYTHING
        for role in (guild.roles[0], *guild.members[user.id]):
            bits &= ~place.denied.get(role.id, 0)
        bits &= ~place.denied.get(user.id, 0)
        return bits if bits & BITS["view_channel"] else 0

    def rights(self, guild: Guild, user: User) -> int:
        """What somebody's roles in a server let them do, as bits."""
        bits = 0
        for role in (guild.roles[0], *guild.members[user.id]):
            bits |= role.permissions
        return EVERYTHING if user is guild.owner or bits & BITS["administrator"] else bits

    def may(self, channel: Channel, user: User, *names: Permission) -> bool:
        bits = self.permissions(channel, user)
        return all(bits & BITS[name] for name in names)

    def need(self, channel: Channel, *names: Permission) -> None:
        """Refuse unless the bot may do this. Raises: `Refusal` 50001 or 50013."""
        if not self.may(channel, self.bot, "view_channel"):
            raise Refusal(50001)
        if not self.may(channel, self.bot, *names):
            raise Refusal(50013)
