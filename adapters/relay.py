"""The relay: keeps cards and texts on one platform in step with the state, from the indexes of what is owed.

It looks whenever the feed hints, and at least every `look` seconds; each thing owed becomes a job in the lane of its
chat. It sends nothing while this process does not hold the platform. It knows no platform and no rule.
Source: DESIGN section 8, C04, C107.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from types import TracebackType
from typing import Self

from adapters.fit import squeezed
from adapters.lanes import Job, Lanes, Rank
from adapters.outcomes import Clock, Notice
from adapters.platform import Block, Platform, Refused, Sent, View
from adapters.posting import Texts
from adapters.sending import Sending
from adapters.showing import Showing, Ticket, Writing
from adapters.status import notice_view
from adapters.watching import Watching
from core.broker import Broker
from core.errors import StoreError
from core.feed import LOOK
from core.files import FileStore
from core.keys import Index
from core.life.alias import Alias
from core.life.card import Reshow
from core.life.decision import Ref
from core.listening import Serves
from core.model import TERMINAL, Conversation, Origin
from core.trace import emit

_log = logging.getLogger(__name__)
OWED: tuple[Index, ...] = ("outbox", "unshown", "debt")
LIMIT = 1_000


def utc(ms: int) -> str:
    """Tell a time as people read it."""
    return f"{datetime.fromtimestamp(ms / 1000, UTC):%H:%M} UTC"


class Relay:
    """What brings cards and texts to one platform, for as long as the context lasts.

    may_send: whether this process holds the platform now. link, ticket, serves, written: `Showing`.
    look: seconds between two looks at most. quiet: seconds that a run may work before it gets a status card.
    """

    def __init__(
        self,
        broker: Broker,
        platform: Platform,
        *,
        files: FileStore | None = None,
        link: Callable[[str], str | None] = lambda request: None,
        ticket: Ticket | None = None,
        serves: Serves | None = None,
        clock: Clock = utc,
        may_send: Callable[[], bool] = lambda: True,
        look: float = 2.0,
        quiet: float = 1.5,
        written: bool = False,
    ) -> None:
        self._broker = broker
        self._platform = platform
        self._look = look
        self._quiet_ms = int(quiet * 1000)
        self._wake = asyncio.Event()
        self.lanes = Lanes(may_send)
        self.sending = Sending(platform, self._moved, self.lanes.rest_everywhere)
        self._texts = Texts(broker, self.sending, files, self._again)
        self._undrafted: set[str] = set()
        self._watching = Watching(
            broker,
            self.sending,
            rests=lambda place: self.lanes.rests(self._chat(place)),
            gap=self._gap,
            changed=self._streamed,
        )
        self._showing = Showing(
            broker,
            self.sending,
            is_private=platform.is_private,
            link=link,
            ticket=ticket,
            serves=serves,
            clock=clock,
            again=self._again,
            writing=self._on_card,
            written=written,
        )

    async def __aenter__(self) -> Self:
        self._stack = AsyncExitStack()
        await self._stack.enter_async_context(self.lanes)
        await self._stack.enter_async_context(self._watching)
        for feed in self._broker.feeds:
            for index in OWED:
                self._stack.callback(feed.listen(index, self._hinted).close)
        self._loop = asyncio.create_task(self._keep(), name=f"relay {self._platform.prefix}")
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._loop.cancel()
        await asyncio.gather(self._loop, return_exceptions=True)
        await self._stack.aclose()

    def say(self, place: str, notice: Notice, *, reply_to: str | None = None, only: str | None = None) -> None:
        """Answer a person at a place, before everything else that waits there; tried until it is clear, not kept."""
        view = squeezed(notice_view(notice, only=only), self._platform.limits, self._platform.measure)
        nonce = secrets.token_hex(8)

        async def send() -> float | None:
            outcome = await self.sending.post(place, view, nonce, reply_to)
            if isinstance(outcome, Refused) and outcome.kind == "later":
                return outcome.retry_after or 2.0
            if not isinstance(outcome, Sent):
                _log.warning("an answer at %s did not arrive: %r", place, outcome)
            emit("notice.posted", place=place, sent=isinstance(outcome, Sent))
            return None

        self.lanes.put(self._chat(place), Rank.ANSWER, f"say {nonce}", send)

    async def repair(self, card: str) -> None:
        """Bring one card up to date at once."""
        await self._showing.repair(card)

    def remove(self, place: str, message: str) -> None:
        """Delete a message as soon as the chat allows it."""

        async def send() -> float | None:
            outcome = await self.sending.remove(place, message)
            if isinstance(outcome, Refused) and outcome.kind == "later":
                return outcome.retry_after or 2.0
            if not isinstance(outcome, Sent):
                self.say(
                    place, Notice(text="I could not delete your message: please delete it, and change the secret.")
                )
            return None

        self.lanes.put(self._chat(place), Rank.ANSWER, f"remove {message}", send)

    async def moved(self, old: str, new: str) -> None:
        """A chat has a new id: everything goes on there."""
        self.sending.goes_on(old, new)
        await self._moved(old, new)

    # ── the loop ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def _hinted(self, prefix: str) -> None:
        if prefix in (self._platform.prefix, LOOK):
            self._wake.set()

    def _again(self, seconds: float) -> None:
        asyncio.get_running_loop().call_later(seconds, self._wake.set)

    async def _keep(self) -> None:
        while True:
            self._wake.clear()
            try:
                if self.lanes.may_send():
                    await self._owed()
            except StoreError as lost:
                _log.warning("nothing can be brought to %s: %s", self._platform.name, lost)
            except Exception:  # noqa: BLE001  # the edge of the task: one bad entry must not end all showing
                _log.exception("one round of the relay of %s failed", self._platform.name)
            try:
                async with asyncio.timeout(self._look):
                    await self._wake.wait()
            except TimeoutError:
                pass

    async def _owed(self) -> None:
        """Make a job of everything that is owed and due."""
        prefix = self._platform.prefix
        for partition, conversation in await self._broker.cards.owed("outbox", prefix, limit=LIMIT):
            await self._outbox(partition, conversation)
        for _, member in await self._broker.cards.owed("unshown", prefix, limit=LIMIT):
            of, _, place = member.partition(" ")
            self._put(place, Rank.FINAL, f"show {member}", lambda of=of, place=place: self._showing.show(of, place))
        for partition, member in await self._broker.cards.owed("debt", prefix, limit=LIMIT):
            if member.startswith("run:"):
                await self._status(partition, member)
            else:
                await self._debt(partition, member)

    async def _outbox(self, partition: int, id: str) -> None:
        model = (await self._broker.store.read(partition, [("conversation", id)]))[("conversation", id)].model
        if isinstance(model, Conversation) and not model.deleted:
            place = model.origin
            self._put(place, Rank.FINAL, f"texts {id}", lambda: self._texts.bring(id, place))
        else:
            await self._broker.cards.forget(partition, "outbox", self._platform.prefix, id)

    async def _debt(self, partition: int, id: str) -> None:
        card = await self._broker.cards.card(id)
        if card is None:
            await self._broker.cards.forget(partition, "debt", self._platform.prefix, id)
        else:
            self._put(card.place, Rank.EDIT, f"card {id}", lambda: self._showing.repair(id))

    async def _status(self, partition: int, member: str) -> None:
        run = await self._broker.peek(member.removeprefix("run:"))
        nothing = run is None or (run.card is None and (run.state in TERMINAL or run.state == "waiting"))
        if run is None or nothing or f"run:{run.id}" != member:
            await self._broker.cards.forget(partition, "debt", self._platform.prefix, member)
            return
        place, id = run.origin, run.id
        if run.state in TERMINAL:
            self._put(place, Rank.EDIT, f"end {id}", lambda: self.sending.mark(run))
        await self._watching.follow(run, place)
        card = await self._broker.cards.card(run.card) if run.card is not None else None
        if card is not None and card.state != "sending":
            of = card.id
            self._put(place, Rank.EDIT, f"card {of}", lambda: self._met(id, place, self._showing.repair(of)))
        elif run.state not in ("queued", "working") or self._broker.store.now() - run.created_ms >= self._quiet_ms:
            root = run.root
            self._put(
                place, Rank.EDIT, f"status {root}", lambda: self._met(id, place, self._showing.show_status(id, place))
            )

    async def _met(self, id: str, place: str, showing: Awaitable[float | None]) -> float | None:
        """Show a status card; then follow a run that began to work meanwhile, and show what it wrote meanwhile."""
        rest = await showing
        run = await self._broker.peek(id)
        if run is not None:
            await self._watching.follow(run, place)
            if self._watching.writing(run.root) != Writing():
                self._streamed(run.root)
        return rest

    def _streamed(self, root: str) -> None:
        place = self._watching.place(root)

        async def draw() -> float | None:
            text = self._watching.writing(root).tail
            if place is not None and text and self._drafts(place) and await self._draft(place, root, text):
                return None
            run = await self._broker.peek(root)
            return (
                await self._showing.repair(run.card, owed=False) if run is not None and run.card is not None else None
            )

        if place is not None:
            self._put(place, Rank.STREAM, f"stream {root}", draw)

    async def _draft(self, place: str, root: str, text: str) -> bool:
        """Show what a run is writing; False where the chat cannot show it, now and from now on."""
        view = View(blocks=(Block(kind="markdown", text=text),), of=root)
        view = squeezed(view, self._platform.limits, self._platform.measure)
        outcome = await self.sending.draft(place, root, view)
        if isinstance(outcome, Refused) and outcome.kind == "final":
            _log.info("%s shows no drafts: %s", place, outcome.reason)
            self._undrafted.add(place)
            return False
        return True

    def _on_card(self, root: str) -> Writing:
        """What a status card shows of a run's words: nothing where a draft shows them."""
        found, place = self._watching.writing(root), self._watching.place(root)
        return Writing("", found.doing) if place is not None and self._drafts(place) else found

    def _drafts(self, place: str) -> bool:
        has = self._platform.limits.draft_gap is not None and self._platform.is_private(self.sending.at(place))
        return has and place not in self._undrafted

    def _gap(self, place: str) -> float:
        limits = self._platform.limits
        return limits.draft_gap if limits.draft_gap is not None and self._drafts(place) else limits.edit_gap

    def _put(self, place: str, rank: Rank, key: str, job: Job) -> None:
        self.lanes.put(self._chat(place), rank, key, job)

    def _chat(self, place: str) -> str:
        return self._platform.chat(self.sending.at(place))

    async def _moved(self, old: str, new: str) -> None:
        """A chat has a new id: its conversation is found there too, and its open questions are shown there again."""
        store = self._broker.store
        pointer = (await store.read(store.place(old), [("origin", old)]))[("origin", old)].model
        if not isinstance(pointer, Origin):
            return
        await self._broker.cards.alias(Alias(new, pointer.conversation))
        at = store.partition(pointer.conversation)
        ref: Ref = ("conversation", pointer.conversation)
        model = (await store.read(at, [ref]))[ref].model if at is not None else None
        for request in model.open if isinstance(model, Conversation) else ():
            await self._broker.cards.reshow(Reshow(request, old))
        emit("place.moved", old=old, new=new)
