"""What is left alive of turns that ran apart from their worker, when that worker can no longer say so; and its end.

Used by whoever settles for a worker that is lost, and by whoever helps one that does not get a turn to end.
"""

from __future__ import annotations

import asyncio
import signal

from core import tree
from core.life.run import turns_of
from core.model import Run

LOOKS = 50
LOOK = 0.02
"""how often, and how many seconds apart, to look whether what was killed is gone"""


def leftovers(run: Run, worker: str | None = None) -> list[int] | None:
    """List what lives of a run's turns that ran apart. worker: only of its turns.

    None: some of them cannot be looked at from here.
    """
    found: list[int] = []
    for turn in turns_of(run):
        if not turn.code or worker not in (None, turn.worker):
            continue
        code = tree.parsed(turn.code)
        left = tree.left(code) if code is not None else None
        if left is None:
            return None
        found += left
    return found


async def end(run: Run, worker: str | None = None) -> bool:
    """Kill what lives of a run's turns that ran apart; tells whether nothing is left of them."""
    for _ in range(LOOKS):
        left = leftovers(run, worker)
        if not left:
            return left is not None
        tree.tell(left, signal.SIGKILL)
        await asyncio.sleep(LOOK)
    return False
