"""Keepers and their template by themselves, without worker and control group: what they keep ends, however they end."""

import asyncio
import json
import os
import signal
import socket
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from core import remains, tree
from core.model import Person, Run, Turn
from core.template import Template
from tests.gateway.shell import BASE
from tests.house.sources import ROOT
from tests.waiting import wait_until


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


@asynccontextmanager
async def kept(folder: Path) -> AsyncGenerator[Kept]:
    """Have a template make a turn, and let it hide something; nothing of it outlives the test."""
    here = folder / "here"
    env = {**BASE, "PYTHONPATH": str(ROOT)}
    async with Template((sys.executable, "-m", "tests.core.hiding"), environment=env) as template:
        reins, talk = await template.order({"mark": "hiding:1", "here": str(here)})
        with reins, talk:
            line = await asyncio.get_running_loop().sock_recv(reins, 65_536)
            code = tree.parsed(str(json.loads(line)["code"]))
            assert code is not None
            await wait_until(lambda: here.exists() and here.read_text("utf-8"))
            made = Kept(reins, talk, code, int(here.read_text("utf-8")))
            try:
                yield made
            finally:
                tree.tell(made.alive(), signal.SIGKILL)


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
        run = Run(
            **{"id": "hiding", "root": "hiding", "conversation": "c", "origin": "chat-1", "agent": "it"},
            starter=Person(id="web:ann"),
            state="stopping",
            created_ms=0,
            changed_ms=0,
            turn=turn,
        )
        assert await remains.end(run)
        await wait_until(lambda: not it.alive())
