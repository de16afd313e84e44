"""What ends with a person who is removed: every run of theirs wherever it is, and nobody else's."""

import asyncio
import re
import time
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from core.audit import Audit, Filter
from core.broker import Broker, open_broker
from core.life.event import Said
from core.life.result import Sent
from core.model import Person
from core.people import People
from core.removals import COMING_MS, finish_removals
from tests.faults.proxy import Proxy
from tests.waiting import wait_until

WRITES = re.compile(rb"EVALSHA|UNLINK|ZREM|\r\nSET\r\n")
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


async def interrupted(url: str, person: Person, at: int) -> bool:
    """Let a process that removes somebody be cut off before its write of this number; False when it came through."""
    async with Proxy(Path(url.removeprefix("unix://"))) as proxy, open_broker(proxy.url, partitions=1) as other:
        proxy.spare, proxy.stop_at = at, WRITES
        removing = asyncio.create_task(People(other).remove(person.id))
        await wait_until(lambda: removing.done() or not proxy.requests.is_set())
        through = removing.done()
        proxy.welcome = False
        removing.cancel()
        proxy.cut()
        await asyncio.gather(removing, return_exceptions=True)
    return not through


async def left_of(broker: Broker, people: People, person: Person, runs: list[str]) -> list[object]:
    """Everything that somebody who was removed has left; nothing should be."""
    found: list[object] = [one.person.name for one in await people.all() if one.person.id == person.id]
    found += [identity for identity, id in await broker.shelf.listing("identity") if id == person.id]
    found += [kind for kind in ("person", "role") if await broker.shelf.fetch(kind, person.id) is not None]
    found += [group.place for group in await people.groups() if person.id in group.people]
    return found + [run for run in runs if await stopped(broker, run) != "owner_removed"]


def later() -> float:
    """A moment at which nobody is just coming in any more."""
    return time.time() + COMING_MS / 1000 + 1


@pytest.mark.parametrize("again", ["said again", "by itself"])
async def test_a_removal_that_was_cut_off_anywhere_is_finished(broker: Broker, redis_url: str, again: str) -> None:
    """Before each of its writes in turn: no right is left from the first one on, and the rest is done once, later."""
    people, points, cut = People(broker), 0, True
    while cut:
        person = await somebody(people, f"Ann {points}")
        groups = [f"tg-{points}", f"dc-{points}"]
        for place in groups:
            await people.bind(place, [person.id])
        await broker.shelf.keep("identity", f"tg:{points}", person.id)
        runs = [await begun(broker, person, f"chat-{points}"), await begun(broker, person, groups[0], (person.id,))]
        cut = await interrupted(redis_url, person, points)
        if points:
            assert await people.who(f"tg:{points}") is None
            assert person.id not in [one.person.id for one in await people.all()]
        if again == "said again" or not points:
            assert isinstance(await people.remove(person.id), Person) is cut
        else:
            gone = await finish_removals(broker, people, now=later)
            assert [one.id for one in gone] == ([person.id] if cut else [])
        assert await left_of(broker, people, person, runs) == []
        points += 1
    assert points > 6
    told = [deed.whom for deed in await Audit(broker).lines(Filter(kind="remove"))]
    assert (len(told), len(set(told))) == (points, points)


async def test_who_is_half_removed_is_in_nobodys_way_and_who_comes_in_is_left_alone(broker: Broker) -> None:
    people = People(broker)
    ann, ben = await somebody(people, "Ann"), await somebody(people, "Ben")
    await people.bind("tg-1", [ann.id, ben.id])
    await broker.shelf.drop("role", ben.id)
    assert await finish_removals(broker, people) == []
    await people.remove(ann.id)
    assert [group.people for group in await people.groups()] == [()]
    assert [one.id for one in await finish_removals(broker, people, now=later)] == [ben.id]
