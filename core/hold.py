"""How a turn asks and waits: the question is parked in Redis at once; for a while the code is kept, too.

    ask ──▶ held ──▶ answered: the code goes on in the same turn
             └─ the hot window is over, and nothing but questions is outstanding ──▶ parked: the code is left

All answers come together, when all questions of the run are answered. Whoever waits is woken by hints, and looks every
few seconds as well. A terminal's turn is held for as long as it takes. This file must not know the verbs of an agent.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Literal

from core.life.check import normal
from core.life.decision import Refusal
from core.life.event import Ask, Park, Take
from core.life.result import Asked, Changed, Delivered
from core.model import Json, digest
from core.question import Accepted, Declined, Question
from core.replay import Diverged, Place
from core.trace import emit
from core.turn import NotAskable, Parking, Turn
from core.waited import waited

Given = Accepted | Declined
ORDER = "the replay came to {key!r}, but the journal goes on with {left!r}: same results must lead to the same calls"
OTHER = "the replay asks something else under {key!r} than the journal says; an answer counts for its question only"


class Hold:
    """The questions of one turn that are not answered yet.

    held: it waits for answers and for nothing else; counted: is told +1 when that begins and -1 when it ends.
    """

    def __init__(self, turn: Turn, counted: Callable[[int], None]) -> None:
        self.before: dict[Callable[[], Awaitable[None]], None] = {}
        self._turn = turn
        self._waiting: dict[str, asyncio.Future[Given]] = {}
        self._hint = asyncio.Event()
        self._window = turn.pace.hot
        self._keeper: asyncio.Task[None] | None = None
        self._counted = counted
        self.held = False
        turn.changed = self._changed

    async def ask(self, key: str, question: Question, *, ours: Literal["unknown_step"] | None = None) -> Given:
        """Ask, or replay what was asked under this key, and return what the person said.

        Raises: `Diverged` for another question than the journal's; `NotAskable`; `Parking` and `CancelledError`.
        """
        turn, told = self._turn, _told(question)
        turn.check()
        checked = normal(question)
        if isinstance(checked, Refusal):
            raise NotAskable(checked.text)
        place = turn.tape.look(key)
        if place.answer is not None:
            _same(key, question, place, told)
            return place.answer
        replaces = place.request
        if replaces is not None:
            run = await turn.steady(lambda: turn.broker.peek(turn.run.id))
            if run is not None and replaces in run.requests:
                _same(key, question, place, told)
                return await self._wait(key)
        self.in_order(key)
        for before in tuple(self.before):
            await before()
        run, data = turn.run.id, dict[str, Json](question=told)
        shown = turn.veil.question(question)
        asked = await turn.record(
            "ask",
            key,
            lambda length: turn.broker.ask(Ask(run, turn.fence, key, shown, length, replaces, ours, data)),
        )
        if isinstance(asked, Asked) and asked.undeliverable:
            await turn.stopped("undeliverable")
        if isinstance(asked, Asked) and asked.granted is not None:
            turn.tape.length -= 1
            await turn.read()
        return place.answer or await self._wait(key)

    def in_order(self, key: str) -> None:
        """Refuse to begin something new while the journal holds calls that this replay did not come to.

        Only code that makes its calls one after the other can be held to their order.
        """
        left = self._turn.tape.unused()
        if left and not self._turn.forked:
            raise Diverged(ORDER.format(key=key, left=left[0]))

    def _changed(self) -> None:
        """Take note of whether the turn only waits for answers; that may be the moment to park."""
        held = bool(self._waiting) and self._idle()
        if held != self.held:
            self.held = held
            self._counted(1 if held else -1)
            if held:
                self._hint.set()

    def let_go(self) -> None:
        """Park as soon as nothing but questions is outstanding, however short the turn has been held."""
        self._window = 0.0
        self._hint.set()

    async def close(self) -> None:
        """Wait for nothing any more; the code has ended."""
        if self._keeper is not None:
            self._keeper.cancel()
            await asyncio.gather(self._keeper, return_exceptions=True)
        for future in self._waiting.values():
            future.cancel()
        self._waiting.clear()
        self._changed()

    # ── waiting ──────────────────────────────────────────────────────────────────────────────────────────────────────

    async def _wait(self, key: str) -> Given:
        future: asyncio.Future[Given] = asyncio.get_running_loop().create_future()
        self._waiting[key] = future
        self._changed()
        self._hint.set()
        if self._keeper is None or self._keeper.done():
            self._keeper = waited(self._keep(), f"hold {self._turn.run.id}")
        try:
            return await future
        finally:
            self._waiting.pop(key, None)
            self._changed()

    async def _keep(self) -> None:
        """Look, and wait for a hint, until every question is answered or the turn is over."""
        turn, loop = self._turn, asyncio.get_running_loop()
        began = loop.time()
        end = turn.broker.watch(turn.run.id, self._hint.set)
        try:
            while self._waiting:
                self._hint.clear()
                await self._look()
                left = began + self._window - loop.time()
                if left <= 0 and self._waiting and self._may_park():
                    await self._park()
                pause = min(turn.pace.look, left) if left > 0 else turn.pace.look
                with suppress(TimeoutError):
                    async with asyncio.timeout(pause):
                        await self._hint.wait()
        except Exception as error:  # noqa: BLE001  # the edge of a task: whoever waits hears of it
            for future in self._waiting.values():
                if not future.done():
                    future.set_exception(error)
        finally:
            end()

    async def _look(self) -> None:
        turn = self._turn
        length = turn.tape.length
        taken = await turn.steady(lambda: turn.broker.take(Take(turn.run.id, turn.fence, length)))
        if isinstance(taken, Delivered):
            turn.tape.load(enumerate(taken.steps, length + 1))
            self._deliver()
            return
        match taken.code:
            case "length":
                await turn.read()
                self._hint.set()
            case "halted" if taken.standing.get("state") == "working":
                await turn.read()
                self._deliver()
            case "fenced" | "gone":
                turn.lose()
            case "halted":
                run = await turn.steady(lambda: turn.broker.peek(turn.run.id))
                turn.stop(run.cause if run is not None else "deleted")
            case _:
                pass

    def _deliver(self) -> None:
        """Hand the answers that stand in the journal to who waits for them."""
        for key, future in list(self._waiting.items()):
            answer = self._turn.tape.look(key).answer
            if answer is not None and not future.done():
                future.set_result(answer)
                self._waiting.pop(key, None)

    # ── parking ──────────────────────────────────────────────────────────────────────────────────────────────────────

    def _may_park(self) -> bool:
        turn = self._turn
        return self._idle() and not turn.stopping and not turn.lost and not turn.run.origin.startswith("cli-")

    def _idle(self) -> bool:
        """Tell whether nothing but questions is outstanding: no step runs, no call is open that does not ask."""
        asking = tuple(self._waiting)
        calls = self._turn.open
        return not self._turn.acting and all(any(key.startswith(f"{call}/") for key in asking) for call in calls)

    async def _park(self) -> None:
        """Let go, unless something began in the meantime; nothing is recorded while this is under way."""
        turn = self._turn
        async with turn.writing:
            if not self._may_park():
                return
            parked = await turn.steady(lambda: turn.broker.park(Park(turn.run.id, turn.fence)))
            turn.parked = isinstance(parked, Changed)
        if not turn.parked:
            self._hint.set()
            return
        emit("turn.parked", run=turn.run.id, fence=turn.fence)
        for future in self._waiting.values():
            if not future.done():
                future.set_exception(Parking())
        self._waiting.clear()


def _told(question: Question) -> str:
    return digest("question", question.model_dump(mode="json", exclude_none=True))


def _same(key: str, question: Question, place: Place, told: str) -> None:
    """Refuse another question than the one that the journal holds."""
    granted = place.granted
    if granted is not None:
        subject = question.subject
        if subject is None or digest(subject.tool, subject.arguments) != granted:
            raise Diverged(OTHER.format(key=key))
    elif place.told != told:
        raise Diverged(OTHER.format(key=key))
