"""Redis of more than one server: a cluster with its slots on the move, a primary that is replaced."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from typing import TypeVar

import pytest

from core.broker import Broker, open_broker
from core.cluster import PARTITIONS, Cluster
from core.errors import LinkDown, LinkLost, StoreError
from core.keys import TAGS
from core.lease import Lease
from core.life.decision import Refusal
from core.life.event import Ask, Reply, Said, Take
from core.life.result import Answered, Asked, Delivered, Sent
from core.model import Person
from core.question import Accepted, Question, TextField
from tests.redis_many import Node, RedisCluster, copied, running_cluster, running_sentinel
from tests.waiting import wait_until

ANN = Person(id="web:ann", name="Ann", role="owner")
R = TypeVar("R")
WHERE = Question(title="Where to?", fields=(TextField(id="text"),))


@pytest.fixture(scope="module")
def shared() -> Generator[RedisCluster]:
    """A cluster that no test of this file breaks."""
    with running_cluster() as cluster:
        yield cluster


@pytest.fixture
def cluster(shared: RedisCluster) -> RedisCluster:
    """It, emptied."""
    for node in shared.primaries:
        node.server.say("FLUSHALL")
    return shared


class Play:
    """A run that asks and is answered, again and again."""

    def __init__(self, asking: Broker, answering: Broker, worker: str, origin: str) -> None:
        self.asking = asking
        self.answering = answering
        self.worker = worker
        self.origin = origin
        self.run = ""
        self.fence = 0

    async def begin(self) -> None:
        """Start the run."""
        sent = await self.asking.said(Said(origin=self.origin, text="go", person=ANN, agent="it"))
        assert isinstance(sent, Sent), sent
        claimed = await self.asking.claim(sent.run, self.worker)
        assert isinstance(claimed, Delivered), claimed
        self.run, self.fence = sent.run, claimed.fence

    async def ask(self, number: int) -> str:
        """Ask; returns the request."""
        end = await self.asking.store.end("steps", self.run)
        asked = await self.asking.ask(Ask(self.run, self.fence, f"ask#{number}", WHERE, end))
        assert isinstance(asked, Asked), asked
        assert asked.request is not None
        return asked.request

    async def answer(self, request: str, text: str) -> Answered | Refusal:
        """Answer."""
        return await self.answering.answer(Reply(request, Accepted(values={"text": text}), ANN, "chat", key=text))

    async def take(self) -> Delivered | Refusal:
        """Take the answer."""
        end = await self.asking.store.end("steps", self.run)
        return await self.asking.take(Take(self.run, self.fence, end))

    async def told(self) -> list[str]:
        """What the run was answered, by its journal."""
        steps = [step for _, step in await self.asking.steps(self.run) if step.kind == "answered"]
        answers = [step.data["answer"] for step in steps]
        return [str(one["values"]) for one in answers if isinstance(one, dict)]


@contextlib.asynccontextmanager
async def opened(url: str) -> AsyncGenerator[tuple[Broker, Broker, str]]:
    async with (
        open_broker(url) as asking,
        open_broker(url) as answering,
        Lease(asking, "worker", prefixes=("chat-",)) as lease,
    ):
        yield asking, answering, lease.id


async def test_a_cluster_is_known_as_one_and_its_conversations_lie_on_all_its_nodes(cluster: RedisCluster) -> None:
    async with opened(cluster.url) as (asking, answering, worker):
        assert len(asking.store.keys) == PARTITIONS == len(TAGS)
        for number in range(24):
            play = Play(asking, answering, worker, f"chat-{number}")
            await play.begin()
            request = await play.ask(0)
            answered = await asyncio.gather(*(play.answer(request, f"n{one}") for one in range(5)))
            assert sum(isinstance(one, Answered) for one in answered) == 1
            assert isinstance(await play.take(), Delivered)
            assert len(await play.told()) == 1
        assert [page.origin for page in await asking.conversations(ANN, limit=30)]
    assert all(int(str(node.server.say("DBSIZE"))) > 10 for node in cluster.primaries)


async def moved(cluster: RedisCluster, key: str, *, halfway: asyncio.Event, go_on: asyncio.Event) -> None:
    """Move a key's slot to another primary; keys already there and keys not yet there are for a while apart."""
    source = cluster.owner(key)
    target = next(node for node in cluster.primaries if node is not source)
    slot = int(str(source.server.say("CLUSTER", "KEYSLOT", key)))
    target.server.say("CLUSTER", "SETSLOT", slot, "IMPORTING", source.name)
    source.server.say("CLUSTER", "SETSLOT", slot, "MIGRATING", target.name)
    keys = _keys(source, slot)
    half = len(keys) // 2
    _carry(source, target, keys[:half])
    halfway.set()
    await go_on.wait()
    while keys := _keys(source, slot):
        _carry(source, target, keys)
    for node in cluster.nodes[:3]:
        node.server.say("CLUSTER", "SETSLOT", slot, "NODE", target.name)


def _keys(node: Node, slot: int) -> list[str]:
    found = node.server.say("CLUSTER", "GETKEYSINSLOT", slot, 1_000)
    return [str(key) for key in found] if isinstance(found, list) else []


def _carry(source: Node, target: Node, keys: list[str]) -> None:
    if keys:
        source.server.say("MIGRATE", "127.0.0.1", target.port, "", 0, 5_000, "KEYS", *keys)


async def test_a_slot_that_moves_takes_its_conversations_along_and_nothing_is_lost_or_twice(
    cluster: RedisCluster,
) -> None:
    """Both processes work on, with what is asked and answered before, while and after the slot moves."""
    async with opened(cluster.url) as (asking, answering, worker):
        play = Play(asking, answering, worker, "chat-mover")
        await play.begin()
        requests = [await play.ask(0)]
        halfway, go_on = asyncio.Event(), asyncio.Event()
        key = asking.store.keys[asking.store.place("chat-mover")].feed
        mover = asyncio.create_task(moved(cluster, key, halfway=halfway, go_on=go_on))
        await halfway.wait()
        pressing = asyncio.create_task(steadily(lambda: play.answer(requests[0], "first")))
        go_on.set()
        await mover
        assert isinstance(await pressing, Answered)
        assert isinstance(await play.take(), Delivered)
        requests.append(await play.ask(1))
        hinted = asyncio.Event()
        asking.watch(play.run, hinted.set)
        assert isinstance(await play.answer(requests[1], "second"), Answered)
        async with asyncio.timeout(10):
            await hinted.wait()
        assert isinstance(await play.take(), Delivered)
        assert await play.told() == ["{'text': 'first'}", "{'text': 'second'}"]


async def steadily(act: Callable[[], Awaitable[R]]) -> R:
    """Try until Redis takes it, as everything does that has a key."""
    got: list[R] = []

    async def taken() -> bool:
        with contextlib.suppress(LinkDown, LinkLost):
            got.append(await act())
        return bool(got)

    await wait_until(taken, 20.0)
    return got[0]


async def test_a_primary_that_is_killed_is_replaced_and_each_answer_counts_once() -> None:
    """What was acknowledged and copied stays; presses go on under their keys until one is told what stands."""
    with running_cluster() as cluster:
        first = cluster.primaries[0]
        async with opened(cluster.url) as (asking, answering, worker):
            names = [f"chat-{number}" for number in range(1_000)]
            places = {name: asking.store.keys[asking.store.place(name)].feed for name in names}
            mine = [name for name in names if cluster.owner(places[name]) is first][:5]
            plays = [Play(asking, answering, worker, name) for name in mine]
            for play in plays:
                await play.begin()
            requests = [await play.ask(0) for play in plays]
            copied(first, cluster.replica)
            first.server.process.kill()
            presses = [
                steadily(lambda play=play, request=request, n=n: play.answer(request, f"{play.origin}-{n}"))
                for play, request in zip(plays, requests, strict=True)
                for n in range(3)
            ]
            answered = await asyncio.gather(*presses)
            assert sum(isinstance(one, Answered) for one in answered) == len(plays)
            for play in plays:
                assert isinstance(await steadily(play.take), Delivered)
                assert len(await play.told()) == 1
            hinted = asyncio.Event()
            asking.watch(plays[0].run, hinted.set)
            again = await plays[0].ask(1)
            assert isinstance(await plays[0].answer(again, "again"), Answered)
            await wait_until(hinted.is_set)


async def test_a_primary_that_sentinels_replace_is_followed() -> None:
    with running_sentinel() as watched:
        async with opened(watched.url) as (asking, answering, worker):
            assert len(asking.store.keys) == 1
            play = Play(asking, answering, worker, "chat-1")
            await play.begin()
            request = await play.ask(0)
            copied(watched.primary, watched.replica)
            watched.primary.server.process.kill()
            answered = await asyncio.gather(*(steadily(lambda n=n: play.answer(request, f"n{n}")) for n in range(3)))
            assert sum(isinstance(one, Answered) for one in answered) == 1, answered
            assert watched.named() == watched.replica.port
            assert isinstance(await steadily(play.take), Delivered)
            assert len(await play.told()) == 1


async def test_an_address_of_sentinels_says_what_is_wrong_with_it() -> None:
    with pytest.raises(ValueError, match="redis\\+sentinel://host:26379"):
        async with open_broker("redis+sentinel://127.0.0.1:26379"):
            pass
    with running_sentinel() as watched, pytest.raises(LinkDown, match="other"):
        async with open_broker(watched.url.replace("/it", "/other")):
            pass


async def test_a_cluster_without_any_node_is_said_to_be_unreachable(cluster: RedisCluster) -> None:
    with pytest.raises(StoreError, match="cannot be reached"):
        async with Cluster("redis://127.0.0.1:1", patience=0.3):
            pass
