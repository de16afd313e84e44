"""The platforms that the contract is held against; a new one adds its own chats to `PLATFORMS`."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from pathlib import Path

import pytest

from tests.contract.bench import Bench, bench, narrow, wide
from tests.fakes import FakeChats

PLATFORMS: list[Callable[[], FakeChats]] = [wide, narrow]


@pytest.fixture(params=PLATFORMS)
async def made(request: pytest.FixtureRequest, redis_url: str, tmp_path: Path) -> AsyncGenerator[Bench]:
    """A platform with everything behind it at work."""
    chats: FakeChats = request.param()
    async with bench(redis_url, tmp_path, [chats]) as one:
        yield one
