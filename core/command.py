"""Commands that a run starts: in a session of their own, under a keeper, so that all of one ends with its turn.

    exited by itself         its status and the end of what it said
    its turn was stopped     terminated, then killed, with all that it started; the turn is over when nothing lives
    its worker died          its keeper kills it

This file must not know how a verb is recorded (`effect.py`).
"""

from __future__ import annotations

import asyncio
import json
import signal
import socket
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

from core import cgroups, kept, remains
from core.errors import SaysoError
from core.ladder import Ladder, Rung
from core.model import Value
from core.pace import Pace
from core.waited import unbroken, waited

OUTPUT: Final = 32_768
"""bytes of output that are kept; the middle of more is left out, visibly"""
READ: Final = 65_536


class Exited(Value):
    """How a command ended. status: 0 is good, negative: ended by this signal. output: both its streams, clamped."""

    status: int
    output: str = ""


class CommandFailed(SaysoError):
    """A command could not be run or ended with another status than 0; the text has the end of what it said."""


def _nothing(step: str) -> None:
    pass


async def run_command(
    argv: tuple[str, ...],
    mark: str,
    pace: Pace,
    *,
    cwd: Path | None = None,
    environment: Mapping[str, str] | None = None,
    timeout: float | None = None,
    forced: Callable[[str], None] = _nothing,
) -> Exited:
    """Run a command to its end. timeout: seconds after which it is stopped.

    forced: told of the step of the ladder that ended it, when it ended with its turn.

    Raises: `TimeoutError`; `CancelledError`, after nothing of it lives any more.
    """
    ours, theirs = socket.socketpair()
    group = cgroups.name()
    with theirs:
        started = await asyncio.create_subprocess_exec(
            *kept.line(theirs.fileno(), mark, group, argv),
            cwd=cwd,
            env=environment,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            pass_fds=(theirs.fileno(),),
        )
    ours.setblocking(False)
    reins, out = await asyncio.open_unix_connection(sock=ours)
    ending = waited(_ended(started, reins, group), f"command {argv[0]}")
    waking = waited(remains.keep_awake(started.pid, pace.look), f"awake {argv[0]}")
    try:
        async with asyncio.timeout(timeout):
            return await asyncio.shield(ending)
    except (asyncio.CancelledError, TimeoutError) as why:
        ladder = Ladder(
            (
                Rung("terminate", lambda: out.write(b"t"), pace.terminate),
                Rung("kill", lambda: out.write(b"k"), 0.0),
            )
        )
        ladder.begin()
        with suppress(asyncio.CancelledError):
            await unbroken(ending)
        ladder.stop()
        if isinstance(why, asyncio.CancelledError):
            forced(ladder.step)
        raise
    finally:
        waking.cancel()
        out.close()


async def _ended(started: asyncio.subprocess.Process, reins: asyncio.StreamReader, group: str) -> Exited:
    """Read what a command says until nothing of it lives."""
    said = Said()

    async def listen() -> None:
        assert started.stdout is not None
        while piece := await started.stdout.read(READ):
            said.add(piece)

    listening = asyncio.create_task(listen())
    status = -int(signal.SIGKILL)
    with suppress(ConnectionError):
        async for line in reins:
            status = int(json.loads(line).get("over", status))
    await remains.end_group(group)  # its keeper did that, unless it was killed
    await started.wait()
    await listening
    return Exited(status=status, output=said.text())


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
