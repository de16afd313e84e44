"""Commands of a worker that is killed, and with it some of what keeps them: `canceled` only when nothing lives."""

import os
import signal

import pytest

from core import tree
from core.broker import open_broker
from core.sweeper import Sweeper
from core.tree import stat
from tests import forked
from tests.faults.commanding import it
from tests.waiting import wait_until
from tests.workshop import ANN, Workshop


def alive(*pids: int) -> set[int]:
    """Those that live."""
    return {pid for pid, _ in tree.living()} & set(pids)


@pytest.mark.parametrize(("keeper", "guard"), [("SIGSTOP", "SIGCONT"), ("SIGSTOP", "SIGSTOP"), ("SIGKILL", "SIGKILL")])
async def test_a_command_of_a_killed_worker_is_ended_whatever_befell_its_keepers(
    keeper: str, guard: str, redis_url: str
) -> None:
    """It carries no mark, and no control group names it. What kept it does not stay either."""
    async with open_broker(redis_url, block=0.2) as broker, Sweeper(broker, look=0.05, span=1.0):
        shop = Workshop(broker, {"it": it})
        worker = await forked.start("tests.faults.commanding", redis_url)
        assert await worker.stdout.readline() == b"ready\n"
        run = await shop.say()
        found: list[tree.Code] = []

        async def acts() -> bool:
            turn = (await shop.record(run)).turn
            found[:] = [code for text in (turn.commands if turn else ()) if (code := tree.parsed(text)) is not None]
            line = stat(found[0].pid) if found else None
            return line is not None and line.name == "sleep"

        await wait_until(acts, timeout=20)
        (code,) = found
        os.kill(code.above, signal.Signals[guard])
        os.kill(code.keeper, signal.Signals[keeper])
        worker.kill()
        await worker.wait()
        await broker.cancel(run, ANN)
        await shop.until(run, "canceled", timeout=20)
        assert not alive(code.pid)
        await wait_until(lambda: not alive(code.keeper, code.above))
