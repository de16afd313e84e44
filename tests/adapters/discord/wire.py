"""Discord over the wire: the stand-in that outlives our restarts, and everything of ours behind it."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import SecretStr

from adapters.desk import Doors, Open
from adapters.discord.adapter import LIMITS, Discord
from adapters.discord.session import Pauses
from adapters.discord.settings import Role, Settings
from adapters.outcomes import Notice
from adapters.platform import Limits
from adapters.surface import Surface
from core.agent import Agent
from core.broker import Broker, open_broker
from core.files import FileStore
from core.model import Person, Run
from core.sweeper import Sweeper
from core.vault import Vault, fresh_key, parsed
from tests.standins.discord import Channel, DiscordStandin, Human, Interaction, Message, standin
from tests.waiting import wait_until
from tests.workshop import QUICK, Body, Workshop

SOON = Pauses(anew=0.1, identify=0.05, servers=0.05)


class Ranked(Open):
    """Doors that let everybody in as who they are, and some as approvers."""

    def __init__(self, people: tuple[str, ...], approvers: tuple[str, ...]) -> None:
        super().__init__(people)
        self._approvers = approvers

    async def admit(self, person: Person, place: str, private: bool) -> Person | Notice:
        return person.changed(role="approver") if person.id in self._approvers else person


@dataclass
class Wire:
    """Discord (`there`), people in front of it, and all of ours. Ann may talk in servers, Bob is an approver."""

    url: str
    folder: Path
    there: DiscordStandin
    silence: float = 20.0
    agents: dict[str, Agent] = field(default_factory=dict[str, Agent])
    public: bool = False
    quiet: float = 3600.0
    patience: float = 0.8
    threads: bool = True
    limits: Limits = LIMITS
    pauses: Pauses = SOON
    other: Doors | None = None
    roles: dict[str, Role] = field(default_factory=dict[str, Role])

    def __post_init__(self) -> None:
        self.ann: Human = self.there.person("ann")
        self.bob: Human = self.there.person("bob")
        self.eve: Human = self.there.person("eve")
        self.people: tuple[str, ...] = (f"dc:{self.ann.id}", f"dc:{self.bob.id}")
        self.vault = Vault(parsed(fresh_key()))

    @property
    def settings(self) -> Settings:
        there = self.there
        return Settings(
            bot_token=SecretStr(there.token),
            api_url=there.api,
            gateway_url=there.gateway_url,
            silence=self.silence,
            threads=self.threads,
            roles=self.roles,
        )

    async def up(self, *, served: bool = True) -> None:
        """Start all of ours; served: and wait until Discord is connected."""
        self._stack = AsyncExitStack()
        self.broker: Broker = await self._stack.enter_async_context(open_broker(self.url, block=0.2))
        self.broker.safe.vault = self.vault
        self.files = FileStore(self.folder, file_max=1_000_000, quota=10_000_000, keep=3600)
        self.shop = Workshop(self.broker, self.agents, self.files)
        await self._stack.enter_async_context(self.shop.worker(QUICK))
        if served:
            await self.front()

    async def front(self) -> None:
        """Start the front end, and wait until it serves."""
        await self.begin()
        await wait_until(self.surface.serving.is_set)

    async def begin(self) -> None:
        """Start the front end, whatever becomes of it."""
        self.platform = Discord(self.settings, limits=self.limits, pauses=self.pauses)
        self.surface = Surface(
            self.broker,
            self.platform,
            agents=["it"],
            doors=self.other or Ranked(self.people, (f"dc:{self.bob.id}",)),
            files=self.files,
            link=lambda request: f"https://sayso.example/secret/{request}" if self.public else None,
            span=1.0,
            look=0.1,
            quiet=self.quiet,
            patience=self.patience,
        )
        await self._stack.enter_async_context(self.surface)

    async def down(self) -> None:
        """Stop all of ours."""
        await self._stack.aclose()

    async def restart(self) -> None:
        """Stop all of ours and start it again."""
        await self.down()
        await self.up()

    def hire(self, body: Body, *, guarded: tuple[str, ...] = ()) -> None:
        """Let an agent be of a function."""
        self.shop.hire("it", body, guarded=guarded)

    async def says(self, words: str, where: Channel | None = None, *, live: bool = False) -> Message:
        """Wait for a message of the bot that says these words; the newest. live: of those that can be pressed."""
        place = where or self.ann.dm
        found: list[Message] = []

        def there() -> bool:
            found[:] = [one for one in self.there.ours(place) if words in plain(one) and (one.live or not live)]
            return bool(found)

        try:
            await wait_until(there)
        except AssertionError:
            seen = [(plain(one), one.live) for one in self.there.ours(place)]
            raise AssertionError(f"nothing says {words!r}: {seen}") from None
        return found[-1]

    async def card(self, words: str, where: Channel | None = None) -> Message:
        """Wait for a message that says these words and has something to press."""
        return await self.says(words, where, live=True)

    async def final(self, message: Message, words: str = "") -> None:
        """Wait until a message says these words and has nothing to press."""
        try:
            await wait_until(lambda: words in plain(message) and not message.live)
        except AssertionError:
            raise AssertionError(f"it still says {plain(message)!r} with {message.live}") from None

    async def told(self, words: str, who: Human | None = None) -> Message:
        """Wait until somebody is told something that only they see."""
        person = who or self.ann
        try:
            await wait_until(lambda: any(words in plain(one) for one in person.notices))
        except AssertionError:
            raise AssertionError(f"{words!r} is not among {[plain(one) for one in person.notices]}") from None
        return next(one for one in person.notices if words in plain(one))

    async def sweep(self) -> None:
        """Let deadlines have their effect from now on."""
        await self._stack.enter_async_context(Sweeper(self.broker, look=0.05, again=lambda agent: True))

    def room(self, *more: Human) -> Channel:
        """A channel of a server with Ann, Bob, Eve and others."""
        return self.there.channel(self.there.guild("home", self.ann, self.bob, self.eve, *more), "general")

    async def thread(self, room: Channel, words: str = "go", who: Human | None = None) -> Channel:
        """Somebody mentions the bot in a channel: the thread that grows from it."""
        before = len(self.there.threads(room))
        (who or self.ann).says(room, f"{self.there.mention} {words}")
        await wait_until(lambda: len(self.there.threads(room)) > before)
        return self.there.threads(room)[-1]

    async def run(self, place: Channel) -> Run:
        """The newest run at a place."""
        origin = f"dc-{place.parent.id}.{place.id}" if place.parent is not None else f"dc-{place.id}"
        found: list[Run] = []

        async def there() -> bool:
            for person in (self.ann, self.bob):
                one = Person(id=f"dc:{person.id}")
                for conversation in await self.broker.conversations(one):
                    if conversation.origin == origin:
                        snapshot = await self.broker.snapshot(conversation.id, one)
                        found[:] = snapshot.runs if snapshot is not None else ()
            return bool(found)

        await wait_until(there)
        return found[-1]


def plain(message: Message) -> str:
    """What a message says, without marks of formatting."""
    return message.text.replace("\\", "").replace("`\u200b`", "``")


async def acked(*presses: Interaction) -> None:
    """Wait until each was acknowledged."""
    await wait_until(lambda: all(one.acked is not None for one in presses))


@asynccontextmanager
async def wired(url: str, folder: Path, *, served: bool = True, silence: float = 20.0) -> AsyncGenerator[Wire]:
    """Discord with all of ours, until the end of the context; then nothing wrong must have been sent."""
    async with standin() as there:
        made = Wire(url, folder, there, silence)
        await made.up(served=served)
        try:
            yield made
        finally:
            await made.down()
