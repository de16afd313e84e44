"""Processes of ours that tests start and kill: real ones, forked from one that has imported everything already.

That one is `tests/template.py`. A test process starts its own when it needs the first one; it ends, with all it forked,
when the test process does. What `sayso` starts by itself starts as it does at a user's: with a fresh interpreter.
"""

from __future__ import annotations

import asyncio
import atexit
import functools
import json
import os
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO

from tests.house.sources import ROOT
from tests.waiting import wait_until

PIPE = subprocess.PIPE
Output = int | IO[bytes] | None
"""where it prints: PIPE, an open file, or None for where the test prints"""


class Forked:
    """A process that runs a module of ours; its streams are there when they were asked for as PIPE."""

    stdin: asyncio.StreamWriter
    stdout: asyncio.StreamReader
    stderr: asyncio.StreamReader

    def __init__(self, pid: int, ended: int) -> None:
        self.pid = pid
        self._ended = ended
        self._code: int | None = None

    @property
    def returncode(self) -> int | None:
        """Its exit status, minus the signal that ended it, or None while it is there."""
        if self._code is None and select.select([self._ended], [], [], 0)[0]:
            self._code = int(os.read(self._ended, 16) or b"-9")
            os.close(self._ended)
        return self._code

    def join(self) -> int:
        """Wait for its end; blocks."""
        if self._code is None:
            select.select([self._ended], [], [])
        code = self.returncode
        assert code is not None
        return code

    async def wait(self) -> int:
        """Wait for its end."""
        if self.returncode is None:
            loop, over = asyncio.get_running_loop(), asyncio.Event()
            loop.add_reader(self._ended, over.set)
            try:
                await over.wait()
            finally:
                loop.remove_reader(self._ended)
        if hasattr(self, "stdin"):
            self.stdin.close()
        return self.join()

    async def communicate(self) -> tuple[bytes, bytes]:
        """Read both outputs to their end, and wait for its own."""
        out, err, _ = await asyncio.gather(self.stdout.read(), self.stderr.read(), self.wait())
        return out, err

    def send_signal(self, number: signal.Signals) -> None:
        """Send it a signal, when it is still there."""
        if self.returncode is None:
            with suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def kill(self) -> None:
        """End it as the kernel does."""
        self.send_signal(signal.SIGKILL)


class _Template:
    """The test's end of the template."""

    def __init__(self) -> None:
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.template", str(theirs.fileno())],
                cwd=ROOT,
                stdin=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
            )
        self._warm = False

    def ready(self) -> bool:
        """Whether it has said that it is ready."""
        if not self._warm and select.select([self._control], [], [], 0)[0]:
            self._warm = self._control.recv(16) == b"ready"
            assert self._warm, "the template of the tests ended"
        return self._warm

    def fileno(self) -> int:
        """Its socket, to wait for."""
        return self._control.fileno()

    def end(self) -> None:
        """End it, and all that it forked."""
        self._control.close()
        self._process.wait()

    def fork(self, order: Mapping[str, object], streams: list[int]) -> Forked:
        """Fork a process with these streams."""
        while not self.ready():
            select.select([self], [], [])
        ended, end = os.pipe()
        socket.send_fds(self._control, [json.dumps(order).encode()], [*streams, end])
        os.close(end)
        return Forked(int(self._control.recv(16)), ended)


@functools.cache
def _template() -> _Template:
    made = _Template()
    atexit.register(made.end)
    return made


def fork(
    module: str,
    *words: str,
    env: Mapping[str, str] | None = None,
    cwd: Path = ROOT,
    stdin: int | None = None,
    out: Output = None,
    err: Output = None,
) -> Forked:
    """Start `python -m module words`; blocks for the milliseconds of a fork, and the first time for the imports.

    env: its whole environment, None for that of the test. stdin: an open end, None for nothing to read.
    """
    order = {"module": module, "words": words, "env": dict(env) if env is not None else None, "cwd": str(cwd)}
    with Path(os.devnull).open("rb") as nothing:
        outputs = [
            one if isinstance(one, int) else one.fileno() if one is not None else number
            for number, one in ((1, out), (2, err))
        ]
        return _template().fork(order, [nothing.fileno() if stdin is None else stdin, *outputs])


async def start(
    module: str,
    *words: str,
    env: Mapping[str, str] | None = None,
    cwd: Path = ROOT,
    stdin: int | None = None,
    out: Output = PIPE,
    err: Output = None,
    limit: int = 2**16,
) -> Forked:
    """Start `python -m module words` with streams to talk to it. limit: bytes of a line that it prints, at most."""
    await wait_until(_template().ready, 90.0)
    ours: dict[str, int] = {}
    theirs: dict[str, int] = {}
    for name, wanted in (("stdin", stdin), ("stdout", out), ("stderr", err)):
        if wanted == PIPE:
            reads, writes = os.pipe()
            ours[name], theirs[name] = (writes, reads) if name == "stdin" else (reads, writes)
    made = fork(
        module,
        *words,
        env=env,
        cwd=cwd,
        stdin=theirs.get("stdin", stdin),
        out=theirs.get("stdout", out),
        err=theirs.get("stderr", err),
    )
    for end in theirs.values():
        os.close(end)
    for name, end in ours.items():
        if name == "stdin":
            made.stdin = await _writer(end)
        else:
            setattr(made, name, await _reader(end, limit))
    return made


async def _reader(end: int, limit: int) -> asyncio.StreamReader:
    reader = asyncio.StreamReader(limit=limit)
    await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(end, "rb", buffering=0)
    )
    return reader


async def _writer(end: int) -> asyncio.StreamWriter:
    loop = asyncio.get_running_loop()
    transport, protocol = await loop.connect_write_pipe(
        lambda: asyncio.StreamReaderProtocol(asyncio.StreamReader()), os.fdopen(end, "wb", buffering=0)
    )
    return asyncio.StreamWriter(transport, protocol, None, loop)
