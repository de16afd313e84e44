"""Commands of a run: done once, their output kept, and ended with all that they started."""

import os
import signal
import sys
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from core import cgroups
from core.agent import CommandFailed, Run
from core.broker import open_broker
from core.pace import Pace
from core.tree import living, stat
from tests.waiting import wait_until
from tests.workshop import ANN, QUICK, Workshop

FAMILY = """
import os, pathlib, signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
if os.fork() == 0:
    os.setsid()
    if os.fork():
        os._exit(0)
with open(sys.argv[1], "a") as out:
    out.write(f"{os.getpid()}\\n")
time.sleep(600)
"""
"""Two processes that do not want to end, one of them in a session of its own and without a parent."""


@pytest.fixture
async def shop(redis_url: str) -> AsyncGenerator[Workshop]:
    """A broker, and no worker yet."""
    async with open_broker(redis_url, block=0.2) as broker:
        yield Workshop(broker)


async def test_a_command_runs_once_and_its_output_is_kept(shop: Workshop, tmp_path: Path) -> None:
    async def body(run: Run, message: str) -> str:
        code = f"open({str(tmp_path / 'log')!r}, 'a').write('ran\\n'); print('hello', end='')"
        exited = await run.command(sys.executable, "-c", code, cwd=tmp_path)
        who = await run.ask("Who?")
        return f"{exited.output} {who} {exited.status}"

    shop.hire("it", body)
    async with shop.worker():
        run = await shop.say()
        await shop.answer(await shop.question(), "Bob")
        await shop.until(run, "completed")
    assert (tmp_path / "log").read_text("utf-8") == "ran\n"
    assert (await shop.said_by_agent(run))[-1] == "hello Bob 0"


async def test_a_command_that_fails_says_how(shop: Workshop) -> None:
    caught: list[str] = []

    async def body(run: Run, message: str) -> str:
        for argv in ((sys.executable, "-c", "import sys; sys.exit('no such branch')"), ("no-such-command-here",)):
            try:
                await run.command(*argv)
            except CommandFailed as failed:
                caught.append(str(failed))
        return "done"

    shop.hire("it", body)
    async with shop.worker():
        await shop.until(await shop.say(), "completed")
    assert "status 1: no such branch" in caught[0]
    assert "status 127: no-such-command-here: No such file" in caught[1]


async def test_long_output_is_cut_visibly_in_the_middle(shop: Workshop) -> None:
    seen: list[str] = []

    async def body(run: Run, message: str) -> str:
        code = "print('begin' + 'x' * 1_000_000 + 'end', end='')"
        seen.append((await run.command(sys.executable, "-c", code)).output)
        return "done"

    shop.hire("it", body)
    async with shop.worker():
        await shop.until(await shop.say(), "completed")
    assert len(seen[0]) < 33_000
    assert seen[0].startswith("begin")
    assert seen[0].endswith("end")
    assert "bytes elided" in seen[0]


async def test_a_cancel_ends_a_command_with_all_that_it_started_before_the_run_is_canceled(
    shop: Workshop, tmp_path: Path
) -> None:
    here = tmp_path / "here"

    async def body(run: Run, message: str) -> str:
        await run.command(sys.executable, "-c", FAMILY, str(here))
        return "done"

    def pids() -> set[int]:
        return {int(line) for line in here.read_text("utf-8").splitlines()} if here.exists() else set()

    shop.hire("it", body)
    async with shop.worker(Pace(hot=0.0, look=0.05, ready=0.05, cooperative=30.0, terminate=0.2, grace=0.2)):
        run = await shop.say()
        await wait_until(lambda: len(pids()) == 2, timeout=20)
        os.kill(await keeper_of(pids()), signal.SIGSTOP)  # it is woken
        await shop.broker.cancel(run, ANN)
        canceled = await shop.until(run, "canceled", timeout=20)
        assert not pids() & {pid for pid, _ in living()}
        assert canceled.ended_by == "killed"


@pytest.mark.parametrize("killed", [("keeper",), ("above", "keeper")])
async def test_a_command_whose_keeper_is_killed_ends_with_all_that_it_started(
    killed: tuple[str, ...], shop: Workshop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also what left its session and has no parent any more; there is no control group.

    Without the keeper it is found although it cleared its environment; without the one above, too, it is not.
    """
    monkeypatch.setattr(cgroups, "name", str)
    here = tmp_path / "here"
    environment = dict[str, str]() if killed == ("keeper",) else None

    async def body(run: Run, message: str) -> str:
        await run.command(sys.executable, "-c", FAMILY, str(here), environment=environment)
        return "done"

    def pids() -> set[int]:
        return {int(line) for line in here.read_text("utf-8").splitlines()} if here.exists() else set()

    shop.hire("it", body)
    async with shop.worker():
        run = await shop.say()
        await wait_until(lambda: len(pids()) == 2, timeout=20)
        keeper = await keeper_of(pids())
        line = stat(keeper)
        assert line is not None
        for who in killed:
            os.kill({"above": line.parent, "keeper": keeper}[who], signal.SIGKILL)
        paused = await shop.until(run, "paused", timeout=20)
        assert "ended with status -9" in (paused.error or "")
        assert not pids() & {pid for pid, _ in living()}


async def keeper_of(pids: set[int]) -> int:
    """The process on which a command hangs, and its orphans, once they are that."""

    def parents() -> set[int]:
        return {line.parent for pid in pids if (line := stat(pid)) is not None}

    await wait_until(lambda: len(parents()) == 1)
    return parents().pop()


async def test_a_command_that_takes_too_long_is_ended(shop: Workshop, tmp_path: Path) -> None:
    here = tmp_path / "here"
    caught: list[str] = []

    async def body(run: Run, message: str) -> str:
        try:
            await run.command(sys.executable, "-c", FAMILY, str(here), timeout=1.0)
        except Exception as error:  # noqa: BLE001  # whatever it is, it is looked at
            caught.append(type(error).__name__)
        return "done"

    shop.hire("it", body)
    async with shop.worker(Pace(hot=0.0, look=0.05, ready=0.05, cooperative=0.3, terminate=0.2, grace=QUICK.grace)):
        await shop.until(await shop.say(), "completed", timeout=20)
    assert caught == ["StepFailed"]
    left = {int(line) for line in here.read_text("utf-8").splitlines()} if here.exists() else set[int]()
    assert not left & {pid for pid, _ in living()}
