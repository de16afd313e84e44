"""What is not of a conversation: logins, sessions, tokens, names of files; small texts under a kind and an id.

Each is read when it is used, so that a revocation works at once. It knows no meaning of what it keeps.
"""

from __future__ import annotations

import secrets

from core.deed import Deed
from core.keys import Account, Keys, shelf_index, shelf_key
from core.links import Links
from core.wire import Argument
from core.writing import stored


class Shelf:
    """Small texts in Redis, each under a kind and an id; one may have a time to live."""

    def __init__(self, link: Links) -> None:
        self._link = link

    async def keep(
        self, kind: Account, id: str, text: str, ttl_s: float | None = None, *, deed: Deed | None = None
    ) -> None:
        """Keep a text; a second call replaces it. ttl_s: seconds until it is gone, None for ever.

        deed: the decision behind it; it is put on record in the same commit.
        """
        if deed is not None:
            ttl = 0 if ttl_s is None else max(1, int(ttl_s * 1000))
            await self._decided(kind, id, ("value", 1, 2, text, ttl, "zadd", 2, 2, 0, id), deed)
            return
        life = () if ttl_s is None else ("PX", max(1, int(ttl_s * 1000)))
        await self._link.many([("SET", shelf_key(kind, id), text, *life), ("ZADD", shelf_index(kind), 0, id)])

    async def first(self, kind: Account, id: str, text: str, ttl_s: float | None = None) -> bool:
        """Keep a text if there is none yet; of several callers one is told True."""
        life = () if ttl_s is None else ("PX", max(1, int(ttl_s * 1000)))
        replies = await self._link.many(
            [("SET", shelf_key(kind, id), text, "NX", *life), ("ZADD", shelf_index(kind), 0, id)]
        )
        return replies[0] is not None

    async def fetch(self, kind: Account, id: str) -> str | None:
        """Read a text; None when there is none (any more)."""
        reply = await self._link.call("GET", shelf_key(kind, id))
        return reply.decode() if isinstance(reply, bytes) else None

    async def take(self, kind: Account, id: str) -> str | None:
        """Read a text and remove it, in one: of several callers one gets it."""
        reply = await self._link.call("GETDEL", shelf_key(kind, id))
        await self._link.call("ZREM", shelf_index(kind), id)
        return reply.decode() if isinstance(reply, bytes) else None

    async def drop(self, kind: Account, id: str, *, deed: Deed | None = None) -> bool:
        """Remove a text; tells whether there was one. deed: as for `keep`, when there was one."""
        if deed is not None:
            return await self._decided(kind, id, ("drop", 1, 0, "zrem", 2, 1, id), deed, there=True)
        replies = await self._link.many([("UNLINK", shelf_key(kind, id)), ("ZREM", shelf_index(kind), id)])
        return replies[0] == 1

    async def listing(self, kind: Account) -> list[tuple[str, str]]:
        """Read all texts of a kind, with their ids; ids of what is gone are forgotten on the way."""
        reply = await self._link.call("ZRANGE", shelf_index(kind), 0, -1)
        ids = [item.decode() for item in reply if isinstance(item, bytes)] if isinstance(reply, list) else []
        texts = await self._link.many([("GET", shelf_key(kind, id)) for id in ids])
        gone = [id for id, text in zip(ids, texts, strict=True) if not isinstance(text, bytes)]
        if gone:
            await self._link.call("ZREM", shelf_index(kind), *gone)
        return [(id, text.decode()) for id, text in zip(ids, texts, strict=True) if isinstance(text, bytes)]

    async def _decided(
        self, kind: Account, id: str, writes: tuple[Argument, ...], deed: Deed, *, there: bool = False
    ) -> bool:
        """Write and put on record, in one commit of the script. there: only if the text is there."""
        keys = Keys("a")
        names = [shelf_key(kind, id), shelf_index(kind), keys.deeds, keys.deeds_head]
        guards: tuple[Argument, ...] = (1, "exists", 1, "") if there else (0,)
        line: tuple[Argument, ...] = ("chain", 3, 2, stored(deed), 4)
        head: tuple[Argument, ...] = (secrets.token_urlsafe(12), 0, 0, "list", 3)
        outcome = await self._link.commit(names, [*head, *guards, 3, *writes, *line], oom=True)
        return outcome.word == "OK"
