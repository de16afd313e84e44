"""What every test may ask for: a private Redis that is empty before, and holds nothing that never ends after."""

from collections.abc import Generator

import pytest
from pydantic import TypeAdapter

from core.keys import LETTERS, TYPES, Retention, keeps_no_ttl
from tests.redis_server import RedisServer, running_server


@pytest.fixture(scope="session")
def redis_server() -> Generator[RedisServer]:
    """The server of this session; take `redis_url` or `redis` unless you want to see it between tests."""
    with running_server() as server:
        yield server


@pytest.fixture
def redis(redis_server: RedisServer) -> Generator[RedisServer]:
    """The server, emptied; after the test each key it holds must end by itself or be a listed exception."""
    redis_server.say("FLUSHALL")
    yield redis_server
    leaked = keys_that_never_end(redis_server)
    assert not leaked, f"keys without TTL that core.store does not list: {leaked}"


@pytest.fixture
def redis_url(redis: RedisServer) -> str:
    """The address of the emptied server."""
    return redis.url


def keys_that_never_end(server: RedisServer) -> list[str]:
    """Keys without TTL that may not be so, sorted: unknown ones, and documents that are settled."""
    keys = server.say("KEYS", "*")
    assert isinstance(keys, list)
    texts = sorted(key for key in keys if isinstance(key, str))
    return [key for key in texts if server.say("TTL", key) == -1 and (not keeps_no_ttl(key) or settled(server, key))]


def settled(server: RedisServer, key: str) -> bool:
    """Whether the key holds a document that the table of retention gives an end."""
    place = key.partition("}:")[2]
    for kind, letter in LETTERS.items():
        text = server.say("GET", key) if place.startswith(letter) and server.say("TYPE", key) == "string" else None
        if isinstance(text, str):
            model = TypeAdapter(TYPES[kind]).validate_json(text.split(" ", 3)[3])
            return Retention().of((kind, place.removeprefix(letter)), model) > 0
    return False
