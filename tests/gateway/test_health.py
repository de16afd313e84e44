"""Health in words."""

from collections.abc import Generator

import pytest

from core.broker import open_broker
from gateway.health import checks
from tests.redis_server import RedisServer


@pytest.fixture
def limited(redis: RedisServer) -> Generator[RedisServer]:
    """The server; its limit is taken away after the test."""
    yield redis
    redis.say("CONFIG", "SET", "maxmemory", "0")


@pytest.mark.parametrize(("limit", "ok"), [("0", True), ("10gb", True), ("1", False)])
async def test_a_full_redis_shows_in_health(limited: RedisServer, limit: str, ok: bool) -> None:
    """Whoever looks sees it before somebody complains, and reads what to do."""
    async with open_broker(limited.url, block=0.2) as broker:
        limited.say("CONFIG", "SET", "maxmemory", limit)
        (room,) = [check for check in await checks(broker) if check.what == "room"]
    assert room.ok == ok, room.words
    assert ok or "maxmemory" in room.words
