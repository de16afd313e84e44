"""The bench for Telegram: real store, worker and kit, and the real library, over HTTP to a Telegram of our own."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import SecretStr

from adapters.surface import Surface
from adapters.telegram.adapter import Telegram
from adapters.telegram.settings import Settings
from core.inbox import Inbox
from core.model import Person as Account
from core.model import Run
from core.question import Request
from tests.contract.bench import LINK, Bench
from tests.fakes import FakeChats
from tests.standins.telegram import Chat, Message, Person, TelegramServer, Topic
from tests.waiting import wait_until


def settings(server: TelegramServer, **how: object) -> Settings:
    """Settings with short spans, for a server that runs here."""
    quick: dict[str, object] = {
        "bot_token": SecretStr(server.token),
        "api_url": server.url,
        "poll": 2,
        "slack": 1.0,
        "pause": 0.05,
        "longest": 0.3,
        "album_gap": 0.2,
        "edit_gap": 0.05,
        "draft_gap": 0.05,
        "send_timeout": 10.0,
    }
    return Settings.model_validate(quick | how)


@dataclass
class Office(Bench):
    """All processes of ours around one Telegram, which outlives their restarts."""

    server: TelegramServer = field(default_factory=TelegramServer)
    how: dict[str, object] = field(default_factory=dict[str, object])
    patience: float = 0.8

    async def stand_by(self, chats: FakeChats) -> Surface:
        """Start one more front end; another may hold the bot."""
        self.telegram = Telegram(settings(self.server, **self.how))
        surface = Surface(
            self.broker,
            self.telegram,
            agents=["it", *(name for name in self.agents if name != "it")],
            doors=self.doors,
            files=self.files,
            link=lambda request: f"{LINK}{request}" if self.link else None,
            look=0.1,
            quiet=self.quiet,
            patience=self.patience,
        )
        await self._stack.enter_async_context(surface)
        self.surfaces.append(surface)
        return surface

    # what people see

    async def sees(
        self, where: Person | Chat, words: str, *, buttons: bool = False, topic: Topic | None = None
    ) -> Message:
        """Wait for a message of the bot that says these words, and return the newest."""
        found: list[Message] = []

        def there() -> bool:
            said = [one for one in self.server.messages(where, topic=topic) if not one.deleted]
            found[:] = [one for one in said if words in one.text and (one.rows or not buttons)]
            return bool(found)

        try:
            await wait_until(there)
        except AssertionError:
            seen = [(one.text, one.labels) for one in self.server.messages(where)]
            raise AssertionError(f"nothing says {words!r}: {seen}") from None
        return found[-1]

    async def ask(self, where: Person | Chat, words: str, *, topic: Topic | None = None) -> Message:
        """The same for a message with buttons."""
        return await self.sees(where, words, buttons=True, topic=topic)

    async def ends(self, message: Message, words: str = "") -> None:
        """Wait until a message has no buttons and says these words."""
        try:
            await wait_until(lambda: not message.rows and words in message.text)
        except AssertionError:
            raise AssertionError(f"it still says {message.text!r} with {message.labels}") from None

    async def presses(self, who: Person, message: Message, label: str) -> str:
        """Press, and wait for what the person is told."""
        return await self.told(lambda: who.presses(message, label).id)

    async def told(self, press: Callable[[], str]) -> str:
        """What a press was answered with."""
        id = press()
        query = self.server.state.queries[id]
        await wait_until(lambda: query.answers)
        return query.notice or ""

    async def taken(self) -> None:
        """Wait until everything that came in took effect."""
        inbox = Inbox(self.broker, "tg")

        async def empty() -> bool:
            return not await inbox.waiting()

        await wait_until(empty)

    async def open(self, who: Person) -> list[Request]:
        """What waits for a person."""
        return list((await self.broker.pending(account(who))).requests)

    async def run_of(self, who: Person, where: Chat | None = None) -> Run:
        """The only run that a person has at a place."""
        return await self.run_at(f"tg-{(where or who.chat).id}", who)

    async def run_at(self, place: str, who: Person) -> Run:
        """Wait for the only run at a place."""
        found: list[Run] = []
        self.me = account(who)

        async def there() -> bool:
            found[:] = await self.runs(place)
            return len(found) == 1

        await wait_until(there)
        return found[0]


def account(who: Person) -> Account:
    """A person as Sayso knows them."""
    return Account(id=f"tg:{who.id}", name=who.user.first_name, role="owner")


@asynccontextmanager
async def office(url: str, folder: Path, server: TelegramServer, **how: object) -> AsyncGenerator[Office]:
    """A bench that is up; afterwards Telegram has nothing to complain about."""
    made = Office(url, folder, [FakeChats()], server=server)
    for name, value in how.items():
        setattr(made, name, value)
    await made.up()
    try:
        yield made
    finally:
        await made.down()
    assert server.violations == []
