"""Control groups: what a dead worker left in one is ended by whoever lives on its host."""

import asyncio
import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from core import cgroups, remains, tree
from core.broker import open_broker
from core.pace import Pace
from core.reaper import Reaper
from tests.house.sources import ROOT
from tests.waiting import wait_until

MAKER = """
import os, sys, time
from core import cgroups
made = cgroups.make(cgroups.name())
if os.fork() == 0:
    cgroups.enter(made)
    os.setsid()
    if os.fork() == 0:
        print(made, os.getpid(), flush=True)
        os.closerange(0, 3)
        time.sleep(600)
    os._exit(0)
os.wait()
sys.stdin.read()
"""
"""A worker that has a group, and in it something without parent and session, and that ends with its input."""
LOOK = Pace(look=0.05)


def existing() -> set[str]:
    """The groups that there are."""
    above = cgroups.home()
    return {str(one) for one in above.iterdir()} if above is not None else set()


@pytest.mark.skipif(cgroups.home() is None, reason="this is about a control group, and none can be made here")
async def test_what_a_dead_worker_left_in_a_group_is_killed_and_the_group_goes(redis_url: str) -> None:
    """Not while its maker lives; nothing else names it, its run may be deleted."""
    maker = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", MAKER), cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert maker.stdout is not None
    group, pid = (await maker.stdout.readline()).decode().split()
    assert cgroups.members(group) == [int(pid)]
    assert group not in cgroups.orphans()
    await maker.communicate(b"")
    async with open_broker(redis_url, block=0.2) as broker, Reaper(broker, pace=LOOK):
        await wait_until(lambda: group not in existing())
    assert int(pid) not in {one for one, _ in tree.living()}


@pytest.mark.skipif(cgroups.home() is None, reason="this is about a control group, and none can be made here")
async def test_whose_a_group_is_is_told_by_all_of_its_name() -> None:
    """A number that another process has now is no maker; of one in another pid namespace nothing is known from here."""
    above, gone = cgroups.home(), await asyncio.create_subprocess_exec("true")
    await gone.wait()
    assert above is not None
    here = "".join(letter for letter in tree.namespace() if letter.isdigit())
    foreign, reused = above / f"sayso-1-{gone.pid}-1-{os.getpid()}", above / f"sayso-{here}-{os.getpid()}-1-1"

    def found() -> bool:
        reused.mkdir(exist_ok=True)  # whoever else lives here takes it away
        return str(reused) in cgroups.orphans()

    try:
        foreign.mkdir()
        await wait_until(found)
        assert str(foreign) not in cgroups.orphans()
    finally:
        for one in (foreign, reused):
            with suppress(OSError):
                one.rmdir()


async def test_a_keeper_that_is_stopped_again_and_again_is_killed() -> None:
    """Twice it is woken."""
    keeper = await asyncio.create_subprocess_exec("sleep", "600")
    waking = asyncio.create_task(remains.keep_awake(keeper.pid, 0.05))

    def over() -> bool:
        if keeper.returncode is None:
            with suppress(ProcessLookupError):  # it is gone, and its exit was not told yet
                os.kill(keeper.pid, signal.SIGSTOP)
        return keeper.returncode is not None

    await wait_until(over)
    waking.cancel()
    assert keeper.returncode == -signal.SIGKILL


def test_no_group_of_another_name_is_touched(tmp_path: Path) -> None:
    """A path comes from Redis; what stands there may be anything."""
    (tmp_path / "cgroup.kill").write_text("")
    cgroups.kill(str(tmp_path))
    cgroups.remove(str(tmp_path))
    assert (tmp_path / "cgroup.kill").read_text() == ""
    assert not cgroups.members(str(tmp_path))
    assert not cgroups.occupied("")
