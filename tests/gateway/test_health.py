"""Health in words."""

import asyncio
from collections.abc import Generator

import pytest

from core.agent import Run
from core.broker import Broker, open_broker
from core.inbox import Inbox
from core.life.arriving import NUMBERS
from core.life.decision import Owe
from core.life.draft import Draft
from core.life.result import Kept
from core.vault import Vault
from gateway.figures import owed
from gateway.front_ends import FrontEnd
from gateway.health import checks
from tests.redis_server import RedisServer
from tests.workshop import ANN, Workshop


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


XX = FrontEnd("xx", "Xxx", "xx", "adapters.xx")


async def inbox_of(broker: Broker) -> tuple[bool, str]:
    """What health says of what platforms brought."""
    (found,) = [check for check in await checks(broker, [XX]) if check.what == "inbox"]
    return found.ok, found.words


async def test_what_a_platform_brought_and_nobody_takes_is_seen(redis_url: str) -> None:
    """In health, and so in `sayso doctor`, and as figures; fresh it is no trouble, taken it is gone."""
    async with open_broker(redis_url, block=0.2) as broker:
        broker.safe.vault = Vault([bytes(32)])
        inbox = Inbox(broker, XX.prefix)
        assert await inbox_of(broker) == (True, "everything that platforms brought is taken")
        await inbox.keep(b"one")
        await inbox.keep(b"two")
        ok, words = await inbox_of(broker)
        assert ok
        assert words.startswith("2 updates of Xxx wait, the oldest for ")
        first, second = await inbox.waiting()
        await older(broker, first, 300)
        ok, words = await inbox_of(broker)
        assert not ok
        assert "what people write there is stored, and waits" in words
        figures = {
            (sample.name, sample.labels.get("front_end")): sample.value
            for metric in await owed(broker, [XX.prefix])
            for sample in metric.samples
        }
        assert figures["sayso_inbox", "xx"] == 2
        assert figures["sayso_inbox_oldest_seconds", "xx"] >= 300
        for one in (first, second):
            await inbox.done(one)
        assert await inbox.backlog() == (0, None)


async def test_an_answer_that_its_run_could_take_and_does_not_is_bad(redis_url: str) -> None:
    """Behind another question of its run it may wait for as long as it takes."""
    async with open_broker(redis_url, block=0.2) as broker:
        shop = Workshop(broker)
        async with shop.worker():
            shop.hire("it", asks_two)
            run = await shop.say()
            first, second = await shop.questions(2)
            await shop.parked(run)
        for asked in (first, second):
            await shop.answer(asked, "yes")
            await broker.committer.carry(long_ago, asked.id, 0)
            (answers,) = [check for check in await checks(broker) if check.what == "answers"]
            figures = {sample.name: sample.value for metric in await owed(broker, []) for sample in metric.samples}
            late = 2 if asked is second else 0
            assert (answers.ok, figures["sayso_undelivered_late"]) == (not late, late), answers.words
        assert "nothing is in the way of 2 of them" in answers.words
        await broker.cancel(run, ANN)


async def asks_two(run: Run, message: str) -> str:
    """An agent with two questions at a time."""
    return " ".join(await asyncio.gather(run.ask("First?"), run.ask("Second?")))


def long_ago(d: Draft, e: str) -> Kept:
    """Let an answer have been accepted five minutes earlier."""
    d.want(Owe("undelivered", e, d.now - 300_000))
    return Kept()


async def older(broker: Broker, id: str, seconds: int) -> None:
    """Let an update have come earlier."""

    def rule(d: Draft, e: str) -> Kept:
        d.want(Owe("inbox", e, (d.now - seconds * 1_000) * NUMBERS, of=XX.prefix))
        return Kept()

    await broker.committer.carry(rule, id, broker.store.place(f"inbox:{XX.prefix}"))
