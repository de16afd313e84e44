"""The floor: what one round trip costs at the very least on this machine, with this server.

Four dedicated scripts (park, claim, answer, take the turn) between two processes, an asking one and an answering one.
The same journey over `core.link` and `core.feed` shows what these two leave of it. The answering side is
`python -m bench.floor answer ...`.
"""

import asyncio
import secrets
import statistics
import sys
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from hashlib import sha1
from pathlib import Path
from typing import NamedTuple

import uvloop

from bench.raw import Heard, Send, connected, raw_side
from core.address import address_of
from core.feed import Feed
from core.link import Link

QUESTION = "q" * 500
ANSWER = "a" * 40
HOUR_MS = 3_600_000
WARM_UP = 0.25
SCRIPTS = {
    name: Path(__file__).with_name("scripts").joinpath(f"{name}.lua").read_bytes()
    for name in ("park", "claim", "answer", "turn")
}
DIGESTS = {name: sha1(script, usedforsecurity=False).hexdigest() for name, script in SCRIPTS.items()}


class FloorResult(NamedTuple):
    """Round trips per second, and milliseconds from sending the answer to the waiting code having it."""

    per_second: float
    answer_p50_ms: float
    answer_p99_ms: float


@asynccontextmanager
async def link_side(url: str, feed: str, heard: Heard) -> AsyncGenerator[Send]:
    """Open the product's link and feed."""
    async with Link(url) as link, Feed(address_of(url), feed, link) as hints:
        for kind, callback in heard.items():
            hints.listen(kind, callback)
        yield link.send


Side = Callable[[str, str, Heard], AbstractAsyncContextManager[Send]]
SIDES: dict[str, Side] = {"raw": raw_side, "link": link_side}


class Names:
    """The keys of one measurement."""

    def __init__(self, root: str) -> None:
        self.root = root
        self.deadlines, self.unshown, self.showing, self.ready, self.feed = (
            f"{root}:{part}" for part in ("deadlines", "unshown", "showing", "ready", "feed")
        )

    def request(self, ident: str) -> str:
        """Return a request's key."""
        return f"{self.root}:r:{ident}"


def measure(url: str, outstanding: int, seconds: float, side: str = "raw") -> FloorResult:
    """Keep `outstanding` questions under way for about `seconds` and return what was reached.

    side: "raw" or "link".
    """
    return uvloop.run(_ask(url, outstanding, seconds, side))


async def _ask(url: str, outstanding: int, seconds: float, side: str) -> FloorResult:
    names = Names(f"bench:{secrets.token_hex(4)}")
    tidy = await connected(url)
    for script in SCRIPTS.values():
        await tidy.send("SCRIPT", "LOAD", script)
    command = (sys.executable, "-m", "bench.floor", "answer", url, names.root, side)
    other = await asyncio.create_subprocess_exec(
        *command, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
    )
    assert other.stdin
    assert other.stdout
    try:
        assert await other.stdout.readline() == b"ready\n"
        answers: dict[str, asyncio.Future[None]] = {}

        def answered(ident: str) -> None:
            future = answers.pop(ident, None)
            if future is not None:
                future.set_result(None)

        async with SIDES[side](url, names.feed, {"answered": answered}) as send:
            return await _keep_asking(send, names, answers, outstanding, seconds)
    finally:
        other.stdin.close()
        await other.wait()
        await tidy.send("UNLINK", names.deadlines, names.unshown, names.showing, names.ready, names.feed)
        tidy.transport.close()


async def _keep_asking(
    send: Send, names: Names, answers: dict[str, asyncio.Future[None]], outstanding: int, seconds: float
) -> FloorResult:
    loop = asyncio.get_running_loop()
    begin = loop.time() + WARM_UP
    end = begin + seconds
    waited: list[float] = []

    async def one(worker: int) -> None:
        number = 0
        while loop.time() < end:
            number += 1
            ident = f"{worker}.{number}"
            request = names.request(ident)
            answers[ident] = future = loop.create_future()
            keys = (request, names.deadlines, names.unshown, names.feed)
            await send("EVALSHA", DIGESTS["park"], 4, *keys, ident, QUESTION, HOUR_MS)
            await future
            taken = await send("EVALSHA", DIGESTS["turn"], 2, request, names.ready, ident, 10_000)
            now = time.monotonic_ns()
            assert isinstance(taken, bytes)
            if begin <= loop.time() < end:
                waited.append((now - int(taken.split()[1])) / 1e6)

    async with asyncio.TaskGroup() as group:
        for worker in range(outstanding):
            group.create_task(one(worker))
    steps = statistics.quantiles(waited, n=100)
    return FloorResult(len(waited) / seconds, statistics.median(waited), steps[98])


async def answer_all(url: str, root: str, side: str) -> None:
    """Claim and answer every question of a measurement until standard input ends."""
    names = Names(root)
    loop = asyncio.get_running_loop()
    tasks: set[asyncio.Task[None]] = set()

    async def one(ident: str) -> None:
        request = names.request(ident)
        text = await send("EVALSHA", DIGESTS["claim"], 3, request, names.unshown, names.showing, ident, "b")
        assert text
        keys = (request, names.deadlines, names.showing, names.ready, names.feed)
        answer = f"{time.monotonic_ns()} {ANSWER}"
        assert await send("EVALSHA", DIGESTS["answer"], 5, *keys, ident, answer)

    def asked(ident: str) -> None:
        task = loop.create_task(one(ident))
        tasks.add(task)
        task.add_done_callback(tasks.discard)

    over = asyncio.Event()
    loop.add_reader(sys.stdin.fileno(), over.set)
    async with SIDES[side](url, names.feed, {"ask": asked}) as send:
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        await over.wait()


if __name__ == "__main__":
    uvloop.run(answer_all(*sys.argv[2:5]))
