"""The whole of Sayso behind a Telegram that is not one: real store, real worker, the real adapter over HTTP.

The front end runs in this process or in one of its own that can be killed; store, worker and Telegram outlive it.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from adapters import telegram as front_end
from adapters.desk import Open
from adapters.platform import Platform
from adapters.surface import Surface
from adapters.telegram.settings import Settings
from core.agent import Agent
from core.broker import Broker, open_broker
from core.files import FileStore
from core.model import Json
from core.vault import Vault
from tests import forked
from tests.adapters.telegram.called import called
from tests.forked import Forked
from tests.standins.telegram import Chat, Message, Person, TelegramServer, Topic
from tests.waiting import wait_until
from tests.workshop import QUICK, Body, Workshop

SPAN = 0.6
"""seconds that a front end holds the platform without renewal"""
EVERYBODY = tuple(f"tg:{7_000_000 + number}" for number in range(1, 60))
"""whom groups know: the first people that the stand-in makes"""
PACE: dict[str, Json] = {
    "poll": 5.0,
    "slack": 1.0,
    "pause": 0.05,
    "longest": 0.5,
    "edit_gap": 0.05,
    "send_timeout": 5.0,
}
"""Spans of the adapter, short"""


def settings(url: str, token: str, **more: Json) -> Settings:
    """The adapter's settings for a Telegram of ours."""
    return Settings.model_validate({"bot_token": token, "api_url": url} | PACE | more)


def way(port: int) -> dict[str, Json]:
    """The settings under which Telegram calls us at a port; none for 0."""
    return {"webhook_url": f"http://127.0.0.1:{port}/telegram"} if port else {}


def surface(broker: Broker, platform: Platform, files: FileStore, *, quiet: float = 3600.0) -> Surface:
    """A front end in this process, open to everybody."""
    return Surface(
        broker, platform, agents=["it"], doors=Open(EVERYBODY), files=files, span=SPAN, look=0.1, quiet=quiet
    )


@asynccontextmanager
async def opened(url: str) -> AsyncGenerator[Broker]:
    """The store, with the key that all processes of a test share."""
    async with open_broker(url, block=0.2) as broker:
        broker.safe.vault = Vault([b"of all processes of one test".ljust(32)])
        yield broker


@dataclass
class Ground:
    """What stays while front ends come and go. port: where Telegram calls us; 0 where it is asked for updates."""

    url: str
    folder: Path
    telegram: TelegramServer
    agents: dict[str, Agent] = field(default_factory=dict[str, Agent])
    port: int = 0

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[None]:
        """Open the store, with a worker."""
        self.files = FileStore(self.folder, file_max=1_000_000, quota=10_000_000, keep=3600)
        async with AsyncExitStack() as stack:
            self.broker: Broker = await stack.enter_async_context(opened(self.url))
            self.shop = Workshop(self.broker, self.agents, self.files)
            await stack.enter_async_context(self.shop.worker(QUICK))
            yield

    def hire(self, body: Body, *, guarded: tuple[str, ...] = ()) -> None:
        """Let the agent be of a function."""
        self.shop.hire("it", body, guarded=guarded)

    @asynccontextmanager
    async def front(self, *, serves: bool = True, quiet: float = 3600.0, **more: Json) -> AsyncGenerator[Surface]:
        """A front end in this process. serves: wait until it does."""
        platform = front_end.create(settings(self.telegram.url, self.telegram.token, **way(self.port), **more))
        async with AsyncExitStack() as stack:
            if self.port:
                await stack.enter_async_context(called(self.broker, platform, self.port))
            one = await stack.enter_async_context(surface(self.broker, platform, self.files, quiet=quiet))
            if serves:
                async with asyncio.timeout(20):
                    await one.serving.wait()
            self.telegram.retry_webhook()
            yield one

    @asynccontextmanager
    async def process(self, redis_url: str | None = None) -> AsyncGenerator[Forked]:
        """A front end in a process of its own, which serves; it is killed at the end."""
        words = [redis_url or self.url, str(self.folder), self.telegram.url, self.telegram.token, str(self.port)]
        process = await forked.start("tests.adapters.telegram.doomed", *words)
        try:
            async with asyncio.timeout(60):
                assert await process.stdout.readline() == b"ready\n"
            self.telegram.retry_webhook()
            yield process
        finally:
            await kill(process)

    # what a test looks at

    def texts(self, chat: Chat | Person) -> list[str]:
        """What the bot's messages in a chat say now."""
        return [one.text for one in self.telegram.messages(chat)]

    async def card(self, chat: Chat | Person, words: str, topic: Topic | None = None) -> Message:
        """Wait for a message with buttons that says these words, and return the newest."""
        return await self._seen(chat, lambda one: bool(one.rows) and words in one.text, words, topic)

    async def says(self, chat: Chat | Person, words: str, topic: Topic | None = None) -> Message:
        """Wait for a message that says these words, and return the newest."""
        return await self._seen(chat, lambda one: words in one.text, words, topic)

    async def final(self, message: Message, words: str) -> None:
        """Wait until a message has no live buttons and says these words."""
        try:
            await wait_until(lambda: not live(message) and words in message.text, timeout=20)
        except AssertionError:
            raise AssertionError(f"{message.id} still says {message.text!r} with {message.labels}") from None

    async def settled(self) -> None:
        """Wait until nothing is owed to Telegram."""

        async def clear() -> bool:
            store = self.broker.store
            indexes = ("unshown", "debt", "outbox")
            return not any([await store.size(0, index, "tg") for index in indexes])

        await wait_until(clear, timeout=20)

    async def _seen(
        self, chat: Chat | Person, fits: Callable[[Message], bool], words: str, topic: Topic | None
    ) -> Message:
        found: list[Message] = []

        def there() -> bool:
            found[:] = [one for one in self.telegram.messages(chat, topic=topic) if fits(one)]
            return bool(found)

        try:
            await wait_until(there, timeout=20)
        except AssertionError:
            seen = [(one.text, one.labels) for one in self.telegram.messages(chat, from_bot=False)]
            raise AssertionError(f"nothing says {words!r}: {seen}; {self.telegram.violations}") from None
        return found[-1]


def live(message: Message) -> bool:
    """Whether it has buttons that do something."""
    return any("callback_data" in button for button in message.buttons)


async def kill(process: Forked) -> None:
    """End a process as the kernel does it."""
    process.kill()
    await process.wait()
