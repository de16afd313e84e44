"""Keepers and their template: what they keep ends, however they end, also without a control group that names it."""

import asyncio
import json
import os
import signal
import socket
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from core import cgroups, remains, tree
from core.agent import Run
from core.broker import open_broker
from core.lease import Lease
from core.model import Person, Turn
from core.model import Run as Record
from core.pace import Pace
from core.template import Template
from core.worker import Worker
from tests.gateway.shell import BASE
from tests.house.sources import ROOT
from tests.waiting import wait_until
from tests.workshop import ANN, Workshop


class Kept:
    """A turn that hides something. code: names its process and its keeper; hidden: the id of what it hides."""

    def __init__(self, reins: socket.socket, talk: socket.socket, code: tree.Code, hidden: int) -> None:
        self.reins = reins
        self.talk = talk
        self.code = code
        self.hidden = hidden

    def alive(self) -> set[int]:
        """What lives of it, the keeper too."""
        return {self.code.keeper, self.code.pid, self.hidden} & {pid for pid, _ in tree.living()}


def template(folder: Path) -> Template:
    """A template whose turns hide something."""
    command = (sys.executable, "-m", "tests.core.hiding", str(folder))
    return Template(command, environment={**BASE, "PYTHONPATH": str(ROOT)})


async def hidden(folder: Path) -> int:
    """The process that was hidden, once it is."""
    here = folder / "here"
    await wait_until(lambda: here.exists() and here.read_text("utf-8"))
    return int(here.read_text("utf-8"))


@asynccontextmanager
async def kept(folder: Path) -> AsyncGenerator[Kept]:
    """Have a template make a turn, and let it hide something; nothing of it outlives the test."""
    async with template(folder) as made:
        reins, talk = await made.order({"mark": "hiding:1"})
        with reins, talk:
            line = await asyncio.get_running_loop().sock_recv(reins, 65_536)
            code = tree.parsed(str(json.loads(line)["code"]))
            assert code is not None
            it = Kept(reins, talk, code, await hidden(folder))
            try:
                yield it
            finally:
                tree.tell(it.alive(), signal.SIGKILL)


async def test_a_keeper_whose_worker_is_gone_kills_what_it_keeps_and_ends(tmp_path: Path) -> None:
    """Nobody may be left who would look for it: what hides hangs on the keeper only."""
    async with kept(tmp_path) as it:
        it.reins.close()
        await wait_until(lambda: not it.alive())


async def test_what_hides_from_all_but_its_keeper_is_killed_by_the_template_when_the_keeper_is(tmp_path: Path) -> None:
    async with kept(tmp_path) as it:
        os.kill(it.code.keeper, signal.SIGKILL)
        await wait_until(lambda: not it.alive())


async def test_a_keeper_that_was_stopped_does_not_outlive_what_it_kept(tmp_path: Path) -> None:
    """Whoever ends a tree by its name leaves nothing of it, nobody might ever wake the keeper."""
    async with kept(tmp_path) as it:
        os.kill(it.code.keeper, signal.SIGSTOP)
        turn = Turn(worker="w", fence=1, since_ms=0, code=str(it.code))
        run = Record(
            id="hiding",
            root="hiding",
            conversation="c",
            origin="chat-1",
            agent="it",
            starter=Person(id="web:ann"),
            state="stopping",
            created_ms=0,
            changed_ms=0,
            turn=turn,
        )
        assert await remains.end(run)
        await wait_until(lambda: not it.alive())


@pytest.mark.skipif(cgroups.home() is None, reason="no control group can be made here, and nothing else names it")
async def test_a_turn_whose_keeper_is_killed_while_it_stops_is_canceled_when_nothing_of_it_lives(
    redis_url: str, tmp_path: Path
) -> None:
    """Nobody is left who says so; its worker looks by itself first. The template was stopped, so it ends nothing."""

    async def body(run: Run, message: str) -> None:
        raise NotImplementedError

    patient = Pace(hot=0.0, look=0.05, ready=0.05, cooperative=60.0, grace=0.2)
    async with (
        open_broker(redis_url, block=0.2) as broker,
        template(tmp_path) as made,
        Lease(broker, "worker", prefixes=("chat-",)) as held,
    ):
        shop = Workshop(broker)
        shop.hire("it", body)
        async with Worker(broker, held, shop.find, pace=patient, apart={"it": True}, template=made):
            run = await shop.say()
            pid = await hidden(tmp_path)
            turn = (await shop.record(run)).turn
            code = tree.parsed(turn.code) if turn is not None else None
            keeper = tree.stat(code.keeper) if code is not None else None
            assert code is not None
            assert keeper is not None
            await broker.cancel(run, ANN)
            await wait_until((tmp_path / "told").exists)
            os.kill(keeper.parent, signal.SIGSTOP)
            os.kill(code.keeper, signal.SIGKILL)
            await shop.until(run, "canceled")
            assert not {pid, code.pid} & {one for one, _ in tree.living()}
