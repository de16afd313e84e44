"""Processes of `sayso up` beside its own: each is started again whenever it ends, after growing pauses.

They end with this process, however that ends: each holds the other end of a pipe that only we have open.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import sys
import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Final

from gateway.cannot_start import CannotStart

FIRST_PAUSE: Final = 0.5
LONGEST_PAUSE: Final = 10.0
HOPELESS_PAUSE: Final = 60.0
"""seconds before one is started again; the last, when it said that it cannot start"""
GOOD: Final = 30.0
"""seconds after which one counts as one that works"""
PATIENCE: Final = 15.0
"""seconds to finish what is under way when we go"""
NEVER: Final = 2
"""exit status of a process that cannot start"""
_log = logging.getLogger("sayso.up")


@dataclass(frozen=True, slots=True)
class Child:
    """One process. words: of its command. vital: when the first one cannot start, nothing else shall run."""

    name: str
    words: tuple[str, ...]
    vital: bool = False


WORKER: Final = Child("the worker", ("worker",), vital=True)


@asynccontextmanager
async def children(every: Sequence[Child], stop: asyncio.Event) -> AsyncGenerator[None]:
    """Have these processes for as long as the block lasts.

    Raises: `CannotStart` at the end, after setting `stop`, when the first of a vital one says that it never can.
    """
    ending = asyncio.Event()
    keeping = [asyncio.create_task(_keep(one, ending, stop), name=f"process {one.name}") for one in every]
    try:
        yield
    finally:
        ending.set()
        able = await asyncio.gather(*keeping)
    unable = [one for one, could in zip(every, able, strict=True) if not could]
    if unable:
        raise CannotStart(
            f"{_big(unable[0].name)} cannot start", "its words stand above", "Correct that, then try again."
        )


async def _keep(child: Child, ending: asyncio.Event, stop: asyncio.Event) -> bool:
    """Have a process until `ending`; False when the first of a vital one could never work."""
    pause, first = FIRST_PAUSE, True
    while not ending.is_set():
        began = time.monotonic()
        running = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "gateway", *child.words, "--until-stdin-closes"),
            stdin=asyncio.subprocess.PIPE,
            start_new_session=True,
        )
        if not await _until(running, ending):
            await _end(child, running)
            return True
        if first and child.vital and running.returncode == NEVER:
            stop.set()
            return False
        first = False
        pause = FIRST_PAUSE if time.monotonic() - began > GOOD else min(pause * 2, LONGEST_PAUSE)
        if running.returncode == NEVER and not child.vital:
            pause = HOPELESS_PAUSE
        _log.error("%s ended with status %s; it starts again in %g s", _big(child.name), running.returncode, pause)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(pause):
                await ending.wait()
    return True


async def _until(running: asyncio.subprocess.Process, ending: asyncio.Event) -> bool:
    """Wait for one of both; True when the process ended by itself."""
    ended = asyncio.create_task(running.wait())
    told = asyncio.create_task(ending.wait())
    await asyncio.wait({ended, told}, return_when=asyncio.FIRST_COMPLETED)
    told.cancel()
    if not ended.done():
        ended.cancel()
        return False
    return True


async def _end(child: Child, running: asyncio.subprocess.Process) -> None:
    with contextlib.suppress(ProcessLookupError):
        running.terminate()
        try:
            async with asyncio.timeout(PATIENCE):
                await running.wait()
        except TimeoutError:
            _log.warning("%s did not end within %g s; it is killed, nothing is lost", _big(child.name), PATIENCE)
            running.kill()
            await running.wait()


def _big(name: str) -> str:
    return name[:1].upper() + name[1:]
