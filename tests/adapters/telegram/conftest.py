"""A Telegram with Ann and Bob on it, and everything of ours around it."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Generator
from pathlib import Path

import pytest

from tests.adapters.telegram.bench import Office, office
from tests.adapters.telegram.ground import Ground
from tests.standins.telegram import Person, TelegramServer, telegram_server


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


@pytest.fixture
async def ground(redis_url: str, tmp_path: Path) -> AsyncGenerator[Ground]:
    """Everything but a front end: tests of faults start and kill these themselves."""
    with telegram_server() as telegram:
        one = Ground(redis_url, tmp_path, telegram)
        async with one.open():
            yield one
