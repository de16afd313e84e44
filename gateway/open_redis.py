"""The one answer to "where is our Redis": the given one, checked, or the private one, started."""

import asyncio
import logging
import re
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Final, Literal

from pydantic import BaseModel
from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.asyncio.sentinel import MasterNotFoundError
from redis.backoff import NoBackoff
from redis.exceptions import (
    AuthenticationError,
    AuthorizationError,
    BusyLoadingError,
    NoPermissionError,
    RedisError,
    ResponseError,
)

from core.address import WATCHED, Watched, address_of
from gateway.embedded import EmbeddedRedis
from gateway.settings import Settings
from gateway.unavailable import RedisUnavailable, masked

ANSWER_LIMIT: Final = 5.0
"""seconds for a given server to answer"""
LOOK: Final = 0.25
_log = logging.getLogger("sayso.store")


class _Facts(BaseModel):
    """What matters to us in the reply to INFO; Valkey says its own version beside the one of Redis it answers for."""

    redis_version: str
    valkey_version: str | None = None
    redis_mode: str = "standalone"
    role: str = "master"
    maxmemory_policy: str = "noeviction"
    loading: int = 0


class _Whole(BaseModel):
    """What matters to us in the reply to CLUSTER INFO."""

    cluster_state: str


@asynccontextmanager
async def open_redis(settings: Settings) -> AsyncGenerator[str]:
    """The address of a Redis that can be used, for as long as the block lasts.

    With `REDIS_URL` that one is looked at first; without it the private server of the data folder is started or joined.

    Raises: `RedisUnavailable`.
    """
    if settings.redis_url:
        url = settings.redis_url.get_secret_value()
        await check(url)
        yield url
    else:
        fsync: Literal["always", "everysec"] = settings.redis_fsync
        async with EmbeddedRedis(settings.data_dir, fsync) as store:
            yield store.url


async def check(url: str) -> None:
    """Make sure that the server at `url` is one we can work with; one that is loading is waited for.

    Raises: `RedisUnavailable`, never with the password in it.
    """
    facts = await _facts(url)
    watched = url.partition("://")[0] in WATCHED
    version = facts.valkey_version or facts.redis_version
    kind = "Valkey" if facts.valkey_version else "Redis"
    if tuple(int(part) for part in re.findall(r"\d+", facts.redis_version)[:2]) < (7, 0):
        what = f"{kind} {version} is too old: Sayso needs 7.0 or newer"
        raise RedisUnavailable(what, url, "Update it, or unset REDIS_URL to use the private store.")
    if facts.redis_mode == "sentinel":
        what_to_do = (
            "To use what it watches, set REDIS_URL to redis+sentinel://host:26379/NAME, with the primary's name."
        )
        raise RedisUnavailable("This is a Sentinel, which holds no data", url, what_to_do)
    if facts.redis_mode == "cluster":
        await _whole(url)
    elif facts.role != "master":
        what_to_do = "Look whether a failover is under way." if watched else "Set REDIS_URL to its primary."
        raise RedisUnavailable("This is a replica, which takes no writes", url, what_to_do)
    if facts.maxmemory_policy != "noeviction":
        _log.warning(
            "%s %s at %s may throw away what people are waiting for: maxmemory-policy is %s; set it to noeviction",
            *(kind, version, masked(url), facts.maxmemory_policy),
        )


async def _whole(url: str) -> None:
    """Make sure that a cluster has all its slots."""
    try:
        async with _client(url) as client:
            told = _Whole.model_validate(await client.execute_command("CLUSTER INFO"))  # pyright: ignore[reportUnknownMemberType]  # untyped
    except (RedisError, OSError) as error:
        raise _in_words(url, error) from None
    if told.cluster_state != "ok":
        what_to_do = "Mend it: `redis-cli --cluster check` says what it lacks."
        raise RedisUnavailable(f"The state of the cluster is {told.cluster_state}", url, what_to_do)


async def _facts(url: str) -> _Facts:
    try:
        async with asyncio.timeout(ANSWER_LIMIT):
            at = address_of(url, timeout=ANSWER_LIMIT)
            place = await at.primary() if isinstance(at, Watched) else url
        async with _client(place) as client:
            while True:
                try:
                    facts = await _said_by(client)
                except BusyLoadingError:
                    await asyncio.sleep(LOOK)
                    continue
                if not facts.loading:
                    return facts
                await asyncio.sleep(LOOK)
    except MasterNotFoundError as error:
        what_to_do = "Correct the addresses or the name in REDIS_URL, or start the Sentinels."
        raise RedisUnavailable(f"No Sentinel names a primary: {error}", url, what_to_do) from None
    except (RedisError, OSError) as error:
        raise _in_words(url, error) from None
    except ValueError:  # its text may hold a part of the password
        scheme = url.partition("://")[0]
        example = (
            "redis+sentinel://host:26379,host:26379/NAME" if scheme in WATCHED else "redis://user:password@host:6379/0"
        )
        what_to_do = f"Write it as {example}, with %-codes for special characters."
        raise RedisUnavailable("REDIS_URL is not an address", url, what_to_do) from None


def _in_words(url: str, error: Exception) -> RedisUnavailable:
    cause = error.__cause__ or error  # redis-py may wrap a refused login into a broken connection
    text = str(error) or type(error).__name__
    if isinstance(cause, AuthenticationError | AuthorizationError):
        return RedisUnavailable(f"Redis refused the login: {text}", url, "Correct the password in REDIS_URL.")
    if isinstance(cause, NoPermissionError):
        what_to_do = "Grant it all commands on all keys of its own database."
        return RedisUnavailable(f"This user of Redis may not do enough: {text}", url, what_to_do)
    if isinstance(cause, ResponseError):
        return RedisUnavailable(f"Redis refused to say what it is: {text}", url, "Look at its log and its settings.")
    what_to_do = "Start it, correct REDIS_URL, or unset it to use the private store."
    return RedisUnavailable(f"Redis cannot be reached: {text}", url, what_to_do)


def _client(url: str) -> Redis:
    return Redis.from_url(  # pyright: ignore[reportUnknownMemberType]  # **kwargs without a type
        url,
        decode_responses=True,
        protocol=2,
        retry=Retry(NoBackoff(), 0),
        socket_timeout=ANSWER_LIMIT,
        socket_connect_timeout=ANSWER_LIMIT,
    )


async def _said_by(client: Redis) -> _Facts:
    return _Facts.model_validate(await client.execute_command("INFO"))  # pyright: ignore[reportUnknownMemberType]  # untyped
