"""Races: a hundred answers to one question at once; one wins, everybody else is told which."""

import asyncio
import time

import uvloop

from bench.asked import PERSON, QUESTION, worker
from bench.asked import ask as ask_one
from bench.table import Ground, Row, measurement
from core.broker import Broker, open_broker
from core.life.decision import Refusal
from core.life.event import Ask, Reply, Take
from core.life.result import Answered, Asked, Delivered
from core.question import Accepted

ROUNDS = 10_000
RACERS = 100
MOST_SECONDS = 60.0


@measurement
def racing_answers(ground: Ground) -> list[Row]:
    """A hundred answers race, from three processes' brokers; ten thousand rounds, or as many as a minute holds."""
    rounds, violations, each = uvloop.run(_race(ground.url, 50 if ground.quick else ROUNDS))
    return [
        Row("rounds of 100 racing answers", rounds, ""),
        Row("rounds without exactly 1 winner and 99 who are told of it", violations, "", target=0),
        Row("one round of 100 racing answers", each, "ms"),
    ]


async def _race(url: str, rounds: int) -> tuple[int, int, float]:
    async with (
        worker(url) as (broker, lease),
        open_broker(url, name="bench-2") as second,
        open_broker(url, name="bench-3") as third,
    ):
        first = await ask_one(broker, lease)
        request, length, violations, done = first.request, 2, 0, 0
        begin = time.monotonic()
        while done < rounds and time.monotonic() - begin < MOST_SECONDS:
            results = await asyncio.gather(
                *(_answer((broker, second, third)[n % 3], request, n) for n in range(RACERS)), return_exceptions=True
            )
            violations += not _fair(results)
            done += 1
            taken = await broker.take(Take(first.run, first.fence, length))
            assert isinstance(taken, Delivered), taken
            asked = await broker.ask(Ask(first.run, first.fence, f"ask#{length}", QUESTION, length + 1))
            assert isinstance(asked, Asked), asked
            request, length = asked.request or "", length + 2
        return done, violations, (time.monotonic() - begin) / done * 1000


async def _answer(broker: Broker, request: str, number: int) -> Answered | Refusal:
    return await broker.answer(Reply(request, Accepted(values={"text": f"racer {number}"}), PERSON, "chat"))


def _fair(results: list[Answered | Refusal | BaseException]) -> bool:
    """Tell whether one won, and everybody else was told the winner's answer."""
    won = [result for result in results if isinstance(result, Answered) and not result.repeat]
    if len(won) != 1 or not isinstance(won[0].answer, Accepted):
        return False
    values = won[0].answer.values
    told = [result for result in results if isinstance(result, Refusal) and result.code == "already_answered"]
    return len(told) == RACERS - 1 and all(result.standing.get("values") == values for result in told)
