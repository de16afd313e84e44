"""A broker with a worker at work, and the person in front of it: what the tests of agents, turns and replays use."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from core.agent import Agent, FunctionAgent, NoAgent, Run, agent
from core.broker import Broker
from core.files import FileStore
from core.lease import Lease
from core.life.decision import Refusal
from core.life.event import Reply, Said
from core.life.result import Answered, Sent
from core.model import Entry, Event, Json, Person
from core.model import Run as Record
from core.pace import Pace
from core.question import Accepted, AnyField, ChoiceField, ConfirmField, Declined, Option, Request
from core.worker import Worker
from tests.waiting import wait_until

ANN = Person(id="web:ann", name="Ann", role="owner")
QUICK = Pace(hot=0.0, look=0.05, ready=0.05, cooperative=0.3, grace=0.2)
PATIENT = Pace(hot=60.0, look=0.05, ready=0.05, cooperative=0.3, grace=0.2)
Body = Callable[[Run, str], Awaitable[str | None]]


@dataclass
class Workshop:
    """One broker, and what a person and a test do with it."""

    broker: Broker
    agents: dict[str, Agent] = field(default_factory=dict[str, Agent])
    files: FileStore | None = None

    def hire(self, name: str, body: Body, *, guarded: tuple[str, ...] = ()) -> FunctionAgent:
        """Make an agent of a function and let workers find it."""
        made = agent(name, guarded=guarded)(body)
        self.agents[name] = made
        return made

    def find(self, name: str) -> Agent:
        """What workers ask for an agent by name."""
        if name not in self.agents:
            raise NoAgent(f"there is no agent {name!r}")
        return self.agents[name]

    @asynccontextmanager
    async def worker(self, pace: Pace = QUICK, slots: int = 64, lease: float = 30.0) -> AsyncGenerator[Worker]:
        """A worker with a lease of its own."""
        async with (
            Lease(self.broker, "worker", span=lease, prefixes=("chat-", "cli-")) as held,
            Worker(self.broker, held, self.find, files=self.files, slots=slots, pace=pace) as worker,
        ):
            yield worker

    async def say(
        self, text: str = "go", to: str = "it", origin: str = "chat-1", attachments: tuple[str, ...] = ()
    ) -> str:
        """Say something; returns the id of the run that it started or steered."""
        sent = await self.broker.said(Said(origin=origin, text=text, person=ANN, agent=to, attachments=attachments))
        assert isinstance(sent, Sent), sent
        return sent.run

    async def record(self, run: str) -> Record:
        """The run as it is stored, where it is now."""
        found = await self.broker.peek(run)
        assert found is not None, run
        return found

    async def until(self, run: str, *states: str, timeout: float = 10.0) -> Record:
        """Wait until the run is in one of these states."""
        found = await self.record(run)

        async def there() -> bool:
            nonlocal found
            found = await self.record(run)
            return found.shown in states

        try:
            await wait_until(there, timeout)
        except AssertionError:
            raise AssertionError(f"run {run} is {found.shown} ({found.error}), not {states}") from None
        return found

    async def parked(self, run: str) -> None:
        """Wait until nothing is kept of the run but its question."""

        async def gone() -> bool:
            found = await self.record(run)
            return found.state == "waiting" and found.turn is None

        await wait_until(gone)

    async def questions(self, count: int = 1) -> list[Request]:
        """Wait until so many questions are open, and return them in the order in which they were asked."""
        found: tuple[Request, ...] = ()

        async def there() -> bool:
            nonlocal found
            found = (await self.broker.pending(ANN)).requests
            return len(found) == count

        try:
            await wait_until(there)
        except AssertionError:
            raise AssertionError(f"{len(found)} questions are open, not {count}: {found}") from None
        return sorted(found, key=lambda one: one.step)

    async def question(self) -> Request:
        """Wait for the one open question."""
        return (await self.questions())[0]

    async def answer(self, request: Request, value: Json = None, **more: Json) -> Answered | Refusal:
        """Answer a question of one field with its value, a form with its values."""
        values: dict[str, Json] = more or {request.question.fields[0].id: value}
        return await self.broker.answer(Reply(request.id, Accepted(values=values), ANN, "chat"))

    async def change(self, request: Request, arguments: Json) -> Answered | Refusal:
        """Approve a call with other arguments."""
        accepted = Accepted(values={request.question.fields[0].id: "once"}, arguments=arguments)
        return await self.broker.answer(Reply(request.id, accepted, ANN, "chat"))

    async def deny(self, request: Request, reason: str | None = None) -> Answered | Refusal:
        """Say no."""
        return await self.broker.answer(Reply(request.id, Declined(reason=reason), ANN, "chat"))

    async def history(self, run: str) -> list[Entry]:
        """The history of the run's conversation."""
        record = await self.record(run)
        return [entry for _, entry in await self.broker.history(record.conversation, ANN, limit=1_000) or []]

    async def said_by_agent(self, run: str) -> list[str]:
        """What the agent said, in order."""
        return [entry.text for entry in await self.history(run) if entry.role == "agent"]

    async def events(self, run: str, *types: str) -> list[Event]:
        """What was told in the run's conversation."""
        record = await self.record(run)
        told = await self.broker.journal(record.conversation, 0) or []
        return [event for _, event in told if not types or event.type in types]


def options(field: AnyField) -> tuple[Option, ...]:
    """The options of a field that has some."""
    assert isinstance(field, ChoiceField | ConfirmField), field
    return field.options


@asynccontextmanager
async def store(folder: Path) -> AsyncGenerator[FileStore]:
    """A file store in a folder."""
    yield FileStore(folder, file_max=1_000_000, quota=5_000_000, keep=3_600)


class Gate:
    """A place in an agent's code at which the test holds it. reached: it got there; opened: it may go on."""

    def __init__(self) -> None:
        self.reached = asyncio.Event()
        self.opened = asyncio.Event()
        self.passed = 0

    async def __call__(self) -> None:
        """Hold until the test opens the gate."""
        self.reached.set()
        await self.opened.wait()
        self.passed += 1
