"""A command under a keeper, as a program: the keeper stays, the command takes the place of the process that it forked.

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


def become(argv: list[str], talk: socket.socket) -> None:
    """Be the command; its words go where standard output and error lead."""
    talk.close()
    try:
        os.execvp(argv[0], argv)  # a list of words, no shell
    except OSError as error:
        sys.stderr.write(f"{argv[0]}: {error.strerror}\n")
        sys.stderr.flush()
        os._exit(MISSING)


def main() -> None:
    """Run what the command line says: the number of the reins, the mark, the group, the command."""
    nothing, talk = socket.socketpair()
    nothing.close()
    reins, mark, cgroup, *argv = sys.argv[1:]
    keeper.keep(socket.socket(fileno=int(reins)), talk, mark, partial(become, argv), cgroup=cgroup)


def line(reins: int, mark: str, cgroup: str, argv: Sequence[str]) -> tuple[str, ...]:
    """The command line that runs a command under a keeper. cgroup: a path of a group to be made for it, or ""."""
    root = str(Path(__file__).resolve().parent.parent)
    code = f"import sys; sys.path.insert(0, {root!r}); from core.kept import main; main()"
    return (sys.executable, "-I", "-c", code, str(reins), mark, cgroup, *argv)
