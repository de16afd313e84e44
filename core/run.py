"""What an agent sees of its run: what was said, and the verbs to say, ask, act and wait.

Every outward verb is journalled (`replay.py`): when the code is called again after a park or a crash, it gets what was
recorded, and says and does nothing twice. Verbs of one name are told apart by their order, so the code must call them
in the same order when it gets the same results; calls side by side (`asyncio.gather`) are fine.
"""

from __future__ import annotations

import mimetypes
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Protocol, TypeVar, TypeVarTuple, overload

from core.asks import Asks, NotYet
from core.command import CommandFailed, Exited, run_command
from core.effect import inside, run_step
from core.errors import SaysoError
from core.files import File, FileStore
from core.hold import Hold
from core.life.event import Took
from core.life.handing import of_value
from core.model import Cause, Entry, Json, Person
from core.overheard import Line, heard_in
from core.question import Accepted, Question
from core.replay import Steer
from core.secret import Secret
from core.speech import Stream, say, streaming
from core.tool import Call, Denied, ToolCall, scope
from core.turn import Turn

T = TypeVar("T")
A = TypeVarTuple("A")


@dataclass(frozen=True, slots=True)
class Completed:
    """The agent is done; the text, if any, is said as its last message."""

    text: str | None = None


@dataclass(frozen=True, slots=True)
class Failed:
    """The agent gave up, on purpose; the text says why."""

    text: str


@dataclass(frozen=True, slots=True)
class Parked:
    """The agent left its questions open and can be called again when they are answered."""


class Agent(Protocol):
    """Whatever can work on a run. name: how it is chosen."""

    @property
    def name(self) -> str:
        """How people and settings call it."""
        ...

    async def turn(self, run: Run) -> Completed | Parked | Failed:
        """Work on a run until it is done, parked or given up."""
        ...


def goes_on(agent: Agent) -> bool:
    """Tell whether an agent's runs go on by themselves after their worker was lost; its `on_lost` is `retry` then."""
    return getattr(agent, "on_lost", "pause") == "retry"


class CallFailed(SaysoError):
    """An agent that was called gave up; the text says why."""


class Run(Asks):
    """One run, as its agent sees it in this turn.

    message: what the person said. attachments: the files that came with it. resumed: a person let it go on.
    """

    def __init__(
        self,
        turn: Turn,
        hold: Hold,
        message: str,
        *,
        agents: Callable[[str], Agent],
        files: FileStore | None = None,
        attachments: tuple[File, ...] = (),
        guarded: frozenset[str] = frozenset(),
    ) -> None:
        self.message = message
        self.attachments = attachments
        self._turn = turn
        self._hold = hold
        self._agents = agents
        self._files = files
        self._guarded = guarded

    @property
    def id(self) -> str:
        """The run's id; it changes when the run moves behind newer ones."""
        return self._turn.run.id

    @property
    def person(self) -> Person:
        """Who started the run."""
        return self._turn.run.starter

    @property
    def resumed(self) -> bool:
        """Whether a person let it go on after it was paused."""
        return self._turn.tape.resumed

    @property
    def cause(self) -> Cause | None:
        """Why it is being stopped; None while it is not."""
        return self._turn.cause

    async def history(self, limit: int = 50) -> list[Entry]:
        """The end of the conversation so far, oldest first. It is read anew in every turn."""
        self._ready()
        turn = self._turn
        found = await turn.steady(
            lambda: turn.broker.history(turn.run.conversation, turn.run.starter, limit=max(1, limit))
        )
        return [entry for _, entry in found or []]

    async def overheard(self, limit: int = 50) -> list[Line]:
        """What people of a group said among themselves before they spoke to the agent, oldest first.

        Context, not wishes: some of them may be people who may not tell the agent anything. It is read like `history`.
        """
        names = (self._turn.run.id, self._turn.run.root)
        return heard_in(entry for entry in await self.history(limit) if entry.run in names)

    async def content(self, file: File) -> bytes:
        """Read one of the attachments, or a file that was asked for."""
        if self._files is None:
            raise SaysoError("this worker has no file store")
        return await self._files.content(file)

    # ── saying ───────────────────────────────────────────────────────────────────────────────────────────────────────

    async def say(self, text: str) -> None:
        """Say a whole message."""
        if not self._over():
            await say(self._turn, self._key("say"), text)

    def stream(self) -> AbstractAsyncContextManager[Stream]:
        """Say a message piece by piece: `async with run.stream() as out: await out.write("...")`."""
        self._ready()
        return streaming(self._turn, self._hold, self._key("stream"))

    async def status(self, text: str) -> None:
        """Tell what is going on, in a line that the next one replaces; it is not kept."""
        if not self._over() and not self._turn.tape.replaying():
            await self._turn.tell(self._turn.event("status", text=text))

    async def attach(self, content: bytes | Path | str, name: str | None = None, *, text: str = "") -> None:
        """Hand over a file; text: what is said with it. A `str` is the path of a file."""
        if self._over():
            return
        if self._files is None:
            raise SaysoError("this worker has no file store")
        key = self._key("attach")
        if self._turn.tape.look(key).said:
            return
        source = Path(content) if isinstance(content, str) else content
        called = name or (source.name if isinstance(source, Path) else "file")
        file = await self._files.put(source, called, owner=self._turn.run.conversation, type=_type(called))
        shown: Json = {"id": file.id, "name": file.name, "type": file.type, "size": file.size}
        await say(self._turn, key, text or file.name, attachments=[file.id], files=[shown])

    async def _ask(self, verb: str, question: Question) -> Accepted:
        self._ready()
        if question.subject is not None:
            self._turn.tools.add(question.subject.tool)
        answer = await self._hold.ask(self._key(f"ask:{verb}"), question)
        if not isinstance(answer, Accepted):
            raise Denied(answer.reason, repr(question.title))
        return answer

    async def _given(self, value: Json) -> list[File]:
        if self._files is None:
            raise SaysoError("this worker has no file store")
        return [await self._files.handed(file) for file in of_value(value).values()]

    async def _secret(self, name: str, handle: str, keep: bool) -> Secret:
        turn = self._turn
        return turn.veiled(await turn.steady(lambda: turn.broker.safe.secret(turn.run, name, handle, keep=keep)))

    # ── acting ───────────────────────────────────────────────────────────────────────────────────────────────────────

    @overload
    async def step(self, name: str, func: Callable[[*A], Awaitable[T]], *args: *A, idempotent: bool = False) -> T: ...
    @overload
    async def step(self, name: str, func: Callable[[*A], T], *args: *A, idempotent: bool = False) -> T: ...
    async def step(self, name: str, func: Callable[[*A], Awaitable[T] | T], *args: *A, idempotent: bool = False) -> T:
        """Do something once: the call is recorded before and its result after; a replay gets the recorded result.

        func: a coroutine function, or a plain one, which runs on a thread. Its result must be JSON, a pydantic model or
        a dataclass. idempotent: doing it again does no harm, so it is repeated when nobody knows how it ended;
        otherwise a person is asked.

        Raises: `StepFailed` when the function raises; `Undecided`.
        """
        self._ready()
        key = self._key(f"step:{name}")
        return await run_step(self._turn, self._hold, key, name, partial(func, *args), idempotent=idempotent)

    async def command(
        self,
        *argv: str,
        cwd: Path | str | None = None,
        environment: Mapping[str, str] | None = None,
        timeout: float | None = None,
        check: bool = True,
        idempotent: bool = False,
    ) -> Exited:
        """Run a command once, as a step: no shell, both its streams in its output; a stop ends all that it started.

        environment: its own, when it is not that of this process. timeout: seconds. check: another status than 0 fails.

        Raises: `CommandFailed`, `StepFailed`, `Undecided`.
        """
        self._ready()
        turn = self._turn

        async def call() -> Exited:
            place = Path(cwd) if cwd is not None else None
            return await run_command(argv, turn, cwd=place, environment=environment, timeout=timeout)

        exited = await run_step(turn, self._hold, self._key(f"step:{argv[0]}"), argv[0], call, idempotent=idempotent)
        if check and exited.status:
            raise CommandFailed(f"{argv[0]!r} ended with status {exited.status}: {exited.output[-500:].strip()}")
        return exited

    def tool(self, name: str, /, **arguments: Json) -> AbstractAsyncContextManager[Call]:
        """Open the bracket around a tool call: `async with run.tool("deploy", env=env) as call:`; see `tool.py`.

        Guarded, when the agent lists the tool or a confirm of this run named it: it needs an approval of exactly this
        call, and asks for it when there is none. Raises: `Denied`.
        """
        self._ready()
        guarded = name in self._guarded or name in self._turn.tools
        return ToolCall(self._turn, self._hold, self._key(f"tool:{name}"), name, arguments, guarded=guarded)

    async def call(self, agent: str | Agent, message: str) -> str | None:
        """Let another agent work inside this run: cancel and pause reach it, its questions go where this run's go.

        Raises: `CallFailed` when it gives up.
        """
        self._ready()
        turn = self._turn
        callee = self._agents(agent) if isinstance(agent, str) else agent
        key = self._key(f"call:{callee.name}")
        ended = turn.tape.look(key).ended
        if ended is None or (ended.get("error") is not None and turn.tape.trailing(turn.tape.look(key))):
            mark = scope.set(f"{key}/")
            try:
                outcome = await callee.turn(self._inner(message))
            finally:
                scope.reset(mark)
            ended = {"result": None} if isinstance(outcome, Parked) else _end(outcome)
            await turn.append(turn.entry("done", key, **ended))
        turn.tape.skip(key)
        if ended.get("error") is not None:
            raise CallFailed(f"agent {callee.name!r} gave up: {ended['error']}")
        result = ended.get("result")
        return result if isinstance(result, str) else None

    async def steers(self) -> list[Steer]:
        """What the person said since the last call of this; it counts as taken in."""
        if self._over():
            return []
        turn = self._turn
        key = self._key("steers")
        place = turn.tape.glance(key)
        ended = place.ended if place is not None else None
        if ended is None:
            if turn.tape.later(key):
                return []
            await turn.read()
            if turn.tape.given == len(turn.tape.steers):
                return []
            ended = {"upto": len(turn.tape.steers)}
            await turn.append(turn.entry("done", key, **ended))
        given, upto = turn.tape.given, ended.get("upto")
        turn.tape.given = max(given, upto if isinstance(upto, int) else 0)
        await turn.steady(lambda: turn.broker.took(Took(turn.run.id, turn.fence, turn.tape.given)))
        return turn.tape.steers[given : turn.tape.given]

    async def background(self, *_: object, **__: object) -> None:
        """Start something that goes on without this run. Raises: `NotYet`, always, in this release."""
        raise NotYet("background jobs come with a later release")

    # ── below ────────────────────────────────────────────────────────────────────────────────────────────────────────

    def guard(self, tools: frozenset[str]) -> Run:
        """The same run for an agent that guards these tools, too."""
        return self._inner(self.message, tools)

    def _inner(self, message: str, tools: frozenset[str] = frozenset()) -> Run:
        return Run(
            self._turn,
            self._hold,
            message,
            agents=self._agents,
            files=self._files,
            attachments=self.attachments,
            guarded=self._guarded | tools,
        )

    def _key(self, verb: str) -> str:
        return self._turn.tape.key(scope.get(), verb)

    def _over(self) -> bool:
        """Tell whether the turn is parked: what only says something does nothing then."""
        if not self._turn.parked:
            self._ready()
        return self._turn.parked

    def _ready(self) -> None:
        self._turn.check()
        if step := inside.get():
            raise SaysoError(f"the code of a step cannot use the run: ask, say and begin outside of {step!r}")


def _end(outcome: Completed | Failed) -> dict[str, Json]:
    return {"result": outcome.text} if isinstance(outcome, Completed) else {"error": outcome.text}


def _type(name: str) -> str:
    return mimetypes.guess_type(name)[0] or "application/octet-stream"
