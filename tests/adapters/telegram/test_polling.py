"""Getting updates when others poll too, when the line is wedged, and when one update is poison."""

from __future__ import annotations

import asyncio
from pathlib import Path

import httpx
import pytest

from core.agent import Run
from tests.adapters.telegram.bench import office
from tests.adapters.telegram.ground import Ground
from tests.contract.agents import where
from tests.faults.proxy import Proxy
from tests.proves import proves
from tests.redis_server import RedisServer
from tests.standins.telegram import bad_gateway, cut, rubbish, silence, telegram_server
from tests.standins.telegram.probe import Probe
from tests.standins.telegram.wire import Object
from tests.waiting import wait_until


async def echo(run: Run, message: str) -> str:
    """Say what was heard."""
    return f"Heard {message}."


@proves("C104", "telegram")
async def test_a_lone_poller_recovers_from_a_conflict_by_itself(ground: Ground) -> None:
    """While somebody else polls with the same token it says so; when they stop it goes on, and nothing is lost."""
    ground.hire(echo)
    ann = ground.telegram.person("Ann")
    async with httpx.AsyncClient(timeout=30) as client, ground.front() as front:
        other = Probe(ground.telegram, client)
        await wait_until(lambda: ground.telegram.polling)
        stopping = asyncio.Event()

        async def poll_on() -> None:
            while not stopping.is_set():
                await other.ask("getUpdates", timeout=1)

        foreign = asyncio.create_task(poll_on())
        await wait_until(lambda: front.trouble(), timeout=20)
        told = front.trouble() or ""
        stopping.set()
        await foreign
        ann.says("hello")
        await ground.says(ann, "Heard hello.")
        await wait_until(lambda: front.trouble() is None, timeout=20)
    assert "poll" in told or "another" in told.casefold(), told
    assert ground.texts(ann) == ["Heard hello."]


@proves("C104", "telegram")
async def test_of_two_front_ends_one_polls_and_the_other_takes_over(ground: Ground) -> None:
    """The second one waits without a call; killed, the first is replaced within its lease."""
    ground.hire(echo)
    ann = ground.telegram.person("Ann")
    async with ground.process() as process, ground.front(serves=False) as standby:
        ann.says("one")
        await ground.says(ann, "Heard one.")
        await ground.settled()
        assert not standby.serving.is_set()
        assert standby.trouble() is None
        conflicts = [call for call in ground.telegram.calls("getUpdates") if call.answer and not call.ok]
        assert conflicts == []
        process.kill()
        await process.wait()
        ann.says("two")
        await ground.says(ann, "Heard two.")
        assert standby.serving.is_set()
    assert ground.texts(ann) == ["Heard one.", "Heard two."]


@proves("C104", "telegram")
async def test_a_foreign_webhook_is_told_and_nothing_is_taken_from_it(ground: Ground) -> None:
    """Somebody serves this bot elsewhere; when that ends we go on by ourselves."""
    ground.hire(echo)
    ann = ground.telegram.person("Ann")
    async with httpx.AsyncClient(timeout=30) as client, ground.front() as front:
        other = Probe(ground.telegram, client)
        await wait_until(lambda: ground.telegram.polling)
        await other.result("setWebhook", url="https://elsewhere.example/hook")
        await wait_until(lambda: "webhook" in (front.trouble() or "").casefold(), timeout=20)
        assert ground.telegram.webhook is not None
        await other.result("deleteWebhook")
        ann.says("hello")
        await ground.says(ann, "Heard hello.")
        await wait_until(lambda: front.trouble() is None, timeout=20)


@proves("C105", "telegram")
async def test_a_wedged_poll_is_noticed_and_made_anew(ground: Ground) -> None:
    """The connection stays open and never answers while all else works; meanwhile the front end does not look well."""
    ground.hire(where)
    ann = ground.telegram.person("Ann")
    async with ground.front(poll=1.0, slack=0.5) as front:
        ann.says("please")
        card = await ground.card(ann, "Where to?")
        wedged = ground.telegram.wedge_polls()
        ann.presses(card, "staging")
        await wait_until(lambda: front.trouble() is not None, timeout=30)
        wedged.left = 0
        await ground.says(ann, "To staging.")
        await ground.final(card, "staging")
        await wait_until(lambda: front.trouble() is None, timeout=20)


@proves("C105", "telegram")
async def test_every_way_a_poll_can_fail_is_survived(ground: Ground) -> None:
    ground.hire(echo)
    ann = ground.telegram.person("Ann")
    ways = (cut(), bad_gateway(), rubbish(), silence(accepted=False))
    async with ground.front(poll=1.0, slack=0.5):
        for number, fault in enumerate(ways):
            await wait_until(lambda: ground.telegram.polling, timeout=20)
            ground.telegram.fail_next("getUpdates", fault)
            ann.says(f"{number}")
            await ground.says(ann, f"Heard {number}.")
    assert ground.texts(ann) == [f"Heard {number}." for number in range(len(ways))]


async def test_a_telegram_that_is_gone_for_a_while_loses_nothing(ground: Ground) -> None:
    """Every connection is reset; what people did meanwhile is handled, and what was to be said is said once."""
    ground.hire(where)
    ann = ground.telegram.person("Ann")
    async with ground.front() as front:
        ann.says("please")
        card = await ground.card(ann, "Where to?")
        ground.telegram.unreachable()
        ground.telegram.state.updates.end_poll("Conflict: gone")
        ann.presses(card, "staging")
        await wait_until(lambda: front.trouble() is not None, timeout=30)
        ground.telegram.heal()
        await ground.says(ann, "To staging.")
        await ground.final(card, "staging")
    assert ground.texts(ann).count("To staging.") == 1


async def test_a_poison_update_is_set_aside_and_the_rest_goes_on(ground: Ground) -> None:
    ground.hire(echo)
    ann = ground.telegram.person("Ann")
    mad: Object = {"id": "x", "from": {"id": ann.id}}
    async with ground.front():
        ground.telegram.poison(ann)
        ground.telegram.update("callback_query", mad)
        ground.telegram.update("something_new", {"of": "tomorrow"})
        ground.telegram.update("message", {})
        ann.says("hello")
        await ground.says(ann, "Heard hello.")
        await wait_until(lambda: not ground.telegram.pending, timeout=20)
    assert ground.texts(ann) == ["Heard hello."]


@proves("C102", "telegram")
async def test_what_is_said_while_the_store_is_away_stays_with_telegram_and_is_heard_afterwards(
    redis: RedisServer, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Nothing that is not stored is confirmed."""
    with telegram_server() as telegram:
        ann = telegram.person("Ann")
        async with Proxy(redis.socket) as proxy, office(proxy.url, tmp_path, telegram) as made:
            made.hire(echo)
            await wait_until(lambda: telegram.polling)
            proxy.welcome = False
            proxy.cut()
            ann.says("hello")
            await wait_until(lambda: "waits to be stored" in caplog.text, 20)
            assert [one.kind for one in telegram.pending] == ["message"]
            proxy.welcome = True
            await made.sees(ann, "Heard hello.")
            await wait_until(lambda: not telegram.pending)
            assert len([one for one in telegram.messages(ann) if one.text == "Heard hello."]) == 1
