"""The stand-in and a bare client for it."""

from collections.abc import AsyncGenerator, Generator

import httpx
import pytest

from tests.standins.telegram import TelegramServer
from tests.standins.telegram.probe import Probe


@pytest.fixture
def telegram() -> Generator[TelegramServer]:
    """A Telegram that runs."""
    with TelegramServer() as server:
        yield server


@pytest.fixture
async def probe(telegram: TelegramServer) -> AsyncGenerator[Probe]:
    """A client without a library."""
    async with httpx.AsyncClient(timeout=20) as client:
        yield Probe(telegram, client)
