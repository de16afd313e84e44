"""One question in three places: asked on the dashboard, shown on Telegram and Discord too, answered on any of them."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from pydantic import SecretStr

from adapters.discord.adapter import Discord
from adapters.discord.settings import Settings as DiscordSettings
from adapters.doors import Linked
from adapters.platform import Platform
from adapters.surface import Surface
from adapters.telegram.adapter import Telegram
from core.agent import FunctionAgent, Run
from core.lease import Lease
from core.model import Json
from core.pairing import Paired
from core.question import ConfirmField, Question
from core.turn import Pace
from core.worker import Worker
from tests.adapters.discord.wire import plain
from tests.adapters.telegram.bench import settings as telegram_settings
from tests.adapters.web.place import Place, Said
from tests.proves import proves
from tests.standins.discord import DiscordStandin, standin
from tests.standins.discord import Message as DiscordMessage
from tests.standins.telegram import Message as TelegramMessage
from tests.standins.telegram import TelegramServer
from tests.waiting import wait_until

SOON = 2.0
"""seconds in which the others show what was answered on one"""


class Everywhere:
    """A dashboard, a Telegram and a Discord before one Sayso; Ann is on each."""

    def __init__(self, place: Place, telegram: TelegramServer, discord: DiscordStandin) -> None:
        self.place = place
        self.telegram = telegram
        self.discord = discord
        self.tg = telegram.person("Ann")
        self.dc = discord.person("ann")
        self.done: list[str] = []

    async def up(self, stack: AsyncExitStack) -> None:
        """Start all of ours."""
        await self.place.web()
        there, broker = self.discord, self.place.broker
        keyed = DiscordSettings(bot_token=SecretStr(there.token), api_url=there.api, gateway_url=there.gateway_url)
        fronts: tuple[Platform, ...] = (Telegram(telegram_settings(self.telegram)), Discord(keyed))
        for account in (f"tg:{self.tg.id}", f"dc:{self.dc.id}"):
            await self._link(account)
        for front in fronts:
            doors = Linked(self.place.people)
            surface = Surface(broker, front, agents=["scripted"], doors=doors, look=0.1, quiet=3600.0)
            await stack.enter_async_context(surface)
            await wait_until(surface.serving.is_set)
        lease = await stack.enter_async_context(Lease(broker, "worker"))
        agent = FunctionAgent(self._ask, "scripted")
        await stack.enter_async_context(Worker(broker, lease, lambda _: agent, pace=Pace(hot=0.1)))

    async def _link(self, account: str) -> None:
        """The owner enters the code of an account of theirs."""
        people = self.place.people
        owner, code = await people.find("owner"), await people.pairing(account, "Ann", "")
        assert owner is not None
        assert isinstance(code, str)
        assert isinstance(await people.pair(code, owner.id), Paired)

    async def _ask(self, run: Run, message: str) -> str:
        places = (f"tg-{self.tg.id}", f"dc-{self.dc.dm.id}")
        question = Question(title="Deploy?", fields=(ConfirmField(),), copies=places)
        answer = await run._ask("confirm", question)  # pyright: ignore[reportPrivateUsage] copies come from the API
        self.done.append(str(answer))
        return "Deployed."


@pytest.fixture
async def everywhere(redis_url: str, tmp_path: Path) -> AsyncGenerator[Everywhere]:
    """All three, connected."""
    with TelegramServer() as telegram:
        async with standin() as discord, Place(redis_url, tmp_path) as place, AsyncExitStack() as stack:
            made = Everywhere(place, telegram, discord)
            await made.up(stack)
            yield made
        assert telegram.violations == []


async def asked(everywhere: Everywhere) -> tuple[Said, TelegramMessage, DiscordMessage, str]:
    """A task asks: it, its cards on Telegram and on Discord, and its question."""
    owner = await everywhere.place.user()
    said = await owner.send("deploy")
    (card,) = await owner.asked(said.conversation)
    tg, dc = everywhere.telegram, everywhere.discord
    await wait_until(lambda: any(one.rows for one in tg.messages(everywhere.tg)))
    await wait_until(lambda: any(one.live for one in dc.ours(everywhere.dc.dm)))
    return said, tg.messages(everywhere.tg)[-1], dc.ours(everywhere.dc.dm)[-1], str(card["request"])


async def test_what_is_answered_in_one_place_is_soon_closed_in_the_others(everywhere: Everywhere) -> None:
    """Whoever comes later is told who was first, and where; the work is done once."""
    owner, dc = await everywhere.place.user(), everywhere.dc
    page = await everywhere.place.browser()
    for number, where in enumerate(("the dashboard", "Telegram", "Discord"), 1):
        said, telegram, discord, request = await asked(everywhere)
        stale = discord.buttons[0].custom_id
        match where:
            case "Telegram":
                everywhere.tg.presses(telegram, "Approve")
            case "Discord":
                dc.presses(discord, "Approve")
            case _:
                body: dict[str, Json] = {"outcome": "accepted", "values": {"confirm": "once"}}
                assert (await page.post(f"/v1/requests/{request}/answer", json=body)).status_code == 200
        await wait_until(lambda card=telegram, where=where: not card.rows and f"on {where}" in card.text, SOON)
        await wait_until(lambda card=discord, where=where: not card.live and f"on {where}" in plain(card), SOON)
        await owner.until(said.run, "completed")
        dc.presses_id(discord, stale)
        await wait_until(
            lambda number=number: [plain(one).startswith("Already answered") for one in dc.notices] == [True] * number
        )
        no: dict[str, Json] = {"outcome": "declined", "reason": "too late"}
        await owner.post(f"/v1/requests/{request}/answer", no, 409)
        assert len(everywhere.done) == number


@proves("C64", "discord")
async def test_a_task_that_is_canceled_in_one_place_is_soon_closed_in_the_others(everywhere: Everywhere) -> None:
    """On the dashboard and on Discord; whoever cancels it again is told that it was canceled already."""
    owner, dc = await everywhere.place.user(), everywhere.dc
    page = await everywhere.place.browser()
    for number, where in enumerate(("the dashboard", "Discord"), 1):
        said, telegram, discord, request = await asked(everywhere)
        dc.presses(discord, "Cancel task")
        await wait_until(lambda card=discord: "Sure?" in plain(card))
        yes = discord.buttons[0].custom_id
        if where == "Discord":
            dc.presses_id(discord, yes)
        else:
            assert (await page.post(f"/v1/runs/{said.run}/cancel")).status_code == 200
        await wait_until(lambda card=telegram: not card.rows and "canceled" in card.text, SOON)
        await wait_until(lambda card=discord: not card.live and "canceled" in plain(card), SOON)
        assert await owner.asked(said.conversation, 0) == []
        await owner.until(said.run, "canceled")
        assert (await owner.get(f"/v1/requests/{request}"))["title"] == ""
        dc.presses_id(discord, yes)
        await wait_until(
            lambda number=number: [plain(one).casefold() for one in dc.notices] == ["already canceled"] * number
        )
        assert (await owner.post(f"/v1/runs/{said.run}/cancel", status=409))["detail"] == "already canceled"
    assert not everywhere.done
