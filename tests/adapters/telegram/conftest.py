"""A Telegram with Ann and Bob on it, and everything of ours around it."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Generator
from pathlib import Path

import pytest

from tests.adapters.telegram.bench import Office, office
from tests.standins.telegram import Person, TelegramServer


@pytest.fixture
def server() -> Generator[TelegramServer]:
    """A Telegram that runs."""
    with TelegramServer() as made:
        yield made


@pytest.fixture
def ann(server: TelegramServer) -> Person:
    """She owns Sayso."""
    return server.person("Ann")


@pytest.fixture
def bob(server: TelegramServer) -> Person:
    """He is somebody else."""
    return server.person("Bob")


@pytest.fixture
async def made(redis_url: str, tmp_path: Path, server: TelegramServer) -> AsyncGenerator[Office]:
    """Everything at work."""
    async with office(redis_url, tmp_path, server) as one:
        yield one
