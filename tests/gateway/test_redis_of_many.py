"""The whole product on a Redis of more than one server; and what is said when such a one cannot be used."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import SecretStr

from gateway.open_redis import check, open_redis
from gateway.settings import Settings
from gateway.unavailable import RedisUnavailable
from tests.adapters.web.place import User
from tests.gateway.shell import Shell, address
from tests.redis_many import running_cluster, running_sentinel, wait_for


async def test_a_question_is_asked_and_answered_on_a_cluster(tmp_path: Path) -> None:
    """Page and worker, each a process of its own; a turn in a process of its own as well."""
    with running_cluster() as redis:
        shell = Shell(tmp_path, REDIS_URL=redis.url, SAYSO_AGENT="tests.faults.moving:moving")
        async with shell.running("up", "--no-open", until="Ctrl-C") as (_, printed):
            _, token, _ = await shell.run("token")
            user = User(address(printed), token.strip())
            async with user.http:
                said = await user.send(f"plain {tmp_path}")
                (card,) = await user.asked(said.conversation)
                await user.accept(card["request"], "yes", field="text")
                await user.until(said.run, "completed")
                status, checked, _ = await shell.run("doctor")
                assert (status, "BAD" in checked) == (0, False), checked


async def test_a_cluster_that_lacks_slots_is_refused() -> None:
    with running_cluster() as cluster:
        await check(cluster.url)
        await check(cluster.replica.url)
        lost = cluster.primaries[1]
        lost.server.process.kill()
        wait_for(lambda: "cluster_state:fail" in str(cluster.primaries[0].server.say("CLUSTER", "INFO")), "a loss")
        with pytest.raises(RedisUnavailable) as told:
            await check(cluster.primaries[0].url)
    assert "state of the cluster is fail" in told.value.what
    assert "redis-cli --cluster check" in told.value.what_to_do


async def test_a_sentinel_is_told_from_what_it_watches() -> None:
    with running_sentinel() as watched:
        await check(watched.url)
        with pytest.raises(RedisUnavailable) as told:
            await check(f"redis://127.0.0.1:{watched.port}")
        assert "redis+sentinel://" in told.value.what_to_do
        with pytest.raises(RedisUnavailable) as told:
            await check(watched.url.replace("/it", "/other"))
        assert "names a primary" in told.value.what
        with pytest.raises(RedisUnavailable) as told:
            await check(watched.replica.url)
        assert "replica" in told.value.what


async def test_an_address_of_sentinels_without_a_name_says_how_to_write_it() -> None:
    with pytest.raises(RedisUnavailable) as told:
        async with open_redis(Settings(redis_url=SecretStr("redis+sentinel://:secret@127.0.0.1:26379"))):
            raise AssertionError("it was opened")
    assert "redis+sentinel://host:26379,host:26379/NAME" in told.value.what_to_do
    assert "secret" not in str(told.value)
