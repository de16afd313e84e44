"""Telegram in the shape of the fake chats: the real library over HTTP to a Telegram of our own, under test names.

`fa-7` is the private chat of user 7, `fa-g1` a group. What people write and press becomes an update there, comes back
by polling; what the kit sends goes out as requests. Only what a test wants to go wrong is made to go wrong here.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from adapters.desk import LATER, Desk
from adapters.forms import Filled
from adapters.outcomes import Notice
from adapters.platform import Block, Button, Limits, Migrated, Outcome, Sent, View
from adapters.telegram.adapter import Telegram
from core.model import Person
from core.overheard import Line
from tests.adapters.telegram.bench import settings
from tests.fakes import FakeChats, FakePlatform, Message, Wrote
from tests.standins.telegram import Chat, Query, TelegramServer
from tests.standins.telegram import Message as Real
from tests.standins.telegram import Person as User
from tests.waiting import wait_until

LIVE = frozenset({"text", "rows", "view", "file", "name", "gone", "shown", "only"})


class Live(Message):
    """A message of the stand-in, read anew whenever it is looked at."""

    def __init__(self, real: Real, place: str) -> None:
        super().__init__(f"{real.chat.id}/{real.id}", place, "")
        self.real = real
        self._ready = True

    def __getattribute__(self, name: str) -> object:
        if name in LIVE and object.__getattribute__(self, "__dict__").get("_ready"):
            return _now(self.real, name)
        return object.__getattribute__(self, name)

    def __setattr__(self, name: str, value: object) -> None:
        if name == "gone" and value is True:
            self.real.deleted = True
        object.__setattr__(self, name, value)


def _now(real: Real, name: str) -> object:
    match name:
        case "rows":
            return tuple(tuple(_button(one) for one in row) for row in real.rows)
        case "view":
            rows = tuple(tuple(_button(one) for one in row) for row in real.rows)
            return View(blocks=(Block(kind="text", text=real.text),), rows=rows, plain=not real.entities)
        case "file":
            return real.file.content if real.file is not None else None
        case "name":
            return real.file.name if real.file is not None else ""
        case "gone":
            return real.deleted
        case "only":
            return str(real.only) if real.only is not None else None
        case _:
            return list(real.shown) if name == "shown" else real.text


def _button(found: object) -> Button:
    assert isinstance(found, dict)
    one: dict[str, object] = {str(key): value for key, value in found.items()}  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType] plain JSON
    data, url = one.get("callback_data"), one.get("url")
    payload = data if isinstance(data, str) else None
    return Button(label=str(one["text"]), payload=payload, url=url if isinstance(url, str) else None)


@dataclass
class Written:
    """What a test wants to be told as an update: by whom, under which key, and what became of it."""

    person: Person
    key: str | None
    files: tuple[str, ...] = ()
    links: tuple[str, ...] = ()
    notice: asyncio.Future[Notice | None] = field(default_factory=lambda: asyncio.get_running_loop().create_future())


@dataclass
class TelegramChats(FakeChats):
    """A Telegram as the platform's memory."""

    server: TelegramServer = field(default_factory=TelegramServer)
    written: dict[str, Written] = field(default_factory=dict[str, Written])
    by_key: dict[str, int] = field(default_factory=dict[str, int])
    groups: dict[str, Chat] = field(default_factory=dict[str, Chat])
    users: dict[int, User] = field(default_factory=dict[int, User])
    live: dict[tuple[int, int], Live] = field(default_factory=dict[tuple[int, int], Live])

    def __enter__(self) -> TelegramChats:
        self.server.__enter__()
        self.violations = self.server.violations
        return self

    def __exit__(self, *error: object) -> None:
        self.server.__exit__(*error)

    def connection(self) -> TelegramConnection:
        """One connection to it."""
        return TelegramConnection(self)

    def at(self, place: str) -> list[Message]:
        """The messages at a place as they are now, also those that were made while nobody listened."""
        chat = self.chat_of(place)
        with self.server.state.lock:
            return [self.message(real, place) for real in chat.messages]

    def message(self, real: Real, place: str) -> Live:
        """A message under the name of its place."""
        found = self.live.setdefault((real.chat.id, real.id), Live(real, place))
        self.messages[found.id] = found
        return found

    # ── names ────────────────────────────────────────────────────────────────────────────────────────────────────────

    def user(self, number: int) -> User:
        """A person on Telegram, who has pressed Start."""
        if number not in self.users:
            self.users[number] = self.server.person(f"User {number}", number)
        return self.users[number]

    def chat_of(self, place: str) -> Chat:
        """The chat behind a name."""
        name = place.removeprefix(f"{self.prefix}-").partition(".")[0]
        if not name.startswith("g"):
            return self.user(int(name)).chat
        if place not in self.groups:
            self.groups[place] = self.server.group(name, [self.user(number) for number in (7, 8, 9)])
        return self.groups[place]

    def there(self, place: str) -> str:
        """The place on Telegram behind a name."""
        return f"tg-{self.chat_of(place).id}"

    def here(self, origin: str) -> str:
        """The name of a place on Telegram."""
        id = int(origin.removeprefix("tg-").partition(".")[0])
        return next((name for name, one in self.groups.items() if one.id == id), f"{self.prefix}-{id}")


class Ears(Desk):
    """The desk under Telegram's names: hands everything on under those of tests."""

    def __init__(self, desk: Desk, chats: TelegramChats) -> None:
        self._to = desk
        self._chats = chats
        self.inbox = desk.inbox
        self.patience = desk.patience
        self.finds = desk.finds

    async def text(
        self,
        place: str,
        message: str,
        text: str,
        person: Person,
        *,
        key: str,
        reply_to: str | None = None,
        files: tuple[str, ...] = (),
        links: tuple[str, ...] = (),
        heard: tuple[Line, ...] = (),
    ) -> Notice | None:
        """A person wrote."""
        wanted = self._wanted(key, person)
        chat = place.removeprefix("tg-")
        notice = await self._to.text(
            self._chats.here(place),
            f"{chat}/{message}",
            text,
            wanted.person,
            key=wanted.key or key,
            reply_to=f"{chat}/{reply_to}" if reply_to is not None else None,
            files=(*files, *wanted.files),
            links=(*links, *wanted.links),
            heard=heard,
        )
        _resolve(wanted, notice)
        return notice

    async def overheard(self, place: str, by: str, text: str, *, key: str) -> None:
        """People spoke among themselves."""
        await self._to.overheard(self._chats.here(place), by, text, key=key)

    async def decide(
        self, place: str, message: str | None, payload: str, person: Person, *, key: str, values: Filled | None = None
    ) -> Notice:
        """A person pressed."""
        wanted = self._wanted(key, person)
        id = f"{place.removeprefix('tg-')}/{message}"
        notice = await self._to.decide(self._chats.here(place), id, payload, wanted.person, key=wanted.key or key)
        _resolve(wanted, notice)
        return notice

    def _wanted(self, key: str, person: Person) -> Written:
        return self._chats.written.get(key) or Written(person, None)


def _resolve(wanted: Written, notice: Notice | None) -> None:
    if not wanted.notice.done():
        wanted.notice.set_result(notice)


@dataclass(frozen=True, slots=True)
class OverHttp:
    """Telegram behind the real library, under test names; `There` says what each verb is."""

    chats: TelegramChats
    inner: Telegram

    async def post(self, place: str, view: View, *, nonce: str, reply_to: str | None = None) -> Outcome:
        target = reply_to.partition("/")[2] if reply_to is not None else None
        return self._told(await self.inner.post(self.chats.there(place), view, nonce=nonce, reply_to=target), place)

    async def edit(self, place: str, message: str, view: View) -> Outcome:
        return self._told(await self.inner.edit(self.chats.there(place), message.partition("/")[2], view), place)

    async def draft(self, place: str, of: str, view: View) -> Outcome:
        return await self.inner.draft(self.chats.there(place), of, view)

    async def remove(self, place: str, message: str) -> Outcome:
        return self._told(await self.inner.remove(self.chats.there(place), message.partition("/")[2]), place)

    async def upload(self, place: str, name: str, content: bytes, *, nonce: str) -> Outcome:
        return self._told(await self.inner.upload(self.chats.there(place), name, content, nonce=nonce), place)

    def _told(self, found: Outcome, place: str) -> Outcome:
        match found:
            case Sent():
                return Sent(f"{self.chats.chat_of(place).id}/{found.message}")
            case Migrated():
                return Migrated(self.chats.here(found.place))
            case _:
                return found


class TelegramConnection(FakePlatform):
    """One connection, over HTTP."""

    def __init__(self, chats: TelegramChats) -> None:
        self._on = chats
        self._inner = Telegram(settings(chats.server))
        super().__init__(chats)
        self.there = OverHttp(chats, self._inner)

    @asynccontextmanager
    async def connect(self, desk: Desk) -> AsyncGenerator[None]:
        self.desk = desk
        try:
            async with self._inner.connect(Ears(desk, self._on)):
                yield
        finally:
            self.desk = None
            for one in self._on.written.values():
                one.notice.cancel()

    def alive(self) -> bool:
        return not self.deaf and self._inner.alive()

    def measure(self, view: View) -> int:
        return self._inner.measure(view)

    # ── out ──────────────────────────────────────────────────────────────────────────────────────────────────────────

    async def typing(self, place: str) -> None:
        await self._inner.typing(self._on.there(place))
        self.chats.typed[place] += 1

    # ── in ───────────────────────────────────────────────────────────────────────────────────────────────────────────

    async def wrote(self, wrote: Wrote) -> Notice | None:
        chat = self._on.chat_of(wrote.place)
        user = self._user(wrote.person, wrote.place)
        target = wrote.reply_to.real if isinstance(wrote.reply_to, Live) else None
        aimed = chat.private or target is not None or wrote.text.startswith("/")
        named = wrote.text if aimed else f"@sayso_bot {wrote.text}"
        wanted = Written(wrote.person, wrote.key, wrote.files, wrote.links)
        return await self._heard(lambda: user.says(named, chat, reply_to=target), wanted)

    async def send(self, person: Person, message: Message, payload: str, *, key: str | None = None) -> Notice:
        """A press arrives, and is acknowledged with what the desk says."""
        assert isinstance(message, Live)
        user = self._user(person, message.place) if not message.real.chat.private else self._on.user(int(person.id[3:]))
        pressed: list[Query] = []
        wanted = Written(person, key)
        heard = asyncio.create_task(
            self._heard(lambda: pressed.append(user.presses_data(message.real, payload)), wanted)
        )
        await wait_until(lambda: all(query.answers for query in pressed) and (pressed or heard.done()), timeout=20)
        told = [query.notice for query in pressed]
        if LATER.text in told:
            wanted.notice.cancel()
            await asyncio.gather(heard, return_exceptions=True)
            return LATER
        notice = await heard
        assert notice is not None
        assert all(words == notice.text[:200] for words in told)
        return notice

    def _user(self, person: Person, place: str) -> User:
        chat = self._on.chat_of(place)
        return self._on.user(chat.id if chat.private else int(person.id.partition(":")[2]))

    async def _heard(self, act: Callable[[], object], wanted: Written) -> Notice | None:
        """Let something happen on Telegram, and wait for what the desk says to it."""
        server = self._on.server
        id = self._on.by_key.get(wanted.key or "")
        if id is None:
            with server.state.lock:
                before = len(server.updates)
                act()
                assert len(server.updates) == before + 1, "nobody told the bot"
                id = server.updates[-1].id
                self._on.written[f"{server.bot.id}.{id}"] = wanted
            if wanted.key is not None:
                self._on.by_key[wanted.key] = id
        else:
            self._on.written[f"{server.bot.id}.{id}"] = wanted
            again = next(one for one in server.updates if one.id == id)
            incoming = self._inner._incoming  # pyright: ignore[reportPrivateUsage] a repeat after its confirmation
            assert incoming is not None
            await incoming.take(again.json)
        async with asyncio.timeout(20):
            return await wanted.notice


QUICK = Limits(
    text_max=4096,
    file_max=1_000_000,
    row_buttons=4,
    card_buttons=60,
    edit_gap=0.02,
    typing_every=0.05,
    send_timeout=5.0,
)


def telegram() -> FakeChats:
    """A Telegram, as the contract wants it."""
    return TelegramChats(limits=QUICK)
