"""A person's browser window on the page: headless Chromium, signed in, and failing when anything on the page fails."""

from __future__ import annotations

import re
import shutil
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from playwright.async_api import (
    Browser,
    ConsoleMessage,
    Locator,
    Page,
    WebSocketRoute,
    async_playwright,
    expect,
)

from core.agent import Completed, Failed, Run, text_field
from tests.adapters.web.place import Place
from tests.adapters.web.scripted import Script

expect.set_options(timeout=30_000)  # the limit of a wait on a busy machine, no claim about speed
__all__ = ["Line", "Talker", "Window", "chromium", "expect"]

QUIET = (
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-dev-shm-usage", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-default-apps"),
    "--disable-features=OptimizationHints,MediaRouter",
)
HOSTILE = (
    "<img src=x onerror=alert(1)><script>alert(1)</script><svg onload=alert(1)>"
    "<style>*{display:none}</style>[press](javascript:alert(1)) ![p](https://evil.example/p.png) \u202eevil"
)
REFUSED = re.compile(r"Failed to load resource|WebSocket connection to")
"""What Chromium notes by itself about answers and connections that a test breaks on purpose."""


@asynccontextmanager
async def chromium() -> AsyncGenerator[Browser]:
    """A browser for one test."""
    program = shutil.which("chromium-headless-shell") or shutil.which("chromium")
    assert program is not None, "these tests need chromium: `make tools` installs it"
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=program, headless=True, chromium_sandbox=False, args=list(QUIET)
        )
        yield browser
        await browser.close()


class Line:
    """The page's connection, in a test's hand: it can be cut, and be deaf: nothing comes through, no new one opens."""

    def __init__(self) -> None:
        self.deaf = False
        self.opened = 0
        self._page: WebSocketRoute | None = None

    async def route(self, socket: WebSocketRoute) -> None:
        """Carry what page and server say to each other."""
        if self.deaf:
            await socket.close(code=4000)
            return
        server = socket.connect_to_server()
        self._page = socket
        self.opened += 1
        server.on_message(lambda message: None if self.deaf else socket.send(message))

    async def cut(self) -> None:
        """Break the connection; the page may open another."""
        assert self._page is not None
        await self._page.close(code=4000)


class Window:
    """One tab of a signed-in person, with the words they would use for what they do."""

    def __init__(self, page: Page, url: str) -> None:
        self.page = page
        self.url = url
        self.line = Line()
        self.wrong: list[str] = []
        page.on("pageerror", lambda error: self.wrong.append(str(error)))
        page.on("console", self._noted)
        page.on("dialog", lambda dialog: self.wrong.append(f"dialog: {dialog.message}"))
        page.on("request", lambda request: self.asked.append(request.url))
        self.asked: list[str] = []

    def _noted(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning") and not REFUSED.search(message.text):
            self.wrong.append(message.text)

    @classmethod
    async def signed_in(cls, browser: Browser, place: Place, *, width: int = 1100) -> Window:
        """Open the page with a fresh link."""
        context = await browser.new_context(viewport={"width": width, "height": 800}, reduced_motion="reduce")
        window = cls(await context.new_page(), place.url)
        await window.page.route_web_socket("**/v1/ws", window.line.route)
        await window.page.goto(f"{place.url}/login#{await place.accounts.link()}")
        await expect(window.box).to_be_visible()
        return window

    async def another(self) -> Window:
        """A second tab of the same browser, at the same place."""
        window = Window(await self.page.context.new_page(), self.url)
        await window.page.route_web_socket("**/v1/ws", window.line.route)
        await window.page.goto(self.page.url)
        await expect(window.box).to_be_visible()
        return window

    @property
    def box(self) -> Locator:
        """Where one writes."""
        return self.page.get_by_role("textbox", name="Message")

    @property
    def cards(self) -> Locator:
        """The questions that are open."""
        return self.page.locator("sayso-timeline sayso-card.card-open")

    @property
    def settled(self) -> Locator:
        """The questions that are settled, each one line."""
        return self.page.locator("sayso-timeline .settled-text")

    @property
    def agent(self) -> Locator:
        """What the agent said."""
        return self.page.locator("sayso-timeline .said-agent .prose")

    @property
    def task(self) -> Locator:
        """The tasks that are not over."""
        return self.page.locator("sayso-run-bar .run")

    def card(self, title: str) -> Locator:
        """The open question of that title."""
        return self.cards.filter(has=self.page.get_by_role("heading", name=title))

    def button(self, name: str, inside: Locator | None = None) -> Locator:
        """A button by its whole name."""
        return (inside or self.page.locator("#main")).get_by_role("button", name=name, exact=True)

    async def say(self, text: str) -> None:
        """Type something and send it."""
        await self.box.fill(text)
        await self.box.press("Enter")

    async def conversation(self) -> str:
        """The id of the conversation that is shown."""
        await self.page.wait_for_url(re.compile(r"#c\w+$"))
        return self.page.url.partition("#")[2]

    def fine(self) -> None:
        """Fail when the page had an error, opened a dialog, or asked for anything but our own server."""
        assert not self.wrong, self.wrong
        foreign = [url for url in self.asked if not url.startswith((self.url, "blob:", "data:"))]
        assert not foreign, foreign


class Talker(Script):
    """The scripted agent, with a few more words for what only a page shows."""

    hostile: str = HOSTILE

    async def _body(self, run: Run, message: str) -> str | Completed | Failed | None:
        word, _, rest = message.partition(" ")
        match word:
            case "soon":
                await run.confirm("Now or never?", timeout=float(rest))
                self.effects.append("in time")
                return "in time"
            case "trip":
                budget = text_field("budget", "Budget, in euros", format="number", required=False)
                await run.form("Plan a trip", text_field("where", "Where to?"), budget)
                return "planned"
            case "hostile":
                async with run.tool(self.hostile, what=self.hostile) as call:
                    call.result = self.hostile
                await run.attach(b"content", f"{self.hostile[:28]}.txt")
                await run.say(self.hostile)
                await run.confirm(self.hostile, tool=self.hostile, arguments={self.hostile: self.hostile})
                await run.choose(self.hostile, [self.hostile, "fine"], message=self.hostile)
                raise ValueError(self.hostile)
            case "pieces":
                async with run.stream() as out:
                    for number in range(int(rest)):
                        await self.gate(f"piece {number}").wait()
                        await out.write(f"{number} ")
                return None
            case _:
                return await super()._body(run, message)
