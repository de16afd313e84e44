"""Questions by the thousand: runs that ask, each in a conversation of its own, through the broker's verbs."""

import asyncio
from collections.abc import AsyncGenerator, Iterable
from contextlib import asynccontextmanager
from typing import NamedTuple

from core.broker import Broker, open_broker
from core.lease import Lease
from core.life.event import Ask, Park, Said
from core.life.result import Asked, Changed, Delivered, Sent
from core.model import Person, fresh
from core.question import Question, TextField

PERSON = Person(id="web:bench", name="Bench", role="owner")
QUESTION = Question(title="Where to?", message="q" * 480, fields=(TextField(id="text", label="Answer"),))
AT_ONCE = 100


class Open(NamedTuple):
    """A question that is open, and the turn that asked it."""

    conversation: str
    run: str
    request: str
    fence: int


@asynccontextmanager
async def worker(url: str) -> AsyncGenerator[tuple[Broker, str]]:
    """Open a broker and a worker's lease."""
    async with open_broker(url, name="bench") as broker, Lease(broker, "worker", prefixes=("chat-",)) as lease:
        yield broker, lease.id


async def ask(
    broker: Broker, worker: str, question: Question = QUESTION, *, park: bool = False, person: Person = PERSON
) -> Open:
    """Begin a conversation, let its run ask, and let go of it when it is to be parked."""
    sent = await broker.said(Said(origin=fresh("chat-", 0), text="go", person=person, agent="bench"))
    assert isinstance(sent, Sent), sent
    turn = await broker.claim(sent.run, worker)
    assert isinstance(turn, Delivered), turn
    asked = await broker.ask(Ask(sent.run, turn.fence, "ask#0", question, 1))
    assert isinstance(asked, Asked), asked
    assert asked.request is not None
    if park:
        parked = await broker.park(Park(sent.run, turn.fence))
        assert isinstance(parked, Changed), parked
    return Open(sent.conversation, sent.run, asked.request, turn.fence)


async def ask_many(broker: Broker, worker: str, questions: Iterable[Question], *, park: bool = False) -> list[Open]:
    """Ask so many, some at a time."""
    made: list[Open] = []
    left = iter(questions)

    async def one() -> None:
        for question in left:
            made.append(await ask(broker, worker, question, park=park))

    async with asyncio.TaskGroup() as group:
        for _ in range(AT_ONCE):
            group.create_task(one())
    return made
