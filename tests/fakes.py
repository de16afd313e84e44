"""A platform that does not exist: it keeps what was sent, enforces its declared limits, and fails as real ones do.

`FakeChats` is the platform's own memory and outlives every process of ours; `FakePlatform` is one connection to it.
What a test sees is what a person would see. Anything a real platform would have refused is a violation.
"""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import count
from typing import Literal, Protocol, Self

from adapters.desk import Desk
from adapters.outcomes import Notice
from adapters.platform import Button, Finding, Hook, Limits, Migrated, Outcome, Refused, Sent, View
from adapters.text import utf8, utf16
from core.model import Person

Units = Literal["chars", "utf16", "bytes"]
COUNTS: dict[Units, Callable[[str], int]] = {"chars": len, "utf16": utf16, "bytes": utf8}
Verb = Literal["post", "edit", "draft", "remove", "upload"]

WIDE = Limits(
    text_max=4096,
    label_max=64,
    row_buttons=8,
    card_buttons=100,
    file_max=1_000_000,
    take_max=20_000_000,
    edit_gap=0.02,
    typing_every=0.05,
    send_timeout=5.0,
    whispers=True,
)
NARROW = Limits(
    text_max=900,
    label_max=20,
    row_buttons=2,
    card_buttons=16,
    file_max=0,
    links=False,
    edit_gap=0.02,
    typing_every=0.0,
    send_timeout=5.0,
    repeats=True,
)


@dataclass
class Message:
    """One message as people see it now. shown: every text it ever had."""

    id: str
    place: str
    text: str
    rows: tuple[tuple[Button, ...], ...] = ()
    view: View = field(default_factory=View)
    file: bytes | None = None
    name: str = ""
    gone: bool = False
    shown: list[str] = field(default_factory=list[str])
    only: str | None = None

    @property
    def labels(self) -> list[str]:
        """What its buttons say."""
        return [button.label for row in self.rows for button in row]


@dataclass
class Fault:
    """What goes wrong once. accepted: the platform has it all the same. gate: it answers when this is set."""

    verb: Verb | Literal["any"]
    outcome: Outcome | None = None
    accepted: bool = False
    gate: asyncio.Event | None = None
    place: str | None = None
    reached: asyncio.Event = field(default_factory=asyncio.Event)


@dataclass
class FakeChats:
    """The platform's memory: messages by id, in order, and what it was told to do wrong."""

    prefix: str = "fa"
    units: Units = "utf16"
    limits: Limits = WIDE
    messages: dict[str, Message] = field(default_factory=dict[str, Message])
    faults: deque[Fault] = field(default_factory=deque[Fault])
    violations: list[str] = field(default_factory=list[str])
    calls: Counter[str] = field(default_factory=Counter[str])
    rest_until: dict[str, float] = field(default_factory=dict[str, float])
    blocked: set[str] = field(default_factory=set[str])
    migrated: dict[str, str] = field(default_factory=dict[str, str])
    no_markup: bool = False
    nonces: dict[str, str] = field(default_factory=dict[str, str])
    drafts: list[tuple[str, str, str]] = field(default_factory=list[tuple[str, str, str]])
    typed: Counter[str] = field(default_factory=Counter[str])
    updates: count[int] = field(default_factory=lambda: count(1))
    ids: count[int] = field(default_factory=lambda: count(1))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing to close: it is only memory."""

    def at(self, place: str) -> list[Message]:
        """The messages at a place that are still there, oldest first."""
        return [one for one in self.messages.values() if one.place == place and not one.gone]

    def cards(self, place: str) -> list[Message]:
        """Those with buttons that can be pressed."""
        return [one for one in self.at(place) if one.rows]

    def texts(self, place: str) -> list[str]:
        """What all messages at a place say now."""
        return [one.text for one in self.at(place)]

    def connection(self) -> FakePlatform:
        """One connection to it."""
        return FakePlatform(self)

    def fail(self, verb: Verb | Literal["any"], outcome: Outcome | None = None, **how: object) -> Fault:
        """Let the next call of a verb go wrong."""
        fault = Fault(verb, outcome, **how)  # pyright: ignore[reportArgumentType] the fields of Fault
        self.faults.append(fault)
        return fault


Accept = Callable[[], Awaitable[Outcome]]
"""What happens when the platform takes a call."""


class There(Protocol):
    """The platform itself, behind the connection: what it does with a call that reached it."""

    async def post(self, place: str, view: View, *, nonce: str, reply_to: str | None = None) -> Outcome:
        """Take a message."""
        ...

    async def edit(self, place: str, message: str, view: View) -> Outcome:
        """Let a message show something else."""
        ...

    async def draft(self, place: str, of: str, view: View) -> Outcome:
        """Show what is being written."""
        ...

    async def remove(self, place: str, message: str) -> Outcome:
        """Take a message away."""
        ...

    async def upload(self, place: str, name: str, content: bytes, *, nonce: str) -> Outcome:
        """Take a file."""
        ...


@dataclass(frozen=True, slots=True)
class Memory:
    """The platform that is only memory; `There` says what each verb is."""

    chats: FakeChats

    async def post(self, place: str, view: View, *, nonce: str, reply_to: str | None = None) -> Outcome:
        chats = self.chats
        if chats.limits.repeats and nonce in chats.nonces:
            return Sent(chats.nonces[nonce])
        made = Message(f"m{next(chats.ids)}", place, view.text, view.rows, view, shown=[view.text])
        made.only = view.only
        chats.messages[made.id] = made
        chats.nonces[nonce] = made.id
        return Sent(made.id)

    async def edit(self, place: str, message: str, view: View) -> Outcome:
        found = self.chats.messages.get(message)
        if found is None or found.gone or found.place != place:
            return Refused("gone", "message to edit not found")
        if (found.text, found.rows) == (view.text, view.rows):
            return Refused("same", "message is not modified")
        found.text, found.rows, found.view = view.text, view.rows, view
        found.shown.append(view.text)
        return Sent(message)

    async def draft(self, place: str, of: str, view: View) -> Outcome:
        return Sent(of)

    async def remove(self, place: str, message: str) -> Outcome:
        found = self.chats.messages.get(message)
        if found is None or found.gone:
            return Refused("gone", "message to delete not found")
        found.gone = True
        return Sent(message)

    async def upload(self, place: str, name: str, content: bytes, *, nonce: str) -> Outcome:
        made = Message(f"m{next(self.chats.ids)}", place, "", file=content, name=name)
        self.chats.messages[made.id] = made
        return Sent(made.id)


@dataclass(frozen=True, slots=True)
class Wrote:
    """What a person writes. key: the update that brings it; the same one again is a repeat."""

    person: Person
    place: str
    text: str
    reply_to: Message | None = None
    key: str | None = None
    files: tuple[str, ...] = ()
    links: tuple[str, ...] = ()


class FakePlatform:
    """One connection to the fake platform, with the shape of `Platform`."""

    def __init__(self, chats: FakeChats) -> None:
        self.chats = chats
        self.prefix = chats.prefix
        self.name = f"Fake {chats.prefix}"
        self.limits = chats.limits
        self.there: There = Memory(chats)
        self.desk: Desk | None = None
        self.deaf = False

    # ── what the kit calls ───────────────────────────────────────────────────────────────────────────────────────────

    @asynccontextmanager
    async def connect(self, desk: Desk) -> AsyncGenerator[None]:
        self.desk = desk
        try:
            yield
        finally:
            self.desk = None

    def hook(self) -> Hook | None:
        return None

    def alive(self) -> bool:
        return not self.deaf

    def trouble(self) -> str | None:
        return "nothing is heard" if self.deaf else None

    async def check(self) -> tuple[Finding, ...]:
        return (Finding(True, "this platform is fake"),)

    def measure(self, view: View) -> int:
        return COUNTS[self.chats.units](view.text)

    def chat(self, place: str) -> str:
        return place.partition(".")[0]

    def is_private(self, place: str) -> bool:
        return not place.removeprefix(f"{self.prefix}-").startswith("g")

    async def post(self, place: str, view: View, *, nonce: str, reply_to: str | None = None) -> Outcome:
        return await self._call(
            "post", place, view, lambda: self.there.post(place, view, nonce=nonce, reply_to=reply_to)
        )

    async def edit(self, place: str, message: str, view: View) -> Outcome:
        return await self._call("edit", place, view, lambda: self.there.edit(place, message, view))

    async def draft(self, place: str, of: str, view: View) -> Outcome:
        def accept() -> Awaitable[Outcome]:
            self.chats.drafts.append((place, of, view.text))
            return self.there.draft(place, of, view)

        if self.limits.draft_gap is None or not self.is_private(place):
            self.chats.violations.append(f"a draft at {place}")
        return await self._call("draft", place, view, accept)

    async def remove(self, place: str, message: str) -> Outcome:
        return await self._call("remove", place, None, lambda: self.there.remove(place, message))

    async def typing(self, place: str) -> None:
        self.chats.typed[place] += 1

    async def upload(self, place: str, name: str, content: bytes, *, nonce: str, asks: str | None = None) -> Outcome:
        if len(content) > self.limits.file_max:
            self.chats.violations.append(f"a file of {len(content)} bytes")
        return await self._call("upload", place, None, lambda: self.there.upload(place, name, content, nonce=nonce))

    async def _call(
        self, verb: Verb, place: str, view: View | None, accept: Callable[[], Awaitable[Outcome]]
    ) -> Outcome:
        chats, chat = self.chats, self.chat(place)
        chats.calls[verb] += 1
        now = asyncio.get_running_loop().time()
        if now < chats.rest_until.get(chat, 0.0):
            chats.violations.append(f"{verb} at {place} although it was told to wait")
        self._check(view)
        fault = next((one for one in chats.faults if one.verb in (verb, "any") and one.place in (None, place)), None)
        if fault is not None:
            chats.faults.remove(fault)
            accepted = await accept() if fault.accepted else None
            fault.reached.set()
            if fault.gate is not None:
                await fault.gate.wait()
            if isinstance(fault.outcome, Refused) and fault.outcome.retry_after is not None:
                chats.rest_until[chat] = asyncio.get_running_loop().time() + fault.outcome.retry_after
            told = fault.outcome or accepted
            if told is not None:
                return told
        if place in chats.migrated:
            return Migrated(chats.migrated[place])
        if chat in chats.blocked:
            return Refused("final", "bot was blocked by the user")
        if view is not None and chats.no_markup and not view.plain:
            return Refused("markup", "can't parse entities")
        return await accept()

    def _check(self, view: View | None) -> None:
        """Note what a real platform would refuse."""
        if view is None:
            return
        wrong = self.chats.violations
        limits = self.limits
        if not view.text.strip() or self.measure(view) > limits.text_max:
            wrong.append(f"a text of {self.measure(view)}")
        if len(view.buttons) > limits.card_buttons or any(len(row) > limits.row_buttons for row in view.rows):
            wrong.append(f"{len(view.buttons)} buttons in {[len(row) for row in view.rows]}")
        for button in view.buttons:
            if not button.label.strip() or len(button.label) > limits.label_max:
                wrong.append(f"the label {button.label!r}")
            if (button.payload is None) is (button.url is None):
                wrong.append(f"the button {button!r} has not exactly one action")
            if button.payload is not None and len(button.payload.encode()) > limits.payload_max:
                wrong.append(f"the payload {button.payload!r}")
            if button.url is not None and not limits.links:
                wrong.append(f"the link {button.url!r}")

    # ── what people do ───────────────────────────────────────────────────────────────────────────────────────────────

    def key(self) -> str:
        """A fresh update id."""
        return f"u{next(self.chats.updates)}"

    async def write(
        self,
        person: Person,
        place: str,
        text: str,
        *,
        reply_to: Message | None = None,
        key: str | None = None,
        files: tuple[str, ...] = (),
        links: tuple[str, ...] = (),
    ) -> Notice | None:
        """A person writes, in a group to the bot."""
        return await self.wrote(Wrote(person, place, text, reply_to, key, files, links))

    async def wrote(self, wrote: Wrote) -> Notice | None:
        """What is written comes in; the message stands in the chat until somebody deletes it."""
        assert self.desk is not None
        made = Message(f"p{next(self.chats.ids)}", wrote.place, wrote.text)
        self.chats.messages[made.id] = made
        target = wrote.reply_to.id if wrote.reply_to is not None else None
        key, links = wrote.key or self.key(), wrote.links
        return await self.desk.text(
            wrote.place, made.id, wrote.text, wrote.person, key=key, reply_to=target, files=wrote.files, links=links
        )

    async def press(self, person: Person, message: Message, label: str, *, key: str | None = None) -> Notice:
        """A person presses the button whose label begins with these words, as it stands on the message now."""
        for row in message.rows:
            for button in row:
                if label in button.label and button.payload is not None:
                    return await self.send(person, message, button.payload, key=key)
        raise AssertionError(f"no button {label!r} on {message.labels}")

    async def send(self, person: Person, message: Message, payload: str, *, key: str | None = None) -> Notice:
        """A press arrives, whatever the message shows."""
        assert self.desk is not None
        answer = await self.desk.press(message.place, message.id, payload, person, key=key or self.key())
        if len(answer.text) > self.limits.notice_max:
            self.chats.violations.append(f"an answer to a press of {len(answer.text)} characters")
        return answer
