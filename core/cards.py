"""The verbs of front ends: show, remember, edit, give up, post. What is owed is read from the indexes.

It does not know how a card looks, nor any platform. Source: `life/card.py`.
"""

from __future__ import annotations

from core.card import Card, Pointer, Posted
from core.commit import Committer
from core.keys import Index
from core.life import card as life
from core.life import posting as texts
from core.life.alias import Alias, alias
from core.life.copying import Copy, copy
from core.life.decision import Refusal
from core.life.once import Once, once
from core.life.overhearing import Overhear, overhear
from core.life.request import UNKNOWN
from core.life.result import Copied, Kept, Showing
from core.store import Store


class Cards:
    """What a relay does with cards and texts, each verb one commit."""

    def __init__(self, store: Store, committer: Committer) -> None:
        self._store = store
        self._committer = committer

    async def owed(self, index: Index, prefix: str, *, limit: int = 100) -> list[tuple[int, str]]:
        """List what a front end owes and what is due now: (partition, member), oldest first.

        member: `unshown`: "<request> <place>" · `debt`: a card's id, or "run:<run>" · `outbox`: a conversation's id.
        """
        now = self._store.now()
        found: list[tuple[int, str, int]] = []
        for partition in range(len(self._store.keys)):
            due = await self._store.due(partition, index, of=prefix, until=now, limit=limit)
            found += [(partition, member, score) for member, score in due]
        return [(partition, member) for partition, member, _ in sorted(found, key=lambda one: one[2])]

    async def next_due(self, index: Index, prefix: str) -> int | None:
        """Tell when the next thing owed is due, in milliseconds of Redis's clock."""
        heads = [
            head[0][1]
            for partition in range(len(self._store.keys))
            if (head := await self._store.due(partition, index, of=prefix, limit=1))
        ]
        return min(heads, default=None)

    async def card(self, id: str) -> Card | None:
        """Look at a card."""
        at = self._store.partition(id)
        if at is None:
            return None
        model = (await self._store.read(at, [("card", id)]))[("card", id)].model
        return model if isinstance(model, Card) else None

    async def posted(self, conversation: str) -> Posted:
        """Look how far a conversation was brought to its platform."""
        at = self._store.partition(conversation)
        if at is None:
            return Posted()
        model = (await self._store.read(at, [("posted", conversation)]))[("posted", conversation)].model
        return model if isinstance(model, Posted) else Posted()

    async def target(self, place: str, message: str) -> Pointer | None:
        """Tell to what a platform's message belongs."""
        ref = f"{place} {message}"
        model = (await self._store.read(self._store.place(place), [("pointer", ref)]))[("pointer", ref)].model
        return model if isinstance(model, Pointer) else None

    async def show(self, event: life.Show) -> Showing | Refusal:
        """Begin a showing."""
        return await self._committer.carry(life.show, event, self._at(event.of))

    async def copy(self, event: Copy) -> Copied | Refusal:
        """Have an open request shown at further places, too."""
        at = self._store.partition(event.request)
        return UNKNOWN if at is None else await self._committer.carry(copy, event, at)

    async def ledger(self, event: life.Ledger) -> Kept | Refusal:
        """Remember where a card stands."""
        return await self._committer.carry(life.ledger, event, self._at(event.card))

    async def edited(self, event: life.Edited) -> Kept | Refusal:
        """Record which revision a card shows."""
        return await self._committer.carry(life.edited, event, self._at(event.card))

    async def unshowable(self, event: life.Unshowable) -> Kept | Refusal:
        """Record that a showing or an edit is impossible, for now or for good."""
        return await self._committer.carry(life.unshowable, event, self._at(event.card))

    async def turned(self, event: life.Turned) -> Kept | Refusal:
        """Turn a card's page, or let it ask whether the person is sure."""
        return await self._committer.carry(life.turned, event, self._at(event.card))

    async def adopt(self, event: life.Adopt) -> Kept | Refusal:
        """Take a message into the ledger that a press came from."""
        return await self._committer.carry(life.adopt, event, self._at(event.of))

    async def reshow(self, event: life.Reshow) -> Kept | Refusal:
        """Owe a second showing of an open request."""
        return await self._committer.carry(life.reshow, event, self._at(event.of))

    async def point(self, event: life.Point) -> Kept | Refusal:
        """Remember to what a platform's message belongs, in the partition of its place."""
        return await self._committer.carry(life.point, event, self._store.place(event.place))

    async def alias(self, event: Alias) -> Kept | Refusal:
        """Let a second place point to a conversation."""
        return await self._committer.carry(alias, event, self._store.place(event.place))

    async def overhear(self, event: Overhear) -> Kept | Refusal:
        """Keep what people of a place said among themselves, as context for what is said to the agent next."""
        return await self._committer.carry(overhear, event, self._store.place(event.place))

    async def once(self, event: Once) -> Kept | Refusal:
        """Tell whether a platform's update is answered for the first time."""
        return await self._committer.carry(once, event, self._store.place(event.place))

    async def posting(self, event: texts.Posting) -> Kept | Refusal:
        """Announce the next part of a text."""
        return await self._committer.carry(texts.posting, event, self._at(event.conversation))

    async def unsent(self, event: texts.Unsent) -> Kept | Refusal:
        """Record that the announced part surely did not arrive."""
        return await self._committer.carry(texts.unsent, event, self._at(event.conversation))

    async def arrived(self, event: texts.Arrived) -> Kept | Refusal:
        """Record that a text arrived, or that nobody knows."""
        return await self._committer.carry(texts.arrived, event, self._at(event.conversation))

    async def brought(self, event: texts.Brought) -> Kept | Refusal:
        """Record that nothing is owed to a conversation's platform; refused when more was written meanwhile."""
        return await self._committer.carry(texts.brought, event, self._at(event.conversation))

    async def forget(self, partition: int, index: Index, prefix: str, member: str) -> None:
        """Strike a debt that points to nothing any more."""
        await self._store.unlist(partition, index, member, of=prefix)

    def _at(self, id: str) -> int:
        at = self._store.partition(id)
        if at is None:
            raise ValueError(f"{id!r} is no id of ours")
        return at
