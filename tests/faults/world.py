"""Sayso in real processes: two webs, a worker whose turns run apart, Redis; all can be killed and started again.

The second web and the worker reach Redis through a proxy that can be cut; the first web and the test reach it directly.
Starting it costs seconds, so one serves all tests of a module, and each run has a folder of its own.
"""

from __future__ import annotations

import asyncio
import contextlib
import tempfile
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

from core import tree
from core.accounts import SCOPES
from core.broker import Broker, open_broker
from core.errors import StoreError
from core.model import Incarnation, Json, Run
from core.people import OWNER
from gateway import wiring
from gateway.settings import Settings
from tests.adapters.web.place import User
from tests.faults.acted import Traces
from tests.faults.proxy import Proxy
from tests.faults.roles import Store
from tests.faults.web_server import Process, web_role
from tests.waiting import wait_until

QUICK = {
    "SAYSO_AGENT": "tests.faults.acted:it",
    "SAYSO_LEASE": "3",
    "SAYSO_SINGLETON_LEASE": "1",
    "SAYSO_LISTENER_LEASE": "3",
    "SAYSO_HOT_WINDOW": "0.05",
    "SAYSO_INDEX_LOOK": "0.2",
    "SAYSO_STOP_COOPERATIVE": "2",
    "SAYSO_STOP_TERMINATE": "0.5",
    "SAYSO_STOP_GRACE": "0.5",
    "SAYSO_LOG_LEVEL": "error",
}
LIMIT = 30.0


class Case:
    """A run of one case: where it is, what it left on the disk, and what its person does about it."""

    def __init__(self, world: World, folder: Path, run: str = "", conversation: str = "") -> None:
        self.world = world
        self.folder = folder
        self.run = run
        self.conversation = conversation
        self.traces = Traces(folder)

    @property
    def target(self) -> list[str]:
        """What it did to the world."""
        return self.traces.lines("target")

    @property
    def turns(self) -> int:
        """How many processes began to work on it."""
        return len(self.traces.lines("here"))

    def alive(self) -> set[int]:
        """Those of its processes that live."""
        return {int(line) for line in self.traces.lines("here")} & {pid for pid, _ in tree.living()}

    def open(self, name: str = "open") -> None:
        """Let it go on."""
        (self.folder / name).touch()

    async def came(self, count: int = 1) -> None:
        """Wait until it came to its gate so many times."""
        await wait_until(lambda: len(self.traces.lines("there")) >= count, LIMIT)

    async def until(self, *states: str) -> dict[str, Json]:
        """Wait for it to be in one of these states; returns it."""

        async def there() -> bool:
            found = await self._peek()
            return found is not None and found.shown in states

        with contextlib.suppress(AssertionError):
            await wait_until(there, LIMIT)
        found = await self.world.one.get(f"/v1/runs/{self.run}")
        assert found["state"] in states, f"{self.folder.name} is {found}, not {states}"
        return found

    async def _peek(self) -> Run | None:
        """The run as it is stored, which costs less than to ask a web; None while Redis is away."""
        with contextlib.suppress(StoreError):
            return await self.world.broker.peek(self.run)
        return None

    async def asked(self, count: int = 1) -> list[str]:
        """Wait for its open questions; returns their ids, the oldest first."""

        async def there() -> bool:
            found = await self._peek()
            return found is not None and len(set(found.requests) - set(found.answered)) == count

        await wait_until(there, LIMIT)
        listed = await self.world.one.get(f"/v1/requests?state=open&conversation={self.conversation}")
        cards = listed["requests"]
        assert isinstance(cards, list)
        assert len(cards) == count, cards
        return [str(card["request"]) for card in cards if isinstance(card, dict)]

    async def parked(self, count: int = 1) -> list[str]:
        """Wait until it waits for answers and no process works on it."""
        asked = await self.asked(count)
        await self.until("waiting")
        await wait_until(lambda: not self.alive(), LIMIT)
        return asked

    async def press(self, verb: str, status: int = 200, by: User | None = None) -> dict[str, Json]:
        """Cancel, pause or resume it."""
        return await (by or self.world.one).post(f"/v1/runs/{self.run}/{verb}", status=status)

    async def answers(self) -> list[str]:
        """What the agent said to the end."""
        entries = await self.world.one.history(self.conversation)
        return [str(entry["text"]) for entry in entries if entry["role"] == "agent"]

    async def calls(self) -> list[tuple[str, str]]:
        """Every call in the history, with how it ended."""
        entries = await self.world.one.history(self.conversation)
        return [(str(entry["text"]), str(entry["outcome"])) for entry in entries if entry["role"] == "tool"]


class World:
    """All of it. one, two: the owner at either web. proxy: what the second web and the worker reach Redis through."""

    def __init__(
        self, folder: Path, store: Store, proxy: Proxy, broker: Broker, roles: dict[str, Process], users: list[User]
    ) -> None:
        self.folder = folder
        self.store = store
        self.proxy = proxy
        self.broker = broker
        self.roles = roles
        self.one, self.two = users
        self._cases = 0

    async def say(self, word: str, by: User | None = None) -> Case:
        """Start a run, in a conversation of its own."""
        self._cases += 1
        place = self.folder / f"{word}-{self._cases}"
        place.mkdir()
        said = await (by or self.one).send(f"{word} {place}")
        return Case(self, place, said.run, said.conversation)

    async def waits(self, word: str) -> tuple[Case, str]:
        """Start a run and bring it to its question, parked."""
        case = await self.say(word)
        return case, (await case.parked())[0]

    @property
    def worker(self) -> Process:
        """The worker."""
        return self.roles["worker"]

    async def sweeping(self) -> Process:
        """The web that holds the lease to sweep."""
        ref = ("incarnation", "one:sweeper")
        held = (await self.broker.store.read(0, [ref]))[ref].model
        assert isinstance(held, Incarnation)
        (found,) = (role for name, role in self.roles.items() if name != "worker" and role.pid == held.pid)
        return found

    async def place(self, origin: str) -> str:
        """The conversation at an origin."""
        listed = (await self.one.get("/v1/conversations"))["conversations"]
        assert isinstance(listed, list)
        (found,) = (str(one["id"]) for one in listed if isinstance(one, dict) and one["origin"] == origin)
        return found

    async def fall(self) -> None:
        """Kill everything at once, Redis too."""
        self.store.kill()
        await asyncio.gather(*(role.kill() for role in self.roles.values()))

    async def rise(self, *but: str) -> None:
        """Start everything again, Redis on what it wrote. but: roles that stay away."""
        self.store.start()
        await self.store.up()
        await asyncio.gather(*(role.start() for name, role in self.roles.items() if name not in but))


@asynccontextmanager
async def world(**more: str) -> AsyncGenerator[World]:
    """Everything, started; killed at the end. more: settings that are not as these tests have them."""
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="sayso-w-", ignore_cleanup_errors=True)))
        store = Store(folder)
        store.start()
        stack.callback(store.kill)
        await store.up()
        proxy = await stack.enter_async_context(Proxy(store.socket))
        url, data = f"unix://{store.socket}", folder / "data"
        data.mkdir()
        quick = {**QUICK, **more}
        (one, here), (two, there) = web_role(url, data, **quick), web_role(proxy.url, data, **quick)
        roles = {"one": one, "two": two, "worker": Process(("gateway", "worker"), two.env)}
        for role in roles.values():
            stack.push_async_callback(role.kill)
        await asyncio.gather(*(role.start() for role in roles.values()))
        broker = await stack.enter_async_context(open_broker(url, block=0.2))
        settings = Settings.model_validate({"data_dir": data})
        token, _ = await wiring.accounts(settings, broker).token(OWNER, SCOPES, "")
        users = [User(place, token) for place in (here, there)]
        for user in users:
            await stack.enter_async_context(user.http)
        yield World(folder, store, proxy, broker, roles, users)
