"""One conversation's events for all who follow it: its journal is read once, each event is encoded once.

A follower that has just come, or is too slow, is *behind*: it reads the journal from where it is and then joins the
others, so nothing is lost or told twice and nothing piles up. When the journal does not reach back that far it is told
`reset`; when the conversation is deleted, `conversation.deleted`. Either is the last that it gets.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections import deque
from collections.abc import Callable
from typing import Final, NamedTuple

from adapters.web.attached import Attached
from core.broker import Broker
from core.errors import StoreError
from core.model import Event, Json, Person

LOOK: Final = 10.0
"""seconds between two looks at a journal that nobody hinted at"""
MAILBOX: Final = 500
"""frames that wait for a follower before it counts as behind"""
RING: Final = 256
"""frames kept for followers that come back"""
FAR: Final = 5_000
"""events that a follower may be behind before it is told to load everything again"""
_log = logging.getLogger("sayso.live")


class Frame(NamedTuple):
    """An event as it goes out. seq: 0 for what is in no journal; text: one JSON object."""

    type: str
    seq: int
    text: str


class Follower:
    """Somebody who is told what happens in a conversation. `wake` is called when there is something to take."""

    def __init__(self, channel: Channel, person: Person, after: int, wake: Callable[[], None]) -> None:
        self.channel = channel
        self.person = person
        self.over = False
        self._wake = wake
        self._seq = after
        self._frames: deque[Frame] = deque()
        self._behind = True

    @property
    def ready(self) -> bool:
        """Whether `take` may find something."""
        return self._behind or bool(self._frames)

    def offer(self, frame: Frame) -> None:
        """Put a frame in, unless this follower is behind anyway."""
        if not self._behind and not self.over and frame.seq > self._seq:
            if len(self._frames) >= MAILBOX:
                self._frames.clear()
                self._behind = True
            else:
                self._frames.append(frame)
        self._wake()

    def end(self, frame: Frame) -> None:
        """Put in the last frame."""
        if not self.over:
            self.over, self._behind = True, False
            self._frames.append(frame)
            self._wake()

    async def take(self) -> list[Frame]:
        """Return what is new, in order, without a gap; one task at a time.

        Raises: `StoreError`; nothing is lost then.
        """
        if self._behind:
            frames = await self.channel.since(self._seq)
            if frames is None:
                self.end(await self.channel.last_word())
            elif not self.over:
                self._seq = frames[-1].seq if frames else self._seq
                self._behind = self._seq < self.channel.seq
                if self._behind:
                    self._wake()
                return frames
        frames = list(self._frames)
        self._frames.clear()
        if frames and not self.over:
            self._seq = frames[-1].seq
        return frames


class Channel:
    """One conversation's journal. seq: what everybody was offered, -1 before that is known."""

    def __init__(self, broker: Broker, conversation: str, attached: Attached, render: Callable[[str], str]) -> None:
        self.conversation = conversation
        self.seq = -1
        self.followers: dict[Follower, None] = {}
        self.reader: asyncio.Task[None] | None = None
        self._broker = broker
        self._attached = attached
        self._render = render
        self._ring: deque[Frame] = deque(maxlen=RING)

    async def since(self, after: int) -> list[Frame] | None:
        """Read what came after a number; None when that is not whole any more."""
        if self._ring and self._ring[0].seq <= after + 1 and after <= self.seq:
            return [frame for frame in self._ring if frame.seq > after]
        rows = await self._broker.journal(self.conversation, after)
        if rows is None or len(rows) > FAR:
            return None
        frames = [await self._encode(seq, event) for seq, event in rows]
        if self.seq < 0:
            self.seq = frames[-1].seq if frames else after
        return frames

    async def last_word(self) -> Frame:
        """What a follower is told when the journal is not what it was."""
        if await self._there():
            return await reset(self._broker, self.conversation)
        return deleted(self.conversation, self.seq + 1, self._broker.store.now())

    async def read(self) -> None:
        """Read what is told, for as long as somebody follows."""
        try:
            async with self._broker.follow(self.conversation) as hints:
                trouble = 0
                while True:
                    try:
                        await self._look()
                        trouble = 0
                    except StoreError as error:
                        trouble += 1
                        _log.log(logging.INFO if trouble == 1 else logging.DEBUG, "cannot look for events: %s", error)
                        await asyncio.sleep(min(2.0, 0.1 * 2 ** min(trouble, 5)))
                        continue
                    await hints.wait(LOOK)
        except Exception:  # noqa: BLE001  # the edge of the task: followers are told to begin again
            _log.exception("the reader of %s failed", self.conversation)
            self._end(_reset(self.conversation, max(0, self.seq), self._broker.store.now()))

    async def _look(self) -> None:
        if self.seq < 0:
            return
        rows = await self._broker.journal(self.conversation, self.seq)
        if rows is None or (not rows and not await self._there()):
            self._end(await self.last_word())
            return
        for told in [await self._encode(seq, event) for seq, event in rows]:
            self._ring.append(told)
            self.seq = told.seq
            for follower in self.followers:
                follower.offer(told)

    async def _there(self) -> bool:
        for follower in tuple(self.followers):
            return await self._broker.conversation(self.conversation, follower.person) is not None
        return True

    def _end(self, last: Frame) -> None:
        self._ring.clear()
        self.seq = -1
        for follower in self.followers:
            follower.end(last)

    async def _encode(self, seq: int, event: Event) -> Frame:
        """Write an event down; a completed message with its text as HTML, attachments with their names."""
        plain = await self._attached.described(self._broker.wire(self.conversation, seq, event))
        if event.type == "message.completed" and isinstance(text := event.data.get("text"), str):
            plain["html"] = self._render(text)
        return frame(event.type, plain, seq)


async def reset(broker: Broker, conversation: str) -> Frame:
    """The word that what is known is not whole any more; its number is that of the journal's end.

    Raises: `StoreError`.
    """
    return _reset(conversation, await broker.store.end("journal", conversation), broker.store.now())


def _reset(conversation: str, seq: int, at: int) -> Frame:
    return frame("reset", {"conversation": conversation, "seq": seq, "at": at}, seq)


def deleted(conversation: str, seq: int, at: int) -> Frame:
    """The word that a conversation is gone."""
    return frame("conversation.deleted", {"conversation": conversation, "seq": seq, "at": at}, seq)


def frame(type: str, plain: dict[str, Json], seq: int = 0) -> Frame:
    """Write something down for a page."""
    return Frame(type, seq, json.dumps({**plain, "type": type}, ensure_ascii=False, separators=(",", ":")))
