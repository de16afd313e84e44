"""The command line as people use it: processes of their own, a private store, a scripted agent."""

from __future__ import annotations

import asyncio
import os
import signal
from pathlib import Path

import httpx
import pytest

from core import cgroups
from core.broker import open_broker
from core.keys import Keys
from core.life.living import Beat
from core.model import Incarnation, Person, fresh
from core.people import People
from tests.adapters.web.place import User
from tests.gateway.shell import LIMIT, Shell, address, children
from tests.redis_server import RedisServer
from tests.workshop import ANN, Workshop


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    """A fresh machine."""
    return Shell(tmp_path)


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
            status, _, err = await shell.run("answer", str(card["request"]), "17")
            assert (status, f"or end the task with `sayso cancel {said.run}`" in err) == (1, True), err
            status, told, _ = await shell.run("answer", str(card["request"]), "1")
            assert (status, said.run in told) == (0, True)
            await user.until(said.run, "completed")
            asking = await user.send("table please")
            (card,) = await user.asked(asking.conversation)
            (shell.folder / "table.csv").write_text("a,b")
            assert (await shell.run("answer", str(card["request"]), "--file", "table.csv"))[0] == 0
            await user.until(asking.run, "completed")
            assert "read a,b of table.csv" in str((await user.history(asking.conversation))[-1])
            waiting = await user.send("text please")
            await user.asked(waiting.conversation)
            assert (await shell.run("cancel", waiting.run))[0] == 0
            assert (await shell.run("cancel", waiting.run))[0] == 1
            status, checked, _ = await shell.run("doctor")
            assert (status, "BAD" in checked, f"served at {url}" in checked) == (0, False, True), checked
            for command, path in (("login", "/login#"), ("invite", "/invite#")):  # another shell, which set no port
                assert (await shell.run(command, *["Ben"] * (command == "invite")))[1].startswith(url + path)
        process.send_signal(signal.SIGINT)
        async with asyncio.timeout(LIMIT):
            assert await process.wait() == 0


async def test_a_link_to_nobody_says_so(shell: Shell) -> None:
    """It works once somebody is there; where that is not known there is no link."""
    status, printed, err = await shell.run("login")
    assert (status, printed, "start `sayso up` first" in err) == (2, "", True), err
    shell.env["SAYSO_PORT"] = "41765"
    status, printed, err = await shell.run("login")
    assert (status, printed.startswith("http://127.0.0.1:41765/login#")) == (0, True)
    assert "nobody serves http://127.0.0.1:41765 right now; the link works once `sayso up` runs" in err


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


async def test_a_run_on_a_lost_machine_is_accepted_and_a_removed_line_of_the_audit_is_told(
    shell: Shell, redis: RedisServer
) -> None:
    """The worker of the run is elsewhere and never comes back: nobody but a person can say that it ended."""
    shell.env |= {"REDIS_URL": redis.url, "SAYSO_FREE_AFTER_STOP": "0.01"}
    async with open_broker(redis.url, block=0.2) as broker:
        shop, lost = Workshop(broker), fresh("w", 0)
        until = broker.store.now() + 60_000
        await broker.beat(
            Beat(Incarnation(id=lost, kind="worker", host="elsewhere", pid=1, until_ms=until), (), True), 0
        )
        run = await shop.say()
        await broker.claim(run, lost)
        await broker.cancel(run, ANN)
        status, told, _ = await shell.run("settle", run.upper(), "--gone")
        assert (status, told) == (0, f"{run}  canceled  accepted as stopped\n")
        assert (await shop.record(run)).ended_by == "accepted as stopped by owner"
    status, told, _ = await shell.run("audit", "--verify")
    assert (status, "BAD" in told) == (0, False), told
    line = redis.say("LINDEX", Keys("0").deeds, "0")
    assert isinstance(line, str)
    redis.say("LREM", Keys("0").deeds, "1", line)
    status, told, _ = await shell.run("audit", "--verify")
    assert (status, "BAD  0:2:" in told, "it begins with line 2" in told) == (1, True, True), told


async def test_freeze_thaw_and_stop_say_what_they_did(shell: Shell, redis_url: str) -> None:
    """Without --all nothing is stopped, and it says what to say instead."""
    shell.env["REDIS_URL"] = redis_url
    status, told, _ = await shell.run("freeze", "--reason", "fire")
    assert (status, told.startswith("Frozen: nothing begins until `sayso thaw`. No task had to be paused.")) == (
        0,
        True,
    )
    status, checked, _ = await shell.run("doctor")
    assert (status, "BAD  freeze: Sayso is frozen by owner (fire)" in checked) == (1, True), checked
    assert ("ended by control groups" in checked) == (cgroups.home() is not None), checked
    assert (await shell.run("thaw"))[0] == 0
    assert (await shell.run("thaw"))[1] == "Nothing was frozen.\n"
    status, _, err = await shell.run("stop")
    assert (status, "--all" in err) == (2, True)
    assert (await shell.run("stop", "--all"))[:2] == (0, "No task had to be canceled.\n")


async def test_a_removal_that_was_interrupted_is_finished_when_it_is_said_again(shell: Shell, redis_url: str) -> None:
    """By the name: whoever said it first knows no id."""
    shell.env["REDIS_URL"] = redis_url
    async with open_broker(redis_url) as broker:
        ben = await People(broker).add("Ben", "member")
        assert isinstance(ben, Person)
        await broker.shelf.drop("role", ben.id)
        assert await shell.run("remove", "ben") == (0, f"{ben.id}  removed\n", "")
        assert await broker.shelf.fetch("person", ben.id) is None
    status, _, err = await shell.run("remove", "ben")
    assert (status, "nobody called 'ben'" in err) == (2, True)
