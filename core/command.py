"""Commands that a run starts: in a session of their own, under a keeper, so that all of one ends with its turn.

    exited by itself         its status and the end of what it said
    its turn was stopped     terminated, then killed, with all that it started; the turn is over when nothing lives
    its keeper was killed    the process above that one kills it, and so does its worker
    its worker died          its keeper kills it; who settles for the worker finds it by the record

This file must not know how a verb is recorded (`effect.py`).
"""

from __future__ import annotations

import asyncio
import json
import signal
import socket
from collections.abc import Mapping
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Final

from core import cgroups, kept, remains, tree
from core.errors import SaysoError
from core.ladder import Ladder, Rung
from core.life.apart import Commanded
from core.life.decision import Refusal
from core.model import Value
from core.turn import Turn
from core.waited import unbroken, waited

OUTPUT: Final = 32_768
"""bytes of output that are kept; the middle of more is left out, visibly"""
READ: Final = 65_536
OUTLASTS: Final = 5.0
"""seconds for what was said to be read to its end, after nothing of a command lives any more"""
_numbers = count(1)


class Exited(Value):
    """How a command ended. status: 0 is good, negative: ended by this signal. output: both its streams, clamped."""

    status: int
    output: str = ""


class CommandFailed(SaysoError):
    """A command could not be run or ended with another status than 0; the text has the end of what it said."""


async def run_command(
    argv: tuple[str, ...],
    turn: Turn,
    *,
    cwd: Path | None = None,
    environment: Mapping[str, str] | None = None,
    timeout: float | None = None,
) -> Exited:
    """Run a command of a turn to its end. timeout: seconds after which it is stopped.

    It acts only when it stands on record which process it is. Raises: `TimeoutError`; `CancelledError`, after nothing
    of it lives any more.
    """
    reins, talk, started, group = await _start(argv, f"{turn.run.id}:{turn.fence}:{next(_numbers)}", cwd, environment)
    hear, out = await asyncio.open_unix_connection(sock=reins)
    command = _Command(started, hear, group, turn.pace.look)
    ending = waited(command.ended(), f"command {argv[0]}")
    try:
        async with asyncio.timeout(timeout):
            if (code := await asyncio.shield(command.code)) is not None:
                await _place(turn, str(code))
                with suppress(OSError):
                    talk.send(kept.BEGIN)
            return await asyncio.shield(ending)
    except BaseException as why:  # also when it may not begin
        ladder = Ladder(
            (
                Rung("terminate", lambda: out.write(b"t"), turn.pace.terminate),
                Rung("kill", lambda: out.write(b"k"), 0.0),
            )
        )
        ladder.begin()
        with suppress(asyncio.CancelledError):
            await unbroken(ending)
        ladder.stop()
        if isinstance(why, asyncio.CancelledError):
            turn.forced(ladder.step)
        raise
    finally:
        talk.close()
        out.close()
        if command.code.done() and (over := command.code.result()) is not None:
            turn.over_commands.add(str(over))


async def _start(
    argv: tuple[str, ...], mark: str, cwd: Path | None, environment: Mapping[str, str] | None
) -> tuple[socket.socket, socket.socket, asyncio.subprocess.Process, str]:
    """Start what becomes a command; returns the ends of both its lines, it, and its group."""
    (reins, bit), (talk, mouth) = socket.socketpair(), socket.socketpair()
    group = cgroups.name()
    try:
        with bit, mouth:
            started = await asyncio.create_subprocess_exec(
                *kept.line(bit.fileno(), mouth.fileno(), mark, group, argv),
                cwd=cwd,
                env=environment,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.STDOUT,
                pass_fds=(bit.fileno(), mouth.fileno()),
            )
    except BaseException:
        reins.close()
        talk.close()
        raise
    reins.setblocking(False)
    return reins, talk, started, group


async def _place(turn: Turn, code: str) -> None:
    """Put on record which process a command is, and forget those that have ended; leaves the code when it may not."""
    over = tuple(turn.over_commands)
    event = Commanded(turn.run.id, turn.fence, code, over)
    placed = await turn.steady(lambda: turn.broker.stops.commanded(event))
    if isinstance(placed, Refusal):
        await turn.refused(placed)
    turn.over_commands.difference_update(over)


class _Command:
    """A command that was started. code: names its process, once its keeper said so; None when it never did."""

    def __init__(
        self, started: asyncio.subprocess.Process, reins: asyncio.StreamReader, group: str, look: float
    ) -> None:
        self._started = started
        self._reins = reins
        self._group = group
        self._look = look
        self._said = Said()
        self.code: asyncio.Future[tree.Code | None] = asyncio.get_running_loop().create_future()

    async def ended(self) -> Exited:
        """Read what it says until nothing of it lives."""
        listening = asyncio.create_task(self._listen())
        waking = [asyncio.create_task(remains.keep_awake(self._started.pid, self._look))]
        try:
            status = await self._kept(waking)
            await self._started.wait()
            with suppress(TimeoutError):  # nothing of it lives; somebody else may have got hold of its output
                async with asyncio.timeout(OUTLASTS):
                    await listening
        finally:
            for task in (listening, *waking):
                task.cancel()
        return Exited(status=status, output=self._said.text())

    async def _kept(self, waking: list[asyncio.Task[None]]) -> int:
        """Hear its keeper until that one ends; when it was killed, end what it kept. Returns the command's status."""
        status, empty = -int(signal.SIGKILL), False
        with suppress(ConnectionError):
            async for line in self._reins:
                words = json.loads(line)
                code = tree.parsed(str(words.get("code", "")))
                if code is not None:
                    self.code.set_result(code)
                    waking.append(asyncio.create_task(remains.keep_awake(code.keeper, self._look)))
                status = int(words.get("over", status))
                empty = empty or bool(words.get("empty"))
        if not self.code.done():
            self.code.set_result(None)
        if not empty and (code := self.code.result()) is not None:
            await remains.end_tree(code)
        await remains.end_group(self._group)
        return status

    async def _listen(self) -> None:
        assert self._started.stdout is not None
        while piece := await self._started.stdout.read(READ):
            self._said.add(piece)


class Said:
    """The beginning and the end of what a command says, however long it goes on."""

    def __init__(self) -> None:
        self._head = bytearray()
        self._tail = bytearray()
        self._more = 0

    def add(self, piece: bytes) -> None:
        """Take in some more."""
        room = OUTPUT - OUTPUT // 4 - len(self._head)
        self._head += piece[:room]
        self._tail += piece[room:]
        self._more += max(0, len(self._tail) - OUTPUT // 4)
        del self._tail[: -(OUTPUT // 4)]

    def text(self) -> str:
        """All of it, or its beginning and end with a mark between."""
        mark = f"...[{self._more} bytes elided]..." if self._more else ""
        return f"{self._head.decode(errors='replace')}{mark}{self._tail.decode(errors='replace')}"
