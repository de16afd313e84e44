"""The product's own journey beside the floor's: two processes, each with a broker of its own.

The asking side plays a worker's turns: it asks, waits, takes the answer. The answering side plays a page: it reads the
journal of each conversation that a hint names, shows the question and answers it. It is `python -m bench.journey URL`.
"""

import asyncio
import os
import statistics
import sys
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import NamedTuple

import uvloop

from bench.asked import PERSON, QUESTION
from core.broker import Broker, open_broker
from core.feed import LOOK
from core.lease import Lease
from core.life.decision import Refusal
from core.life.event import Ask, Park, Reply, Said, Take
from core.life.result import Answered, Asked, Changed, Delivered, Sent
from core.model import fresh
from core.question import Accepted
from gateway.collector import calm_collector

PREFIX = "chat"
LOOK_AGAIN = 2.0


class Cpu(NamedTuple):
    """CPU time of the three processes, in microseconds: in all, or for one round trip."""

    asking: float
    answering: float
    server: float

    def per(self, before: "Cpu", trips: int) -> "Cpu":
        """What one of `trips` cost since `before`."""
        return Cpu(*((now - then) / max(1, trips) for now, then in zip(self, before, strict=True)))


class JourneyResult(NamedTuple):
    """Round trips per second, ms from sending the answer to the waiting code having it, and what a round trip costs."""

    per_second: float
    answer_p50_ms: float
    answer_p99_ms: float
    cpu: Cpu
    connections: int


def measure(url: str, outstanding: int, seconds: float, *, parked: bool = False) -> JourneyResult:
    """Keep `outstanding` questions under way for about `seconds`.

    parked: each asking turn lets go before its answer counts, and a new turn is claimed for it.
    """
    return uvloop.run(_ask(url, outstanding, seconds, parked=parked))


async def _ask(url: str, outstanding: int, seconds: float, *, parked: bool) -> JourneyResult:
    calm_collector()
    async with (
        open_broker(url, name="bench-asking") as broker,
        Lease(broker, "worker", prefixes=(f"{PREFIX}-",)) as lease,
    ):
        async with answering(url) as other:
            asking = [Asking(broker, lease.id, parked=parked) for _ in range(outstanding)]
            for one in asking:
                await one.start()
            window = Window(outstanding, seconds)
            before = await _cpu(broker, other)
            async with asyncio.TaskGroup() as group:
                for one in asking:
                    group.create_task(one.go_on(window))
            spent = await _cpu(broker, other)
            connections = await _connections(broker)
        waited = window.waited
        for one in asking:
            await broker.delete(one.conversation, PERSON)
    steps = statistics.quantiles(waited, n=100)
    return JourneyResult(
        len(waited) / seconds, statistics.median(waited), steps[98], spent.per(before, window.trips), connections
    )


async def _cpu(broker: Broker, other: int) -> Cpu:
    reply = await broker.store.link.call("INFO", "cpu")
    lines = reply.decode().split("\r\n") if isinstance(reply, bytes) else []
    used = ("used_cpu_sys:", "used_cpu_user:")
    server = sum(float(line.partition(":")[2]) for line in lines if line.startswith(used))
    return Cpu(time.process_time() * 1e6, cpu_of(other), server * 1e6)


def cpu_of(process: int) -> float:
    """Tell the CPU time of a process, in microseconds."""
    fields = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) * 1e6 / os.sysconf("SC_CLK_TCK")


async def _connections(broker: Broker) -> int:
    """Count the connections of one process."""
    reply = await broker.store.link.call("CLIENT", "LIST")
    return len(reply.decode().splitlines()) // 2 if isinstance(reply, bytes) else 0


@asynccontextmanager
async def answering(url: str) -> AsyncGenerator[int]:
    """Run the answering side until the end of the context; yields its process id."""
    command = (sys.executable, "-m", "bench.journey", url)
    other = await asyncio.create_subprocess_exec(
        *command, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
    )
    assert other.stdin
    assert other.stdout
    try:
        assert await other.stdout.readline() == b"ready\n"
        yield other.pid
    finally:
        other.stdin.close()
        await other.wait()


class Window:
    """When a measurement counts: for `seconds`, once as many round trips were made as questions are outstanding."""

    def __init__(self, outstanding: int, seconds: float) -> None:
        self.trips = 0
        self.waited: list[float] = []
        self._left = outstanding
        self._seconds = seconds
        self._end: float | None = None

    @property
    def open(self) -> bool:
        """Whether to go on asking."""
        return self._end is None or asyncio.get_running_loop().time() < self._end

    def made(self, ms: float) -> None:
        """Count a round trip whose answer took so long."""
        self.trips += 1
        self._left -= 1
        if self._end is not None and self.open:
            self.waited.append(ms)
        elif self._left == 0:
            self._end = asyncio.get_running_loop().time() + self._seconds


class Asking:
    """One run that asks again and again."""

    def __init__(self, broker: Broker, worker: str, *, parked: bool) -> None:
        self.conversation = ""
        self._broker = broker
        self._worker = worker
        self._parked = parked
        self._run = ""
        self._fence = 0
        self._length = 0
        self._hint = asyncio.Event()

    async def start(self) -> None:
        """Begin a conversation of its own, and claim its run."""
        origin = fresh(f"{PREFIX}-", 0)
        sent = await self._broker.said(Said(origin=origin, text="go", person=PERSON, agent="bench"))
        assert isinstance(sent, Sent), sent
        self._run, self.conversation = sent.run, sent.conversation
        claimed = await self._broker.claim(sent.run, self._worker)
        assert isinstance(claimed, Delivered), claimed
        self._fence, self._length = claimed.fence, 1

    async def go_on(self, window: Window) -> None:
        """Ask as long as the window is open, noting what each answer took."""
        unwatch = self._broker.watch(self._run, self._hint.set)
        try:
            while window.open:
                stamp = await self._round()
                window.made((time.monotonic_ns() - stamp) / 1e6)
        finally:
            unwatch()

    async def _round(self) -> int:
        """Ask, wait, take; returns when the answer was sent."""
        asked = await self._broker.ask(Ask(self._run, self._fence, f"ask#{self._length}", QUESTION, self._length))
        assert isinstance(asked, Asked), asked
        if self._parked:
            parked = await self._broker.park(Park(self._run, self._fence))
            if isinstance(parked, Changed):
                self._fence = 0
        self._length += 1
        while True:
            taken = await self._take()
            if isinstance(taken, Delivered):
                break
            assert taken.code in ("waiting", "conflict", "busy"), taken
            async with asyncio.timeout(LOOK_AGAIN):
                await self._hint.wait()
        self._fence = taken.fence
        self._length += len(taken.steps)
        answer = taken.steps[-1].data["answer"]
        assert isinstance(answer, dict)
        values = answer["values"]
        assert isinstance(values, dict)
        return int(str(values["text"]))

    async def _take(self) -> Delivered | Refusal:
        await self._hint.wait()
        self._hint.clear()
        if self._fence == 0:
            return await self._broker.claim(self._run, self._worker)
        return await self._broker.take(Take(self._run, self._fence, self._length))


class Answering:
    """A page for every conversation: it follows the journals, shows what is asked and answers it."""

    def __init__(self, broker: Broker) -> None:
        self._broker = broker
        self._seen: dict[str, int] = {}
        self._again: set[str] = set()
        self._tasks: dict[str, asyncio.Task[None]] = {}

    def hinted(self, conversation: str) -> None:
        """Look at a conversation's journal, now or when the look that is under way has ended."""
        if conversation == LOOK:
            for known in tuple(self._seen):
                self.hinted(known)
        elif conversation in self._tasks:
            self._again.add(conversation)
        else:
            self._tasks[conversation] = asyncio.get_running_loop().create_task(self._look(conversation))

    async def _look(self, conversation: str) -> None:
        try:
            while True:
                self._again.discard(conversation)
                told = await self._broker.journal(conversation, self._seen.get(conversation, 0))
                for seq, event in told or []:
                    self._seen[conversation] = seq
                    if event.type == "request.opened":
                        await self._answer(str(event.data["request"]))
                if conversation not in self._again:
                    return
        finally:
            del self._tasks[conversation]

    async def _answer(self, id: str) -> None:
        answer = Accepted(values={"text": str(time.monotonic_ns())})
        answered = await self._broker.answer(Reply(id, answer, PERSON, PREFIX, key=f"press-{id}"))
        assert isinstance(answered, Answered) or answered.code in ("ended", "unknown"), answered


async def answer_all(url: str) -> None:
    """Answer every question until standard input ends."""
    calm_collector()
    over = asyncio.Event()
    asyncio.get_running_loop().add_reader(sys.stdin.fileno(), over.set)
    async with open_broker(url, name="bench-answering") as broker:
        page = Answering(broker)
        listening = broker.feeds[0].listen("journal", page.hinted)
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        await over.wait()
        listening.close()


if __name__ == "__main__":
    uvloop.run(answer_all(sys.argv[1]))
