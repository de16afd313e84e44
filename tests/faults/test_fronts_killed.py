"""Front ends as processes of their own, killed hard: one question in three places, answered once, closed everywhere."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from core.broker import Broker, open_broker
from core.people import OWNER
from gateway import wiring
from gateway.settings import Settings
from tests.adapters.web.place import User, heard
from tests.contract.agents import DID, deploy
from tests.contract.bench import HOME, wide
from tests.fakes import FakeChats, Message
from tests.faults.fronts import Front, front
from tests.faults.web_server import Process, web_role
from tests.proves import proves
from tests.redis_server import RedisServer
from tests.waiting import wait_until
from tests.workshop import QUICK, Workshop

SOON = 2.0
"""seconds until every other place shows an answer"""


async def card(chats: FakeChats, place: str, words: str) -> Message:
    """Wait for a card, and return the newest."""
    await wait_until(lambda: any(words in one.text for one in chats.cards(place)), 20.0)
    return [one for one in chats.cards(place) if words in one.text][-1]


@proves("C04", "api", "kit")
@pytest.mark.parametrize(
    ("answered", "restarted"),
    [("on a platform", False), ("on the web", True)],
    ids=["on a platform", "on the web, after all were killed"],
)
async def test_one_request_in_three_places_is_answered_in_one_and_closed_in_all(
    redis_url: str, tmp_path: Path, answered: str, restarted: bool
) -> None:
    """Four processes: web, worker, two front ends; nothing is shared but Redis. Within 2 s no button is alive."""
    one, two = wide(), wide()
    two.prefix = "fb"
    web, url = web_role(
        redis_url, tmp_path, SAYSO_AGENT="tests.faults.asking:it", SAYSO_LEASE="1", SAYSO_HOT_WINDOW="0.01"
    )
    worker = Process(("gateway", "worker"), web.env)
    async with front(one, redis_url, tmp_path) as fa, front(two, redis_url, tmp_path) as fb:
        try:
            await asyncio.gather(web.start(), worker.start())
            async with open_broker(redis_url, block=0.2) as broker:
                settings = Settings.model_validate({"data_dir": tmp_path})
                token, _ = await wiring.accounts(settings, broker).token(OWNER, ("read", "send", "answer"), "")
            page = User(url, token)
            async with page.http:
                said = await page.send("ask fa-7 fb-7")
                (asked,) = await page.asked(said.conversation)
                here, there = await card(one, "fa-7", "Both?"), await card(two, "fb-7", "Both?")
                if restarted:
                    await asyncio.gather(web.again(), worker.again(), fa.again(), fb.again())
                async with page.live() as socket:
                    await socket.send(f'{{"follow": "{said.conversation}", "after": 0}}')
                    if answered == "on the web":
                        await page.accept(asked["request"], "once")
                    else:
                        assert (await fa.press(OWNER, here, "Approve")).text == "Accepted."
                    place = "the API" if answered == "on the web" else "fa"

                    def closed() -> bool:
                        return all(not it.rows and f"on {place}" in it.text for it in (here, there))

                    await wait_until(closed, SOON)
                    async with asyncio.timeout(SOON):
                        told = await heard(socket, "request.closed")
                    assert (told["outcome"], told["by"]) == ("accepted", "owner")
                await page.until(said.run, "completed")
                assert (await page.get(f"/v1/requests/{asked['request']}"))["state"] == "settled"
        finally:
            await asyncio.gather(web.kill(), worker.kill())


@asynccontextmanager
async def scene(url: str, folder: Path) -> AsyncGenerator[tuple[FakeChats, Front, Broker]]:
    """A worker that lives, a front end that can be killed, and what both of them write to."""
    DID.clear()
    chats = wide()
    async with open_broker(url, block=0.2) as broker:
        shop = Workshop(broker)
        shop.hire("it", deploy)
        async with shop.worker(QUICK), front(chats, url, folder) as made:
            yield chats, made, broker


async def done_once(chats: FakeChats) -> None:
    """What was approved was done once, said once, and no card has a button left."""
    await wait_until(lambda: "Deployed." in chats.texts(HOME), 20.0)
    await wait_until(lambda: not chats.cards(HOME), 20.0)
    assert DID == ["please"]
    assert chats.texts(HOME).count("Deployed.") == 1


@pytest.mark.parametrize("point", ["before its send", "after its send, before the ledger", "after the ledger"])
async def test_a_front_end_killed_while_it_shows_shows_the_same_card(
    redis_url: str, tmp_path: Path, point: str
) -> None:
    """The one that was left in the chat works as well as the one that is shown again; all get the final edit."""
    async with scene(redis_url, tmp_path) as (chats, made, broker):
        gate = chats.fail("post", gate=asyncio.Event(), accepted=point.startswith("after its send"))
        if point == "after the ledger":
            chats.faults.clear()
        await made.say(OWNER, HOME, "please")
        if point == "after the ledger":
            first = await card(chats, HOME, "Deploy?")

            async def written() -> bool:
                return await broker.cards.target(HOME, first.id) is not None

            await wait_until(written)
        else:
            await gate.reached.wait()
        left = chats.cards(HOME)
        await made.again()
        await card(chats, HOME, "Deploy?")
        if point.startswith("after its send"):
            await wait_until(lambda: len(chats.cards(HOME)) == 2, 20.0)
        pressed = left[0] if left else chats.cards(HOME)[0]
        assert (await made.press(OWNER, pressed, "Approve")).text == "Accepted."
        await done_once(chats)
        shown = [one for one in chats.at(HOME) if "Deploy?" in one.text]
        assert len(shown) == (2 if point.startswith("after its send") else 1)
        assert all("Approved by owner" in one.text for one in shown)


async def test_a_front_end_killed_before_a_press_is_stored_takes_it_again(
    redis_url: str, tmp_path: Path, redis: RedisServer
) -> None:
    """The store stands still, so nothing can be committed; the update was not confirmed, and comes again."""
    async with scene(redis_url, tmp_path) as (chats, made, _):
        await made.say(OWNER, HOME, "please")
        shown = await card(chats, HOME, "Deploy?")
        payload = shown.rows[0][0].payload
        assert payload is not None
        redis.process.send_signal(signal.SIGSTOP)
        try:
            pressing = asyncio.create_task(made.send(OWNER, shown, payload, key="u-9"))
            await made.kill()
            await asyncio.gather(pressing, return_exceptions=True)
        finally:
            redis.process.send_signal(signal.SIGCONT)
        await made.start()
        assert DID == []
        for _ in range(2):
            assert (await made.send(OWNER, shown, payload, key="u-9")).text == "Accepted."
        await done_once(chats)


async def test_a_front_end_killed_before_its_edit_leaves_it_to_the_next(redis_url: str, tmp_path: Path) -> None:
    """The press is stored; the card is brought up to date by whoever comes next, and the press may come again."""
    async with scene(redis_url, tmp_path) as (chats, made, _):
        await made.say(OWNER, HOME, "please")
        shown = await card(chats, HOME, "Deploy?")
        payload = shown.rows[0][0].payload
        assert payload is not None
        gate = chats.fail("edit", gate=asyncio.Event())
        assert (await made.send(OWNER, shown, payload, key="u-9")).text == "Accepted."
        await gate.reached.wait()
        assert shown.rows
        await made.again()
        await wait_until(lambda: not shown.rows and "Approved by owner" in shown.text, 20.0)
        assert (await made.send(OWNER, shown, payload, key="u-9")).text == "Accepted."
        await done_once(chats)
