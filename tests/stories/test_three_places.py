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
from tests.adapters.web.place import Place
from tests.standins.discord import DiscordStandin, standin
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


@pytest.mark.parametrize("where", ["the dashboard", "Telegram", "Discord"])
async def test_what_is_answered_in_one_place_is_soon_closed_in_the_others(everywhere: Everywhere, where: str) -> None:
    """Whoever comes later is told who was first, and where; the work is done once."""
    owner = await everywhere.place.user()
    said = await owner.send("deploy")
    (asked,) = await owner.asked(said.conversation)
    tg, dc = everywhere.tg, everywhere.dc
    await wait_until(lambda: any(one.rows for one in everywhere.telegram.messages(tg)))
    await wait_until(lambda: any(one.live for one in everywhere.discord.ours(dc.dm)))
    telegram, discord = everywhere.telegram.messages(tg)[-1], everywhere.discord.ours(dc.dm)[-1]
    stale = discord.buttons[0].custom_id
    match where:
        case "Telegram":
            tg.presses(telegram, "Approve")
        case "Discord":
            dc.presses(discord, "Approve")
        case _:
            page = await everywhere.place.browser()
            body: dict[str, Json] = {"outcome": "accepted", "values": {"confirm": "once"}}
            assert (await page.post(f"/v1/requests/{asked['request']}/answer", json=body)).status_code == 200
    await wait_until(lambda: not telegram.rows and f"on {where}" in telegram.text, SOON)
    await wait_until(lambda: not discord.live and f"on {where}" in plain(discord), SOON)
    await owner.until(said.run, "completed")
    dc.presses_id(discord, stale)
    await wait_until(lambda: any("Already answered" in plain(one) for one in dc.notices))
    no: dict[str, Json] = {"outcome": "declined", "reason": "too late"}
    await owner.post(f"/v1/requests/{asked['request']}/answer", no, 409)
    assert len(everywhere.done) == 1
