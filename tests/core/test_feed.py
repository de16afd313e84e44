"""The feed: whoever waits is woken by a hint, or told to look when one may have been missed."""

import asyncio
import signal
from collections.abc import AsyncIterator

import pytest

from core.address import address_of
from core.errors import LinkDown
from core.feed import LOOK, Feed
from core.link import Link
from tests.faults.proxy import Proxy
from tests.redis_server import RedisServer, running_server
from tests.turns import turns
from tests.waiting import wait_until

KEY = "feed"
LONG = 10.0


@pytest.fixture
async def link(redis_url: str) -> AsyncIterator[Link]:
    async with Link(redis_url) as link:
        yield link
        await link.call("FLUSHDB")


@pytest.fixture
async def proxy(redis_server: RedisServer, link: Link) -> AsyncIterator[Proxy]:
    async with Proxy(redis_server.socket) as proxy:
        yield proxy


async def tell(link: Link, *hints: str) -> None:
    await link.call("XADD", KEY, "MAXLEN", "~", 1000, "*", "h", "\n".join(hints))


async def test_each_waiter_gets_its_own_hints_and_each_hint_once(redis_url: str, link: Link) -> None:
    async with (
        Feed(address_of(redis_url, "sayso-feed"), KEY, link) as feed,
        feed.subscribe("run", "a") as mine,
        feed.subscribe("run") as every,
    ):
        await tell(link, "run a", "run b", "journal a", "ready")
        assert await mine.wait(LONG) == {"a"}
        assert await every.wait(LONG) == {"a", "b"}
        assert await mine.wait(0.01) == frozenset()
        await tell(link, "run a")
        assert await mine.wait(LONG) == {"a"}


async def test_hints_that_come_before_the_wait_are_merged_and_kept(redis_url: str, link: Link) -> None:
    async with (
        Feed(address_of(redis_url, "sayso-feed"), KEY, link) as feed,
        feed.subscribe("run") as every,
        feed.subscribe("timer") as timer,
    ):
        for n in (1, 2, 2, 1):
            await tell(link, f"run {n}")
        await tell(link, "timer")
        assert await timer.wait(LONG) == {""}
        assert await every.wait(0) == {"1", "2"}


async def test_what_was_there_before_entering_is_not_told(redis_url: str, link: Link) -> None:
    await tell(link, "run old")
    async with Feed(address_of(redis_url, "sayso-feed"), KEY, link) as feed, feed.subscribe("run") as every:
        await tell(link, "run new")
        assert await every.wait(LONG) == {"new"}


async def test_a_listener_is_called_in_order_until_it_is_closed(redis_url: str, link: Link) -> None:
    async with Feed(address_of(redis_url, "sayso-feed"), KEY, link) as feed:
        heard: list[str] = []
        listening = feed.listen("run", heard.append)
        await tell(link, "run a", "run b")
        await tell(link, "run a")
        await wait_until(lambda: len(heard) == 3)
        listening.close()
        listening.close()
        async with feed.subscribe("run") as every:
            await tell(link, "run c")
            assert await every.wait(LONG) == {"c"}
        assert heard == ["a", "b", "a"]


async def test_a_listener_that_fails_harms_nobody_else(
    redis_url: str, link: Link, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(ident: str) -> None:
        raise ValueError(ident)

    async with Feed(address_of(redis_url, "sayso-feed"), KEY, link) as feed, feed.subscribe("run") as every:
        feed.listen("run", fail)
        await tell(link, "run a")
        assert await every.wait(LONG) == {"a"}
        await tell(link, "run b")
        assert await every.wait(LONG) == {"b"}
    assert "what listens to hints failed" in caplog.text


async def test_a_cancelled_waiter_loses_no_hint(redis_url: str, link: Link) -> None:
    """C93: a thousand waits are cancelled about when their hint comes; the next wait has it."""
    async with Feed(address_of(redis_url, "sayso-feed"), KEY, link) as feed, feed.subscribe("run") as every:
        for n in range(1000):
            waiting = asyncio.create_task(every.wait(LONG))
            telling = asyncio.create_task(tell(link, f"run {n}"))
            await turns(n % 7)
            waiting.cancel()
            await telling
            (taken,) = await asyncio.gather(waiting, return_exceptions=True)
            if isinstance(taken, BaseException):
                taken = await every.wait(LONG)
            assert taken == {str(n)}


async def test_a_waiter_with_too_much_pending_is_told_to_look(redis_url: str, link: Link) -> None:
    async with (
        Feed(address_of(redis_url, "sayso-feed"), KEY, link) as feed,
        feed.subscribe("run") as every,
        feed.subscribe("end") as end,
    ):
        await tell(link, *(f"run {n}" for n in range(1001)), "end")
        await end.wait(LONG)
        assert await every.wait(0) == {LOOK}


async def test_what_is_published_in_the_gap_makes_everybody_look(proxy: Proxy, link: Link) -> None:
    """C96, C95."""
    async with (
        Feed(address_of(proxy.url, "sayso-feed"), KEY, link) as feed,
        feed.subscribe("run", "a") as mine,
        feed.subscribe("b") as other,
    ):
        heard: list[str] = []
        feed.listen("stop", heard.append)
        proxy.welcome = False
        proxy.cut()
        await wait_until(lambda: not feed.healthy)
        await tell(link, "run a", "stop x")
        proxy.welcome = True
        assert LOOK in await mine.wait(LONG)
        assert LOOK in await other.wait(LONG)
        await wait_until(lambda: heard == [LOOK, "x"])
        assert mine.resets == 1
        assert feed.healthy


async def test_a_gap_longer_than_the_stream_makes_everybody_look(proxy: Proxy, link: Link) -> None:
    async with Feed(address_of(proxy.url, "sayso-feed"), KEY, link) as feed, feed.subscribe("run", "a") as mine:
        await tell(link, "run a")
        assert await mine.wait(LONG) == {"a"}
        proxy.replies.clear()
        await link.many([("XADD", KEY, "MAXLEN", 600, "*", "h", f"run {n}") for n in range(2000)])
        proxy.replies.set()
        assert await mine.wait(LONG) == {LOOK}


async def test_a_full_read_without_a_gap_disturbs_nobody(proxy: Proxy, link: Link) -> None:
    async with (
        Feed(address_of(proxy.url, "sayso-feed"), KEY, link) as feed,
        feed.subscribe("run", "a") as mine,
        feed.subscribe("end") as end,
    ):
        await tell(link, "end")
        assert await end.wait(LONG) == {""}
        proxy.replies.clear()
        await link.many([("XADD", KEY, "*", "h", f"run {n}") for n in range(1600)])
        await link.call("XADD", KEY, "*", "h", "end")
        proxy.replies.set()
        assert await end.wait(LONG) == {""}
        assert await mine.wait(0) == frozenset()


@pytest.mark.parametrize(
    "blow",
    [("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"), ("CLIENT", "UNBLOCK"), ("RENAME", KEY, "gone")],
    ids=lambda blow: blow[1],
)
async def test_the_reader_survives_what_servers_do_to_readers(
    redis_url: str, link: Link, blow: tuple[str, ...]
) -> None:
    """C94: cut, unblocked by an error, its stream taken away."""
    await tell(link, "run first")
    async with Feed(address_of(redis_url, "sayso-feed"), KEY, link, block=0.2) as feed, feed.subscribe("run") as every:
        if blow[1] == "UNBLOCK":
            listed = await link.call("CLIENT", "LIST")
            assert isinstance(listed, bytes)
            reader = next(line for line in listed.decode().splitlines() if "name=sayso-feed" in line)
            blow = (*blow, reader.partition("id=")[2].partition(" ")[0], "ERROR")
        await link.call(*blow)
        await tell(link, "run a")
        seen: set[str] = set()

        async def told() -> bool:
            seen.update(await every.wait(0.05))
            return "a" in seen

        await wait_until(told)


async def test_a_server_that_lost_its_stream_is_read_again_from_its_beginning(link: Link, proxy: Proxy) -> None:
    """A restarted or failed-over server may be behind what was read: its new entries count all the same."""
    await link.call("XADD", KEY, "99999999999999-0", "h", "run future")
    async with Feed(address_of(proxy.url, "sayso-feed"), KEY, link) as feed, feed.subscribe("run") as every:
        proxy.welcome = False
        proxy.cut()
        await wait_until(lambda: not feed.healthy)
        await link.call("DEL", KEY)
        proxy.welcome = True
        assert await every.wait(LONG) == {LOOK}
        await tell(link, "run a")
        assert await every.wait(LONG) == {"a"}


async def test_a_server_that_stands_still_shows_in_health_and_is_found_again() -> None:
    """C94: stopped and continued."""
    with running_server() as server:
        async with (
            Link(server.url, patience=0.3) as link,
            Feed(address_of(server.url, "sayso-feed"), KEY, link, block=0.1, silence=0.4) as feed,
            feed.subscribe("run") as every,
        ):
            since = feed.since
            server.process.send_signal(signal.SIGSTOP)
            await wait_until(lambda: not feed.healthy)
            assert feed.since > since
            server.process.send_signal(signal.SIGCONT)
            await wait_until(lambda: feed.healthy and link.connected)
            assert LOOK in await every.wait(LONG)
            await tell(link, "run a")
            assert "a" in await every.wait(LONG)


async def test_a_reader_that_may_not_read_keeps_trying_and_says_so(
    redis_url: str, link: Link, caplog: pytest.LogCaptureFixture
) -> None:
    await link.call("SET", KEY, "not a stream")
    with pytest.raises(LinkDown, match="WRONGTYPE"):
        async with Feed(address_of(redis_url, "sayso-feed"), KEY, link, silence=0.3):
            raise NotImplementedError
    assert "lost its connection" in caplog.text


async def test_leaving_ends_the_reader_at_once(redis_url: str, link: Link) -> None:
    async with asyncio.timeout(1.0):
        async with Feed(address_of(redis_url, "sayso-feed"), KEY, link, block=60.0) as feed:
            assert feed.healthy
    assert not feed.healthy
