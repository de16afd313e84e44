"""Everything the stand-in remembers, in one place, under one lock: the methods change it, people change it, tests look.

Two threads come here: the server's loop and the test. Whoever reads or writes holds `lock`, and none waits inside.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from itertools import count

from tests.standins.telegram.clock import Clock
from tests.standins.telegram.faults import Fault
from tests.standins.telegram.limits import Limiter
from tests.standins.telegram.updates import Updates
from tests.standins.telegram.wire import Fields, Json, Object, Upload
from tests.standins.telegram.world import Chat, Draft, Message, Query, StoredFile, User


@dataclass(eq=False)
class Call:
    """One request as it came. answer: the body of the response; None while there is none, or when it was lost."""

    method: str
    fields: Fields
    at: float
    answer: Object | None = None
    faulty: bool = False

    @property
    def chat(self) -> int | None:
        """The chat it named."""
        return self.fields.number("chat_id")

    @property
    def ok(self) -> bool:
        """Whether it was answered with a success."""
        return self.answer is not None and self.answer.get("ok") is True


@dataclass
class Abilities:
    """What this bot and this server can do. newest: methods and fields after Bot API 10.0 exist."""

    reads_all: bool = False
    hears_mentions: bool = True
    has_topics: bool = False
    drafts: bool = True
    newest: bool = True
    upload_max: int = 50 * 1024 * 1024
    photo_max: int = 10 * 1024 * 1024
    download_max: int = 20 * 1024 * 1024
    query_life: float = 10.0
    draft_life: float = 30.0
    ephemeral_life: float = 15.0


@dataclass(eq=False)
class State:
    """The whole stand-in."""

    token: str
    bot: User
    clock: Clock
    limiter: Limiter
    updates: Updates
    lock: threading.RLock = field(default_factory=threading.RLock)
    can: Abilities = field(default_factory=Abilities)
    users: dict[int, User] = field(default_factory=dict[int, User])
    chats: dict[int, Chat] = field(default_factory=dict[int, Chat])
    files: dict[str, StoredFile] = field(default_factory=dict[str, StoredFile])
    queries: dict[str, Query] = field(default_factory=dict[str, Query])
    drafts: dict[tuple[int, int], Draft] = field(default_factory=dict[tuple[int, int], Draft])
    commands: dict[str, list[Json]] = field(default_factory=dict[str, list[Json]])
    actions: list[tuple[int, str]] = field(default_factory=list[tuple[int, str]])
    calls: list[Call] = field(default_factory=list[Call])
    faults: list[Fault] = field(default_factory=list[Fault])
    violations: list[str] = field(default_factory=list[str])
    numbers: count[int] = field(default_factory=lambda: count(1))
    ids: count[int] = field(default_factory=lambda: count(1))

    def chat(self, made: Chat) -> Chat:
        """Add a chat. Private chats and small groups count messages together, a supergroup counts its own."""
        if made.type != "supergroup":
            made.ids = self.ids
        self.chats[made.id] = made
        return made

    def post(self, message: Message) -> Message:
        """Put a message into its chat."""
        message.shown.append(message.text)
        message.chat.stored[message.id] = message
        return message

    def keep(self, upload: Upload, *, photo: bool = False) -> StoredFile:
        """Keep a file."""
        number = next(self.numbers)
        folder = "photos" if photo else "documents"
        suffix = upload.name.rpartition(".")[2] if "." in upload.name else "bin"
        made = StoredFile(
            f"file-{number}", upload.name, upload.content, upload.mime, f"{folder}/file_{number}.{suffix}", photo
        )
        self.files[made.id] = made
        return made

    def complain(self, words: str) -> None:
        """Note what no good client does, whatever the answer was."""
        self.violations.append(words)
