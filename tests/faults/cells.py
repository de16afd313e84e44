"""The cells of the matrix: a run at a place of its life, a verb that is pressed there, and what is seen of it.

Three things are looked at apart: what the call returned; what lives of the run, from the operating system; what the
target saw at the reply and from then on. And once more, over the API, after everything was killed and started again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import Literal

from core import tree
from core.model import Json
from tests.adapters.web.place import User, plain
from tests.faults.roles import breathe
from tests.faults.world import LIMIT, Case, World
from tests.waiting import wait_until

Verb = Literal["cancel", "pause", "abort", "delete"]
VERBS: tuple[Verb, ...] = ("cancel", "pause", "abort", "delete")
ENDS = {"cancel": "canceled", "pause": "paused", "abort": "paused", "delete": "deleted"}
ON_THE_WAY = {"cancel": "canceling", "pause": "pausing", "abort": "pausing", "delete": "deleted"}
LOOK = 0.05
"""seconds from one look to the next, of each of many cells"""


class Cell:
    """A run that is brought to a place, to be stopped there by a verb. word: what is said to the agent for it.

    request: the question on which Abort is pressed, when it is not the newest. told: what the call returned. before,
    seen: what the target had seen by then, and at the end.
    """

    def __init__(self, world: World, where: str, verb: Verb, word: str) -> None:
        self.world = world
        self.where = where
        self.verb: Verb = verb
        self.word = word
        self.request = ""
        self.before: list[str] = []
        self.seen: list[str] = []
        self.told = ""

    def __str__(self) -> str:
        return f"{self.verb} of a run that is {self.where} ({self.case.run})"

    async def say(self) -> None:
        """Start it, in a conversation of its own."""
        self.case: Case = await self.world.say(self.word)

    async def wrote(self, name: str, count: int = 1) -> None:
        """Wait until so many lines stand in one of its files."""
        await wait_until(lambda: len(self.case.traces.lines(name)) >= count, LIMIT)

    async def answer(self) -> None:
        """Answer its open question with yes."""
        (request,) = await self.case.asked()
        kind = (await self.world.one.get(f"/v1/requests/{request}"))["fields"]
        assert isinstance(kind, list)
        yes: dict[str, Json] = {"confirm": "once"} if "'confirm'" in str(kind) else {"text": "yes"}
        await self.world.one.post(f"/v1/requests/{request}/answer", {"outcome": "accepted", "values": yes})

    async def shown(self) -> str:
        """The state it is shown in, as it is stored."""
        found = await self.world.broker.peek(self.case.run)
        return found.shown if found is not None else "deleted"

    def left(self) -> set[int]:
        """What lives of it: those that it named itself, and those that carry its mark."""
        marked = {pid for mark, pids in tree.marked().items() if mark.startswith(f"{self.case.run}:") for pid in pids}
        return self.case.alive() | marked

    async def presses(self, verb: Verb, by: User, status: int = 200) -> dict[str, Json]:
        """What a web says to a verb."""
        run = self.case.run
        if verb == "delete":
            return plain(await by.http.delete(f"/v1/conversations/{self.case.conversation}"), status)
        if verb == "abort":
            record = await self.world.broker.peek(run)
            asked = self.request or ([*record.past, *record.requests][-1] if record is not None else "")
            return await by.post(f"/v1/requests/{asked}/abort", status=status)
        return await by.post(f"/v1/runs/{run}/{verb}", status=status)

    async def ends(self, *, at_once: bool = False) -> None:
        """Press, and see the end. at_once: nothing works on it, so the reply says that it is over."""
        self.before = self.case.target
        told = await self.presses(self.verb, self.world.one)
        self.told = str(told["kind"] if self.verb == "delete" else told["state"])
        at_reply = self.case.target
        assert self.told in ({ENDS[self.verb]} if at_once else {ENDS[self.verb], ON_THE_WAY[self.verb]}), self
        await self.over()
        if at_once:
            assert self.before == at_reply == self.seen, f"{self}: {self.seen} at the target"

    async def over(self) -> None:
        """Wait for the end that the verb brings; at that moment nothing of the run lives."""

        async def there() -> bool:
            await breathe(LOOK)
            return await self.shown() == ENDS[self.verb] and not (self.verb == "delete" and self.case.alive())

        await wait_until(there, LIMIT)
        self.seen = self.case.target
        left = self.left()
        assert not left, f"{self}: {left} live"

    async def still(self) -> None:
        """It is as it was at its end, and the target has seen nothing since."""
        assert await self.shown() == ENDS[self.verb], self
        assert self.case.target == self.seen, f"{self}: something acted after the end"
        assert self.seen.count("acted") <= 1, self
        assert "ended" not in self.seen, self

    async def holds(self) -> None:
        """After a restart it is as it was, a second cancel says so, and delete works."""
        await self.still()
        user, run = self.world.two, f"/v1/runs/{self.case.run}"
        if self.verb == "delete":
            await user.get(run, 404)
            await self.presses("cancel", user, 404)
            return
        assert (await user.get(run))["state"] == ENDS[self.verb], self
        if self.verb == "cancel":
            assert (await self.presses("cancel", user, 409))["detail"] == "already canceled", self
        else:
            assert (await self.presses("cancel", user))["state"] == "canceled", self
        await self.presses("delete", user)
        await user.get(run, 404)
        assert self.case.target == self.seen, self


async def each(cells: Iterable[Cell], deed: Callable[[Cell], Awaitable[None]]) -> None:
    """Do the same with all cells at once, and name every one with which something is wrong."""
    many = [*cells]
    done = await asyncio.gather(*(deed(cell) for cell in many), return_exceptions=True)
    wrong = [f"{cell}: {error!r}" for cell, error in zip(many, done, strict=True) if error is not None]
    assert not wrong, "\n".join(wrong)
