"""Chaos: real processes, and everything that can happen to them in random order; then they heal, and all must be well.

    python -m tests.faults.chaos --minutes 10 --seed 7

Two webs, two workers (one of them runs its turns in processes of their own), one Redis that writes before it replies,
and a file that counts effects. The dice are rolled by the seed; what was rolled is printed, so a run can be repeated.
"""

import argparse
import asyncio
import os
import random
import signal
import subprocess
import sys
import tempfile
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import uvloop

from core import tree
from core.broker import Broker, open_broker
from core.errors import StoreError
from core.life.decision import Refusal
from core.life.event import Reply, Said
from core.life.result import Answered, Sent
from core.model import TERMINAL
from core.question import Accepted, Request
from tests.gateway.shell import BASE
from tests.house.sources import ROOT
from tests.redis_server import binary, say
from tests.waiting import wait_until
from tests.workshop import ANN

QUICK = {
    "SAYSO_PORT": "0",
    "SAYSO_LEASE": "2",
    "SAYSO_SINGLETON_LEASE": "1",
    "SAYSO_LISTENER_LEASE": "2",
    "SAYSO_HOT_WINDOW": "0.2",
    "SAYSO_INDEX_LOOK": "0.2",
    "SAYSO_FREE_AFTER_STOP": "2",
    "SAYSO_STOP_COOPERATIVE": "0.3",
    "SAYSO_STOP_TERMINATE": "0.3",
    "SAYSO_STOP_KILL": "0.5",
    "SAYSO_STOP_HANDOVER": "1",
    "SAYSO_LOG_LEVEL": "error",
}
HEALED = 90.0
"""seconds within which all is well again once everything is up"""


async def breathe(seconds: float) -> None:
    """Let the world go on for a while."""
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await asyncio.Event().wait()


class Store:
    """A Redis that writes before it replies, and that is killed and started again on the same folder."""

    def __init__(self, folder: Path) -> None:
        self.socket = folder / "redis.sock"
        self._folder = folder

    def start(self) -> None:
        """Start it, and wait for its first word."""
        options = ["--port", "0", "--unixsocket", str(self.socket), "--dir", str(self._folder), "--save", ""]
        options += ["--appendonly", "yes", "--appendfsync", "always"]
        with (self._folder / "redis.log").open("ab") as log:
            self.process = subprocess.Popen([binary(), *options], stdout=log, stderr=log)

    async def up(self) -> None:
        """Wait until it answers."""

        def answers() -> bool:
            with suppress(OSError, Exception):
                return say(self.socket, "PING") == "PONG"
            return False

        await wait_until(answers, 20)

    def kill(self) -> None:
        """End it as a power cut would."""
        self.process.kill()
        self.process.wait()


class Role:
    """One process of Sayso that is killed, put to sleep and started again."""

    def __init__(self, word: str, folder: Path, url: str, agent: str) -> None:
        self.word = word
        self._folder = folder
        self._env = {
            **BASE,
            **QUICK,
            "PYTHONPATH": str(ROOT),
            "HOME": str(folder),
            "SAYSO_DATA_DIR": str(folder / "data"),
            "REDIS_URL": url,
            "SAYSO_AGENT": f"tests.faults.chaotic:{agent}",
        }

    def start(self) -> None:
        """Start it."""
        with (self._folder / f"{self.word}.log").open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "gateway", self.word],
                cwd=self._folder,
                env=self._env,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )

    def again(self) -> None:
        """Start it again when it is not there."""
        if self.process.poll() is not None:
            self.start()

    def tell(self, number: signal.Signals) -> None:
        """Send it a signal."""
        with suppress(ProcessLookupError):
            os.kill(self.process.pid, number)


class Chaos:
    """The world, what was done in it, and what must be true of it in the end."""

    def __init__(self, broker: Broker, folder: Path, store: Store, roles: list[Role], seed: int) -> None:
        self.broker = broker
        self.target = folder / "target"
        self.store = store
        self.roles = roles
        self.dice = random.Random(seed)
        self.runs: dict[str, str] = {}
        self.allowed: set[str] = set()
        self.ends: dict[str, str] = {}
        self.deleted: set[str] = set()
        self.did: dict[str, int] = {}
        self._told: set[asyncio.Task[None]] = set()

    # ── what happens ─────────────────────────────────────────────────────────────────────────────────────────────────

    async def step(self) -> None:
        """Let one thing happen."""
        weights: dict[Callable[[], Awaitable[object]], int] = {
            self.begin: 6,
            self.answer: 10,
            self.answer_twice: 3,
            self.cancel: 3,
            self.pause: 3,
            self.resume: 4,
            self.delete: 1,
            self.kill: 1,
            self.sleep: 1,
            self.cut: 1,
            self.power_cut: 1,
        }
        deed = self.dice.choices([*weights], [*weights.values()])[0]
        self.did[deed.__name__] = self.did.get(deed.__name__, 0) + 1
        with suppress(StoreError):
            async with asyncio.timeout(10):
                await deed()
        for role in self.roles:
            role.again()
        with suppress(StoreError):
            await self.look()

    async def begin(self) -> None:
        """Somebody says something in a conversation of its own."""
        number = str(len(self.runs))
        self.runs[number] = ""
        event = Said(f"chat-{number}", f"{number} {self.target}", ANN, "apart", key=f"say-{number}")
        for _ in range(20):
            with suppress(StoreError):
                sent = await self.broker.said(event)
                assert isinstance(sent, Sent), sent
                self.runs[number] = sent.run
                return
            await breathe(0.1)
        del self.runs[number]

    async def asked(self) -> Request | None:
        """One of the open questions."""
        found = (await self.broker.pending(ANN)).requests
        return self.dice.choice(found) if found else None

    async def answer(self) -> None:
        """Somebody answers."""
        request = await self.asked()
        if request is not None:
            await self._answer(request, self.value(request))

    def value(self, request: Request) -> str:
        """A good answer, now and then a no; what may have happened is not repeated."""
        field = request.question.fields[0]
        if field.kind == "choice":
            return "done" if any(option.id == "done" for option in field.options) else "cancel"
        if field.kind == "confirm":
            return self.dice.choice(["once", "once", "once", "deny"])
        return "Bob"

    async def _answer(self, request: Request, value: str) -> Answered | Refusal:
        subject = request.question.subject
        if subject is not None and value == "once" and isinstance(subject.arguments, dict):
            self.allowed.add(str(subject.arguments["number"]))  # before it is sent: its outcome may stay unknown
        return await self.broker.answer(
            Reply(request.id, Accepted(values={request.question.fields[0].id: value}), ANN, "chat")
        )

    async def answer_twice(self) -> None:
        """Two people answer at once; one of them wins."""
        request = await self.asked()
        if request is not None:
            told = await asyncio.gather(
                *(self._answer(request, self.value(request)) for _ in range(2)), return_exceptions=True
            )
            assert all(isinstance(one, Answered | Refusal | StoreError) for one in told), told

    def any(self) -> str | None:
        """One of the runs."""
        known = [run for run in self.runs.values() if run]
        return self.dice.choice(known) if known else None

    async def cancel(self) -> None:
        """Somebody cancels."""
        if run := self.any():
            await self.broker.cancel(run, ANN, urgent=self.dice.random() < 0.3)

    async def pause(self) -> None:
        """Somebody pauses."""
        if run := self.any():
            await self.broker.pause(run, ANN)

    async def resume(self) -> None:
        """Somebody resumes."""
        if run := self.any():
            await self.broker.resume(run, ANN)

    async def delete(self) -> None:
        """Somebody deletes a conversation."""
        if run := self.any():
            found = await self.broker.peek(run)
            if found is not None:
                await self.broker.delete(found.conversation, ANN)
                self.deleted.add(run)

    async def kill(self) -> None:
        """A process dies."""
        self.dice.choice(self.roles).tell(signal.SIGKILL)

    async def sleep(self) -> None:
        """A process stands still for a while, perhaps longer than its lease."""
        role, span = self.dice.choice(self.roles), self.dice.choice([0.3, 1.0, 3.0])
        role.tell(signal.SIGSTOP)

        async def wake() -> None:
            await breathe(span)
            role.tell(signal.SIGCONT)

        task = asyncio.create_task(wake())
        self._told.add(task)
        task.add_done_callback(self._told.discard)

    async def cut(self) -> None:
        """All connections break."""
        with suppress(OSError, Exception):
            say(self.store.socket, "CLIENT", "KILL", "TYPE", "normal")

    async def power_cut(self) -> None:
        """Redis dies, and comes back."""
        self.store.kill()
        await breathe(self.dice.choice([0.0, 0.5, 2.0]))
        self.store.start()
        await self.store.up()

    # ── what must be true ────────────────────────────────────────────────────────────────────────────────────────────

    async def look(self) -> None:
        """At any moment: an end is an end, and no effect happened without leave, or twice."""
        for run in [one for one in self.runs.values() if one]:
            found = await self.broker.peek(run)
            if found is None or found.state not in TERMINAL:
                assert run not in self.ends or run in self.deleted, f"{run} was {self.ends[run]}, and is not any more"
                continue
            assert self.ends.setdefault(run, found.state) == found.state, f"{run} was {self.ends[run]}"
        effects = self.target.read_text("utf-8").split() if self.target.exists() else []
        assert len(effects) == len(set(effects)), f"an effect happened twice: {effects}"
        assert set(effects) <= self.allowed, f"effects without leave: {set(effects) - self.allowed}"

    async def heal(self) -> None:
        """Everything is up again, and people answer what is open and resume what is paused, until all is at its end."""
        await asyncio.gather(*self._told)
        for role in self.roles:
            role.again()
        await wait_until(self._all_ended, HEALED)
        await wait_until(self._nothing_owed, HEALED)
        await self.look()

    async def _all_ended(self) -> bool:
        open = False
        for run in [one for one in self.runs.values() if one]:
            with suppress(StoreError):
                found = await self.broker.peek(run)
                if found is None or found.state in TERMINAL:
                    continue
                open = True
                if found.state == "paused":
                    await self.broker.resume(run, ANN)
        with suppress(StoreError):
            for request in (await self.broker.pending(ANN)).requests:
                open = True
                await self._answer(request, self.value(request))
        await breathe(0.1)
        return not open

    async def _nothing_owed(self) -> bool:
        """No claim, no stop under way, no answer that was not delivered, and nothing alive for a run at its end."""
        store = self.broker.store
        left: list[object] = [*await store.due(0, "stopping"), *await store.due(0, "ready")]
        for run in [one for one in self.runs.values() if one]:
            found = await self.broker.peek(run)
            if found is None:
                continue
            left += [run] if found.turn is not None or found.unproved or found.answered else []
            left += [line for line in tree.living() if _works_on(line[0], found.id)]
        return not left


def _works_on(pid: int, run: str) -> bool:
    try:
        environment = (tree.PROC / str(pid) / "environ").read_bytes()
    except OSError:
        return False
    return f"{tree.MARK}={run}:".encode() in environment


@asynccontextmanager
async def chaos(seed: int) -> AsyncGenerator[Chaos]:
    """A world of its own."""
    with tempfile.TemporaryDirectory(prefix="sayso-chaos-", ignore_cleanup_errors=True) as place:
        folder = Path(place)
        (folder / "data").mkdir()
        store = Store(folder)
        store.start()
        await store.up()
        url = f"unix://{store.socket}"
        roles = [Role(word, folder, url, "apart") for word in ("web", "web", "worker", "worker")]
        try:
            for role in roles:
                role.start()
            async with open_broker(url, block=0.2) as broker:
                yield Chaos(broker, folder, store, roles, seed)
        finally:
            for role in roles:
                role.tell(signal.SIGCONT)
                role.tell(signal.SIGKILL)
                role.process.wait()
            store.kill()


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
        return {**world.did, "effects": len(world.target.read_text("utf-8").split()) if world.target.exists() else 0}


def main() -> None:
    """Rage with one seed after the other until the minutes are over."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    spent, seed = 0.0, given.seed
    while spent < given.minutes * 60:
        sys.stdout.write(f"seed {seed}: {uvloop.run(rage(seed, 60.0))}\n")
        sys.stdout.flush()
        spent, seed = spent + 60.0, seed + 1


if __name__ == "__main__":
    main()
