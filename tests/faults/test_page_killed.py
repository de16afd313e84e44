"""The web process is killed hard around a showing and a press: the page comes back, and everything counts once."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Route

from core.life.event import Said
from core.people import OWNER
from tests.adapters.web.page.window import Window, chromium, expect
from tests.adapters.web.place import Place
from tests.faults.web_server import Process, web_role
from tests.waiting import wait_until

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def browser() -> AsyncGenerator[Browser]:
    """The browser."""
    async with chromium() as browser:
        yield browser


@dataclass
class Scene:
    """A web process that can be killed, the owner's window on it, and a worker that lives."""

    web: Process
    window: Window
    place: Place

    async def back(self) -> None:
        """Start the web process again; the page finds it."""
        await self.web.start()
        await self.window.page.evaluate("() => { dispatchEvent(new Event('online')); }")
        await self.window.page.locator("#link.is-lost").wait_for(state="detached")


@asynccontextmanager
async def scene(redis_url: str, folder: Path, browser: Browser) -> AsyncGenerator[Scene]:
    """A scene that is set; at its end the page must have had no error."""
    async with Place(redis_url, folder) as place:
        await place.worker()
        web, url = web_role(redis_url, folder, SAYSO_AGENT="scripted")
        await web.start()
        context = await browser.new_context(reduced_motion="reduce")
        window = Window(await context.new_page(), url)
        try:
            await window.page.route_web_socket("**/v1/ws", window.line.route)
            await window.page.goto(f"{url}/login#{await place.accounts.link()}")
            await expect(window.box).to_be_visible()
            yield Scene(web, window, place)
            window.fine()
        finally:
            await context.close()
            await web.kill()


async def until_idle(it: Scene) -> None:
    """Wait until nothing runs."""

    async def idle() -> bool:
        return [one.live for one in await it.place.broker.conversations(OWNER)] == [None]

    await wait_until(idle)


@pytest.mark.parametrize("point", ["before it is sent", "after it is shown", "after a reload"])
async def test_a_web_process_killed_while_it_shows_loses_nothing(
    redis_url: str, tmp_path: Path, browser: Browser, point: str
) -> None:
    """The page reads what is stored: one card, wherever the kill came, and it works."""
    async with scene(redis_url, tmp_path, browser) as it:
        page = it.window
        await page.say("wait door")
        await it.place.script.at("door").wait()
        if point == "before it is sent":
            it.web.send(signal.SIGSTOP)
        it.place.script.gate("door").set()
        await until_idle(it)
        if point == "before it is sent":
            (here,) = await it.place.broker.conversations(OWNER)
            await it.place.broker.said(Said(origin=here.origin, text="delete build", person=OWNER, agent="scripted"))

            async def asked() -> bool:
                return bool((await it.place.broker.pending(OWNER)).requests)

            await wait_until(asked)
        else:
            await expect(page.agent).to_have_count(1)
            await page.say("delete build")
            await expect(page.cards).to_be_visible()
        if point == "after a reload":
            await page.page.reload()
            await expect(page.cards).to_be_visible()
        await it.web.kill()
        await it.back()
        await expect(page.cards).to_have_count(1)
        await page.button("Approve", page.cards).click()
        await expect(page.agent.last).to_have_text("deleted build")
        await expect(page.settled).to_have_count(1)
        assert it.place.script.effects == ["build"]


async def test_a_press_that_was_not_stored_is_sent_again_and_counts_once(
    redis_url: str, tmp_path: Path, browser: Browser
) -> None:
    """The server is killed with the press in its hands: *Not sent*; Retry works once it is back."""
    async with scene(redis_url, tmp_path, browser) as it:
        page = it.window
        await page.say("delete build")
        await expect(page.cards).to_be_visible()
        it.web.send(signal.SIGSTOP)
        await page.button("Approve", page.cards).click()
        await expect(page.cards).to_contain_text("Sending…")
        await it.web.kill()
        await expect(page.cards).to_contain_text("Not sent")
        assert not it.place.script.effects
        await it.back()
        await page.button("Retry", page.cards).click()
        await expect(page.agent).to_have_text("deleted build")
        assert it.place.script.effects == ["build"]


async def test_a_press_that_was_stored_but_not_confirmed_counts_once(
    redis_url: str, tmp_path: Path, browser: Browser
) -> None:
    """Killed after the commit, before its word reached the page: it says *Not sent*, then hears that it counts."""
    committed = asyncio.Event()

    async def lost(route: Route) -> None:
        await route.fetch()
        committed.set()
        await it.web.kill()
        await route.abort()

    async with scene(redis_url, tmp_path, browser) as it:
        page = it.window
        await page.say("delete build")
        await expect(page.cards).to_be_visible()
        await page.page.route("**/answer", lost, times=1)
        page.line.deaf = True
        await page.button("Approve", page.cards).click()
        await committed.wait()
        await expect(page.cards).to_contain_text("Not sent")
        page.line.deaf = False
        await it.back()
        await expect(page.settled).to_contain_text("Approved by owner")
        await expect(page.agent).to_have_text("deleted build")
        assert it.place.script.effects == ["build"]
