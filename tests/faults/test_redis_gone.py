"""Redis cut off, killed, standing still, and hints that never come: what is stored is found all the same."""

import asyncio
import os
import random
import signal
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest

from core.address import address_of
from core.agent import Run
from core.broker import Broker, open_broker
from core.errors import StoreError
from core.feed import Feed
from core.life.decision import Refusal
from core.life.event import Ask, Reply, Said, Take
from core.life.result import Answered, Asked, Delivered, Sent
from core.link import Link
from core.question import Accepted, Question, TextField
from core.store import Store
from gateway.embedded import EmbeddedRedis
from tests.by_hand import claimed
from tests.faults.proxy import Proxy
from tests.proves import proves
from tests.redis_server import RedisServer
from tests.turns import turns
from tests.waiting import wait_until
from tests.workshop import ANN, PATIENT, Gate, Workshop

NAME = Question(title="Name?", fields=(TextField(),))
YES = Accepted(values={"confirm": "once"})


@asynccontextmanager
async def deaf(url: str, feed_url: str) -> AsyncGenerator[Broker]:
    """A broker whose hints come another way than its commands."""
    async with Link(url) as link:
        store = Store(link)
        await store.open()
        async with Feed(address_of(feed_url), store.keys[0].feed, link, block=0.1, silence=1.0) as feed:
            yield Broker(store, [feed])


@proves("C93", "broker")
async def test_an_answer_is_taken_once_however_the_taker_is_cancelled(redis_url: str) -> None:
    """1,000 answers pushed at the moment at which the waiting reader is cancelled; another one looks afterwards."""
    dice = random.Random(93)
    async with open_broker(redis_url, block=0.2) as broker, open_broker(redis_url, block=0.2) as other:
        sent = await broker.said(Said("chat-1", "go", ANN, "it"))
        assert isinstance(sent, Sent)
        fence = (await claimed(broker, sent.run)).fence
        taken_first = 0
        for number in range(1_000):
            length = await broker.store.end("steps", sent.run)
            asked = await broker.ask(Ask(sent.run, fence, f"ask:text#{number}", NAME, length))
            assert isinstance(asked, Asked)
            assert asked.request is not None
            reader = asyncio.create_task(wait_and_take(broker, sent.run, fence, length + 1))
            await turns(1)
            answer = asyncio.create_task(other.answer(Reply(asked.request, Accepted(values={"text": "Bo"}), ANN, "tg")))
            await turns(dice.randrange(40))
            reader.cancel()
            await asyncio.gather(reader, return_exceptions=True)
            assert isinstance(await answer, Answered)
            again = await other.take(Take(sent.run, fence, await other.store.end("steps", sent.run)))
            taken_first += isinstance(again, Refusal)
        steps = [step.key for _, step in await broker.steps(sent.run) if step.kind == "answered"]
    assert steps == [f"ask:text#{number}" for number in range(1_000)]
    assert 0 < taken_first < 1_000, "the dice never met the moment"


async def wait_and_take(broker: Broker, run: str, fence: int, length: int) -> Delivered | Refusal:
    """Wait for a hint, then take."""
    hinted = asyncio.Event()
    end = broker.watch(run, hinted.set)
    try:
        await hinted.wait()
        return await broker.take(Take(run, fence, length))
    finally:
        end()


async def test_leaving_does_not_wait_for_a_blocked_reader(redis_url: str) -> None:
    """A shutdown while every reader is blocked ends at once, and is not swallowed."""
    async with asyncio.timeout(5):
        async with open_broker(redis_url, block=60.0) as broker:
            waiter = asyncio.create_task(broker.feeds[0].subscribe("run").wait(60.0))
            await turns(3)
        waiter.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiter


@proves("C94", "broker")
async def test_answers_before_during_and_after_a_dead_redis_are_handled_once(tmp_path: Path) -> None:
    """Killed, stopped, its connections killed: what was accepted runs once, what was not stored was refused."""
    ran: list[str] = []

    async def body(run: Run, message: str) -> str:
        await run.confirm("Go on", tool="act", arguments={"who": message})
        async with run.tool("act", who=message):
            ran.append(message)
        return "acted"

    async with EmbeddedRedis(tmp_path / "data", "everysec") as redis, open_broker(redis.url, block=0.2) as broker:
        shop = Workshop(broker)
        shop.hire("it", body)
        async with shop.worker():
            runs = [await shop.say(str(number), origin=f"chat-{number}") for number in range(4)]
            for run in runs:
                await shop.parked(run)
            questions = {one.run: one for one in (await broker.pending(ANN)).requests}
            for number, run in enumerate(runs):
                pid = await server(broker)
                match number:
                    case 1:
                        os.kill(pid, signal.SIGKILL)
                    case 2:
                        os.kill(pid, signal.SIGSTOP)
                        asyncio.get_running_loop().call_later(0.5, os.kill, pid, signal.SIGCONT)
                    case 3:
                        with suppress(StoreError):
                            await broker.store.link.call("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "no")
                    case _:
                        pass
                await insist(broker, Reply(questions[run].id, YES, ANN, "tg", f"key-{run}"))
            for run in runs:
                await shop.until(run, "completed", timeout=30.0)
        await wait_until(lambda: broker.feeds[0].healthy)
    assert sorted(ran) == ["0", "1", "2", "3"]


async def server(broker: Broker) -> int:
    """The process that is Redis now."""

    async def found() -> bytes | None:
        with suppress(StoreError):
            reply = await broker.store.link.call("INFO", "server")
            return reply if isinstance(reply, bytes) else None
        return None

    await wait_until(found, 20.0)
    text = await found()
    assert text is not None
    return int(text.partition(b"process_id:")[2].partition(b"\r")[0])


async def insist(broker: Broker, event: Reply) -> None:
    """Answer as a person does who is told "not stored, try again": with the same key, until it is accepted."""

    async def accepted() -> bool:
        with suppress(StoreError):
            return isinstance(await broker.answer(event), Answered)
        return False

    await wait_until(accepted, 30.0)


@proves("C95", "broker")
async def test_a_cancel_reaches_a_worker_that_hears_nothing(
    redis: RedisServer, redis_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Its feed stands still without a sign of it; the intent is stored, and the worker looks.

    That nothing is heard is noticed, logged, and mended as soon as it can be.
    """
    gate = Gate()

    async def body(run: Run, message: str) -> str:
        await gate()
        return "never"

    async with (
        Proxy(redis.socket) as proxy,
        deaf(redis_url, proxy.url) as broker,
        open_broker(redis_url, block=0.2) as other,
    ):
        shop = Workshop(broker)
        shop.hire("it", body)
        async with shop.worker(PATIENT):
            run = await shop.say()
            await gate.reached.wait()
            proxy.replies.clear()
            await other.cancel(run, ANN)
            await shop.until(run, "canceled", timeout=5.0)
            await wait_until(lambda: not broker.feeds[0].healthy)
            assert "lost its connection: no answer for" in caplog.text
            proxy.replies.set()
            await wait_until(lambda: broker.feeds[0].healthy)
            assert await shop.until(await shop.say("again"), "working")
            await wait_until(lambda: proxy.accepted > 1)
    assert gate.passed == 0


@proves("C96", "broker")
async def test_what_was_told_while_nobody_was_connected_takes_effect(redis: RedisServer, redis_url: str) -> None:
    """An answer, a cancel and an event come in the gap; after reconnecting all three are found by looking."""
    gate = Gate()

    async def body(run: Run, message: str) -> str:
        if message == "ask":
            return await run.choose("Which?", ["a", "b"])
        await gate()
        return "never"

    async with Proxy(redis.socket) as proxy, open_broker(redis_url, block=0.2) as other:
        async with open_broker(proxy.url, block=0.2) as broker:
            shop = Workshop(broker)
            shop.hire("it", body)
            async with shop.worker(PATIENT):
                asks, works = await shop.say("ask", origin="chat-1"), await shop.say("work", origin="chat-2")
                question = await shop.question()
                await gate.reached.wait()
                page = broker.follow((await shop.record(asks)).conversation)
                await page.wait(0.0)
                seen = len(await shop.events(asks))
                proxy.welcome = False
                proxy.cut()
                told = await other.answer(Reply(question.id, Accepted(values={"choice": "option 2"}), ANN, "tg"))
                assert isinstance(told, Answered), told
                await other.cancel(works, ANN)
                proxy.welcome = True
                assert await page.wait(10.0)
                await shop.until(asks, "completed")
                await shop.until(works, "canceled")
                page.close()
                assert len(await shop.events(asks)) > seen
        assert (await Workshop(other).said_by_agent(asks)) == ["b"]
