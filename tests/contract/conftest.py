"""The platforms that the contract is held against; a new one adds its own chats to `PLATFORMS`.

The web page is one of them, in a real browser: every test that takes `made` also runs on it, except those that
`tests/contract/on_the_web.py` names with the reason.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import AsyncExitStack
from inspect import iscoroutinefunction
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Browser

from tests.adapters.discord.chats import discord
from tests.adapters.telegram.chats import telegram
from tests.adapters.web.page.window import chromium
from tests.contract.bench import Bench, bench, narrow, wide
from tests.contract.on_the_web import NOT_ON_THE_WEB
from tests.contract.web import web_bench
from tests.fakes import FakeChats

PLATFORMS: list[Callable[[], FakeChats]] = [wide, narrow, discord, telegram]
HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The browser lives as long as the session, and so does the loop of everything that meets it."""
    for item in items:
        if HERE in item.path.parents and iscoroutinefunction(getattr(item, "function", None)):
            item.add_marker(pytest.mark.asyncio(loop_scope="session"), append=False)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test of the contract on every platform, and on the page unless it is said why not."""
    if "made" not in metafunc.fixturenames:
        return
    web = metafunc.function.__name__ not in NOT_ON_THE_WEB
    page = [pytest.param("page", marks=pytest.mark.browser)] if web else []
    metafunc.parametrize("made", [*PLATFORMS, *page], indirect=True)


class Late:
    """A browser that is opened by the first test that needs it."""

    def __init__(self, stack: AsyncExitStack) -> None:
        self._stack = stack
        self._browser: Browser | None = None

    async def browser(self) -> Browser:
        """The browser of this session."""
        if self._browser is None:
            self._browser = await self._stack.enter_async_context(chromium())
        return self._browser


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def late() -> AsyncGenerator[Late]:
    """The browser of all tests of the contract."""
    async with AsyncExitStack() as stack:
        yield Late(stack)


@pytest_asyncio.fixture(loop_scope="session")
async def made(request: pytest.FixtureRequest, redis_url: str, tmp_path: Path, late: Late) -> AsyncGenerator[Bench]:
    """A platform with everything behind it at work."""
    if request.param == "page":
        async with web_bench(redis_url, tmp_path, await late.browser()) as one:
            yield one
        return
    platform: FakeChats = request.param()
    with platform as chats:
        async with bench(redis_url, tmp_path, [chats]) as one:
            yield one
