"""A front end in a process of its own: `python -m tests.faults.front REDIS_URL PREFIX FOLDER AGENTS`.

Its platform is the fake one, which lives in the test: each call goes out as a line of JSON on standard output, its
outcome comes back on standard input, and so do what people do. It says `{"ready": true}` when it serves.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence
from itertools import count
from pathlib import Path

from pydantic import TypeAdapter

from adapters.desk import Open
from adapters.platform import Migrated, Outcome, Refused, Sent, Unclear, View
from adapters.surface import Surface
from core.broker import open_broker
from core.files import FileStore
from core.model import Json, Person, Value
from tests.fakes import FakeChats, FakePlatform

PEOPLE = ("fa:7",)
OUTCOMES: dict[str, type[Sent | Unclear | Refused | Migrated]] = {
    one.__name__: one for one in (Sent, Unclear, Refused, Migrated)
}


class Call(Value):
    """One call to the platform."""

    id: int
    verb: str
    place: str
    view: View | None = None
    nonce: str = ""
    message: str = ""
    reply_to: str | None = None


class Done(Value):
    """What came of a call. words: the fields of the outcome."""

    id: int
    outcome: str
    words: dict[str, Json] = {}


class Act(Value):
    """What a person did: a text, or a press when there is a payload."""

    act: int
    place: str
    message: str
    person: Person
    key: str
    text: str = ""
    payload: str | None = None
    reply_to: str | None = None


class Heard(Value):
    """What a person was told; sent when what they did is stored."""

    act: int
    notice: str | None = None


FROM_TEST: TypeAdapter[Done | Act] = TypeAdapter(Done | Act)


class Wired(FakePlatform):
    """A connection to the platform in the test."""

    def __init__(self, prefix: str) -> None:
        super().__init__(FakeChats(prefix=prefix))
        self._ids = count(1)
        self._asked: dict[int, asyncio.Future[Outcome]] = {}

    async def post(self, place: str, view: View, *, nonce: str, reply_to: str | None = None) -> Outcome:
        return await self._ask(Call(id=next(self._ids), verb="post", place=place, view=view, nonce=nonce))

    async def edit(self, place: str, message: str, view: View) -> Outcome:
        return await self._ask(Call(id=next(self._ids), verb="edit", place=place, message=message, view=view))

    async def remove(self, place: str, message: str) -> Outcome:
        return await self._ask(Call(id=next(self._ids), verb="remove", place=place, message=message))

    async def _ask(self, call: Call) -> Outcome:
        asked = self._asked[call.id] = asyncio.get_running_loop().create_future()
        tell(call)
        return await asked

    def done(self, done: Done) -> None:
        """A call came back."""
        self._asked.pop(done.id).set_result(OUTCOMES[done.outcome](**done.words))  # pyright: ignore[reportArgumentType] its own fields

    async def acted(self, act: Act) -> None:
        """A person did something."""
        assert self.desk is not None
        if act.payload is not None:
            notice = await self.desk.press(act.place, act.message, act.payload, act.person, key=act.key)
        else:
            notice = await self.desk.text(
                act.place, act.message, act.text, act.person, key=act.key, reply_to=act.reply_to
            )
        tell(Heard(act=act.act, notice=notice.text if notice is not None else None))


def tell(what: Value) -> None:
    """Write a line."""
    sys.stdout.write(what.model_dump_json() + "\n")
    sys.stdout.flush()


async def serve(url: str, prefix: str, folder: Path, agents: Sequence[str] = ("it",)) -> None:
    """Serve until standard input ends."""
    platform = Wired(prefix)
    files = FileStore(folder, file_max=1_000, quota=10_000, keep=60)
    reader = asyncio.StreamReader(limit=2**22)
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    async with (
        open_broker(url, block=0.2) as broker,
        Surface(
            broker, platform, agents=agents, doors=Open(PEOPLE), files=files, look=0.1, quiet=3600.0, span=0.6
        ) as it,
        asyncio.TaskGroup() as group,
    ):
        await it.serving.wait()
        sys.stdout.write('{"ready": true}\n')
        sys.stdout.flush()
        while line := await reader.readline():
            what = FROM_TEST.validate_json(line)
            if isinstance(what, Done):
                platform.done(what)
            else:
                group.create_task(platform.acted(what))


if __name__ == "__main__":
    asyncio.run(serve(sys.argv[1], sys.argv[2], Path(sys.argv[3]), sys.argv[4:] or ("it",)))
