"""The audit: who decided what, read, filtered, verified, and let go of when it is old.

Each partition has a list of its own, and what is not of a conversation (people, tokens) has one beside. An entry holds
the SHA-1 of the whole entry before it, and the head the one of the last; the script makes them as it appends, so that
commits side by side stand in one order. A line that was changed or taken out by whoever does not rewrite all that
follows is noticed; whoever can do that is noticed by a head that was written down elsewhere.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from hashlib import sha1

from core.broker import Broker
from core.deed import Deed
from core.keys import Keys
from core.life import audit
from core.life.audit import Trim

CHUNK = 1_000
FIRST = "-"


@dataclass(frozen=True, slots=True)
class Filter:
    """Which lines are wanted; an empty one wants all. since_ms: not before. run, request, person, kind: exactly."""

    person: str | None = None
    run: str | None = None
    request: str | None = None
    kind: str | None = None
    since_ms: int = 0

    def wants(self, deed: Deed) -> bool:
        """Tell whether a line is wanted."""
        if deed.at < self.since_ms:
            return False
        pairs = ((self.person, deed.by), (self.run, deed.run), (self.request, deed.request), (self.kind, deed.kind))
        return all(wanted is None or wanted == found for wanted, found in pairs)


@dataclass(frozen=True, slots=True)
class Chain:
    """One list as it was found. head: `<chain>:<number>:<sha1>` of its last line. faults: what is wrong, in words."""

    name: str
    lines: int
    head: str
    faults: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Line:
    """One entry as it stands: its number, the hash that it tells of the one before, its own, and what it says."""

    seq: int
    before: str
    own: str
    deed: Deed


class Audit:
    """What was decided here. Nothing but `trim` changes it; decisions write it themselves."""

    def __init__(self, broker: Broker) -> None:
        self._broker = broker
        self._link = broker.store.link
        beside = Keys("a")
        self._lists = {str(number): keys for number, keys in enumerate(broker.store.keys)} | {"a": beside}

    async def lines(self, wanted: Filter, *, limit: int = 1_000) -> list[Deed]:
        """Read the last lines that are wanted, the oldest first."""
        found: list[Deed] = []
        for name in self._lists:
            found += [line.deed async for line in self._read(name) if wanted.wants(line.deed)]
        return sorted(found, key=lambda deed: deed.at)[-limit:]

    async def verify(self, known: str | None = None) -> list[Chain]:
        """Look whether every line is as it was written. known: a head of earlier; its line must still be the same."""
        return [await self._chain(name, known) for name in self._lists]

    async def trim(self, *, before_ms: int, keep: int) -> int:
        """Let lines go that are older than a time, or a tenth more than are kept; that they went is a line, too.

        What was decided about people and tokens is little, and stays.
        """
        total = 0
        for number, keys in enumerate(self._broker.store.keys):
            last = int((await self._head(keys))[0])
            upto = gone = 0
            async for line in self._read(str(number)):
                many = last - line.seq + 1 > keep + keep // 10 if not gone else last - line.seq + 1 > keep
                if line.deed.at >= before_ms and not many:
                    break
                upto, gone = line.seq, gone + 1
            if gone:
                await self._broker.committer.carry(audit.trim, Trim(upto), number)
            total += gone
        return total

    async def _chain(self, name: str, known: str | None) -> Chain:
        faults: list[str] = []
        own, seq, count, upto, first = FIRST, 0, 0, 0, 0
        wanted = known.split(":") if known is not None else ["", "", ""]
        head = await self._head(self._lists[name])
        at_head = own if head[0] == "0" else ""
        async for line in self._read(name):
            first = first or line.seq
            if count and line.seq != seq + 1:
                faults.append(f"after line {seq} comes {line.seq}: lines are missing")
            elif count and line.before != own:
                faults.append(f"line {seq} is not what was written, or one was put in its place")
            if line.deed.kind == "trimmed" and line.deed.upto is not None:
                upto = max(upto, line.deed.upto)
            if wanted[:2] == [name, str(line.seq)] and wanted[2] != line.own:
                faults.append(f"line {line.seq} is not the one of the head that was noted")
            own, seq, count = line.own, line.seq, count + 1
            at_head = own if str(seq) == head[0] else at_head
        if count and first > upto + 1:
            faults.append(f"it begins with line {first}, and no record says that those before were let go")
        later = await self._head(self._lists[name])
        grew = later != head and at_head == head[1]  # while it was read: it is whole as far as it went before
        if later != (str(seq), own) and not grew:
            faults.append(f"it ends with line {seq}, but line {later[0]} was the last to be written, or it was changed")
        return Chain(name, count, f"{name}:{seq}:{own}", tuple(faults))

    async def _head(self, keys: Keys) -> tuple[str, str]:
        reply = await self._link.call("GET", keys.deeds_head)
        seq, _, hash = (reply.decode() if isinstance(reply, bytes) else f"0 {FIRST}").partition(" ")
        return seq, hash

    async def _read(self, name: str) -> AsyncIterator[Line]:
        at = 0
        while True:
            reply = await self._link.call("LRANGE", self._lists[name].deeds, at, at + CHUNK - 1)
            entries = [one for one in reply if isinstance(one, bytes)] if isinstance(reply, list) else []
            for entry in entries:
                seq, _, before, text = entry.split(b" ", 3)
                own = sha1(entry, usedforsecurity=False).hexdigest()
                yield Line(int(seq), before.decode(), own, Deed.model_validate_json(text))
            at += len(entries)
            if len(entries) < CHUNK:
                return
