"""Chaos: real processes, and everything that can happen to them in random order; then they heal, and all must be well.

    python -m tests.faults.chaos --minutes 10 --seed 7

Two webs, two workers whose turns are processes of their own, a front end of the fake platform, one Redis that writes
before it replies, reached through proxies, and a file that counts effects. The dice are rolled by the seed, which is
printed before anything happens, so a run can be repeated. What people do is in `chaos_people`, what must be true in
`chaos_truths`.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import signal
import sys
import tempfile
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path

import uvloop

from core.accounts import SCOPES
from core.broker import open_broker
from core.errors import StoreError
from gateway import wiring
from gateway.settings import Settings
from tests.adapters.web.place import User
from tests.contract.bench import wide
from tests.contract.web import free_port
from tests.faults.chaos_people import ANN, People
from tests.faults.chaos_truths import Truths
from tests.faults.fronts import Front
from tests.faults.proxy import Proxy
from tests.faults.roles import Role, Store, breathe
from tests.redis_server import say

ANSWERED = 10.0
"""seconds within which whatever somebody does is answered, come what may"""
SPANS = (0.3, 1.0, 3.0)
"""seconds for which something stands still; the longest is longer than a lease"""


class Chaos:
    """The world, and what happens in it. did: how often each thing happened."""

    def __init__(self, people: People, truths: Truths, roles: list[Role], proxies: tuple[Proxy, ...]) -> None:
        self.people = people
        self.truths = truths
        self.dice = people.dice
        self.front = people.front
        self.store = truths.store
        self.roles = roles
        self.proxies = proxies
        self.did: dict[str, int] = {}
        self._told: set[asyncio.Task[None]] = set()

    async def step(self) -> None:
        """Let one thing happen."""
        faults: dict[Callable[[], Awaitable[object]], float] = {
            self.kill: 1,
            self.kill_turn: 0.5,
            self.retire: 0.5,
            self.sleep: 1,
            self.doze: 0.5,
            self.cut: 1,
            self.black_hole: 1,
            self.power_cut: 1,
            self.full_stop: 0.5,
        }
        weights = {**self.people.deeds, **faults}
        deed = self.dice.choices([*weights], [*weights.values()])[0]
        self.did[deed.__name__] = self.did.get(deed.__name__, 0) + 1
        try:
            async with asyncio.timeout(ANSWERED):
                with suppress(StoreError):
                    await deed()
        except TimeoutError:
            raise AssertionError(f"{deed.__name__} is not answered") from None
        for role in self.roles:
            role.again()
        with suppress(StoreError):
            await self.truths.look()

    async def heal(self) -> None:
        """Everything is up again, and must be well after a while."""
        await asyncio.gather(*self._told)
        for role in self.roles:
            role.again()
        await self.truths.settle()
        self.did |= {"told": len(self.people.told), "cards": self.truths.cards, "nobodys": self.truths.nobodys}
        self.did["processes"] = self.truths.processes

    # ── what happens to processes ────────────────────────────────────────────────────────────────────────────────────

    def _all(self) -> list[Role | Front]:
        return [*self.roles, self.front]

    async def kill(self) -> None:
        """A process dies."""
        self.dice.choice(self._all()).tell(signal.SIGKILL)

    async def kill_turn(self) -> None:
        """A process of a turn dies, or what it started."""
        ours = sorted(pid for pids in self.truths.alive().values() for pid in pids)
        if ours:
            with suppress(ProcessLookupError):
                os.kill(self.dice.choice(ours), signal.SIGKILL)

    async def retire(self) -> None:
        """A process is told to end in order."""
        self.dice.choice(self.roles).tell(signal.SIGTERM)

    async def full_stop(self) -> None:
        """Everything dies at once."""
        for one in self._all():
            one.tell(signal.SIGKILL)
        await self.power_cut()

    async def sleep(self) -> None:
        """A process stands still for a while, perhaps longer than its lease."""
        role, span = self.dice.choice(self._all()), self.dice.choice(SPANS)
        role.tell(signal.SIGSTOP)
        self._later(span, lambda: role.tell(signal.SIGCONT))

    def _later(self, span: float, deed: Callable[[], None]) -> None:
        async def wait() -> None:
            await breathe(span)
            deed()

        task = asyncio.create_task(wait())
        self._told.add(task)
        task.add_done_callback(self._told.discard)

    # ── what happens to Redis, and on the way to it ──────────────────────────────────────────────────────────────────

    async def doze(self) -> None:
        """Redis stands still for a while."""
        sleeping = self.store.process
        sleeping.send_signal(signal.SIGSTOP)
        self._later(self.dice.choice(SPANS), lambda: sleeping.send_signal(signal.SIGCONT))

    async def black_hole(self) -> None:
        """What some of the processes send, what comes to them, or both, is held back for a while; nothing breaks."""
        proxy, span = self.dice.choice(self.proxies), self.dice.choice(SPANS)
        ways = ((proxy.requests,), (proxy.replies,), (proxy.requests, proxy.replies))
        for gate in self.dice.choice(ways):
            gate.clear()
            self._later(span, gate.set)

    async def cut(self) -> None:
        """All connections break."""
        for proxy in self.proxies:
            proxy.cut()
        with suppress(OSError, Exception):
            say(self.store.socket, "CLIENT", "KILL", "TYPE", "normal")

    async def power_cut(self) -> None:
        """Redis dies, and comes back."""
        self.store.kill()
        await breathe(self.dice.choice([0.0, 0.5, 2.0]))
        self.store.start()
        await self.store.up()


@asynccontextmanager
async def chaos(seed: int) -> AsyncGenerator[Chaos]:
    """A world of its own."""
    async with AsyncExitStack() as stack:
        place = stack.enter_context(tempfile.TemporaryDirectory(prefix="sayso-chaos-", ignore_cleanup_errors=True))
        folder, chats = Path(place), wide()
        (folder / "data").mkdir()
        store = Store(folder)
        store.start()
        stack.callback(store.kill)
        await store.up()
        proxies = tuple([await stack.enter_async_context(Proxy(store.socket)) for _ in range(2)])
        ports = [free_port(), free_port()]
        front = Front(chats, proxies[1].url, folder, "apart")
        roles: list[Role] = []
        for proxy, port in zip(proxies, ports, strict=True):
            roles += [Role("web", folder, proxy.url, "apart", port), Role("worker", folder, proxy.url, "apart")]
        for role in roles:
            role.start()
            stack.callback(role.end)
        stack.push_async_callback(front.kill)
        keeping = asyncio.create_task(front.keep(), name="front end")
        stack.push_async_callback(_over, keeping)
        broker = await stack.enter_async_context(open_broker(f"unix://{store.socket}", block=0.2))
        settings = Settings.model_validate({"data_dir": folder / "data"})
        token, _ = await wiring.accounts(settings, broker).token(ANN, SCOPES, "")
        webs = [User(f"http://127.0.0.1:{port}", token) for port in ports]
        for user in webs:
            await stack.enter_async_context(user.http)
        people = People(broker, webs, front, folder / "target", random.Random(seed))
        yield Chaos(people, Truths(people, store), roles, proxies)
        assert not chats.violations, chats.violations


async def _over(task: asyncio.Task[None]) -> None:
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def rage(seed: int, seconds: float) -> dict[str, int]:
    """Let things happen for so long, heal, and check; returns what happened.

    Raises: `AssertionError` with the seed when something is not as it must be.
    """
    loop = asyncio.get_running_loop()
    async with chaos(seed) as world:
        end = loop.time() + seconds
        try:
            while loop.time() < end:
                await world.step()
                await breathe(world.dice.uniform(0.0, 0.3))
            await world.heal()
        except AssertionError as wrong:
            raise AssertionError(f"seed {seed}: {wrong}; so far {world.did}") from wrong
        return {**world.did, "effects": len(world.truths.effects())}


def main() -> None:
    """Rage with one seed after the other until the minutes are over."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0, help="in all")
    parser.add_argument("--each", type=float, default=1.0, help="minutes of one world, with one seed")
    parser.add_argument("--seed", type=int, default=1, help="of the first world")
    given = parser.parse_args()
    for seed in range(given.seed, given.seed + max(1, round(given.minutes / given.each))):
        sys.stdout.write(f"seed {seed}\n")
        sys.stdout.flush()
        sys.stdout.write(f"seed {seed}: {uvloop.run(rage(seed, given.each * 60))}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
