"""The keeper: a small process between a worker and a turn that runs apart. The turn's whole tree hangs on it.

It is the subreaper of the tree: whatever a turn starts and leaves behind, also in a session of its own, becomes the
keeper's child and is found and ended with it. Where control groups can be made the tree has one, and the keeper stays
out of it. It reports over `reins`, one JSON object a line:

    {"code": ...}                       the turn's process exists, and waits for its word to begin
    {"over": status, "left": n}         it ended (negative: by this signal) and n processes were left behind
    {"empty": true}                     nothing of the tree lives any more; the keeper ends with that

and takes single letters: `t` terminate, `k` kill. When the reins break, the worker is gone, and all of it is killed.
When the keeper is killed, its orphans fall to the process above it, which kills them: the template, or, above the
keeper of a command, a guard. They have no event loop and import nothing of Sayso but `tree`, `marking` and `cgroups`.
Source: prctl(2), PR_SET_CHILD_SUBREAPER.
"""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import sys
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import suppress
from types import FrameType
from typing import NoReturn

from core import cgroups, marking, tree

LOOK = 0.02
"""seconds between two looks while something is being ended"""
LEFTOVERS = 2.0
"""seconds that processes which a turn left behind have after SIGTERM"""


def keep(
    reins: socket.socket, talk: socket.socket, mark: str, turn: Callable[[socket.socket], None], *, cgroup: str = ""
) -> NoReturn:
    """Be the keeper of a turn that runs in a child of this process, until nothing of it is left.

    talk: the turn's own line to the worker; whoever has the other end sees that the turn's process is gone. cgroup:
    the path of a control group to be made for it.
    """
    _stand_alone(tree.KEEPER)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.set_wakeup_fd(-1)
    os.environ[tree.MARK] = mark  # noqa: TID251  # no setting: what all that the turn starts inherits
    made = cgroups.make(cgroup)
    child = os.fork()
    if not child:
        cgroups.enter(made)
        _be(reins, talk, mark, turn)
    talk.close()
    keeper = _Keeper(reins, child, made)
    keeper.say(code=str(tree.code_of(child, mark, made)))
    keeper.stay()
    os._exit(0)


def guard(reins: socket.socket, talk: socket.socket, kept: Callable[[], NoReturn], cgroup: str) -> NoReturn:
    """Be the process above one keeper: what that one leaves when it is killed is killed; both end with the worker.

    talk: breaks with the worker; nothing is read here.
    """
    _stand_alone(tree.GUARD)
    waking = woken()
    keeper = os.fork()
    if not keeper:
        kept()
    reins.close()
    poll = select.poll()
    poll.register(waking, select.POLLIN)
    poll.register(talk, 0)  # that it broke is told unasked
    kill_at, over = float("inf"), False
    while True:
        for pid, _ in ended():
            over = over or pid == keeper
        if over and is_childless():
            cgroups.remove(cgroup)
            os._exit(0)
        if over:
            cgroups.kill(cgroup)
            tree.tell(tree.descendants(os.getpid()), signal.SIGKILL)
        elif time.monotonic() >= kill_at:
            tree.tell([keeper], signal.SIGKILL)
        ready = {fd for fd, _ in poll.poll(LOOK * 1_000 if over or kill_at < float("inf") else None)}
        if waking in ready:
            with suppress(BlockingIOError):
                os.read(waking, 512)
        if talk.fileno() in ready:
            poll.unregister(talk)
            kill_at = time.monotonic() + LEFTOVERS  # it saw the same and ends everything, unless somebody stopped it
            tree.tell([keeper], signal.SIGCONT)


def _stand_alone(name: str) -> None:
    """Begin as a process that keeps others: who ends the tree ends it by name, and this one goes last."""
    os.setsid()
    marking.adopt()
    marking.be_called(name)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _be(reins: socket.socket, talk: socket.socket, mark: str, turn: Callable[[socket.socket], None]) -> NoReturn:
    """Run the turn in the process that was made for it; what it leaves on threads ends with it."""
    status = 1
    try:
        reins.close()
        os.setsid()
        marking.be_called(tree.TURN)
        marking.bear(mark)
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, signal.SIG_DFL)
        turn(talk)
        status = 0
    finally:
        with suppress(Exception):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(status)


def roomy(environment: Mapping[str, str] | None) -> dict[str, str]:
    """The environment of a process from which turns are forked: as given, or that of this one, with room for a mark."""
    given = os.environ if environment is None else environment  # noqa: TID251  # no setting: it is only passed on
    return {**given, tree.MARK: marking.ROOM}


def woken() -> int:
    """Have this process woken when a child of it ends; returns what is readable then."""
    waking, write = os.pipe()
    os.set_blocking(write, False)
    os.set_blocking(waking, False)
    signal.signal(signal.SIGCHLD, _wake)
    signal.set_wakeup_fd(write, warn_on_full_buffer=False)
    return waking


def ended() -> Generator[tuple[int, int]]:
    """Take leave of the children of this process that ended; tells how, as `waitpid` does."""
    with suppress(ChildProcessError):
        while (found := os.waitpid(-1, os.WNOHANG))[0]:
            yield found


def is_childless() -> bool:
    """Tell whether this process has no child at all; one that adopts has no descendant then."""
    if sys.platform != "linux":
        return True
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return True
    return False


def _wake(number: int, frame: FrameType | None) -> None:
    """A child ended; that the signal came wakes the keeper, and it looks by itself."""


class _Keeper:
    """What a keeper knows: whether the turn's own process ended, and how hard the rest is to be ended."""

    def __init__(self, reins: socket.socket, child: int, cgroup: str) -> None:
        self._reins = reins
        self._child = child
        self._cgroup = cgroup
        self._over = False
        self._killing = False
        self._kill_at = float("inf")
        self._held = True  # the worker holds the other end of the reins

    def say(self, **words: object) -> None:
        """Report; a worker that is gone hears nothing."""
        with suppress(OSError):
            self._reins.sendall(json.dumps(words).encode() + b"\n")

    def stay(self) -> None:
        """Wait until nothing of the tree is left."""
        waking = woken()
        while True:
            self._reap()
            if self._over and not self._tree() and is_childless() and not cgroups.occupied(self._cgroup):
                cgroups.remove(self._cgroup)
                self.say(empty=True)
                return
            if time.monotonic() >= self._kill_at:
                self._killing = True
            if self._killing:
                cgroups.kill(self._cgroup)
                tree.tell(self._tree(), signal.SIGKILL)
            watched = [waking, self._reins] if self._held else [waking]
            ready, _, _ = select.select(watched, [], [], LOOK if self._over or self._killing else None)
            if waking in ready:
                with suppress(BlockingIOError):
                    os.read(waking, 512)
            if self._reins in ready:
                self._obey()

    def _tree(self) -> set[int]:
        """What lives of the tree."""
        return {*tree.descendants(os.getpid()), *cgroups.members(self._cgroup)}

    def _obey(self) -> None:
        """Do what the worker says; when it is gone, end everything."""
        try:
            words = self._reins.recv(64)
        except OSError:
            words = b""
        self._held = bool(words)
        if not words or b"k" in words:
            self._killing = True
        elif b"t" in words:
            tree.tell(self._tree(), signal.SIGTERM)

    def _reap(self) -> None:
        """Take leave of children that ended; of the turn's own process, tell how."""
        for pid, status in ended():
            if pid == self._child:
                self._over = True
                others = self._tree()
                self.say(over=os.waitstatus_to_exitcode(status), left=len(others))
                if others:
                    tree.tell(others, signal.SIGTERM)
                    self._kill_at = time.monotonic() + LEFTOVERS
