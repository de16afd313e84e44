"""Open pages: what a WebSocket costs, and how long one event takes to all who look at its conversation.

The pages are WebSockets of another process, `python -m bench.pages HOST PORT TOKEN CONVERSATION COUNT`.
"""

import asyncio
import base64
import contextlib
import json
import resource
import secrets
import subprocess
import sys
import tempfile
import time
from typing import NamedTuple
from urllib.parse import urlsplit

import uvloop

from bench import asked
from bench.ground import private_server
from bench.installed import running
from bench.journey import cpu_of
from bench.parked import resident_of
from bench.table import Ground, Row, measurement
from core.accounts import OWNER, Accounts
from core.broker import Broker
from core.life.event import Append
from core.life.result import Kept
from core.model import Event

PAGES = 5_000
FANS = 20
AT_ONCE = 50
MARK = b'"fan-'


class Fanned(NamedTuple):
    """Bytes of a page in the server, ms until the last page has an event, CPU of one delivery in microseconds."""

    each: float
    last_ms: float
    cpu_us: float


@measurement
def open_pages(ground: Ground) -> list[Row]:
    """Pages that all follow one conversation, and events that go out to all of them."""
    pages = PAGES // 10 if ground.quick else PAGES
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    with (
        private_server("everysec") as url,
        tempfile.TemporaryDirectory(prefix="sayso-bench-", ignore_cleanup_errors=True) as folder,
        running("web", folder, REDIS_URL=url) as (server, address),
    ):
        fanned = uvloop.run(_fan(url, address, server.pid, pages))
    return [
        Row(f"an open page, {pages:,} open", fanned.each / 1024, "KiB", target=50),
        Row(f"an event to {pages:,} pages, the last has it", fanned.last_ms, "ms", target=500),
        Row(f"CPU of one delivery, {pages:,} pages", fanned.cpu_us, "us", target=80),
    ]


async def _fan(url: str, address: str, server: int, pages: int) -> Fanned:
    async with asked.worker(url) as (broker, lease):
        owner = OWNER
        token, _ = await Accounts(broker.shelf, login_link=600, login=86_400).token(owner, ("read",), "bench")
        one = await asked.ask(broker, lease, person=owner)
        place = urlsplit(address)
        before = resident_of(str(server))
        command = ("-m", "bench.pages", str(place.hostname), str(place.port), token, one.conversation, str(pages))
        other = await asyncio.create_subprocess_exec(sys.executable, *command, stdout=subprocess.PIPE)
        assert other.stdout
        try:
            assert await other.stdout.readline() == b"open\n"
            each = (resident_of(str(server)) - before) / pages
            cpu = cpu_of(server)
            slowest = 0.0
            for number in range(FANS):
                sent = time.monotonic_ns()
                await _tell(broker, one, number)
                slowest = max(slowest, (int(await other.stdout.readline()) - sent) / 1e6)
            cpu = cpu_of(server) - cpu
        finally:
            with contextlib.suppress(ProcessLookupError):
                other.kill()
            await other.wait()
    return Fanned(each, slowest, cpu / FANS / pages)


async def _tell(broker: Broker, one: asked.Open, number: int) -> None:
    event = Event(type="status", run=one.run, at=broker.store.now(), data={"text": f"fan-{number} " + "x" * 200})
    told = await broker.append(Append(one.run, one.run, one.conversation, one.fence, tell=(event,)))
    assert isinstance(told, Kept), told


class Page(asyncio.Protocol):
    """One page: it follows a conversation and counts the events that are for all."""

    def __init__(self, told: "asyncio.Queue[None]") -> None:
        loop = asyncio.get_running_loop()
        self.accepted: asyncio.Future[bytes] = loop.create_future()
        self.following: asyncio.Future[None] = loop.create_future()
        self._told = told
        self._tail = b""

    def data_received(self, data: bytes) -> None:
        """Look for what the server says; frames are short, and marks are not split over more than two reads."""
        if not self.accepted.done():
            self.accepted.set_result(data)
            return
        text = self._tail + data
        self._tail = text[-16:] if MARK not in text[-16:] else b""
        if not self.following.done() and b'"followed"' in text:
            self.following.set_result(None)
        for _ in range(text.count(MARK)):
            self._told.put_nowait(None)


async def look(host: str, port: int, token: str, conversation: str, count: int) -> None:
    """Open so many pages, say so, and then print for each event when the last page had it."""
    told: asyncio.Queue[None] = asyncio.Queue()
    follow = json.dumps({"follow": conversation, "after": 0}).encode()
    key = base64.b64encode(secrets.token_bytes(16)).decode()
    upgrade = (
        f"GET /v1/ws HTTP/1.1\r\nHost: {host}:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\nAuthorization: Bearer {token}\r\n\r\n"
    ).encode()
    mask = secrets.token_bytes(4)
    masked = bytes(byte ^ mask[n % 4] for n, byte in enumerate(follow))
    follows = bytes((0x81, 0x80 | len(masked))) + mask + masked

    async def one() -> Page:
        transport, page = await asyncio.get_running_loop().create_connection(lambda: Page(told), host, port)
        transport.write(upgrade)
        answer = await page.accepted
        assert b" 101 " in answer, answer
        transport.write(follows)
        await page.following
        return page

    pages: list[Page] = []
    for begin in range(0, count, AT_ONCE):
        pages += await asyncio.gather(*(one() for _ in range(min(AT_ONCE, count - begin))))
    sys.stdout.write("open\n")
    sys.stdout.flush()
    while True:
        for _ in range(count):
            await told.get()
        sys.stdout.write(f"{time.monotonic_ns()}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    uvloop.run(look(sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4], int(sys.argv[5])))
