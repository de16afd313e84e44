"""Turns in the worker's process that cannot be ended: the worker goes, the rest goes on, and the end has proof."""

import os
import signal
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from core.broker import open_broker
from core.life.draft import Spans
from core.life.result import Stopped
from core.tree import living
from tests.gateway.shell import Shell, children
from tests.proves import proves
from tests.waiting import wait_until
from tests.workshop import ANN, Workshop

QUICK = {
    "SAYSO_AGENT": "tests.faults.stubborn:blocking",
    "SAYSO_LEASE": "2",
    "SAYSO_SINGLETON_LEASE": "1",
    "SAYSO_INDEX_LOOK": "0.1",
    "SAYSO_STOP_COOPERATIVE": "0.2",
    "SAYSO_STOP_TERMINATE": "0.2",
    "SAYSO_STOP_KILL": "0.2",
    "SAYSO_STOP_HANDOVER": "1",
}
"""Everything that waits for a worker waits less."""


@asynccontextmanager
async def everything(redis_url: str, folder: Path) -> AsyncGenerator[tuple[Workshop, int]]:
    """All of Sayso as it is started by hand, and the worker's process id."""
    shell = Shell(folder, REDIS_URL=redis_url, **QUICK)
    async with (
        shell.running("up", "--no-open", until="Stop") as (up, _),
        open_broker(redis_url, block=0.2, spans=Spans(free_ms=60_000)) as broker,
    ):
        yield Workshop(broker), children(up.pid, "worker")[0]


def alive(pid: int) -> bool:
    """Whether a process lives."""
    return pid in {other for other, _ in living()}


async def said(folder: Path, name: str, count: int = 1) -> list[str]:
    """The lines of a file, once there are so many."""
    await wait_until(lambda: len(written(folder, name)) >= count, timeout=30)
    return written(folder, name)


def written(folder: Path, name: str) -> list[str]:
    """The lines of a file so far."""
    file = folder / name
    return file.read_text("utf-8").splitlines() if file.exists() else []


async def test_a_busy_loop_costs_its_worker_and_nothing_else(redis_url: str, tmp_path: Path) -> None:
    async with everything(redis_url, tmp_path) as (shop, worker):
        other = await shop.say(f"confirm {tmp_path}", to="blocking", origin="chat-other")
        await shop.until(other, "waiting", timeout=30)
        busy = await shop.say(f"busy {tmp_path}", to="blocking", origin="chat-busy")
        await said(tmp_path, "here", 2)
        await shop.broker.cancel(busy, ANN)
        ended = await shop.until(busy, "canceled", timeout=60)
        assert ended.ended_by == "process gone"
        assert not alive(worker)
        await shop.answer(await shop.question(), "Bob")
        await shop.until(other, "completed", timeout=60)
        assert (tmp_path / "target").read_text("utf-8") == "Bob\n"


@proves("C73", "process")
async def test_a_hanging_thread_is_fenced_at_once_and_its_worker_replaced(redis_url: str, tmp_path: Path) -> None:
    async with everything(redis_url, tmp_path) as (shop, worker):
        run = await shop.say(f"hang {tmp_path}", to="blocking")
        await wait_until(lambda: "on a thread" in written(tmp_path, "here"), timeout=30)
        told = await shop.broker.cancel(run, ANN)
        assert isinstance(told, Stopped)
        assert told.state == "canceling"
        following = await shop.say(f"short {tmp_path}", to="blocking")
        assert following != run
        await shop.until(following, "completed", timeout=60)
        ended = await shop.until(run, "canceled", timeout=60)
        assert ended.ended_by == "process gone"
        assert not alive(worker)
        assert await shop.said_by_agent(run) == ["done"], "the following one's; what the thread had is dropped"


async def test_a_worker_that_was_put_to_sleep_is_ended_for_a_cancel(redis_url: str, tmp_path: Path) -> None:
    async with everything(redis_url, tmp_path) as (shop, worker):
        run = await shop.say(f"cooperative {tmp_path}", to="blocking")
        await said(tmp_path, "here")
        os.kill(worker, signal.SIGSTOP)
        await shop.broker.cancel(run, ANN)
        ended = await shop.until(run, "canceled", timeout=60)
        assert ended.ended_by == "process gone"
        assert not alive(worker)
