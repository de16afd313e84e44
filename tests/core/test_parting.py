"""What ends with a person who is removed: every run of theirs wherever it is, and nobody else's."""

from collections.abc import AsyncGenerator

import pytest

from core.broker import Broker, open_broker
from core.life.event import Said
from core.life.result import Sent
from core.model import Person
from core.people import People

pytestmark = pytest.mark.asyncio


@pytest.fixture
async def broker(redis_url: str) -> AsyncGenerator[Broker]:
    async with open_broker(redis_url, partitions=1, block=0.2) as broker:
        yield broker


async def somebody(people: People, name: str) -> Person:
    made = await people.add(name, "member")
    assert isinstance(made, Person), made
    return made


async def begun(broker: Broker, person: Person, origin: str, people: tuple[str, ...] = ()) -> str:
    sent = await broker.said(Said(origin, "hello", person, "demo", private=not people, people=people))
    assert isinstance(sent, Sent), sent
    return sent.run


async def stopped(broker: Broker, run: str) -> str | None:
    found = await broker.peek(run)
    assert found is not None
    return found.cause


async def test_the_oldest_run_of_somebody_with_many_conversations_ends_too(broker: Broker) -> None:
    people = People(broker)
    ann = await somebody(people, "Ann")
    oldest = await begun(broker, ann, "chat-oldest")
    for number in range(510):
        await begun(broker, ann, f"chat-{number}")
    await people.remove(ann.id)
    assert await stopped(broker, oldest) == "owner_removed"


async def test_in_a_group_ends_what_was_theirs_whoever_spoke_there_first(broker: Broker) -> None:
    people = People(broker)
    ann, ben = await somebody(people, "Ann"), await somebody(people, "Ben")
    runs: dict[str, str] = {}
    for first, second, place in ((ann, ben, "tg-1"), (ben, ann, "tg-2")):
        await people.bind(place, [ann.id, ben.id])
        for person in (first, second):
            runs[f"{person.name} {place}"] = await begun(broker, person, place, (ann.id, ben.id))
    await people.remove(ann.id)
    assert {name: await stopped(broker, run) for name, run in runs.items()} == {
        "Ann tg-1": "owner_removed",
        "Ben tg-1": None,
        "Ben tg-2": None,
        "Ann tg-2": "owner_removed",
    }
