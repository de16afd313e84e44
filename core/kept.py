"""A command under a keeper, and that one under a guard, as a program: both stay, the command takes the place of a fork.

It is started by `line`, from any folder and without a look at what stands there.
"""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from core import keeper

MISSING = 127
"""exit status of a command that cannot be run, as shells have it"""


BEGIN = b"b"
"""the word at which a command begins, on the line `talk`; without it there is none"""


def become(argv: list[str], talk: socket.socket) -> None:
    """Be the command, when its worker says so; its words go where standard output and error lead."""
    if talk.recv(1) != BEGIN:
        os._exit(MISSING)
    talk.close()
    try:
        os.execvp(argv[0], argv)  # a list of words, no shell
    except OSError as error:
        sys.stderr.write(f"{argv[0]}: {error.strerror}\n")
        sys.stderr.flush()
        os._exit(MISSING)


def main() -> None:
    """Run what the command line says: the numbers of both lines, the mark, the group, the command."""
    reins, talk = (socket.socket(fileno=int(number)) for number in sys.argv[1:3])
    mark, cgroup, *argv = sys.argv[3:]
    kept = partial(keeper.keep, reins, talk, mark, partial(become, argv), cgroup=cgroup)
    keeper.guard(reins, talk, kept, cgroup)


def line(reins: int, talk: int, mark: str, cgroup: str, argv: Sequence[str]) -> tuple[str, ...]:
    """The command line that runs a command under a keeper. cgroup: a path of a group to be made for it, or ""."""
    root = str(Path(__file__).resolve().parent.parent)
    code = f"import sys; sys.path.insert(0, {root!r}); from core.kept import main; main()"
    return (sys.executable, "-I", "-c", code, str(reins), str(talk), mark, cgroup, *argv)
