"""Pairing codes: a chat account that nobody knows shows one, somebody who is signed in enters it.

    asked for ──▶ pending, an hour ──▶ entered: linked, once · a newer code replaces it · its time is over

At most three accounts of a platform wait at a time; five wrong entries lock the entering for an hour. Of a code only a
salted scrypt is kept, every entry is compared with every pending one. It knows neither persons nor platforms.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import secrets
import time
from collections.abc import Callable

from core.model import Person, Value
from core.shelf import Shelf

LETTERS = "23456789ABCDEFGHJKMNPQRSTVWXYZ"
"""Letters and digits that are not taken for one another."""
LENGTH = 8
HOUR_S = 3_600.0
MOST_WAITING = 3
MOST_CODES = 5
MOST_WRONG = 5


class Pending(Value):
    """An account that waits to be linked. made: how many codes it was given lately."""

    identity: str
    name: str
    place: str
    until_ms: int
    salt: str
    hash: str
    made: int = 1


class Paired(Value):
    """An account was linked to a person."""

    person: Person
    identity: str
    name: str
    place: str


class Wrong(Value):
    """No account shows this code (any more). left: entries until the lock."""

    left: int


class Locked(Value):
    """Too many wrong codes were entered; for an hour none is taken."""


class TooMany(Value):
    """Too many accounts of the platform wait, or this one asked too often."""


class Pairing:
    """Gives out codes and takes them in. now: seconds since 1970."""

    def __init__(self, shelf: Shelf, *, now: Callable[[], float] = time.time) -> None:
        self._shelf = shelf
        self._now = now
        self._one = asyncio.Lock()

    async def code(self, identity: str, name: str, place: str) -> str | Locked | TooMany:
        """Make a code for an account; the one it had before does not count any more."""
        if len(await self._shelf.listing("try")) >= MOST_WRONG:
            return Locked()
        before = next((one for one in await self.waiting() if one.identity == identity), None)
        if await self._crowded(identity) or (before is not None and before.made >= MOST_CODES):
            return TooMany()
        code = "".join(secrets.choice(LETTERS) for _ in range(LENGTH))
        salt = secrets.token_hex(16)
        pending = Pending(
            identity=identity,
            name=name[:80],
            place=place,
            until_ms=int((self._now() + HOUR_S) * 1000),
            salt=salt,
            hash=await asyncio.to_thread(_hash, code, salt),
            made=before.made + 1 if before is not None else 1,
        )
        await self._shelf.keep("pairing", identity, pending.model_dump_json(), HOUR_S)
        if await self._crowded(identity):
            await self._shelf.drop("pairing", identity)
            return TooMany()
        return code

    async def waiting(self) -> list[Pending]:
        """List the accounts that wait, the one whose time is over first at the front."""
        found = [Pending.model_validate_json(text) for _, text in await self._shelf.listing("pairing")]
        return sorted((one for one in found if one.until_ms > self._now() * 1000), key=lambda one: one.until_ms)

    async def redeem(self, code: str) -> Pending | Wrong | Locked:
        """Trade a code for the account that shows it; of two that enter it one gets it.

        Every entry counts as wrong until it proves right, so that entries side by side, also in several processes,
        cannot get past the lock.
        """
        async with self._one:
            return await self._redeem(code)

    async def _redeem(self, code: str) -> Pending | Wrong | Locked:
        entry = secrets.token_hex(8)
        await self._shelf.keep("try", entry, "", HOUR_S)
        wrong = len(await self._shelf.listing("try"))
        if wrong > MOST_WRONG:
            await self._shelf.drop("try", entry)
            return Locked()
        typed = "".join(letter for letter in code.upper() if letter.isalnum())
        waiting = await self.waiting()
        found = await asyncio.to_thread(_find, typed, waiting)
        if found is None or await self._shelf.take("pairing", found.identity) != found.model_dump_json():
            return Wrong(left=MOST_WRONG - wrong)
        await self._shelf.drop("try", entry)
        return found

    async def _crowded(self, identity: str) -> bool:
        """Tell whether so many other accounts of the platform wait that there is no room for this one."""
        platform = identity.partition(":")[0]
        others = [one for one in await self.waiting() if one.identity != identity]
        return sum(one.identity.partition(":")[0] == platform for one in others) >= MOST_WAITING


def _find(typed: str, waiting: list[Pending]) -> Pending | None:
    """Compare with every pending code, whichever fits, so that time tells nothing."""
    found: Pending | None = None
    for one in waiting:
        if hmac.compare_digest(_hash(typed, one.salt), one.hash):
            found = one
    return found


def _hash(code: str, salt: str) -> str:
    return hashlib.scrypt(code.encode(), salt=bytes.fromhex(salt), n=2**13, r=8, p=1, maxmem=64 * 2**20).hex()
