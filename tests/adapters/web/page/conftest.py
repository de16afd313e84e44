"""One browser for all tests of the page; each has a Sayso of its own, with a worker and the owner's window."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest_asyncio
from playwright.async_api import Browser

from tests.adapters.web.page.window import Talker, Window, chromium
from tests.adapters.web.place import Place, User


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browser() -> AsyncGenerator[Browser]:
    """The browser."""
    async with chromium() as browser:
        yield browser


@pytest_asyncio.fixture(loop_scope="session")
async def bare(redis_url: str, tmp_path: Path) -> AsyncGenerator[Place]:
    """One web server and one worker, whose agent has the words that a page needs."""
    async with Place(redis_url, tmp_path) as place:
        place.script = Talker()
        await place.web()
        await place.worker()
        yield place


@pytest_asyncio.fixture(loop_scope="session")
async def owner(bare: Place) -> User:
    """The owner's program, beside the window."""
    return await bare.user()


@pytest_asyncio.fixture(loop_scope="session")
async def window(bare: Place, browser: Browser) -> AsyncGenerator[Window]:
    """The owner's window; the page must have had no error at the end."""
    window = await Window.signed_in(browser, bare)
    yield window
    window.fine()
    await window.page.context.close()


@pytest_asyncio.fixture(loop_scope="session")
async def idle(redis_url: str, tmp_path: Path) -> AsyncGenerator[Place]:
    """A web server without a worker: nobody takes a run but the test."""
    async with Place(redis_url, tmp_path) as place:
        await place.web()
        yield place


@pytest_asyncio.fixture(loop_scope="session")
async def quiet(idle: Place, browser: Browser) -> AsyncGenerator[Window]:
    """The owner's window there."""
    window = await Window.signed_in(browser, idle)
    yield window
    window.fine()
    await window.page.context.close()
