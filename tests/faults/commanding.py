"""A worker process whose agent runs a command that clears its environment: `python -m tests.faults.commanding URL`.

It makes no control group, and says a line "ready" when it works.
"""

import asyncio
import sys

from core import cgroups
from core.agent import Run, agent
from core.broker import open_broker
from core.lease import Lease
from core.pace import Pace
from core.worker import Worker


@agent("it")
async def it(run: Run, message: str) -> str:
    """Run a command that goes on."""
    await run.command("sleep", "600", environment={})
    return "done"


async def work(url: str) -> None:
    """Work until somebody ends it."""
    setattr(cgroups, "name", str)  # noqa: B010  # as where none can be made
    async with (
        open_broker(url, block=0.2) as broker,
        Lease(broker, "worker", span=1.0, prefixes=("chat-",)) as lease,
        Worker(broker, lease, lambda _: it, pace=Pace(hot=0.0, look=0.1, ready=0.1)),
    ):
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(work(sys.argv[1]))
