"""A full Redis takes no new work and settles the old, also by a process that was started meanwhile."""

from collections.abc import Generator

import pytest

from core.agent import Run
from core.broker import open_broker
from core.errors import Full
from core.life.event import Said
from core.life.result import Stopped
from tests.redis_server import RedisServer
from tests.workshop import ANN, Workshop


@pytest.fixture
def limited(redis: RedisServer) -> Generator[RedisServer]:
    """The server; its limit is taken away after the test."""
    yield redis
    redis.say("CONFIG", "SET", "maxmemory", "0")


async def test_a_full_redis_lets_a_process_start_and_settle_what_is_open(limited: RedisServer) -> None:
    async def body(run: Run, message: str) -> str:
        return await run.ask("Name?")

    async with open_broker(limited.url, block=0.2) as broker:
        shop = Workshop(broker)
        shop.hire("it", body)
        async with shop.worker():
            answered, canceled = await shop.say(origin="chat-1"), await shop.say(origin="chat-2")
            first, _ = await shop.questions(2)
            limited.say("CONFIG", "SET", "maxmemory", "1")
            async with open_broker(limited.url, block=0.2) as late:
                with pytest.raises(Full):
                    await late.said(Said(origin="chat-3", text="more", person=ANN, agent="it"))
                other = Workshop(late)
                await other.answer(first, "Bob")
                assert isinstance(await late.cancel(canceled if first.run == answered else answered, ANN), Stopped)
            await shop.until(first.run, "completed")
