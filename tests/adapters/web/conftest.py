"""A Sayso with one web server and one worker."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from tests.adapters.web.place import Place, User


@pytest.fixture
async def bare(redis_url: str, tmp_path: Path) -> AsyncGenerator[Place]:
    """One web server, no worker."""
    async with Place(redis_url, tmp_path) as place:
        await place.web()
        yield place


@pytest.fixture
async def place(bare: Place) -> Place:
    """One web server, one worker."""
    await bare.worker()
    return bare


@pytest.fixture
async def owner(bare: Place) -> User:
    """The owner, with a token that may do everything."""
    return await bare.user()
