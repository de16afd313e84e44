"""Discord in this process: the simulated one that outlives our restarts, and everything of ours behind it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import discord
import simcord
from pydantic import SecretStr

from adapters.desk import Doors, Open
from adapters.discord.adapter import Discord
from adapters.discord.session import Bot
from adapters.discord.settings import Settings
from adapters.surface import Surface
from core.agent import Agent
from core.broker import Broker, open_broker
from core.files import FileStore
from core.sweeper import Sweeper
from core.vault import Vault, fresh_key, parsed
from tests.waiting import wait_until
from tests.workshop import QUICK, Body, Workshop

LINK = "https://sayso.example/q/"
TOKEN = "MTE.never-to-be-seen.S3cr3t-half-of-the-token"


@dataclass
class Sim:
    """The simulated Discord (`env`) and all of ours, which can be restarted. first: the agent that people talk to."""

    url: str
    folder: Path
    doors: Doors
    agents: dict[str, Agent] = field(default_factory=dict[str, Agent])
    link: bool = False
    quiet: float = 3_600.0
    first: str = "it"

    async def up(self) -> None:
        """Start everything; the first time Discord, too."""
        self._stack = AsyncExitStack()
        self.broker: Broker = await self._stack.enter_async_context(open_broker(self.url, block=0.2))
        self.broker.safe.vault = self.vault
        self.files = FileStore(self.folder, file_max=1_000_000, quota=10_000_000, keep=3600)
        self.shop = Workshop(self.broker, self.agents, self.files)
        await self._stack.enter_async_context(self.shop.worker(QUICK))
        made: asyncio.Future[Bot] = asyncio.get_running_loop().create_future()

        async def dial(bot: Bot, token: str) -> None:
            made.set_result(bot)
            await asyncio.Event().wait()

        self.platform = Discord(Settings(bot_token=SecretStr(TOKEN)), dial=dial)
        self.surface = Surface(
            self.broker,
            self.platform,
            agents=[self.first, *(name for name in self.agents if name != self.first)],
            doors=self.doors,
            files=self.files,
            link=lambda request: f"{LINK}{request}" if self.link else None,
            look=0.1,
            quiet=self.quiet,
        )
        await self._stack.enter_async_context(self.surface)
        bot = await made
        if self._run is None:
            self._run = simcord.run(bot)
            self.env = await self._run.__aenter__()
        else:
            await self.env.restart_bot(bot)
        await self.surface.serving.wait()

    _run: simcord.run | None = None

    def __post_init__(self) -> None:
        self.vault = Vault(parsed(fresh_key()))

    async def down(self) -> None:
        """Stop everything of ours."""
        await self._stack.aclose()

    async def restart(self) -> None:
        """Stop everything of ours and start it again."""
        await self.down()
        await self.up()

    async def end(self) -> None:
        """Stop Discord, too."""
        await self.down()
        if self._run is not None:
            await self._run.__aexit__(None, None, None)

    async def sweep(self) -> None:
        """Let deadlines have their effect from now on."""
        await self._stack.enter_async_context(Sweeper(self.broker, look=0.05, again=lambda agent: True))

    def hire(self, body: Body, *, name: str = "", guarded: tuple[str, ...] = ()) -> None:
        """Let an agent be of a function."""
        self.shop.hire(name or self.first, body, guarded=guarded)

    async def says(self, channel: simcord.ChannelHandle, words: str) -> discord.Message:
        """Wait for a message of the bot that says these words, and return the newest."""
        found: list[discord.Message] = []

        def there() -> bool:
            found[:] = [one for one in channel.history() if one.author.bot and words in shown(one)]
            return bool(found)

        try:
            await wait_until(there)
        except AssertionError:
            raise AssertionError(f"nothing says {words!r}: {[shown(one) for one in channel.history()]}") from None
        return found[-1]

    async def final(self, channel: simcord.ChannelHandle, message: discord.Message, words: str = "") -> None:
        """Wait until a message says these words and has nothing to press."""

        def there() -> bool:
            now = next(one for one in channel.history() if one.id == message.id)
            return words in shown(now) and not labels(now)

        await wait_until(there)


def shown(message: discord.Message) -> str:
    """All that a message says, with its markup taken off."""
    found = [message.content]
    for one in message.components:
        found += (
            [text.content for text in one.children if isinstance(text, discord.TextDisplay)]
            if isinstance(one, discord.Container)
            else []
        )
    return "\n".join(found).replace("\\", "")


def labels(message: discord.Message) -> list[str]:
    """What its buttons and menus offer."""
    found: list[str] = []
    rows = [row for one in message.components if isinstance(one, discord.Container) for row in one.children]
    for row in [*rows, *message.components]:
        for part in row.children if isinstance(row, discord.ActionRow) else ():
            if isinstance(part, discord.Button):
                found.append(part.label or "")
            elif isinstance(part, discord.SelectMenu):
                found += [option.label for option in part.options]
    return found


@asynccontextmanager
async def simulated(
    url: str, folder: Path, doors: Doors | None = None, **how: bool | float | str
) -> AsyncGenerator[Sim]:
    """Everything at work; afterwards the simulated Discord has nothing to complain about."""
    made = Sim(url, folder, doors or Open())
    for name, value in how.items():
        setattr(made, name, value)
    await made.up()
    try:
        yield made
        made.env.raise_errors()
    finally:
        await made.end()
