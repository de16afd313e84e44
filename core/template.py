"""The template: a process with everything imported, from which turns that run apart are forked in milliseconds.

It has no event loop, no thread and no connection, so that a fork of it is sound. The worker sends an order with the
ends of two sockets, `reins` for the keeper and `talk` for the turn; the template forks a keeper for it. When a keeper
is killed, what hung on it falls to the template, which kills it.
"""

from __future__ import annotations

import asyncio
import json
import os
import select
import signal
import socket
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from types import TracebackType
from typing import NoReturn, Self

from core import keeper, tree
from core.errors import SaysoError
from core.model import Json

READY = b"ready"
LARGEST = 65_536
PATIENCE = 60.0
"""seconds that a template may take to import everything"""


class NoTemplate(SaysoError):
    """Turns cannot be started apart; the text says why."""


def serve(control: socket.socket, turn: Callable[[dict[str, Json], socket.socket], None]) -> NoReturn:
    """Be a template until the worker closes its end; turn: runs an order in the process that was forked for it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    tree.adopt()
    waking = keeper.woken()
    keepers: set[int] = set()
    control.sendall(READY)
    while True:
        ready, _, _ = select.select([control, waking], [], [])
        if waking in ready:
            with suppress(BlockingIOError):
                os.read(waking, 512)
        _bury(keepers)
        if control not in ready:
            continue
        order, fds, _, _ = socket.recv_fds(control, LARGEST, 2)
        if not order:
            os._exit(0)
        reins, talk = (socket.socket(fileno=fd) for fd in fds)
        made = os.fork()
        if not made:
            control.close()
            plain = json.loads(order)
            keeper.keep(reins, talk, str(plain["mark"]), partial(turn, plain))
        keepers.add(made)
        reins.close()
        talk.close()


def _bury(keepers: set[int]) -> None:
    """Take leave of children that ended; a keeper reports for itself, and what one that was killed left is killed."""
    for pid, status in keeper.ended():
        kept = pid in keepers
        keepers.discard(pid)
        if not kept or status:
            for child in tree.children(os.getpid()) - keepers:
                tree.tell((*tree.descendants(child), child), signal.SIGKILL)


class Template:
    """The worker's side: a template process, started again when it is gone, for as long as the context lasts.

    command: what starts it; the number of the control socket is appended. environment: its own, when it
    is not that of this process.
    """

    def __init__(self, command: Sequence[str], *, environment: Mapping[str, str] | None = None) -> None:
        self._command = tuple(command)
        self._environment = environment
        self._control: socket.socket | None = None
        self._running: asyncio.subprocess.Process | None = None
        self._starting = asyncio.Lock()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._drop()

    async def order(self, order: Mapping[str, Json]) -> tuple[socket.socket, socket.socket]:
        """Have a turn started; returns the worker's ends of `reins` and `talk`.

        Raises: `NoTemplate`.
        """
        text = json.dumps(order).encode()
        for attempt in (1, 2):
            control = await self._ready()
            pairs = [socket.socketpair() for _ in range(2)]
            try:
                socket.send_fds(control, [text], [theirs.fileno() for _, theirs in pairs])
            except OSError as error:
                for ours, _ in pairs:
                    ours.close()
                await self._drop()
                if attempt == 2:
                    raise NoTemplate(f"the process from which turns are started is gone: {error}") from error
                continue
            finally:
                for _, theirs in pairs:
                    theirs.close()
            return pairs[0][0], pairs[1][0]
        raise AssertionError

    async def warm(self) -> None:
        """Start the template now, so that the first turn need not wait for it.

        Raises: `NoTemplate`.
        """
        await self._ready()

    async def _ready(self) -> socket.socket:
        async with self._starting:
            if self._control is not None and self._running is not None and self._running.returncode is None:
                return self._control
            await self._drop()
            return await self._start()

    async def _start(self) -> socket.socket:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._running = await asyncio.create_subprocess_exec(
                *self._command,
                str(theirs.fileno()),
                pass_fds=(theirs.fileno(),),
                stdin=asyncio.subprocess.DEVNULL,
                env=self._environment,
                start_new_session=True,
            )
        ours.setblocking(False)
        word = b""
        with suppress(TimeoutError, OSError):
            async with asyncio.timeout(PATIENCE):
                word = await asyncio.get_running_loop().sock_recv(ours, len(READY))
        if word != READY:
            ours.close()
            await self._drop()
            raise NoTemplate("the process from which turns are started did not get ready; its words stand in the log")
        ours.setblocking(True)
        self._control = ours
        return ours

    async def _drop(self) -> None:
        control, self._control = self._control, None
        running, self._running = self._running, None
        if control is not None:
            control.close()
        if running is not None and running.returncode is None:
            with suppress(ProcessLookupError):
                running.kill()
            await running.wait()


def command(module: str) -> tuple[str, ...]:
    """The command that runs a module of ours as a template."""
    return (sys.executable, "-m", module)
