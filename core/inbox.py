"""What platforms that call us bring: kept by whichever process it reaches, taken by the one that serves the platform.

It knows no platform and nothing of what an update says. Source: DESIGN section 8 ("confirmed only after they are
stored").
"""

from __future__ import annotations

from itertools import count

from core.broker import Broker
from core.errors import SaysoError
from core.life.arriving import NUMBERS, Came, Taken, came, taken
from core.model import fresh
from core.vault import Unreadable, Vault

_numbers = count()


class Locked(SaysoError):
    """This process cannot seal or open anything: its vault was not unlocked."""


class Inbox:
    """The updates of one platform, in the order in which they came."""

    def __init__(self, broker: Broker, prefix: str) -> None:
        self._broker = broker
        self._prefix = prefix
        self._partition = broker.store.place(f"inbox:{prefix}")

    async def keep(self, body: bytes) -> str:
        """Keep an update, or several that came together; when this returns its id, it is stored.

        Raises: `StoreError`; `UnicodeDecodeError` for what is no text.
        """
        id = fresh("u", self._partition)
        sealed = self._vault().seal(body.decode(), self._place(id))
        await self._broker.committer.carry(came, Came(self._prefix, id, sealed, next(_numbers)), self._partition)
        return id

    async def waiting(self, limit: int = 100) -> list[str]:
        """List what is not done, the oldest first."""
        found = await self._broker.store.due(self._partition, "inbox", of=self._prefix, limit=limit)
        return [id for id, _ in found]

    async def backlog(self) -> tuple[int, int | None]:
        """Tell how many are not done, and since when the oldest waits (ms)."""
        store = self._broker.store
        heads = await store.due(self._partition, "inbox", of=self._prefix, limit=1)
        many = await store.size(self._partition, "inbox", self._prefix)
        return many, heads[0][1] // NUMBERS if heads else None

    async def read(self, id: str) -> bytes | None:
        """Read an update; None when it was done already, or cannot be opened any more."""
        sealed = await self._broker.store.secret(id)
        try:
            return self._vault().open(sealed, self._place(id)).encode() if sealed is not None else None
        except Unreadable:
            return None

    async def done(self, id: str) -> None:
        """Forget an update."""
        await self._broker.committer.carry(taken, Taken(self._prefix, id), self._partition)

    def _place(self, id: str) -> str:
        return f"inbox:{self._prefix}:{id}"

    def _vault(self) -> Vault:
        vault = self._broker.safe.vault
        if vault is None:
            raise Locked("what platforms bring is sealed, and this process has no key for it")
        return vault
