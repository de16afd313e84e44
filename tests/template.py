"""The template of test processes, `python -m tests.template FD`: it imports all of ours, and forks what is asked for.

It has no thread, no event loop and no connection, so that a fork of it is sound. `tests/forked.py` asks it.
"""

from __future__ import annotations

import gc
import importlib
import io
import json
import os
import runpy
import select
import signal
import socket
import sys
from contextlib import suppress

LOADED = (
    *("gateway.commands", "gateway.up", "gateway.web", "gateway.work", "gateway.front", "gateway.embedded"),
    *("adapters.surface", "adapters.telegram.adapter", "adapters.discord.starting", "tests.fakes"),
)
LARGEST = 65_536


def serve(control: socket.socket) -> None:
    """Be the template; returns in each process that was forked, when it is over."""
    for name in LOADED:
        importlib.import_module(name)
    gc.collect()
    gc.freeze()
    waking, wakes = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    signal.set_wakeup_fd(wakes)
    signal.signal(signal.SIGCHLD, _heard)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    forked: dict[int, int] = {}
    control.send(b"ready")
    while True:
        ready, _, _ = select.select([control, waking], [], [])
        if waking in ready:
            with suppress(BlockingIOError):
                os.read(waking, 512)
            _report(forked)
        if control not in ready:
            continue
        order, fds, _, _ = socket.recv_fds(control, LARGEST, 4)
        if not order:
            for pid in forked:
                os.kill(pid, signal.SIGKILL)
            os._exit(0)
        pid = os.fork()
        if not pid:
            control.close()
            for fd in (waking, wakes, *forked.values(), fds[3]):
                os.close(fd)
            return _become(json.loads(order), fds[:3])
        forked[pid] = fds[3]
        for fd in fds[:3]:
            os.close(fd)
        control.send(str(pid).encode())


def _heard(number: int, frame: object) -> None:
    """A child ended; the select of `serve` wakes up."""


def _report(forked: dict[int, int]) -> None:
    """Tell how each process that is over has ended."""
    with suppress(ChildProcessError):
        while (found := os.waitpid(-1, os.WNOHANG))[0]:
            end = forked.pop(found[0])
            with suppress(BrokenPipeError):
                os.write(end, str(os.waitstatus_to_exitcode(found[1])).encode())
            os.close(end)


def _become(order: dict[str, str | list[str] | dict[str, str] | None], fds: list[int]) -> None:
    """Be the process that was asked for."""
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number, fd in enumerate(fds):
        os.dup2(fd, number)
        os.close(fd)
    module, words, env, cwd = str(order["module"]), order["words"], order["env"], str(order["cwd"])
    assert isinstance(words, list)
    os.chdir(cwd)
    if isinstance(env, dict):
        os.environ.clear()  # noqa: TID251  # the environment of the process that is asked for
        os.environ.update(env)  # noqa: TID251
        if "PYTHONUNBUFFERED" in env:
            sys.stdout = io.TextIOWrapper(io.FileIO(1, "w", closefd=False), "utf-8", write_through=True)
    sys.argv = [module, *words]
    sys.path.insert(0, cwd)
    runpy.run_module(module, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    serve(socket.socket(fileno=int(sys.argv[1])))
