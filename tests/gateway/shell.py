"""`sayso` as a person runs it: processes of their own, in an empty folder."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import AsyncGenerator
from pathlib import Path

from tests import forked
from tests.forked import Forked
from tests.house.sources import ROOT

OURS = ("SAYSO_", "REDIS_", "DISPLAY")
BASE = {name: value for name, value in os.environ.items() if not name.startswith(OURS)}  # noqa: TID251  # for children
LIMIT = 30.0


class Shell:
    """Runs `sayso` in an empty folder with a data folder of its own. logged: what ended processes said on stderr."""

    def __init__(self, folder: Path, **env: str) -> None:
        self.folder = folder
        self.logged = ""
        self.env = {
            **BASE,
            "PYTHONPATH": str(ROOT),
            "HOME": str(folder),
            "SAYSO_DATA_DIR": str(folder / "data"),
            "SAYSO_PORT": "0",
            "SAYSO_AGENT": "tests.adapters.web.scripted:scripted",
            "SAYSO_HOT_WINDOW": "0.1",
            **env,
        }

    async def start(self, *words: str) -> Forked:
        """Start `sayso` with these words."""
        return await forked.start("gateway", *words, env=self.env, cwd=self.folder, err=forked.PIPE)

    async def run(self, *words: str) -> tuple[int, str, str]:
        """Run to the end: exit status, what it printed, what it said on standard error."""
        process = await self.start(*words)
        async with asyncio.timeout(LIMIT):
            out, err = await process.communicate()
        return process.returncode or 0, out.decode(), err.decode()

    @contextlib.asynccontextmanager
    async def running(self, *words: str, until: str) -> AsyncGenerator[tuple[Forked, str]]:
        """Run until the block ends; gives the process and what it printed up to the line that holds `until`."""
        process = await self.start(*words)
        errors = asyncio.create_task(process.stderr.read())
        printed = ""
        try:
            async with asyncio.timeout(LIMIT):
                while until not in printed:
                    line = await process.stdout.readline()
                    assert line, (await errors).decode()
                    printed += line.decode()
            yield process, printed
        finally:
            process.send_signal(signal.SIGINT)
            async with asyncio.timeout(LIMIT):
                await asyncio.gather(process.wait(), errors, process.stdout.read())
            self.logged += (await errors).decode()


def address(printed: str) -> str:
    """The first address in what was printed."""
    return next(word for word in printed.split() if word.startswith("http://")).partition("/login")[0]


def children(pid: int, word: str = "") -> list[int]:
    """The Python processes that a process started; word: one of its command."""
    found: list[int] = []

    def words_of(one: Path) -> set[bytes]:
        return {b"", *(one / "cmdline").read_bytes().split(b"\0")}

    for one in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            fields = (one / "stat").read_text("utf-8").rpartition(")")[2].split()
            if int(fields[1]) == pid and {b"gateway", word.encode()} <= words_of(one):
                found.append(int(one.name))
    assert found
    return found
