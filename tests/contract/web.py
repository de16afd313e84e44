"""The bench of the contract with the web page as its platform: the real server, the real page, in a real browser."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from playwright.async_api import Browser
from pydantic import SecretStr

from adapters.outcomes import Notice
from core.agent import Agent
from core.lease import Lease
from core.model import Run
from core.people import OWNER
from core.worker import Worker
from gateway import wiring
from gateway.settings import Settings
from gateway.web import serve
from tests.adapters.web.page.window import Window
from tests.contract.bench import HOME, Bench
from tests.contract.tab import MIRROR, Tab, TabChats
from tests.waiting import wait_until
from tests.workshop import Workshop

ANSWERED = ("Approved", "Answered", "Denied")


@dataclass
class WebBench(Bench):
    """All processes of ours, which can be restarted, beside what stays: Redis and the browser with its tab."""

    browser: Browser | None = None
    settings: Settings | None = None
    window: Window | None = None
    here: str = "the dashboard"

    async def up(self) -> None:
        """Start everything; the tab comes back by itself, as a page does when its device is online again."""
        assert self.settings is not None
        self._stack = AsyncExitStack()
        enter = self._stack.enter_async_context
        self.broker = await enter(wiring.opened(self.settings))
        self.files = wiring.files(self.settings)
        self.shop = Workshop(self.broker, self.agents, self.files)
        lease = await enter(Lease(self.broker, "worker"))
        await enter(Worker(self.broker, lease, self._found, files=self.files, pace=self.pace))
        await enter(served(self.settings))
        if self.window is None:
            await self._opened(self.settings)
        else:
            await self.window.page.evaluate("() => { dispatchEvent(new Event('online')); }")
            await self.window.page.locator("#link.is-lost").wait_for(state="detached")

    def _found(self, name: str) -> Agent:
        return self.agents.get(name) or self.agents["it"]

    async def _opened(self, settings: Settings) -> None:
        """Sign the owner in, in a tab that tells what it shows."""
        assert self.browser is not None
        people = wiring.people(self.broker)
        await people.rename(OWNER.id, "Ann")
        me = await people.person(OWNER.id)
        assert me is not None
        self.me = me
        context = await self.browser.new_context(viewport={"width": 1100, "height": 800}, reduced_motion="reduce")
        self.window = Window(await context.new_page(), wiring.address(settings))
        page, chats = self.window.page, TabChats(HOME)
        self.chats, self.platforms = [chats], [Tab(chats, self.window.page, me)]
        await page.expose_function("__seen", chats.seen)  # pyright: ignore[reportUnknownMemberType]  # untyped callback
        await page.add_init_script(f"({MIRROR})()")
        await page.goto(f"{self.window.url}/login#{await wiring.accounts(settings, self.broker).link()}")
        await self.window.box.wait_for()

    def accepted(self, notice: Notice) -> bool:
        """Whether the page shows the answer as given."""
        return any(word in notice.text for word in ANSWERED)

    async def sweep(self) -> None:
        """The web process sweeps by itself."""

    async def runs(self, place: str = HOME) -> list[Run]:
        """The runs of the newest conversation."""
        for conversation in await self.broker.conversations(self.me):
            snapshot = await self.broker.snapshot(conversation.id, self.me)
            assert snapshot is not None
            return list(snapshot.runs)
        return []

    async def settled(self, prefix: str = "chat") -> None:
        """Wait until nothing runs."""

        async def quiet() -> bool:
            return not any(run.state in ("queued", "working", "stopping") for run in await self.runs())

        await wait_until(quiet)


@asynccontextmanager
async def served(settings: Settings) -> AsyncGenerator[None]:
    """The web role, with a broker of its own, until the block ends."""
    stop, started = asyncio.Event(), asyncio.Event()

    async def run() -> None:
        async with wiring.opened(settings) as broker:
            await serve(settings, broker, stop, lambda _: started.set())

    server = asyncio.create_task(run())
    server.add_done_callback(lambda _: started.set())
    await started.wait()
    try:
        yield
    finally:
        stop.set()
        await server


def free_port() -> int:
    """A port that is free now."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


@asynccontextmanager
async def web_bench(url: str, folder: Path, browser: Browser) -> AsyncGenerator[WebBench]:
    """A bench that is up, and after which the page has had no error and asked nobody but our own server."""
    given: dict[str, object] = {"data_dir": folder, "port": free_port(), "redis_url": SecretStr(url), "agent": "it"}
    settings = Settings.model_validate({**given, "feed_block": 0.2, "sweep_look": 0.05})
    made = WebBench(url, folder, [], browser=browser, settings=settings)
    await made.up()
    assert made.window is not None
    try:
        yield made
    finally:
        await made.window.page.context.close()
        await made.down()
    made.window.fine()
