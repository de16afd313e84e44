"""What is left alive of turns that ran apart and of commands, when who kept them can no longer say so; and its end.

Used by whoever settles for a worker that is lost, by whoever helps one that does not get a turn to end, and by a worker
whose keeper was killed. Everything is looked for by all that is known of it: the tree, the mark, the control group.
"""

from __future__ import annotations

import asyncio
import logging
import signal
from collections.abc import Callable, Container
from functools import partial

from core import cgroups, tree
from core.life.run import turns_of
from core.model import Run, Turn

LOOKS = 50
LOOK = 0.02
"""how often, and how many seconds apart, to look whether what was killed is gone"""
WAKES = 2
"""how often a keeper that was stopped is woken, before it is killed"""
_log = logging.getLogger(__name__)


def leftovers(run: Run, worker: str | None = None) -> list[int] | None:
    """List what lives of a run's turns, and of their commands. worker: only of its turns.

    None: some of them cannot be looked at from here.
    """
    return _of_turns(run, _turns(run, worker))


async def end(run: Run, worker: str | None = None, marks: Container[str] | None = None) -> bool:
    """Kill what lives of a run's turns and of their commands; tells whether nothing is left of them.

    marks: all that are carried here, when that was looked at already, and nothing new can begin.
    """
    turns = [
        turn
        for turn in _turns(run, worker)
        if turn.code or turn.commands or marks is None or any(mark in marks for mark in _marks(run, turn))
    ]
    codes = [code for turn in turns for text in _codes(turn) if (code := tree.parsed(text)) is not None and code.here]
    if not await _ended(partial(_of_turns, run, turns), [code.cgroup for code in codes]):
        return False
    for code in codes:
        tree.tell(_keeping(code), signal.SIGKILL)  # it has nothing more to keep
    return True


async def end_tree(code: tree.Code) -> None:
    """Kill what lives of one tree, for as long as something does."""
    while not await _ended(partial(_of_tree, code), [code.cgroup]):
        _log.warning("process %d, or something that it started, does not end although it was killed", code.pid)


async def end_commands(run: Run, fence: int) -> None:
    """Kill what lives of the commands of a turn that has ended, for as long as something does."""
    for text in [text for turn in turns_of(run) if turn.fence == fence for text in turn.commands]:
        if (code := tree.parsed(text)) is not None:
            await end_tree(code)


async def end_group(cgroup: str) -> None:
    """Kill what a control group holds, for as long as it holds something; a path of none is a group that is empty."""
    while cgroups.occupied(cgroup):
        cgroups.kill(cgroup)
        await asyncio.sleep(LOOK)
    cgroups.remove(cgroup)


async def keep_awake(keeper: int, look: float) -> None:
    """Wake a keeper that somebody stopped, and that would never say how its turn ended; look: seconds.

    One that is stopped again and again is killed: what it kept is found without it.
    """
    born, stopped = tree.stat(keeper), 0
    while True:
        await asyncio.sleep(look)
        line = tree.stat(keeper)
        if line is None or born is None or line.ticks != born.ticks or line.state != "T":
            stopped = 0
            continue
        stopped += 1
        _log.warning("the keeper %d was stopped, and is %s", keeper, "woken" if stopped <= WAKES else "killed")
        tree.tell([keeper], signal.SIGCONT if stopped <= WAKES else signal.SIGKILL)


async def _ended(left: Callable[[], list[int] | None], groups: list[str]) -> bool:
    """Kill until nothing is left; False when that takes too long, or cannot be told."""
    for _ in range(LOOKS):
        for group in groups:
            cgroups.kill(group)
        alive = left()
        if alive is not None and not alive:
            alive = left()  # what got another parent between two lines of the first list stands in the second
        if alive is None:
            return False
        if not alive:
            for group in groups:
                cgroups.remove(group)
            return True
        tree.tell(alive, signal.SIGKILL)
        await asyncio.sleep(LOOK)
    return False


def _turns(run: Run, worker: str | None) -> list[Turn]:
    return [turn for turn in turns_of(run) if worker in (None, turn.worker)]


def _marks(run: Run, turn: Turn) -> set[str]:
    """What processes of a turn carry; the run may have moved since."""
    return {f"{id}:{turn.fence}" for id in (run.id, run.root, run.moved_from) if id is not None}


def _of_turns(run: Run, turns: list[Turn]) -> list[int] | None:
    found: list[int] = []
    for turn in turns:
        left = _of_turn(run, turn)
        if left is None:
            return None
        found += left
    return found


def _of_turn(run: Run, turn: Turn) -> list[int] | None:
    """What lives of a turn apart, and of commands; of one in its worker's process, which is not asked here, those."""
    carried = tree.marked() if not turn.code else {}
    found = [pid for mark in _marks(run, turn) for pid in carried.get(mark, ())]
    for text in _codes(turn):
        code = tree.parsed(text)
        left = _of_tree(code) if code is not None else None
        if left is None:
            return None
        found += left
    return found


def _codes(turn: Turn) -> tuple[str, ...]:
    return (turn.code, *turn.commands) if turn.code else turn.commands


def _keeping(code: tree.Code) -> list[int]:
    """The processes of ours that keep a tree: its keeper, and above that of a command its guard."""
    above = tree.stat(code.above) if code.above else None
    guards = above is not None and above.ticks == code.above_since and above.name == tree.GUARD
    return [*([code.keeper] if tree.keeps(code) else ()), *([code.above] if guards else ())]


def _of_tree(code: tree.Code) -> list[int] | None:
    found = tree.left(code)
    if not found and found is not None and code.here and not (found := cgroups.members(code.cgroup)):
        return None if cgroups.occupied(code.cgroup) else []  # somebody is there who cannot be seen from here
    return found
