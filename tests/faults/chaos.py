"""Chaos: real processes, and everything that can happen to them in random order; then they heal, and all must be well.

    python -m tests.faults.chaos --minutes 10 --seed 7

Two webs, two workers whose turns are processes of their own, a front end of the fake platform, one Redis that writes
before it replies, reached through proxies, and a file that counts effects. The dice are rolled by the seed; what was
rolled is printed, so a run can be repeated.
"""

import argparse
import asyncio
import random
import re
import signal
import sys
import tempfile
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path

import uvloop

from core import tree
from core.broker import Broker, open_broker
from core.errors import StoreError
from core.life.decision import Ref, Refusal
from core.life.event import Reply, Said
from core.life.result import Answered, Sent
from core.model import TERMINAL, Person
from core.question import Accepted, Declined, Request
from tests.contract.bench import ANN as BEN
from tests.contract.bench import wide
from tests.fakes import FakeChats, Message
from tests.faults.chaotic import HERE
from tests.faults.fronts import Front
from tests.faults.proxy import Proxy
from tests.faults.roles import Role, Store, breathe
from tests.redis_server import say
from tests.waiting import wait_until
from tests.workshop import ANN

HEALED = 90.0
"""seconds within which all is well again once everything is up"""
THERE = "fa-7"
"""the chat of Ben, on the fake platform; Ann is on the web"""


class Chaos:
    """The world, what was done in it, and what must be true of it in the end."""

    def __init__(
        self,
        broker: Broker,
        folder: Path,
        store: Store,
        roles: list[Role],
        seed: int,
        *,
        proxies: tuple[Proxy, ...] = (),
        front: Front | None = None,
    ) -> None:
        self.broker = broker
        self.proxies = proxies
        self.front = front
        self.chats = front.chats if front is not None else FakeChats()
        self.whose: dict[str, Person] = {}
        self.there: list[str] = []
        self.target = folder / "target"
        self.here = folder / HERE
        self.store = store
        self.roles = roles
        self.dice = random.Random(seed)
        self.runs: dict[str, str] = {}
        self.allowed: set[str] = set()
        self.ends: dict[str, str] = {}
        self.homes: dict[str, str] = {}
        self.deleted: set[str] = set()
        self.did: dict[str, int] = {}
        self._told: set[asyncio.Task[None]] = set()

    # ── what happens ─────────────────────────────────────────────────────────────────────────────────────────────────

    async def step(self) -> None:
        """Let one thing happen."""
        weights: dict[Callable[[], Awaitable[object]], float] = {
            self.begin: 6,
            self.begin_there: 4,
            self.answer: 10,
            self.answer_twice: 3,
            self.press: 8,
            self.cancel: 3,
            self.pause: 3,
            self.resume: 4,
            self.delete: 1,
            self.kill: 1,
            self.sleep: 1,
            self.cut: 1,
            self.black_hole: 1,
            self.power_cut: 1,
            self.full_stop: 0.5,
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
                self.runs[number], self.homes[sent.run] = sent.run, sent.conversation
                return
            await breathe(0.1)
        del self.runs[number]

    async def begin_there(self) -> None:
        """Somebody says something to the front end, when nothing is open in that chat."""
        places = [one for one in await self.broker.conversations(BEN) if one.origin == THERE]
        if self.front is None or not self.front.serves or any(one.unsettled for one in places):
            return
        number = f"1{len(self.there):03}"
        self.there.append(number)
        await asyncio.gather(self.front.say(BEN, THERE, f"{number} {self.target}"), return_exceptions=True)

    async def press(self) -> None:
        """Somebody presses a button of a question in the chat, now and then twice."""
        cards = [one for one in self.chats.cards(THERE) if "Act?" in one.text]
        if self.front is None or not self.front.serves or not cards:
            return
        card, label = self.dice.choice(cards), self.dice.choice(["Approve", "Approve", "Approve", "Deny"])
        await self._pressed(self.front, card, label)

    async def _pressed(self, front: Front, card: Message, label: str) -> None:
        payload = next((one.payload for row in card.rows for one in row if one.label.startswith(label)), None)
        number = re.search(r"number\W+(\d+)", card.text)
        if payload is None or number is None:
            return
        if label == "Approve":
            self.allowed.add(number[1])
        key = front.key()
        for _ in range(self.dice.choice([1, 1, 2])):
            await asyncio.gather(front.send(BEN, card, payload, key=key), return_exceptions=True)

    async def asked(self) -> Request | None:
        """One of the open questions."""
        found = [one for person in (ANN, BEN) for one in (await self.broker.pending(person)).requests]
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
            Reply(request.id, Accepted(values={request.question.fields[0].id: value}), _asked(request), "chat")
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

    def _who(self, run: str) -> Person:
        return self.whose.get(run, ANN)

    async def cancel(self) -> None:
        """Somebody cancels."""
        if run := self.any():
            await self.broker.cancel(run, self._who(run), urgent=self.dice.random() < 0.3)

    async def pause(self) -> None:
        """Somebody pauses."""
        if run := self.any():
            await self.broker.pause(run, self._who(run))

    async def resume(self) -> None:
        """Somebody resumes."""
        if run := self.any():
            await self.broker.resume(run, self._who(run))

    async def delete(self) -> None:
        """Somebody deletes a conversation."""
        if run := self.any():
            found = await self.broker.peek(run)
            if found is not None:
                self.deleted.add(found.conversation)  # before it is sent: its outcome may stay unknown
                await self.broker.delete(found.conversation, self._who(run))

    async def kill(self) -> None:
        """A process dies."""
        self.dice.choice(self._all()).tell(signal.SIGKILL)

    def _all(self) -> list[Role | Front]:
        return [*self.roles, *([self.front] if self.front is not None else [])]

    async def full_stop(self) -> None:
        """Everything dies at once."""
        for one in self._all():
            one.tell(signal.SIGKILL)
        await self.power_cut()

    async def sleep(self) -> None:
        """A process stands still for a while, perhaps longer than its lease."""
        role, span = self.dice.choice(self._all()), self.dice.choice([0.3, 1.0, 3.0])
        role.tell(signal.SIGSTOP)
        self._later(span, lambda: role.tell(signal.SIGCONT))

    async def black_hole(self) -> None:
        """What some of the processes send and what comes to them is held back for a while, and nothing breaks."""
        proxy, span = self.dice.choice(self.proxies), self.dice.choice([0.3, 1.0, 3.0])
        for gate in (proxy.requests, proxy.replies):
            gate.clear()
            self._later(span, gate.set)

    def _later(self, span: float, deed: Callable[[], None]) -> None:
        async def wait() -> None:
            await breathe(span)
            deed()

        task = asyncio.create_task(wait())
        self._told.add(task)
        task.add_done_callback(self._told.discard)

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

    # ── what must be true ────────────────────────────────────────────────────────────────────────────────────────────

    async def look(self) -> None:
        """At any moment: an end is an end, and no effect happened without leave, or twice."""
        await self._find()
        for run in [one for one in self.runs.values() if one]:
            found = await self.broker.peek(run)
            if found is None:
                home = self.homes.get(run)
                assert home is None or home in self.deleted, f"{run} is lost, and nobody deleted it"
                continue
            self.homes[run] = found.conversation
            was = self.ends.get(run, found.state)
            assert was == found.state, f"{run} was {was}, and is {found.state}"
            if found.state in TERMINAL:
                self.ends[run] = found.state
        over = {run for run, state in self.ends.items() if state == "canceled"}
        assert not over & (lives := self.alive()), f"canceled, while something of them lives: {over & lives}"
        effects = self.target.read_text("utf-8").split() if self.target.exists() else []
        assert len(effects) == len(set(effects)), f"an effect happened twice: {effects}"
        assert set(effects) <= self.allowed, f"effects without leave: {set(effects) - self.allowed}"

    async def _find(self) -> None:
        """Learn which runs began in the chat."""
        for place in await self.broker.conversations(BEN) if len(self.whose) < len(self.there) else ():
            found = await self.broker.peek(place.newest) if place.newest is not None else None
            number = found.message.partition(" ")[0] if found is not None else ""
            if found is not None and number in self.there and number not in self.runs:
                self.runs[number] = found.id
                self.whose[found.id] = BEN

    async def heal(self) -> None:
        """Everything is up again, and people answer what is open and resume what is paused, until all is at its end."""
        await asyncio.gather(*self._told)
        for role in self.roles:
            role.again()
        await wait_until(self._all_ended, HEALED)
        await wait_until(self._nothing_owed, HEALED)
        await self.look()
        for message in self.chats.at(THERE):
            await self._is_true(message)

    async def _is_true(self, card: Message) -> None:
        """A card says what was decided, and has no button left; nor has any other message."""
        assert not card.rows, f"{card} can still be pressed"
        target = await self.broker.cards.target(THERE, card.id)
        if target is None or not target.of.startswith("q"):
            return
        ref: Ref = ("request", target.of)
        request = (await self.broker.store.read(0, [ref]))[ref].model
        assert isinstance(request, Request), f"no request stands behind {card}"
        answer = request.answer
        said = ("Approved", "Answered") if isinstance(answer, Accepted) else ("Denied",)
        wanted = (
            said if isinstance(answer, Accepted | Declined) else ("canceled", "ended", "deleted", "anybody", "again")
        )
        assert any(word in card.text for word in wanted), f"{card} is not true: {answer}"
        self.did["cards"] = self.did.get("cards", 0) + 1

    async def _all_ended(self) -> bool:
        open = False
        for run in [one for one in self.runs.values() if one]:
            with suppress(StoreError):
                found = await self.broker.peek(run)
                if found is None or found.state in TERMINAL:
                    continue
                open = True
                if found.state == "paused":
                    await self.broker.resume(run, self._who(run))
        with suppress(StoreError):
            await self._find()
            for request in [one for who in (ANN, BEN) for one in (await self.broker.pending(who)).requests]:
                open = True
                await self._answer(request, self.value(request))
        await breathe(0.1)
        return not open

    async def _nothing_owed(self) -> bool:
        """No claim, no stop under way, no answer that was not delivered, and nothing alive for a run at its end."""
        store = self.broker.store
        left: list[object] = [*await store.due(0, "stopping"), *await store.due(0, "ready")]
        left += await store.due(0, "undelivered")
        for index in ("unshown", "debt", "outbox"):
            left += await store.due(0, index, of="fa") if self.front is not None else []
        for run in [one for one in self.runs.values() if one]:
            found = await self.broker.peek(run)
            if found is None:
                continue
            left += [run] if found.turn is not None or found.unproved or found.answered else []
        return not left and not self.alive()

    def alive(self) -> set[str]:
        """The runs of which something lives: their turns, or what these started."""
        begun = [line.split() for line in self.here.read_text("utf-8").splitlines()] if self.here.exists() else []
        self.did["processes"] = len(begun)
        lives = {(str(pid), str(line.ticks)) for pid, line in tree.living()}
        return {run for run, pid, ticks in begun if (pid, ticks) in lives}


def _asked(request: Request) -> Person:
    """Who was asked."""
    return BEN if request.origin == THERE else ANN


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
        async with AsyncExitStack() as stack:
            proxies = tuple([await stack.enter_async_context(Proxy(store.socket)) for _ in range(2)])
            words = ("web", "worker") * 2
            roles = [Role(word, folder, proxies[number // 2].url, "apart") for number, word in enumerate(words)]
            chats = wide()
            front = Front(chats, proxies[1].url, folder, "apart")
            stack.callback(store.kill)
            for role in roles:
                stack.callback(role.end)
                role.start()
            stack.push_async_callback(front.kill)
            keeping = asyncio.create_task(front.keep(), name="front end")
            stack.push_async_callback(_over, keeping)
            broker = await stack.enter_async_context(open_broker(url, block=0.2))
            yield Chaos(broker, folder, store, roles, seed, proxies=proxies, front=front)
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
