"""The verbs of Sayso: what the rest of the program calls. Each decides in `life`, commits, and says what came of it.

A verb returns a result or a `Refusal`; it raises only when Redis cannot be reached or is full (`core/errors.py`).
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from functools import partial

from core.cards import Cards
from core.commit import Committer
from core.feed import LOOK, Feed, Listening
from core.keys import Retention
from core.life import again, grant, overdue, place, request, run, said, start, turn
from core.life.commands import aimed
from core.life.decision import Refusal
from core.life.draft import Spans
from core.life.event import (
    Abort,
    Append,
    Ask,
    Begin,
    Broke,
    Claim,
    Deadline,
    Delete,
    Ended,
    Extend,
    Finish,
    Forestall,
    Free,
    Lost,
    Park,
    Reply,
    Reset,
    Resume,
    Revert,
    Said,
    ShrinkDue,
    Stop,
    Take,
    Took,
    Withdraw,
)
from core.life.living import Beat, Hold, Leave, Stray, Swept
from core.life.result import (
    Answered,
    Asked,
    Changed,
    Deleted,
    Delivered,
    Extended,
    Forestalled,
    Kept,
    Opened,
    Result,
    Resumed,
    Sent,
    Stopped,
)
from core.links import open_links
from core.looks import Looks
from core.model import Cause, Person
from core.question import ConfirmField
from core.safe import Safe
from core.shelf import Shelf
from core.stops import Stops
from core.store import Store

NO_RUN = run.UNKNOWN
NO_REQUEST = request.UNKNOWN


class Broker(Looks):
    """Everything that people, turns and processes can do. Made by `open_broker`.

    confirm_ms: the time to live of a confirmation that names none; 0 for none.
    """

    def __init__(
        self, store: Store, feeds: Sequence[Feed], *, spans: Spans | None = None, confirm_ms: int = 1_800_000
    ) -> None:
        super().__init__(store, feeds)
        self.shelf = Shelf(store.link)
        self.committer = Committer(store, spans or Spans())
        self.safe = Safe(self, self.committer, self.shelf)
        self.cards = Cards(store, self.committer)
        self.stops = Stops(store, self.committer)
        self._confirm_ms = confirm_ms
        self._watched: dict[str, list[Callable[[], None]]] = {}
        self._listening: list[Listening] = [feed.listen("run", self.hinted) for feed in feeds]
        for partition, feed in enumerate(feeds):
            self._listening.append(feed.listen("wrote", partial(store.wrote, partition)))

    # ── a person's side ──────────────────────────────────────────────────────────────────────────────────────────────

    async def said(self, event: Said) -> Result | Refusal:
        """A person said something: start, steer, answer or command, as the table in `life/said.py` says."""
        at = self.store.place(event.origin) if event.conversation is None else self.store.partition(event.conversation)
        if at is None:
            return said.NO_CONVERSATION
        other = self.store.partition(aimed(event) or "")
        if other is not None and other != at:
            return await self.committer.carry(said.elsewhere, event, other)
        return await self.committer.carry(said.said, event, at)

    async def answer(self, event: Reply) -> Answered | Refusal:
        """Answer an open request; the first answer wins, a later one learns which answer stands.

        Source: C01, C02, C07.
        """
        at = self.store.partition(event.request)
        first = ("request", event.request)
        return NO_REQUEST if at is None else await self.committer.carry(request.reply, event, at, first=first)

    async def cancel(
        self, id: str, person: Person, *, key: str | None = None, urgent: bool = False, via: str | None = None
    ) -> Stopped | Refusal:
        """End a run and discard what could be resumed; admitted in every state."""
        return await self._stop(id, "user_canceled", person, key, urgent=urgent, via=via)

    async def pause(
        self, id: str, person: Person, *, key: str | None = None, urgent: bool = False, via: str | None = None
    ) -> Stopped | Refusal:
        """Stop a run and keep it for a resume."""
        return await self._stop(id, "user_paused", person, key, urgent=urgent, via=via)

    async def abort(
        self, id: str, person: Person, *, key: str | None = None, via: str | None = None
    ) -> Stopped | Refusal:
        """Pause, pressed on a question: the run that asked is paused."""
        at = self.store.partition(id)
        asked = await self.request(id, person) if at is not None else None
        if at is None or asked is None:
            return NO_REQUEST
        event = Abort(id, person, key, await self.effects(await self.peek(asked.run)), via)
        return await self.committer.carry(request.abort, event, at, first=("request", id))

    async def _stop(
        self, id: str, cause: Cause, person: Person, key: str | None, *, urgent: bool = False, via: str | None = None
    ) -> Stopped | Refusal:
        at = self.store.partition(id)
        found = await self.peek(id) if at is not None else None
        if at is None or found is None:
            return NO_RUN
        event = Stop(id, cause, person, key, urgent, await self.effects(found), via=via)
        return await self.committer.carry(run.stop, event, at)

    async def cancel_start(self, origin: str, person: Person, start_key: str) -> Forestalled | Stopped | Refusal:
        """Cancel a run by the key of its start, also before the start has come."""
        at = self.store.place(origin)
        found = await self.committer.carry(said.forestall, Forestall(origin, person, start_key), at)
        return await self.cancel(found.run, person) if isinstance(found, Sent) else found

    async def resume(
        self, id: str, person: Person, *, key: str | None = None, via: str | None = None
    ) -> Resumed | Refusal:
        """Let a paused run go on; of two that want it one starts it."""
        at = self.store.partition(id)
        return NO_RUN if at is None else await self.committer.carry(again.resume, Resume(id, person, key, via), at)

    async def revert(
        self, id: str, person: Person, *, key: str | None = None, via: str | None = None
    ) -> Resumed | Refusal:
        """Let a paused run go back to where it last asked."""
        at = self.store.partition(id)
        found = await self.run(id, person)
        if at is None or found is None:
            return NO_RUN
        steps = await self.steps(found.root)
        asked = [seq for seq, step in steps if step.kind == "ask"]
        length = steps[-1][0] if steps else 0
        event = Revert(found.id, person, asked[-1] - 1 if asked else 0, length, key, via)
        return await self.committer.carry(again.revert, event, at)

    async def extend(
        self, id: str, person: Person, seconds: float, *, key: str | None = None, via: str | None = None
    ) -> Extended | Refusal:
        """Give a request more time, counted from now."""
        at = self.store.partition(id)
        event = Extend(id, person, int(seconds * 1000), key, via)
        return NO_REQUEST if at is None else await self.committer.carry(overdue.extend, event, at)

    async def reset(self, event: Reset) -> Opened | Refusal:
        """Lay a new conversation at an origin."""
        return await self.committer.carry(place.reset, event, self.store.place(event.origin))

    async def delete(
        self, id: str, person: Person, *, key: str | None = None, via: str | None = None
    ) -> Deleted | Refusal:
        """Delete a conversation, whatever goes on in it."""
        at, event = self.store.partition(id), Delete(id, person, key, via)
        return place.UNKNOWN if at is None else await self.committer.carry(place.delete, event, at)

    async def withdraw_grant(
        self, id: str, person: Person, digest: str, run: str | None = None, *, via: str | None = None
    ) -> Kept | Refusal:
        """Take back a remembered approval of a conversation (or of one of its runs)."""
        at = self.store.partition(id)
        event = Withdraw(id, person, digest, run, via)
        return place.UNKNOWN if at is None else await self.committer.carry(grant.withdraw, event, at)

    async def bind(self, origin: str, people: tuple[str, ...]) -> None:
        """Let a place with several people know its list of people; it counts at once."""
        await self.committer.carry(place.bind, place.Bind(origin, people), self.store.place(origin))

    # ── a turn's side ────────────────────────────────────────────────────────────────────────────────────────────────

    async def claim(
        self, id: str, worker: str, pausing: frozenset[str] = frozenset(), ladders: Mapping[str, int] | None = None
    ) -> Delivered | Refusal:
        """Take a ready run and start a turn."""
        event = Claim(id, worker, pausing, ladders or {})
        return await self.committer.carry(start.claim, event, self._at(id), first=("run", id))

    async def ask(self, event: Ask) -> Asked | Refusal:
        """Park a question; its entry in the run's journal is in the same commit."""
        asked = event.question
        if asked.timeout_ms is None and any(isinstance(field, ConfirmField) for field in asked.fields):
            event = replace(event, question=asked.changed(timeout_ms=self._confirm_ms))
        return await self.committer.carry(request.ask, event, self._at(event.run), first=("run", event.run))

    async def take(self, event: Take) -> Delivered | Refusal:
        """Take the answers for which a held turn waits."""
        return await self.committer.carry(request.take, event, self._at(event.run), first=("run", event.run))

    async def park(self, event: Park) -> Changed | Refusal:
        """Let go of a held turn."""
        return await self.committer.carry(request.park, event, self._at(event.run), first=("run", event.run))

    async def begin(self, event: Begin) -> Kept | Refusal:
        """Record that a step is about to act: the last check before it does."""
        return await self.committer.carry(turn.begin, event, self._at(event.run))

    async def append(self, event: Append) -> Kept | Refusal:
        """Record or tell what a turn did."""
        return await self.committer.carry(turn.append, event, self._at(event.run))

    async def took(self, event: Took) -> Changed | Refusal:
        """Record that a turn took in what a person said."""
        return await self.committer.carry(turn.took, event, self._at(event.run))

    async def finish(self, event: Finish) -> Changed | Refusal:
        """Record what the agent returned."""
        return await self.committer.carry(run.finish, event, self._at(event.run), first=("run", event.run))

    async def broke(self, event: Broke) -> Changed | Refusal:
        """Record that a turn broke."""
        return await self.committer.carry(run.broke, event, self._at(event.run))

    async def ended(self, event: Ended) -> Changed | Refusal:
        """Record that the work of a turn was seen to end."""
        return await self.committer.carry(run.ended, event, self._at(event.run))

    async def lost(self, event: Lost) -> Changed | Kept | Refusal:
        """Settle what a lost worker held."""
        return await self.committer.carry(again.lost, event, self._at(event.run))

    def watch(self, id: str, callback: Callable[[], None]) -> Callable[[], None]:
        """Be called on every hint about a run; returns what ends it. A hint is only a hint: look as well."""
        self._watched.setdefault(id, []).append(callback)

        def end() -> None:
            callbacks = self._watched.get(id, [])
            if callback in callbacks:
                callbacks.remove(callback)
            if not callbacks:
                self._watched.pop(id, None)

        return end

    def hinted(self, id: str) -> None:
        """Pass a hint about a run on to whoever watches it."""
        heard = [*self._watched.values()] if id == LOOK else [self._watched.get(id, [])]
        for callback in [one for callbacks in heard for one in callbacks]:
            callback()

    # ── a process's side ─────────────────────────────────────────────────────────────────────────────────────────────

    async def beat(self, event: Beat, partition: int) -> Kept | Refusal:
        """Renew a process's lease and listening in one partition."""
        return await self.committer.carry(place.beat, event, partition)

    async def leave(self, event: Leave, partition: int) -> Kept | Refusal:
        """End a process's lease and listening in one partition."""
        return await self.committer.carry(place.leave, event, partition)

    async def swept(self, event: Swept, partition: int) -> Kept | Refusal:
        """Record that all that a process held that is gone was settled."""
        return await self.committer.carry(place.swept, event, partition)

    async def hold(self, event: Hold, partition: int) -> Kept | Refusal:
        """Take or renew what only one may hold."""
        return await self.committer.carry(place.hold, event, partition)

    async def tick(self, event: Deadline | Free | ShrinkDue | Stray, partition: int) -> Result | Refusal:
        """Let a due timer have its effect, or take away one that has none."""
        match event:
            case Stray():
                return await self.committer.carry(place.stray, event, partition)
            case Deadline():
                return await self.committer.carry(overdue.deadline, event, partition)
            case Free():
                return await self.committer.carry(run.free, event, partition)
            case ShrinkDue():
                return await self.committer.carry(place.shrink, event, partition)

    def close(self) -> None:
        """Listen no more."""
        for one in self._listening:
            one.close()

    def _at(self, id: str) -> int:
        at = self.store.partition(id)
        if at is None:
            raise ValueError(f"{id!r} is no id of a run")
        return at


@asynccontextmanager
async def open_broker(
    url: str,
    *,
    partitions: int | None = None,
    retention: Retention | None = None,
    spans: Spans | None = None,
    confirm_ms: int = 1_800_000,
    name: str = "sayso",
    block: float = 2.0,
    hears: bool = True,
) -> AsyncGenerator[Broker]:
    """Connect to Redis and open the broker: one link, one feed reader per partition (hears: none if it is told hints).

    partitions: None for as many as such a Redis has.

    Raises: `LinkDown`, `TooOld`, `TooNew`, `StoreError`.
    """
    async with AsyncExitStack() as stack:
        link = await stack.enter_async_context(open_links(url, name=name))
        store = Store(link, partitions=partitions or link.partitions, retention=retention)
        await store.open()
        names = [keys.feed for keys in store.keys if hears]
        heard = [Feed(link.address(key, "sayso-feed"), key, link, block=block) for key in names]
        feeds = [await stack.enter_async_context(feed) for feed in heard]
        broker = Broker(store, feeds, spans=spans, confirm_ms=confirm_ms)
        stack.callback(broker.close)
        yield broker
