"""The command line as people use it: processes of their own, a private store, a scripted agent."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import AsyncGenerator
from pathlib import Path

import httpx
import pytest

from tests.adapters.web.place import User
from tests.house.sources import ROOT

OURS = ("SAYSO_", "REDIS_", "DISPLAY")
BASE = {name: value for name, value in os.environ.items() if not name.startswith(OURS)}  # noqa: TID251  # for children
LIMIT = 30.0


class Shell:
    """Runs `sayso` in an empty folder with a data folder of its own."""

    def __init__(self, folder: Path, **env: str) -> None:
        self.folder = folder
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

    async def start(self, *words: str) -> asyncio.subprocess.Process:
        """Start `sayso` with these words."""
        return await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "gateway", *words),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            cwd=self.folder,
            env=self.env,
        )

    async def run(self, *words: str) -> tuple[int, str, str]:
        """Run to the end: exit status, what it printed, what it said on standard error."""
        process = await self.start(*words)
        async with asyncio.timeout(LIMIT):
            out, err = await process.communicate()
        return process.returncode or 0, out.decode(), err.decode()

    @contextlib.asynccontextmanager
    async def running(self, *words: str, until: str) -> AsyncGenerator[tuple[asyncio.subprocess.Process, str]]:
        """Run until the block ends; gives the process and what it printed up to the line that holds `until`."""
        process = await self.start(*words)
        assert process.stdout is not None
        assert process.stderr is not None
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
            if process.returncode is None:
                process.send_signal(signal.SIGINT)
            async with asyncio.timeout(LIMIT):
                await asyncio.gather(process.wait(), errors, process.stdout.read())


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    """A fresh machine."""
    return Shell(tmp_path)


def address(printed: str) -> str:
    """The first address in what was printed."""
    return next(word for word in printed.split() if word.startswith("http://")).partition("/login")[0]


async def test_up_serves_a_page_and_an_agent_and_ends_cleanly(shell: Shell) -> None:
    """One command, no account and no Redis: a login link, a served page, a question that is answered; Ctrl-C."""
    async with shell.running("up", "--no-open", until="Ctrl-C") as (process, printed):
        url = address(printed)
        code = printed.partition("/login#")[2].split()[0]
        async with httpx.AsyncClient(base_url=url, headers={"Origin": url}) as browser:
            assert (await browser.post("/v1/login", json={"code": code})).status_code == 204
            assert "<html" in (await browser.get("/")).text
        status, token, _ = await shell.run("token")
        assert (status, len(token.split())) == (0, 1)
        user = User(url, token.strip())
        async with user.http:
            said = await user.send("delete build")
            (card,) = await user.asked(said.conversation)
            _, listed, _ = await shell.run("pending")
            assert str(card["request"]) in listed
            status, told, _ = await shell.run("answer", str(card["request"]), "1")
            assert (status, said.run in told) == (0, True)
            await user.until(said.run, "completed")
            waiting = await user.send("text please")
            await user.asked(waiting.conversation)
            assert (await shell.run("cancel", waiting.run))[0] == 0
            assert (await shell.run("cancel", waiting.run))[0] == 1
            status, checked, _ = await shell.run("doctor")
            assert (status, "BAD" in checked) == (0, False), checked
        process.send_signal(signal.SIGINT)
        async with asyncio.timeout(LIMIT):
            assert await process.wait() == 0


async def test_a_worker_that_is_killed_is_started_again(shell: Shell) -> None:
    """And what waited goes on."""
    shell.env["SAYSO_LEASE"] = "2"
    async with shell.running("up", "--no-open", until="Ctrl-C") as (process, printed):
        _, token, _ = await shell.run("token")
        user = User(address(printed), token.strip())
        async with user.http:
            said = await user.send("delete build")
            (card,) = await user.asked(said.conversation)
            for child in children(process.pid):
                os.kill(child, signal.SIGKILL)
            await user.accept(card["request"], "once")
            await user.until(said.run, "completed")


def children(pid: int) -> list[int]:
    """The Python processes that a process started."""
    found: list[int] = []
    for one in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            fields = (one / "stat").read_text("utf-8").rpartition(")")[2].split()
            if int(fields[1]) == pid and b"gateway" in (one / "cmdline").read_bytes():
                found.append(int(one.name))
    assert found
    return found


async def test_two_web_processes_and_a_worker_are_one_sayso(shell: Shell, redis_url: str) -> None:
    """An answer posted to either resumes the run, and a page at the other sees it."""
    shell.env["REDIS_URL"] = redis_url
    async with (
        shell.running("web", until="Listening") as (_, one),
        shell.running("web", until="Listening") as (_, other),
    ):
        worker = await shell.start("worker")
        try:
            _, token, _ = await shell.run("token")
            here, there = User(address(one), token.strip()), User(address(other), token.strip())
            async with here.http, there.http, there.live() as page:
                said = await here.send("delete build")
                (card,) = await here.asked(said.conversation)
                await page.send(f'{{"follow": "{said.conversation}", "after": 0}}')
                await here.accept(card["request"], "once")
                await there.until(said.run, "completed")
        finally:
            worker.send_signal(signal.SIGTERM)
            async with asyncio.timeout(LIMIT):
                await worker.communicate()
        assert worker.returncode == 0


async def test_what_keeps_it_from_starting_is_one_line(shell: Shell) -> None:
    """What, where, what to do; exit status 2; no traceback."""
    cases: list[tuple[dict[str, str], str, str]] = [
        ({"SAYSO_PORT": "web"}, "web", "SAYSO_PORT"),
        ({"REDIS_URL": "redis://127.0.0.1:1"}, "web", "REDIS_URL"),
        ({"REDIS_URL": "redis://127.0.0.1:1"}, "token", "REDIS_URL"),
        ({"SAYSO_HOST": "192.0.2.1"}, "web", "SAYSO_HOST"),
        ({"SAYSO_AGENT": "nobody"}, "worker", "nobody"),
    ]
    for env, word, named in cases:
        status, out, err = await Shell(shell.folder, **env).run(word)
        assert (status, out) == (2, ""), (env, err)
        ours = [line for line in err.splitlines() if line.startswith("sayso: ")]
        assert len(ours) == 1, err
        assert named in ours[0]
        assert "Traceback" not in err


async def test_a_bad_scope_is_told_what_there_is(shell: Shell) -> None:
    """Before anything is started."""
    status, _, err = await shell.run("token", "--scope", "everything")
    assert status == 2
    assert "read, send, answer, run, admin" in err
