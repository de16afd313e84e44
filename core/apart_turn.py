"""The turn's side of a turn that runs apart: it waits for its word, works as any turn does, and says how it ended.

It has a connection to Redis of its own and no feed: the worker passes hints on. When the worker is gone, it ends at
once. This file must not know how agents are found or settings are read.
"""

from __future__ import annotations

import asyncio
import json
import os
import socket
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager

from core.agent import Agent
from core.broker import Broker
from core.files import FileStore
from core.job import Job
from core.life.result import Delivered
from core.model import Json
from core.pace import Pace


async def work_apart(
    order: dict[str, Json],
    talk: socket.socket,
    opened: Callable[[str], AbstractAsyncContextManager[Broker]],
    agents: Callable[[str], Agent],
    files: FileStore | None,
    pace: Pace,
) -> None:
    """Run the turn that an order names. opened: makes a broker without feeds on the Redis at an address."""
    talk.setblocking(False)
    hear, say = await asyncio.open_unix_connection(sock=talk)

    def tell(words: dict[str, Json]) -> None:
        say.write(json.dumps(words).encode() + b"\n")

    begun = asyncio.Event()
    async with opened(str(order["url"])) as broker:
        job = Job(
            broker,
            Delivered(run=str(order["run"]), fence=int(str(order["fence"])), halt=int(str(order["halt"]))),
            str(order["worker"]),
            agents=agents,
            files=files,
            pace=pace,
            valid=lambda: True,
            held=lambda change: tell({"held": change}),
            proves=False,
        )
        obeying = asyncio.create_task(_obey(hear, job, broker, begun), name="obey")
        await begun.wait()
        await job.work()
        tell({"how": job.how, "tally": broker.committer.told().model_dump()})
        await say.drain()
        obeying.cancel()


async def _obey(hear: asyncio.StreamReader, job: Job, broker: Broker, begun: asyncio.Event) -> None:
    """Do what the worker says; a worker that is gone takes this process with it."""
    async for line in hear:
        words = json.loads(line)
        if "begin" in words:
            begun.set()
        elif "stop" in words:
            job.stop(words["stop"])
        elif "lose" in words:
            job.lose()
        elif "let_go" in words:
            job.let_go()
        elif "hint" in words:
            broker.hinted(str(words["hint"]))
    os._exit(1)
