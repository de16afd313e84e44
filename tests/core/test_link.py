"""The link: everybody gets their own reply or an error that is true, whatever happens to the connection."""

import asyncio
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from core.address import Address
from core.errors import LinkDown, LinkLost, ServerRefused
from core.link import Link
from core.wire import Wire
from tests.faults.proxy import Proxy
from tests.proves import proves
from tests.redis_server import RedisServer, running_server
from tests.turns import turns
from tests.waiting import wait_until

A = "aaaaaaaaaaaaaaaa"
WRITE = [A, 0, 0, "doc", 0, 1, "absent", 1, "", 2, "put", 1, 4, 0, 0, "{}", 0, "append", 2, 3, "x", 0, 0]
APPEND = [A, 0, 0, "list", 1, 0, 1, "append", 1, 3, "x", 0, 0]


@pytest.fixture
async def side(redis_url: str) -> AsyncIterator[Link]:
    """A connection of the test's own, straight to the server."""
    async with Link(redis_url) as side:
        yield side
        await side.call("FLUSHDB")


@pytest.fixture
async def proxy(redis_server: RedisServer, side: Link) -> AsyncIterator[Proxy]:
    async with Proxy(redis_server.socket) as proxy:
        yield proxy


async def exists(side: Link, key: str) -> bool:
    return await side.call("EXISTS", key) == 1


async def holds(side: Link, key: str, text: bytes) -> bool:
    return await side.call("GET", key) == text


async def test_replies_come_in_order_and_as_bytes(redis_url: str) -> None:
    async with Link(redis_url) as link:
        assert await link.many(
            [("SET", "x", 1, "PX", 9000), ("GET", "x"), ("LRANGE", "none", 0, -1), ("GET", "none")]
        ) == [
            b"OK",
            b"1",
            [],
            None,
        ]


async def test_connecting_ends_when_it_is_cancelled_wherever_it_is(redis_url: str) -> None:
    """redis-py waits in a way that can swallow a cancel; a reader that is told to end would connect for ever."""
    address = Address(redis_url, "sayso", 5.0)
    for count in range(1, 100):
        wire = Wire(lambda reply: None, lambda wire, why: None)
        opening = asyncio.create_task(wire.open(address))
        await turns(count)
        if opening.done():
            wire.close()
            return
        opening.cancel()
        assert isinstance((await asyncio.gather(opening, return_exceptions=True))[0], asyncio.CancelledError)
    raise AssertionError("it never connected")


async def test_commands_of_one_turn_travel_in_one_write(redis_url: str) -> None:
    async with Link(redis_url) as link:
        before = link.batches
        assert await asyncio.gather(*(link.call("ECHO", str(n)) for n in range(100))) == [b"%d" % n for n in range(100)]
        assert link.batches == before + 1


async def test_a_refusal_of_the_server_reaches_only_its_command(redis_url: str) -> None:
    async with Link(redis_url) as link:
        wrong, right = link.send("GET"), link.send("PING")
        with pytest.raises(ServerRefused) as refused:
            await wrong
        assert refused.value.code == "ERR"
        assert await right == b"PONG"
        with pytest.raises(ServerRefused):
            await link.many([("PING",), ("GET",), ("GET", "x", "y"), ("PING",)])
        assert await link.call("PING") == b"PONG"


@proves("C92", "broker")
async def test_a_cancelled_waiter_never_makes_another_read_its_reply(proxy: Proxy) -> None:
    """A thousand waiters are cancelled between sending and receiving; the other thousand read their own values."""
    proxy.delay = 0.005
    async with Link(proxy.url) as link:

        async def own(turn: int, n: int) -> object:
            name = f"{turn}-{n}"
            match n % 3:
                case 0:
                    return await link.call("ECHO", name) == name.encode()
                case 1:
                    return await link.many([("ECHO", name), ("PING",), ("ECHO", turn)]) == [
                        name.encode(),
                        b"PONG",
                        str(turn).encode(),
                    ]
                case _:
                    commit = [f"{turn:08}{n:08}", *APPEND[1:]]
                    return (await link.commit([f"list {n}"], commit, oom=False)).seqs == (turn + 1,)

        for turn in range(20):
            tasks = [asyncio.create_task(own(turn, n)) for n in range(100)]
            await turns(3 * turn + 1)
            for task in tasks[::2]:
                task.cancel()
            kept = await asyncio.gather(*tasks, return_exceptions=True)
            assert kept[1::2] == [True] * 50


async def test_what_was_under_way_at_a_cut_is_unknown_and_said_so(proxy: Proxy) -> None:
    async with Link(proxy.url) as link:
        proxy.replies.clear()
        pending = [link.send("INCR", "x") for _ in range(3)]
        await wait_until(lambda: link.batches > 1)
        proxy.cut()
        for future in pending:
            with pytest.raises(LinkLost, match="unknown"):
                await future
        proxy.replies.set()
        assert await link.call("PING") == b"PONG"
        assert link.reconnects == 1


async def test_a_read_that_was_under_way_at_a_cut_is_sent_again_and_a_write_is_not(proxy: Proxy, side: Link) -> None:
    await side.call("SET", "x", "1")
    async with Link(proxy.url) as link:
        proxy.replies.clear()
        read = asyncio.create_task(link.call("GET", "x"))
        several = asyncio.create_task(link.many([("GET", "x"), ("LLEN", "none")]))
        write = asyncio.create_task(link.call("INCR", "x"))
        await wait_until(lambda: holds(side, "x", b"2"))
        proxy.cut()
        proxy.replies.set()
        assert await read == b"2"
        assert await several == [b"2", 0]
        with pytest.raises(LinkLost, match="unknown"):
            await write
    assert await side.call("GET", "x") == b"2"


async def test_without_redis_nothing_is_sent_and_it_is_said_in_time(proxy: Proxy) -> None:
    async with Link(proxy.url, patience=0.3) as link:
        proxy.welcome = False
        proxy.cut()
        await wait_until(lambda: not link.connected)
        with pytest.raises(LinkDown, match="nothing was sent"):
            await link.call("SET", "x", "1")
        proxy.welcome = True
        await wait_until(lambda: link.connected)
        assert await link.call("GET", "x") is None


async def test_a_call_made_during_a_short_gap_waits_for_the_connection(proxy: Proxy) -> None:
    async with Link(proxy.url) as link:
        proxy.welcome = False
        proxy.cut()
        await wait_until(lambda: not link.connected)
        waiting = asyncio.gather(*(link.call("ECHO", str(n)) for n in range(50)))
        proxy.welcome = True
        assert await waiting == [b"%d" % n for n in range(50)]


@pytest.mark.parametrize("argv", [WRITE, APPEND])
async def test_a_commit_that_took_effect_before_the_cut_is_not_done_twice(
    proxy: Proxy, side: Link, argv: list[str | int]
) -> None:
    async with Link(proxy.url) as link:
        await link.commit(["x"], [A, 0, 0, "none", 0, 0, 0], oom=False)
        proxy.replies.clear()
        commit = asyncio.create_task(link.commit(["first", "second"], argv, oom=False))
        await wait_until(lambda: exists(side, "first"))
        proxy.cut()
        proxy.replies.set()
        assert (await commit).word == "OK"
        lists = [key for key in ("first", "second") if await side.call("TYPE", key) == b"list"]
        assert [await side.call("LLEN", key) for key in lists] == [1]


async def test_a_commit_that_did_not_arrive_is_sent_again(proxy: Proxy, side: Link) -> None:
    async with Link(proxy.url) as link:
        await link.commit(["x"], [A, 0, 0, "none", 0, 0, 0], oom=False)
        proxy.requests.clear()
        commit = asyncio.create_task(link.commit(["first", "second"], WRITE, oom=False))
        before = link.batches
        await wait_until(lambda: link.batches > before)
        proxy.cut()
        proxy.requests.set()
        assert (await commit).seqs == (1,)
        assert await side.call("LLEN", "second") == 1


async def test_a_commit_whose_outcome_stays_unknown_says_so(proxy: Proxy, side: Link) -> None:
    async with Link(proxy.url, patience=0.4) as link:
        await link.commit(["x"], [A, 0, 0, "none", 0, 0, 0], oom=False)
        proxy.replies.clear()
        commit = asyncio.create_task(link.commit(["first", "second"], WRITE, oom=False))
        await wait_until(lambda: exists(side, "first"))
        proxy.welcome = False
        proxy.cut()
        with pytest.raises(LinkLost, match="unknown"):
            await commit


async def test_a_server_that_stands_still_is_given_up_and_found_again() -> None:
    """C94: the process is stopped and goes on; nobody waits for ever, and the link works again by itself."""
    with running_server() as server:
        async with Link(server.url, patience=0.3) as link:
            server.process.send_signal(signal.SIGSTOP)
            with pytest.raises(LinkLost, match="no answer"):
                await link.call("SET", "x", "1", "PX", 9)
            with pytest.raises(LinkDown):
                await link.call("PING")
            server.process.send_signal(signal.SIGCONT)
            await wait_until(lambda: link.connected)
            assert await link.call("PING") == b"PONG"


async def test_killed_connections_come_back_and_tell(redis_url: str, side: Link) -> None:
    """C94."""
    told: list[int] = []
    async with Link(redis_url, name="killed") as link:
        link.on_reconnect(lambda: told.append(link.reconnects))
        for _ in range(3):
            await side.call("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
            await wait_until(lambda: not link.connected)
            assert await link.call("PING") == b"PONG"
    assert told == [1, 2, 3]


async def test_a_paused_server_is_waited_for(redis_url: str, side: Link) -> None:
    """C94."""
    async with Link(redis_url) as link:
        await side.call("CLIENT", "PAUSE", 150)
        assert (await link.commit(["x"], [A, 0, 0, "none", 0, 0, 0], oom=False)).word == "OK"


async def test_a_server_state_that_passes_is_waited_for(redis_url: str, side: Link) -> None:
    async with Link(redis_url) as link:
        await side.call("CONFIG", "SET", "min-replicas-to-write", 1)
        commit = asyncio.create_task(link.commit(["x"], [A, 0, 0, "none", 0, 0, 1, "value", 1, 2, "t", 9], oom=False))
        call = asyncio.create_task(link.call("SET", "y", "1", "PX", 9))
        await link.call("PING")
        await side.call("CONFIG", "SET", "min-replicas-to-write", 0)
        assert (await commit).word == "OK"
        assert await call == b"OK"


async def test_a_server_state_that_stays_is_told_as_not_stored(redis_url: str, side: Link) -> None:
    async with Link(redis_url, patience=0.2) as link:
        await side.call("CONFIG", "SET", "min-replicas-to-write", 1)
        try:
            with pytest.raises(LinkDown, match="NOREPLICAS"):
                await link.commit(["x"], [A, 0, 0, "none", 0, 0, 1, "value", 1, 2, "t", 9], oom=False)
        finally:
            await side.call("CONFIG", "SET", "min-replicas-to-write", 0)


async def test_an_absent_server_is_told_where_it_was_looked_for(tmp_path: Path) -> None:
    with pytest.raises(LinkDown, match=r"cannot be reached at unix://.*nobody.sock"):
        async with Link(f"unix://{tmp_path}/nobody.sock?db=0", patience=0.2):
            raise NotImplementedError


async def test_a_password_and_a_database_are_taken_from_the_url_and_never_shown() -> None:
    with running_server() as server:
        async with Link(server.url) as side:
            await side.call("CONFIG", "SET", "requirepass", "hush")
        async with Link(f"unix://:hush@{server.socket}?db=3", name="sayso-test") as link:
            shown = await link.call("CLIENT", "INFO")
            assert isinstance(shown, bytes)
            assert b"db=3" in shown
            assert b"name=sayso-test" in shown
        with pytest.raises(LinkDown, match="invalid username-password") as down:
            async with Link(f"unix://:wrong-word@{server.socket}", patience=0.2):
                raise NotImplementedError
        assert "wrong-word" not in str(down.value)


async def test_a_closed_link_refuses_and_leaves_nobody_waiting(proxy: Proxy) -> None:
    async with Link(proxy.url) as link:
        proxy.replies.clear()
        pending = link.send("PING")
        await turns(1)
    with pytest.raises(LinkLost, match="closed"):
        await pending
    with pytest.raises(LinkDown, match="closed"):
        await link.call("PING")
