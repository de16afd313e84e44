"""What every test may ask for: a private Redis that is empty before, and holds nothing that never ends after."""

import importlib
import importlib.util
from collections.abc import Generator

import pytest

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
    """Keys without TTL that are not among the exceptions of `core.store`, sorted."""
    keys = server.say("KEYS", "*")
    assert isinstance(keys, list)
    texts = sorted(key for key in keys if isinstance(key, str))
    return [key for key in texts if server.say("TTL", key) == -1 and not keeps_no_ttl(key)]


def keeps_no_ttl(key: str) -> bool:
    """Whether `core.store` lists the key as one that lives until something settles it."""
    if importlib.util.find_spec("core.store") is None:
        return True
    listed: object = getattr(importlib.import_module("core.store"), "keeps_no_ttl", None)
    return bool(listed(key)) if callable(listed) else True
