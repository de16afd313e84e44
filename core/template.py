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

from core import keeper, marking, tree
from core.errors import SaysoError
from core.model import Json
from core.trace import emit

READY = b"ready"
LARGEST = 65_536
PATIENCE = 60.0
"""seconds that a template may take to import everything"""


class NoTemplate(SaysoError):
    """Turns cannot be started apart; the text says why."""


def serve(control: socket.socket, turn: Callable[[dict[str, Json], socket.socket], None]) -> NoReturn:
    """Be a template until the worker closes its end; turn: runs an order in the process that was forked for it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    marking.adopt()
    marking.be_called(tree.TEMPLATE)
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
            group = str(plain.get("cgroup", ""))
            keeper.keep(reins, talk, str(plain["mark"]), partial(turn, plain), cgroup=group)
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
    is not that of this process. patience: seconds until the keeper of a turn says a word; a template that has not made
    one by then (somebody stopped it, it hangs) is killed and replaced.
    """

    def __init__(
        self, command: Sequence[str], *, environment: Mapping[str, str] | None = None, patience: float = 10.0
    ) -> None:
        self._command = tuple(command)
        self._environment = environment
        self._patience = patience
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
        """Have a turn started; returns the worker's ends of `reins`, on which its keeper has spoken, and `talk`.

        A template that is gone or silent is replaced, once. What it may still fork finds both ends closed, and ends.

        Raises: `NoTemplate`.
        """
        text, words = json.dumps(order).encode(), ""
        for _ in range(2):
            control = await self._ready()
            (reins, bit), (talk, mouth) = socket.socketpair(), socket.socketpair()
            kept = False
            try:
                with bit, mouth:
                    socket.send_fds(control, [text], [bit.fileno(), mouth.fileno()])
                kept = await _heard(reins, self._patience)
                words = "does not answer"
            except OSError as error:
                words = f"is gone: {error}"
            finally:
                if not kept:
                    reins.close()
                    talk.close()
            if kept:
                return reins, talk
            emit("template.replaced", why=words)
            await self._drop(control)
        raise NoTemplate(f"the process from which turns are started {words}")

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
                env=keeper.roomy(self._environment),
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
        self._control = ours
        return ours

    async def _drop(self, which: socket.socket | None = None) -> None:
        """Kill the template and forget it. which: only if it is the one at this end."""
        if which not in (None, self._control):
            return
        control, self._control = self._control, None
        running, self._running = self._running, None
        if control is not None:
            control.close()
        if running is not None and running.returncode is None:
            with suppress(ProcessLookupError):
                running.kill()
            await running.wait()


async def _heard(reins: socket.socket, patience: float) -> bool:
    """Wait until something can be read, and tell whether it came: not the end, and not too late."""
    loop, heard = asyncio.get_running_loop(), asyncio.Event()
    reins.setblocking(False)
    loop.add_reader(reins, heard.set)
    try:
        async with asyncio.timeout(patience):
            await heard.wait()
        return bool(reins.recv(1, socket.MSG_PEEK))
    except (TimeoutError, OSError):
        return False
    finally:
        loop.remove_reader(reins)


def command(module: str) -> tuple[str, ...]:
    """The command that runs a module of ours as a template."""
    return (sys.executable, "-m", module)
