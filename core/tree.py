"""Trees of operating system processes: how one is named for good, whether anything of it is left, how it is ended.

A code names the process that leads a turn, or a command: host, boot, pid namespace, pid, start in clock ticks, a mark
that all its descendants carry unless they start a program with another environment (`marking.py`), the keeper, on whom
they hang whatever they do, the process above that one, to whom they fall when it is killed, and, where there are such,
the control group that holds them (`cgroups.py`). The mark of a command begins with that of its turn. Nothing counts as
proof from another host or namespace. Reads `/proc`; where there is none (no Linux) only the process itself and its
group are known. This file knows no run and no Redis. Source: DESIGN section 4 (proof), proc(5).
"""

from __future__ import annotations

import os
import platform
import signal
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

PROC = Path("/proc")
MARK = "SAYSO_TURN"
"""Name of the environment variable that carries the mark."""
DEAD = ("Z", "X", "x", "")
KEEPER, GUARD, TEMPLATE, TURN = "sayso-keeper", "sayso-guard", "sayso-template", "sayso-turn"
"""What processes of ours are called (`marking.py`), as `ps` shows them."""


class Line(NamedTuple):
    """What `/proc/<pid>/stat` says of a process."""

    state: str
    parent: int
    group: int
    session: int
    ticks: int
    name: str


class Code(NamedTuple):
    """The name of the process that leads a turn, or a command.

    keeper, since: whose child it is, and that one's start in ticks. above, above_since: the same of the keeper's
    parent. cgroup: the folder of its control group, or "".
    """

    host: str
    boot: str
    namespace: str
    pid: int
    ticks: int
    mark: str
    keeper: int = 0
    since: int = 0
    above: int = 0
    above_since: int = 0
    cgroup: str = ""

    def __str__(self) -> str:
        return "|".join(str(part) for part in self)

    @property
    def here(self) -> bool:
        """Whether it can be looked at from this process: same host, same boot, same pid namespace."""
        return (self.host, self.boot, self.namespace) == (host(), boot(), namespace())


def code_of(pid: int, mark: str, cgroup: str = "") -> Code:
    """Name a child of this process."""
    keeper, above = os.getpid(), os.getppid()
    ticks, since, higher = (line.ticks if (line := stat(one)) is not None else 0 for one in (pid, keeper, above))
    return Code(host(), boot(), namespace(), pid, ticks, mark, keeper, since, above, higher, cgroup)


def parsed(text: str) -> Code | None:
    """Read a code back, also one of a release that named neither the keeper, the group nor who is above; else None."""
    parts = text.split("|", 10)
    numbers = (*parts[3:5], *parts[6:8], *parts[8:10]) if len(parts) == 11 else (*parts[3:5], *parts[6:8])
    if len(parts) not in (6, 8, 9, 11) or not all(one.isdigit() for one in numbers):
        return None
    pid, ticks, *keepers = (int(one) for one in numbers)
    group = parts[-1] if len(parts) in (9, 11) else ""
    return Code(parts[0], parts[1], parts[2], pid, ticks, parts[5], *keepers, cgroup=group)


def left(code: Code) -> list[int] | None:
    """List what is alive of a tree: the leader, its session and group, whoever carries the mark or hangs on the keeper,
    or fell to the process above, not the keeper itself.

    None: it cannot be told from here. A host that was booted anew has nothing of it.
    """
    if code.host != host():
        return None
    if code.boot != boot():
        return []
    if code.namespace != namespace():
        return None
    lines = living()
    hanging = {*(_under(code.keeper, lines) if keeps(code) else ()), *_fallen(code, lines)}
    leader = dict(lines).get(code.pid)
    reused = leader is not None and bool(code.ticks) and leader.ticks != code.ticks
    return [pid for pid, line in lines if pid in hanging or _belongs(pid, line, code, reused=reused)]


def keeps(code: Code) -> bool:
    """Tell whether the keeper of a tree lives; to be asked on its host only."""
    line = stat(code.keeper) if code.keeper else None
    return line is not None and line.state not in DEAD and line.ticks == code.since


def marked() -> dict[str, list[int]]:
    """List what is alive here and carries the mark of a turn, or of a command of it, by that of the turn."""
    found: dict[str, list[int]] = {}
    for pid, _ in living():
        if (mark := _mark(pid)) is not None:
            found.setdefault(":".join(mark.split(":")[:2]), []).append(pid)
    return found


def _fallen(code: Code, lines: list[tuple[int, Line]]) -> list[int]:
    """What hangs on the process above a keeper and on no keeper: its keeper was killed, this one or another."""
    above = dict(lines).get(code.above)
    if above is None or above.ticks != code.above_since or above.name not in (TEMPLATE, GUARD):
        return []
    ours = (KEEPER, above.name)  # one that was forked a moment ago has no name of its own yet
    fell = [pid for pid, one in lines if one.parent == code.above and one.name not in ours and one.ticks >= code.since]
    return [*fell, *(below for pid in fell for below in _under(pid, lines))]


def _belongs(pid: int, line: Line, code: Code, *, reused: bool) -> bool:
    """reused: the leader's number is another process's now, and so are the session and the group of that number."""
    if pid == code.pid:
        return not reused
    return (not reused and code.pid in (line.session, line.group)) or _carries(pid, code.mark)


def _carries(pid: int, mark: str) -> bool:
    return f"{_mark(pid)}:".startswith(f"{mark}:")


def _mark(pid: int) -> str | None:
    try:
        environment = (PROC / str(pid) / "environ").read_bytes()
    except OSError:
        return None
    found = next((one for one in environment.split(b"\0") if one.startswith(f"{MARK}=".encode())), None)
    return found.partition(b"=")[2].decode(errors="replace") if found is not None else None


def descendants(pid: int) -> list[int]:
    """List the living descendants of a process, children before theirs."""
    return _under(pid, living())


def children(pid: int) -> set[int]:
    """List the living children of a process."""
    return {other for other, line in living() if line.parent == pid}


def _under(pid: int, lines: list[tuple[int, Line]]) -> list[int]:
    children: dict[int, list[int]] = {}
    for other, line in lines:
        children.setdefault(line.parent, []).append(other)
    found: list[int] = []
    front = [pid]
    while front:
        front = [child for parent in front for child in children.get(parent, ())]
        found += front
    return found


def tell(pids: Iterable[int], number: signal.Signals) -> None:
    """Send a signal to processes; one that is gone is none the worse. A stopped one is woken to take a mild one."""
    for pid in pids:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)
            if number is not signal.SIGKILL:
                os.kill(pid, signal.SIGCONT)


def living() -> list[tuple[int, Line]]:
    """List the processes that are alive, with what is known of them."""
    try:
        names = [one.name for one in PROC.iterdir()]
    except OSError:
        return []
    found = ((int(name), stat(int(name))) for name in names if name.isdigit())
    return [(pid, line) for pid, line in found if line is not None and line.state not in DEAD]


def stat(pid: int) -> Line | None:
    """Read what is known of a process; None when there is none."""
    head, _, tail = _read(PROC / str(pid) / "stat").rpartition(")")
    fields = tail.split()
    if len(fields) < 20:
        return None
    return Line(fields[0], int(fields[1]), int(fields[2]), int(fields[3]), int(fields[19]), head.partition("(")[2])


def host() -> str:
    """Name this host."""
    return _read(Path("/etc/machine-id")) or platform.node()


def boot() -> str:
    """Name this host's life since it was booted."""
    return _read(PROC / "sys/kernel/random/boot_id")


def namespace() -> str:
    """Name this process's pid namespace."""
    try:
        return str((PROC / "self/ns/pid").readlink())
    except OSError:
        return ""


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):
        return ""
