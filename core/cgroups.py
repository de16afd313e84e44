"""Control groups: where the host allows, each turn apart and each command has one, which holds all that it starts.

Its folder lies below the group of its maker, and is named after that one, so that what a dead one left is known:

    <group of the maker>/sayso-<pid namespace>-<pid>-<start in ticks>-<number>

A group is one more proof beside the tree, the mark and the keeper (`tree.py`): it also holds what left its session,
cleared its environment and lost every parent. Where none can be made (no unified hierarchy, no right to write, Linux
before 5.14) a path is "" and all of this does nothing. It touches no group of another name.
Source: cgroups(7), the kernel's cgroup-v2 page (`cgroup.kill`, `cgroup.events`, delegation).
"""

from __future__ import annotations

import os
import re
from contextlib import suppress
from functools import cache
from itertools import count
from pathlib import Path

from core import tree

NAMED = re.compile(r"sayso-(\d*)-(\d+)-(\d+)-\d+")
BY_GROUP = "by control groups, and by the processes that keep them"
BY_KEEPER = "by the processes that keep them; there is no control group that could be used here"
_numbers = count(1)


def words() -> str:
    """Say how processes are found and ended here, for operators."""
    return BY_KEEPER if home() is None else BY_GROUP


def home() -> Path | None:
    """The group of this process, if it may make groups below it; found out once, by making one."""
    return _home(os.getpid())


def name() -> str:
    """A path that no group has had yet; "" where none can be made."""
    above = home()
    return "" if above is None else str(above / _fresh(os.getpid()))


def make(path: str) -> str:
    """Make a group; returns its path, or "" when that failed."""
    try:
        if path:
            Path(path).mkdir()
    except OSError:
        return ""
    return path


def enter(path: str) -> None:
    """Put this process into a group, with all that it starts from now on."""
    _write(path, "cgroup.procs", "0")


def kill(path: str) -> None:
    """Kill all that a group holds, and the groups below it."""
    _write(path, "cgroup.kill", "1")


def members(path: str) -> list[int]:
    """List the processes that a group holds, and the groups below it; not those that cannot be seen from here."""
    found: list[str] = []
    for folder, _, _ in os.walk(path) if _is_ours(path) else ():
        with suppress(OSError):
            found += (Path(folder) / "cgroup.procs").read_text("ascii").split()
    return [int(one) for one in found if one != "0"]


def occupied(path: str) -> bool:
    """Tell whether anything lives in a group, or in one below it; nothing does in one that is gone."""
    try:
        return _is_ours(path) and "populated 1" in (Path(path) / "cgroup.events").read_text("ascii")
    except OSError:
        return False


def remove(path: str) -> None:
    """Take a group away, with those below it, if nothing lives there."""
    for folder, _, _ in os.walk(path, topdown=False) if _is_ours(path) else ():
        with suppress(OSError):
            Path(folder).rmdir()


def orphans() -> list[str]:
    """List the groups beside this process's own ones whose maker is gone."""
    above = home()
    if above is None:
        return []
    with suppress(OSError):
        return [str(one) for one in above.iterdir() if _is_orphan(one.name)]
    return []


def _is_orphan(name: str) -> bool:
    found = NAMED.fullmatch(name)
    if found is None or found[1] != _namespace():
        return False
    line = tree.stat(int(found[2]))
    return line is None or line.state in tree.DEAD or line.ticks != int(found[3])


def _is_ours(path: str) -> bool:
    return NAMED.fullmatch(path.rpartition("/")[2]) is not None


def _write(path: str, file: str, text: str) -> None:
    with suppress(OSError):
        if _is_ours(path):
            (Path(path) / file).write_text(text, "ascii")


@cache
def _home(pid: int) -> Path | None:
    """By process: a fork may live in another group."""
    own = _own()
    if own is None:
        return None
    trial = own / _fresh(pid)
    try:
        trial.mkdir()
    except OSError:
        return None
    try:
        takes = os.access(own / "cgroup.procs", os.W_OK) and os.access(trial / "cgroup.kill", os.W_OK)
        return own if takes and (trial / "cgroup.type").read_text("ascii").strip() == "domain" else None
    except OSError:
        return None
    finally:
        with suppress(OSError):
            trial.rmdir()


def _fresh(pid: int) -> str:
    line = tree.stat(pid)
    return f"sayso-{_namespace()}-{pid}-{line.ticks if line is not None else 0}-{next(_numbers)}"


def _namespace() -> str:
    return "".join(letter for letter in tree.namespace() if letter.isdigit())


def _own() -> Path | None:
    """The folder of this process's group, wherever the unified hierarchy is mounted."""
    try:
        groups = (tree.PROC / "self/cgroup").read_text("utf-8").splitlines()
        mounts = (tree.PROC / "self/mountinfo").read_text("utf-8").splitlines()
    except OSError:
        return None
    mine = next((line[3:] for line in groups if line.startswith("0::")), None)
    for line in mounts:
        before, _, after = line.partition(" - ")
        if mine is None or not after.startswith("cgroup2 "):
            continue
        root, point = before.split()[3:5]
        if root == "/" or f"{mine}/".startswith(f"{root}/"):
            return Path(point) / mine.removeprefix("" if root == "/" else root).lstrip("/")
    return None
