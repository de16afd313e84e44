"""The bench of the contract: real store, real worker, real kit, around a platform that outlives their restarts."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from adapters.desk import Doors, Open
from adapters.outcomes import Notice
from adapters.surface import Surface
from core.accounts import Accounts
from core.agent import Agent
from core.broker import Broker, open_broker
from core.card import Card
from core.files import FileStore
from core.life.decision import Refusal, Timer
from core.life.draft import Draft, Spans
from core.life.result import Extended
from core.model import Json, Person, Run
from core.pace import Pace
from core.question import Request
from core.sweeper import Sweeper
from core.vault import Vault
from tests.fakes import NARROW, WIDE, FakeChats, FakePlatform, Message
from tests.waiting import wait_until
from tests.workshop import QUICK, Body, Workshop

ANN = Person(id="fa:7", name="Ann", role="owner")
BOB = Person(id="fa:8", name="Bob", role="approver")
EVE = Person(id="fa:9", name="Eve")
HOME = "fa-7"
GROUP = "fa-g1"
KEY = b"of all processes of one bench".ljust(32)
LINK = "https://sayso.example/q/"


def wide() -> FakeChats:
    """A roomy platform: UTF-16 units, files, links, whispers."""
    return FakeChats(units="utf16", limits=WIDE)


def narrow() -> FakeChats:
    """A narrow one: bytes, short messages, two buttons a row, no files, no links; it recognises repeats."""
    return FakeChats(units="bytes", limits=NARROW)


class Guard(Open):
    """Doors with a gate in them, to hold a press where it was acknowledged but not stored yet."""

    def __init__(self, people: tuple[str, ...]) -> None:
        super().__init__(people)
        self.gate = asyncio.Event()
        self.gate.set()
        self.reached = asyncio.Event()
        self.others: Doors | None = None

    def set(self, people: tuple[str, ...]) -> None:
        """Change the list of people of every group."""
        self._people = people

    async def admit(self, person: Person, place: str, private: bool) -> Person | Notice:
        self.reached.set()
        await self.gate.wait()
        if self.others is not None:
            return await self.others.admit(person, place, private)
        return await super().admit(person, place, private)


@dataclass
class Bench:
    """All processes of ours, which can be restarted, beside what stays: Redis and the platform."""

    url: str
    folder: Path
    chats: list[FakeChats]
    people: tuple[str, ...] = (ANN.id, BOB.id)
    agents: dict[str, Agent] = field(default_factory=dict[str, Agent])
    quiet: float = 3600.0
    partitions: int = 1
    link: bool = True
    pace: Pace = QUICK
    spans: Spans = field(default_factory=Spans)
    me: Person = ANN
    here: str = "fa"

    async def up(self) -> None:
        """Start everything."""
        self._stack = AsyncExitStack()
        self.broker: Broker = await self._stack.enter_async_context(
            open_broker(self.url, partitions=self.partitions, block=0.2, spans=self.spans)
        )
        self.broker.safe.vault = Vault([KEY])
        self.files = FileStore(self.folder, file_max=1_000_000, quota=10_000_000, keep=3600)
        self.shop = Workshop(self.broker, self.agents, self.files)
        await self._stack.enter_async_context(self.shop.worker(self.pace))
        self.doors = Guard(self.people)
        self.accounts = Accounts(self.broker.shelf, login_link=60.0, login=60.0)
        self.platforms: list[FakePlatform] = []
        self.surfaces: list[Surface] = []
        for chats in self.chats:
            await self.front(chats)

    async def front(self, chats: FakeChats) -> Surface:
        """Start one more front end, and wait until it serves."""
        surface = await self.stand_by(chats)
        await surface.serving.wait()
        return surface

    async def stand_by(self, chats: FakeChats) -> Surface:
        """Start one more front end; another may hold the platform."""
        platform = chats.connection()
        surface = Surface(
            self.broker,
            platform,
            agents=["it", *(name for name in self.agents if name != "it")],
            doors=self.doors,
            files=self.files,
            link=lambda request: f"{LINK}{request}" if self.link else None,
            look=0.1,
            quiet=self.quiet,
            proofs=self.accounts,
        )
        await self._stack.enter_async_context(surface)
        self.platforms.append(platform)
        self.surfaces.append(surface)
        return surface

    async def sweep(self) -> None:
        """Let deadlines have their effect from now on."""
        await self._stack.enter_async_context(Sweeper(self.broker, look=0.05, again=lambda agent: True))

    async def down(self) -> None:
        """Stop everything where it stands; what was under way is cut off."""
        await self._stack.aclose()

    async def restart(self) -> None:
        """Stop everything and start it again."""
        await self.down()
        await self.up()

    def let_in_by(self, doors: Doors) -> None:
        """Let other doors decide who comes in."""
        self.doors.others = doors

    # what a test looks at

    @property
    def platform(self) -> FakePlatform:
        """The first platform."""
        return self.platforms[0]

    def hire(self, body: Body, *, name: str = "it", guarded: tuple[str, ...] = ()) -> None:
        """Let an agent be of a function."""
        self.shop.hire(name, body, guarded=guarded)

    async def write(
        self,
        text: str,
        *,
        person: Person | None = None,
        place: str = HOME,
        reply_to: Message | None = None,
        key: str | None = None,
    ) -> Notice | None:
        """A person writes on the first platform."""
        return await self.platform.write(person or self.me, place, text, reply_to=reply_to, key=key)

    async def press(
        self, message: Message, label: str, *, person: Person | None = None, key: str | None = None
    ) -> Notice:
        """A person presses on the first platform."""
        return await self.platform.press(person or self.me, message, label, key=key)

    async def late(self, message: Message, payload: str | None, *, key: str | None = None) -> str:
        """A press arrives, whatever the message shows by now; returns what the person hears."""
        assert payload is not None
        return (await self.platform.send(self.me, message, payload, key=key)).text

    def accepted(self, notice: Notice) -> bool:
        """Whether a press was told that it counts."""
        return notice.text == "Accepted."

    async def pending(self) -> tuple[Request, ...]:
        """What waits for the person."""
        return (await self.broker.pending(self.me)).requests

    async def card(self, words: str, *, place: str = HOME, chats: FakeChats | None = None) -> Message:
        """Wait for a message with buttons that says these words, and return the newest."""
        found: list[Message] = []

        def there() -> bool:
            found[:] = [one for one in (chats or self.chats[0]).cards(place) if words in one.text]
            return bool(found)

        await self._seen(there, words, place, chats)
        return found[-1]

    async def says(self, words: str, *, place: str = HOME, chats: FakeChats | None = None) -> Message:
        """Wait for a message that says these words, and return the newest."""
        found: list[Message] = []

        def there() -> bool:
            found[:] = [one for one in (chats or self.chats[0]).at(place) if words in one.text]
            return bool(found)

        await self._seen(there, words, place, chats)
        return found[-1]

    async def final(self, message: Message, words: str = "") -> None:
        """Wait until a message has no live buttons and says these words."""
        try:
            await wait_until(lambda: not message.rows and words in message.text)
        except AssertionError:
            raise AssertionError(f"{message.id} still says {message.text!r} with {message.labels}") from None

    async def _seen(self, there: object, words: str, place: str, chats: FakeChats | None) -> None:
        assert callable(there)
        try:
            await wait_until(there)
        except AssertionError:
            seen = [(one.text, one.labels) for one in (chats or self.chats[0]).at(place)]
            raise AssertionError(f"nothing at {place} says {words!r}: {seen}") from None

    async def runs(self, place: str = HOME) -> list[Run]:
        """Every run that is not settled, and the newest, of the conversation at a place."""
        for conversation in await self.broker.conversations(self.me):
            if conversation.origin == place:
                snapshot = await self.broker.snapshot(conversation.id, self.me)
                assert snapshot is not None
                return list(snapshot.runs)
        return []

    async def the_run(self, place: str = HOME) -> Run:
        """Wait for the only run at a place."""

        async def there() -> bool:
            return len(await self.runs(place)) == 1

        await wait_until(there)
        return (await self.runs(place))[0]

    async def request(self, id: str) -> Request:
        """A request as it is stored."""
        at = self.broker.store.partition(id)
        assert at is not None
        model = (await self.broker.store.read(at, [("request", id)]))[("request", id)].model
        assert isinstance(model, Request)
        return model

    async def hurry(self, request: str) -> int:
        """Let the time of a question be over in a moment, now that a test has seen it; returns when."""
        at = self.broker.store.partition(request)
        assert at is not None
        kept = await self.broker.committer.carry(_hurry, request, at)
        assert isinstance(kept, Extended), kept
        return kept.deadline_ms

    async def cards_of(self, request: str) -> list[Card]:
        """The ledger of a request."""
        found = [await self.broker.cards.card(id) for id in (await self.request(request)).cards.values()]
        return [card for card in found if card is not None]

    async def settled(self, prefix: str = "fa") -> None:
        """Wait until nothing is owed to a platform."""

        async def clear() -> bool:
            sizes = [
                await self.broker.store.size(partition, index, prefix)
                for partition in range(len(self.broker.store.keys))
                for index in ("unshown", "debt", "outbox")
            ]
            return not any(sizes)

        await wait_until(clear)


def _hurry(d: Draft, request: str) -> Extended | Refusal:
    found = d.request(request)
    if found is None:
        return Refusal("unknown", "there is no such request")
    deadline = d.now + 50
    d.save_request(found, deadline_ms=deadline)
    d.want(Timer("deadline", request, deadline))
    return Extended(request=request, deadline_ms=deadline)


@asynccontextmanager
async def bench(url: str, folder: Path, chats: Sequence[FakeChats], **how: Json) -> AsyncGenerator[Bench]:
    """A bench that is up, and after which the platform has nothing to complain about."""
    made = Bench(url, folder, list(chats))
    for name, value in how.items():
        setattr(made, name, value)
    await made.up()
    try:
        yield made
    finally:
        await made.down()
    wrong = [wrong for one in made.chats for wrong in one.violations]
    assert wrong == [], wrong
