"""The verbs of whoever makes a turn end: where it runs, that it does not yield. Source: `life/apart.py`."""

from __future__ import annotations

from core.commit import Committer
from core.life import apart
from core.life.apart import Commanded, Placed, Unyielding
from core.life.decision import Refusal
from core.life.result import Changed, Kept
from core.store import Store


class Stops:
    """What workers record about the processes of their turns, each verb one commit."""

    def __init__(self, store: Store, committer: Committer) -> None:
        self._store = store
        self._committer = committer

    async def placed(self, event: Placed) -> Kept | Refusal:
        """Record where a turn runs, before it runs."""
        at = self._store.partition(event.run) or 0
        return await self._committer.carry(apart.placed, event, at, first=("run", event.run))

    async def commanded(self, event: Commanded) -> Kept | Refusal:
        """Record which process a command is, before it acts."""
        at = self._store.partition(event.run) or 0
        return await self._committer.carry(apart.commanded, event, at, first=("run", event.run))

    async def unyielding(self, event: Unyielding) -> Changed | Refusal:
        """Record that a turn does not stop when told so; the conversation goes on without it."""
        at = self._store.partition(event.run) or 0
        return await self._committer.carry(apart.unyielding, event, at, first=("run", event.run))
