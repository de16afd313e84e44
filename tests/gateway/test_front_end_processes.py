"""A front end as processes: started, killed, replaced; its platform is reached over HTTP, and its trouble is told."""

from __future__ import annotations

import os
import signal
import socket
from collections.abc import AsyncGenerator
from pathlib import Path

import httpx
import pytest

from tests.gateway.shell import Shell, address, children
from tests.outpost.adapter import Update
from tests.outpost.server import TOKEN, Station, station
from tests.redis_server import RedisServer
from tests.waiting import wait_until

NAMED = '[front_ends.outpost]\nuse = "tests.outpost"\nprefix = "op"\ntitle = "Outpost"\n'


@pytest.fixture
async def outpost() -> AsyncGenerator[Station]:
    """A platform that is open."""
    async with station() as made:
        yield made


@pytest.fixture
def shell(tmp_path: Path, outpost: Station) -> Shell:
    """A machine on which the outpost's front end was set up."""
    (tmp_path / "sayso.toml").write_text(NAMED, "utf-8")
    env = {"OUTPOST_BOT_TOKEN": TOKEN, "OUTPOST_API_URL": outpost.url, "SAYSO_LOG_LEVEL": "debug"}
    return Shell(tmp_path, **env, SAYSO_LEASE="2", SAYSO_SINGLETON_LEASE="1", SAYSO_LISTENER_LEASE="2")


async def let_in(shell: Shell, outpost: Station) -> None:
    """Link the person who writes to the owner."""
    await outpost.write("hello")
    asked = await outpost.says("Your code is")
    code = asked.text.partition("Your code is ")[2].partition(":")[0]
    status, _, err = await shell.run("pair", code)
    assert status == 0, err


async def told(url: str, ok: bool, words: str) -> None:
    """Wait until health says this of the outpost."""
    seen: list[object] = []

    async def there() -> bool:
        async with httpx.AsyncClient(base_url=url) as http:
            checks = (await http.get("/health")).json()["checks"]
        seen[:] = [one for one in checks if one["what"] == "outpost"]
        return any(one["ok"] == ok and words in one["words"] for one in checks if one["what"] == "outpost")

    try:
        await wait_until(there, 20.0)
    except AssertionError:
        raise AssertionError(f"health says {seen}") from None


async def test_up_starts_what_was_set_up_and_a_killed_one_comes_back(shell: Shell, outpost: Station) -> None:
    """A person is let in, asked, and answers while the front end is dead; nothing of it is lost, no token is logged."""
    async with shell.running("up", "--no-open", until="Ctrl-C") as (process, printed):
        assert "Outpost" in printed
        await let_in(shell, outpost)
        await outpost.write("delete build")
        card = await outpost.says("Delete build?")
        (front,) = children(process.pid, "front")
        os.kill(front, signal.SIGKILL)
        await outpost.press(card, "Approve")
        await outpost.says("deleted build")
        assert children(process.pid, "front") != [front]
        await told(address(printed), True, "Outpost is served")
        assert not [one for one in outpost.messages.values() if one.id == card.id and one.buttons]
    assert process.returncode == 0
    assert shell.logged
    assert TOKEN not in shell.logged


async def test_the_one_that_stands_by_takes_over(shell: Shell, outpost: Station) -> None:
    """Two of them, one started apart; the one that serves stands still, and later dies: the other goes on."""
    async with (
        shell.running("up", "--no-open", until="Ctrl-C") as (process, printed),
        shell.running("front", until=""),
    ):
        await let_in(shell, outpost)
        (front,) = children(process.pid, "front")
        os.kill(front, signal.SIGSTOP)
        await outpost.write("hi there")
        await outpost.says("you said")
        os.kill(front, signal.SIGKILL)
        await told(address(printed), True, "Outpost is served")


async def test_a_wrong_token_is_told_in_one_sentence(shell: Shell, outpost: Station) -> None:
    """On the page of health, by the doctor and in the log, and what else there is goes on."""
    shell.env["OUTPOST_BOT_TOKEN"] = "4321:of-somebody-else"
    async with shell.running("up", "--no-open", until="Ctrl-C") as (_, printed):
        await told(address(printed), False, "Outpost refuses the token: correct OUTPOST_BOT_TOKEN.")
        status, checked, _ = await shell.run("doctor")
        assert status == 1
        assert "BAD  outpost: Outpost refuses the token: correct OUTPOST_BOT_TOKEN." in checked
    ours = [line for line in shell.logged.splitlines() if "Outpost refuses the token" in line]
    assert ours
    assert "Traceback" not in shell.logged
    assert "of-somebody-else" not in shell.logged


async def test_trouble_that_comes_later_is_told_and_goes(shell: Shell, outpost: Station) -> None:
    """Somebody else asks for updates with our token; until they stop, health says so."""
    async with shell.running("up", "--no-open", until="Ctrl-C") as (_, printed):
        await told(address(printed), True, "Outpost is served")
        outpost.rivals = True
        outpost.came.set()
        await told(address(printed), False, "Somebody else asks the outpost for updates")
        outpost.rivals = False
        await told(address(printed), True, "Outpost is served")
        status, checked, _ = await shell.run("doctor")
        assert (status, "the bot is called Outpost Bot" in checked) == (0, True), checked


async def test_a_front_end_that_nobody_runs_is_told(shell: Shell) -> None:
    """It was set up, and only the page runs."""
    async with shell.running("web", until="Listening") as (_, printed):
        await told(address(printed), False, "no process serves Outpost; start `sayso front outpost`")


async def test_what_a_front_end_lacks_is_one_line(shell: Shell) -> None:
    """A name that there is not, a token that is missing: exit status 2."""
    del shell.env["OUTPOST_BOT_TOKEN"]
    for word, named in (("nowhere", "There is no front end 'nowhere'"), ("outpost", "OUTPOST_BOT_TOKEN")):
        status, out, err = await shell.run("front", word)
        assert (status, out) == (2, "")
        assert [line for line in err.splitlines() if line.startswith("sayso: ") and named in line], err


async def test_a_platform_that_calls_us_is_confirmed_what_is_stored(
    shell: Shell, outpost: Station, redis: RedisServer
) -> None:
    """It calls a web process; what serves it is another one, and dead at first. Sealed, as it may be a secret."""
    shell.env |= {"REDIS_URL": redis.url, "OUTPOST_WEBHOOK_URL": "http://elsewhere.example/hooks/outpost"}
    async with shell.running("web", until="Listening") as (_, printed):
        outpost.webhook = f"{address(printed)}/hooks/outpost"
        await outpost.write("hello world")
        await outpost.write("hello again")
        assert outpost.updates == []
        keys = redis.say("KEYS", "*:y:*")
        assert isinstance(keys, list)
        assert len(keys) == 2
        assert not [key for key in keys if isinstance(key, str) and "hello" in str(redis.say("GET", key))]
        outpost.updates.append(Update(id=99, place="op-7", person="7", message="p99", text="forged"))
        assert await outpost.call("nonsense") == [401]
        outpost.updates.clear()
        async with shell.running("front", "outpost", until=""):
            await outpost.says("Your code is")
            await wait_until(lambda: len(outpost.messages) == 2 and redis.say("KEYS", "*:y:*") == [])


async def test_a_webhook_on_a_path_of_ours_is_refused_at_the_start(shell: Shell) -> None:
    """It would never be called, or hide a page."""
    shell.env["OUTPOST_WEBHOOK_URL"] = "https://sayso.example/v1/outpost"
    status, _, err = await shell.run("web")
    assert (status, "that path is ours" in err) == (2, True), err


async def test_a_secret_is_given_by_the_link_on_the_card(shell: Shell, outpost: Station) -> None:
    """Who reads the chat needs no login; the link counts once, and only has a public address to lead to."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    shell.env |= {"SAYSO_PUBLIC_URL": "https://sayso.example", "SAYSO_PORT": str(port)}
    async with shell.running("up", "--no-open", until="Ctrl-C"):
        await let_in(shell, outpost)
        await outpost.write("secret please")
        card = await outpost.says("token")
        (link,) = [one.url for one in card.buttons if one.url is not None]
        page, _, ticket = link.partition("#")
        assert page.startswith("https://sayso.example/secret/q")
        assert ticket
        async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}") as http:
            path = f"/v1/requests/{page.rpartition('/')[2]}/secret"
            body = {"values": {"secret": "MARKER"}, "ticket": ticket}
            assert (await http.post(path, json=body)).status_code == 200
            assert (await http.post(path, json=body)).status_code >= 400
        await outpost.says("used ********")
    assert "MARKER" not in shell.logged
