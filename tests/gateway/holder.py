"""A process that holds the private store of a folder, for tests that start several and kill some.

    python -m tests.gateway.holder FOLDER [BINARY]

It says `ready URL` when it holds the store, begins to write at `write`, says `acked N` at each `count` (how many of its
writes the store has acknowledged), and leaves in order at `leave` or when its input ends.
"""

import asyncio
import contextlib
import sys
from pathlib import Path

from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import ConstantBackoff
from redis.exceptions import RedisError

from gateway.embedded import EmbeddedRedis
from gateway.server_binary import Candidate


class Holder:
    """One holder; `acked` counts the writes that the store has acknowledged."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.acked = 0
        self.leaving = False

    async def write(self, socket: str) -> None:
        """Count up one key for ever, through whatever happens to the store."""
        async with Redis(unix_socket_path=socket, protocol=2, retry=Retry(ConstantBackoff(0.02), 1)) as client:
            while not self.leaving:
                with contextlib.suppress(RedisError, OSError):
                    await client.incr(f"count:{self.name}")
                    self.acked += 1


async def hold(folder: Path, binary: str | None) -> None:
    """Hold the store until told to leave."""
    holder = Holder(str(id(folder)))
    candidates = (Candidate(Path(binary), "machine"),) if binary else None
    async with EmbeddedRedis(folder, "everysec", candidates) as store, asyncio.TaskGroup() as tasks:
        say(f"ready {store.url}")
        while (order := (await asyncio.to_thread(sys.stdin.readline)).strip()) not in {"leave", ""}:
            if order == "write":
                tasks.create_task(holder.write(store.url.removeprefix("unix://")))
            elif order == "count":
                say(f"acked {holder.acked}")
        holder.leaving = True
    say("left")


def say(line: str) -> None:
    """Tell the test one line."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    asyncio.run(hold(Path(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else None))
