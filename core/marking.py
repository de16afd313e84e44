"""What a process of ours does to itself so that it is found: it adopts, it has a name of its own, it bears a mark.

The kernel shows the environment of a process from its memory, where its program found it when that was started. A
program gets the mark with its environment. A process that is only forked has it written there, into the room that the
first of them was started with; so has all that it forks. Linux only; elsewhere nothing is done.
Source: prctl(2), proc(5).
"""

from __future__ import annotations

import ctypes
import sys
from contextlib import suppress
from typing import Final

from core import tree

ROOM: Final = "-" * 96
"""what a process that is forked is started with in place of a mark"""
SUBREAPER = 36
"""PR_SET_CHILD_SUBREAPER"""
FIRST = 47
"""the place of `env_start` behind the name in `/proc/<pid>/stat`"""


def adopt() -> None:
    """Become the parent of whatever a descendant of this process leaves behind, also in a session of its own."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(SUBREAPER, 1, 0, 0, 0)


def be_called(name: str) -> None:
    """Have this process called so from now on, and all that it forks until they say otherwise."""
    with suppress(OSError):
        (tree.PROC / "self/comm").write_text(name, "ascii")


def bear(mark: str) -> None:
    """Bear a mark in the environment that others see, as far as there is room for it."""
    room, text = f"{tree.MARK}={ROOM}".encode(), f"{tree.MARK}={mark}".encode()
    try:
        shown = (tree.PROC / "self/environ").read_bytes()
        begin = int((tree.PROC / "self/stat").read_text("utf-8").rpartition(")")[2].split()[FIRST])
    except (OSError, ValueError, IndexError):
        return
    at = begin + shown.find(room)
    if begin and room in shown and len(text) <= len(room) and ctypes.string_at(at, len(room)) == room:
        ctypes.memmove(at, text.ljust(len(room), b"\0"), len(room))
