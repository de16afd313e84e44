"""Resumes that come together, or with an answer, from two processes: one of them puts the run in the queue, once."""

import asyncio
from collections.abc import AsyncGenerator

import pytest

from core.broker import open_broker
from core.life.decision import Refusal
from core.life.event import Ask, Broke, Park, Reply
from core.life.result import Answered, Asked, Delivered, Resumed
from core.question import Accepted
from tests.by_hand import DEPLOY, claimed
from tests.proves import proves
from tests.workshop import ANN, Workshop

ROUNDS = 100
"""of each test; no worker is there, so each costs little"""
YES = Accepted(values={"confirm": "once"})


@pytest.fixture
async def shop(redis_url: str) -> AsyncGenerator[Workshop]:
    """A broker, and no worker."""
    async with open_broker(redis_url, block=0.2) as broker:
        yield Workshop(broker)


async def begins_once(shop: Workshop, run: str) -> Delivered:
    """It stands in the queue once, and one turn of it starts."""
    assert [id for id, _ in await shop.broker.store.due(0, "ready")] == [run]
    turn = await shop.broker.claim(run, "w1")
    assert isinstance(turn, Delivered)
    assert await shop.broker.store.due(0, "ready") == []
    return turn


@proves("C80", "broker")
async def test_of_two_resumes_one_is_taken_and_the_other_hears_so(shop: Workshop, redis_url: str) -> None:
    run = await shop.say()
    turn = await claimed(shop.broker, run)
    async with open_broker(redis_url, block=0.2) as other:
        for _ in range(ROUNDS):
            await shop.broker.broke(Broke(run, turn.fence, "not reachable"))
            told = await asyncio.gather(shop.broker.resume(run, ANN), other.resume(run, ANN))
            (lost,) = (one for one in told if isinstance(one, Refusal))
            assert (lost.code, lost.text) == ("conflict", "conflict: run is queued")
            turn = await begins_once(shop, run)


@proves("C80", "broker")
@proves("C77", "broker")
async def test_of_an_answer_and_a_resume_together_the_answer_counts_once(shop: Workshop, redis_url: str) -> None:
    """It came after the resume and is taken, or before it and hears "resume first"; then it is given again."""
    run = await shop.say()
    turn = await claimed(shop.broker, run)
    late = 0
    async with open_broker(redis_url, block=0.2) as other:
        for number in range(ROUNDS):
            length = await shop.broker.store.end("steps", run)
            asking = await shop.broker.ask(Ask(run, turn.fence, f"ask:confirm#{number}", DEPLOY, length))
            assert isinstance(asking, Asked)
            await shop.broker.park(Park(run, turn.fence))
            await shop.broker.pause(run, ANN)
            event = Reply(str(asking.request), YES, ANN, "chat")
            acts = [shop.broker.answer(event), other.resume(run, ANN)]
            answer, resume = await asyncio.gather(*acts) if number % 2 else (await asyncio.gather(*acts[::-1]))[::-1]
            assert isinstance(resume, Resumed), resume
            if isinstance(answer, Refusal):
                late += 1
                assert answer.code == "paused"
                answer = await shop.broker.answer(event)
            assert isinstance(answer, Answered), answer
            turn = await begins_once(shop, run)
    assert late
