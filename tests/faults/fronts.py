"""The test's side of a front end that is a process of its own: the platform it talks to, and the power to kill it."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import asdict
from itertools import count
from pathlib import Path

from pydantic import TypeAdapter

from adapters.outcomes import Notice
from adapters.platform import Outcome
from core.model import Person
from tests import forked
from tests.fakes import FakeChats, FakePlatform, Message
from tests.faults.front import Act, Call, Done, Heard
from tests.forked import Forked

FROM_FRONT: TypeAdapter[Call | Heard | dict[str, bool]] = TypeAdapter(Call | Heard | dict[str, bool])


class Front(FakePlatform):
    """A platform whose front end is a process; what people do goes to it, what it sends comes here."""

    def __init__(self, chats: FakeChats, url: str, folder: Path, *agents: str) -> None:
        super().__init__(chats)
        self._words = ("tests.faults.front", url, chats.prefix, str(folder), *agents)
        self.serves = False
        self._acts = count(1)
        self._heard: dict[int, asyncio.Future[str | None]] = {}
        self._process: Forked | None = None
        self._calls: set[asyncio.Task[None]] = set()

    async def start(self) -> None:
        """Start the process and wait until it serves."""
        self._process = await forked.start(*self._words, stdin=forked.PIPE, limit=2**22)
        ready = asyncio.Event()
        self._reading = asyncio.create_task(self._read(self._process, ready))
        self._reading.add_done_callback(lambda _: ready.set())
        async with asyncio.timeout(90):
            await ready.wait()
        self.serves = not self._reading.done()

    async def keep(self) -> None:
        """Start the process whenever it is gone, for ever."""
        while True:
            with contextlib.suppress(TimeoutError):
                await self.start()
                await self._reading
            await self.kill()

    def tell(self, number: signal.Signals) -> None:
        """Send the process a signal."""
        if self._process is not None:
            self._process.send_signal(number)

    async def kill(self, *, hard: bool = True) -> None:
        """End the process as the kernel does, or in order; what it was about to be told, it never hears."""
        self.serves = False
        if self._process is None:
            return
        self._process.kill() if hard else self._process.stdin.close()
        async with asyncio.timeout(30):
            await self._process.wait()
        self._process = None
        for task in (self._reading, *self._calls):
            task.cancel()
        await asyncio.gather(self._reading, *self._calls, return_exceptions=True)
        for waiting in self._heard.values():
            waiting.cancel()
        self._heard.clear()

    async def again(self) -> None:
        """Kill it and start it."""
        await self.kill()
        await self.start()

    async def _read(self, process: Forked, ready: asyncio.Event) -> None:
        while line := await process.stdout.readline():
            match FROM_FRONT.validate_json(line):
                case Call() as call:
                    task = asyncio.create_task(self._called(process, call))
                    self._calls.add(task)
                    task.add_done_callback(self._calls.discard)
                case Heard() as heard:
                    waiting = self._heard.pop(heard.act, None)
                    if waiting is not None and not waiting.done():
                        waiting.set_result(heard.notice)
                case _:
                    ready.set()

    async def _called(self, process: Forked, call: Call) -> None:
        outcome = await self._made(call)
        self._tell(process, Done(id=call.id, outcome=type(outcome).__name__, words=asdict(outcome)))

    async def _made(self, call: Call) -> Outcome:
        if call.verb == "remove":
            return await self.remove(call.place, call.message)
        assert call.view is not None
        if call.verb == "edit":
            return await self.edit(call.place, call.message, call.view)
        return await self.post(call.place, call.view, nonce=call.nonce, reply_to=call.reply_to)

    def _tell(self, process: Forked, what: Done | Act) -> None:
        process.stdin.write(what.model_dump_json().encode() + b"\n")

    # ── what people do ───────────────────────────────────────────────────────────────────────────────────────────────

    async def say(self, person: Person, place: str, text: str) -> None:
        """A person writes, and the process has stored it."""
        made = Message(f"p{next(self.chats.ids)}", place, text)
        self.chats.messages[made.id] = made
        await self._act(Act(act=0, place=place, message=made.id, person=person, key=self.key(), text=text))

    async def send(self, person: Person, message: Message, payload: str, *, key: str | None = None) -> Notice:
        """A press arrives; the process answers it."""
        act = Act(act=0, place=message.place, message=message.id, person=person, key=key or self.key(), payload=payload)
        return Notice(text=await self._act(act) or "")

    async def _act(self, act: Act) -> str | None:
        assert self._process is not None
        number = next(self._acts)
        heard = self._heard[number] = asyncio.get_running_loop().create_future()
        self._tell(self._process, act.changed(act=number))
        async with asyncio.timeout(20):
            return await heard


@asynccontextmanager
async def front(chats: FakeChats, url: str, folder: Path) -> AsyncGenerator[Front]:
    """A front end that serves; killed at the end, after which the platform has nothing to complain about."""
    made = Front(chats, url, folder)
    try:
        await made.start()
        yield made
    finally:
        await made.kill()
    assert chats.violations == []
