"""The door to Redis: documents, lists, texts and indexes as they are read, and its clock. It knows no rule.

Key names and retention are in `keys.py`, what a decision writes in `writing.py`.
"""

from __future__ import annotations

import secrets
import time
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from zlib import crc32

from pydantic import TypeAdapter

from core.errors import StoreError, TooNew
from core.feed import LOOK
from core.keys import ABSENT, TAGS, TYPES, Index, Keys, Listed, Retention, Stored
from core.life.decision import Kind, Model, Ref
from core.links import Links
from core.listening import Listeners
from core.model import SCHEMA, Conversation, Entry, Event, Run, Step, partition_of
from core.question import Request
from core.wire import Reply

NEWEST = 8
"""How many entries of a list are read at once by whoever follows it; they nearly always hold what is new."""
NEAR = 4
"""How many of a document's runs or requests are read along with it."""
SCANNED = 5_000
"""How many keys one look at all of them takes in at once."""


class Store:
    """Reads of everything that Sayso keeps in Redis, and the clock of Redis as far as this process knows it.

    partitions: 1 on a single server, 16 on a cluster; fixed when the deployment is made.
    """

    def __init__(
        self, link: Links, *, partitions: int = 1, retention: Retention | None = None, room: int = 20_000
    ) -> None:
        self.link = link
        self.retention = retention or Retention()
        self.keys = [Keys(tag) for tag in (["0"] if partitions == 1 else TAGS[:partitions])]
        self._cache: OrderedDict[tuple[int, Ref], Stored] = OrderedDict()
        self._doubted: set[tuple[int, Ref]] = set()
        self._leads: OrderedDict[str, tuple[Ref, ...]] = OrderedDict()
        self._room = room
        self._skew: float | None = None
        self.tag = secrets.token_urlsafe(6)
        """Begins the id of every commit of this process."""

    # clock

    def now(self) -> int:
        """Tell Redis's time as far as it is known here, in milliseconds."""
        return int(time.monotonic() * 1000 + (self._skew or 0))

    def heard(self, now_ms: int) -> None:
        """Learn Redis's time from one of its answers."""
        self._skew = now_ms - time.monotonic() * 1000

    async def open(self) -> None:
        """Learn the clock, and check that this deployment is ours to use.

        Raises: `TooNew` for data of a newer release, `StoreError` for another number of partitions.
        """
        seconds, micros = _pair(await self.link.call("TIME"))
        self.heard(int(seconds) * 1000 + int(micros) // 1000)
        wanted = f"{SCHEMA} {len(self.keys)}"
        found = _text(await self.link.call("GET", "sayso:meta"))
        if not found:  # a full Redis takes no SET, and what is there already can be worked with
            await self.link.call("SET", "sayso:meta", wanted, "NX")
            found = _text(await self.link.call("GET", "sayso:meta"))
        schema, _, partitions = found.partition(" ")
        if int(schema) > SCHEMA:
            raise TooNew(f"this Redis holds data of schema {schema}, this release reads up to {SCHEMA}: update Sayso")
        if int(partitions) != len(self.keys):
            raise StoreError(
                f"this Redis was set up with {partitions} partitions, not {len(self.keys)}: keep that number"
            )

    # partitions

    def place(self, origin: str) -> int:
        """Tell the partition in which an origin's conversation lives."""
        return crc32(origin.encode()) % len(self.keys)

    def partition(self, id: str) -> int | None:
        """Tell the partition that stands in an id; None for what is no id of ours."""
        found = partition_of(id)
        return found if 0 <= found < len(self.keys) else None

    # documents

    async def read(self, partition: int, refs: Sequence[Ref]) -> dict[Ref, Stored]:
        """Read documents, fresh."""
        if not refs:
            return {}
        doc = self.keys[partition].doc
        replies = await self.link.call("MGET", *[doc(ref) for ref in refs])
        if not isinstance(replies, list):
            raise StoreError(f"Redis answered MGET with {replies!r}")
        found = {ref: _stored(ref, reply) for ref, reply in zip(refs, replies, strict=True)}
        for ref, stored in found.items():
            self.remember(partition, ref, stored)
        return found

    def kept(self, partition: int, ref: Ref) -> Stored | None:
        """A document as this process last read or committed it, unless it is known to have changed since."""
        place = (partition, ref)
        known = self._cache.get(place)
        if known is None or place in self._doubted:
            return None
        if isinstance(known.model, Listeners) and any(one.until_ms <= self.now() for one in known.model.all):
            return None  # a heartbeat that ran out here has most likely been renewed there
        return known

    def together(self, partition: int, ref: Ref, view: Mapping[Ref, Stored], *, kept: bool) -> list[Ref]:
        """Name a document, and those that it or what was read already points to, as far as they have to be read.

        kept: what is kept need not be read.

        What is asked for next is nearly always among them, so a decision reads once or twice, not once a document.
        """
        known = self._cache.get((partition, ref))
        near = [ref, *self._leads.get(ref[1], ())]
        for stored in (known, *view.values()):
            if stored is not None and not isinstance(stored.model, Conversation):
                near += _links(stored.model)
        return [one for one in dict.fromkeys(near) if one not in view and not (kept and self.kept(partition, one))]

    def remember(self, partition: int, ref: Ref, stored: Stored) -> None:
        """Keep a document that was read or committed, as long as there is room."""
        place = (partition, ref)
        self._cache[place] = stored
        self._cache.move_to_end(place)
        self._doubted.discard(place)
        if len(self._cache) > self._room:
            old, _ = self._cache.popitem(last=False)
            self._doubted.discard(old)

    def doubt(self, partition: int, refs: Iterable[Ref]) -> None:
        """Trust no longer what turned out to be old; it still tells what it pointed to."""
        self._doubted.update((partition, ref) for ref in refs if (partition, ref) in self._cache)

    def wrote(self, partition: int, hint: str) -> None:
        """Hear of a commit, "<conversation> <commit id>"; after another's, what is kept of the conversation is doubted.

        "*" means that such hints may have been missed. Lost ones do no harm: guards find what is old.
        """
        if hint == LOOK:
            self._doubted.update(place for place in self._cache if place[0] == partition)
            return
        id, _, v = hint.partition(" ")
        known = self._cache.get((partition, ("conversation", id)))
        if known is not None and not v.startswith(self.tag):
            self.doubt(partition, [("conversation", id), *_links(known.model)])

    # lists and texts

    async def raw(self, kind: Listed, id: str, after: int) -> list[tuple[int, bytes]] | None:
        """Read a list's entries after a number; None when `after` is not in it (any more), and is not 0."""
        partition = self.partition(id)
        if partition is None:
            return []
        key = self.keys[partition].entries(kind, id)
        if after:
            entries = _entries(await self.link.call("LRANGE", key, -NEWEST, -1))
            if entries and entries[0][0] <= after + 1 and after <= entries[-1][0]:
                return [entry for entry in entries if entry[0] > after]
        commands = (("LINDEX", key, 0), ("LINDEX", key, -1), ("LRANGE", key, after, -1))
        head, tail, found = await self.link.many(commands)
        first, last = _seq(head), _seq(tail)
        if after and not first - 1 <= after <= last:
            return None
        if first > 1:
            found = await self.link.call("LRANGE", key, max(0, after + 1 - first), -1)
        entries = [(seq, text) for seq, text in _entries(found) if seq > after]
        return None if after and entries and entries[0][0] != after + 1 else entries

    async def steps(self, root: str, after: int = 0) -> list[tuple[int, Step]]:
        """Read a run's own journal."""
        return [(seq, Step.model_validate_json(text)) for seq, text in await self.raw("steps", root, after) or []]

    async def journal(self, conversation: str, after: int) -> list[tuple[int, Event]] | None:
        """Read what was told in a conversation after a number; None when that is no longer whole.

        What the answer to a new question needs is read along with it: people take longer to press than that takes.
        """
        found = await self.raw("journal", conversation, after)
        if found is None:
            return None
        events = [(seq, Event.model_validate_json(text)) for seq, text in found]
        asked: tuple[Ref, ...] = ()
        for _, event in events:
            if event.type == "request.opened" and event.run is not None:
                request = str(event.data["request"])
                asked = (("request", request), ("conversation", conversation), ("run", event.run))
                self._lead(request, asked)
        if asked and after:  # whoever reads from the beginning wants to know what was, and presses nothing yet
            await self.read(self.partition(conversation) or 0, asked)
        return events

    def _lead(self, request: str, refs: tuple[Ref, ...]) -> None:
        """Note what a request belongs to, so that whoever answers it reads all at once."""
        self._leads[request] = refs
        if len(self._leads) > self._room:
            self._leads.popitem(last=False)

    async def end(self, kind: Listed, id: str) -> int:
        """Tell the number of a list's last entry; 0 for none."""
        partition = self.partition(id)
        if partition is None:
            return 0
        return _seq(await self.link.call("LINDEX", self.keys[partition].entries(kind, id), -1))

    async def history(self, conversation: str, *, last: int, before: int | None = None) -> list[tuple[int, Entry]]:
        """Read the last entries of a history, or those before a number; oldest first."""
        partition = self.partition(conversation)
        if partition is None:
            return []
        key = self.keys[partition].entries("history", conversation)
        if before is None:
            found = _entries(await self.link.call("LRANGE", key, -last, -1))
        else:
            end = _seq(await self.link.call("LINDEX", key, -1))
            stop = before - 1 - end - 1
            found = _entries(await self.link.call("LRANGE", key, stop - last + 1, stop)) if stop < 0 else []
        return [(seq, Entry.model_validate_json(text)) for seq, text in found]

    async def body(self, id: str) -> str | None:
        """Read a long text."""
        partition = self.partition(id)
        reply = None if partition is None else await self.link.call("GET", self.keys[partition].body(id))
        return reply.decode() if isinstance(reply, bytes) else None

    async def secret(self, handle: str) -> str | None:
        """Read a sealed value."""
        partition = self.partition(handle)
        reply = None if partition is None else await self.link.call("GET", self.keys[partition].secret(handle))
        return reply.decode() if isinstance(reply, bytes) else None

    # indexes

    async def due(
        self, partition: int, index: Index, *, of: str = "", until: int | None = None, limit: int = 100
    ) -> list[tuple[str, int]]:
        """Read the first members of an index, with their scores; until: only those up to this score."""
        key = self.keys[partition].index(index, of)
        top = "+inf" if until is None else str(until)
        reply = await self.link.call("ZRANGE", key, "-inf", top, "BYSCORE", "LIMIT", 0, limit, "WITHSCORES")
        return _scored(reply)

    async def newest(self, partition: int, index: Index, of: str, limit: int) -> list[tuple[str, int]]:
        """Read the last members of an index, the highest score first."""
        key = self.keys[partition].index(index, of)
        return _scored(await self.link.call("ZRANGE", key, 0, limit - 1, "REV", "WITHSCORES"))

    async def size(self, partition: int, index: Index, of: str = "") -> int:
        """Count the members of an index."""
        reply = await self.link.call("ZCARD", self.keys[partition].index(index, of))
        return reply if isinstance(reply, int) else 0

    async def waited_for(self, partition: int) -> list[str]:
        """List every person of whom something is unsettled, from the names of their indexes; it looks at all keys."""
        prefix = self.keys[partition].index("pending", "x")[:-1]
        cursor, found = "0", set[str]()
        while True:
            reply = await self.link.call("SCAN", cursor, "MATCH", f"{prefix}*", "COUNT", SCANNED, "TYPE", "zset")
            match reply:
                case [bytes(following), list(names)]:
                    found.update(name.decode().removeprefix(prefix) for name in names if isinstance(name, bytes))
                    cursor = following.decode()
                case _:
                    raise StoreError(f"Redis answered SCAN with {reply!r}")
            if cursor == "0":
                return sorted(found)

    async def unlist(self, partition: int, index: Index, member: str, *, of: str = "") -> None:
        """Take a member that points to nothing any more out of an index."""
        await self.link.call("ZREM", self.keys[partition].index(index, of), member)


def _links(model: Model | None) -> list[Ref]:
    """What a document points to, as far as a rule that reads it usually reads that, too."""
    match model:
        case Run():
            asked: list[Ref] = [("request", id) for id in model.requests[-NEAR:]]
            return [("conversation", model.conversation), ("frozen", ""), *asked]
        case Request():
            return [("conversation", model.conversation), ("run", model.run)]
        case Conversation():
            runs = (model.live, *model.queue[:NEAR], *model.waiting[-NEAR:])
            return [*(("run", id) for id in runs if id is not None), *(("request", id) for id in model.open[-NEAR:])]
        case _:
            return []


# ── replies ──────────────────────────────────────────────────────────────────────────────────────────────────────────

MODELS: dict[Kind, TypeAdapter[Model]] = {kind: TypeAdapter(model) for kind, model in TYPES.items()}


def _stored(ref: Ref, reply: Reply) -> Stored:
    if not isinstance(reply, bytes):
        return ABSENT
    v, fence, halt, text = reply.split(b" ", 3)
    model = MODELS[ref[0]].validate_json(text)
    if isinstance(model, Run | Request | Conversation) and model.schema_ > SCHEMA:
        raise TooNew(f"{ref[1]!r} was written by a newer release (schema {model.schema_}): update Sayso")
    if isinstance(model, Run):
        model = model.changed(fence=int(fence), halt=int(halt))
    if isinstance(model, Listeners):
        model = model.changed(fence=int(fence))
    return Stored(v.decode(), model)


def _seq(entry: Reply) -> int:
    return int(entry.split(b" ", 1)[0]) if isinstance(entry, bytes) else 0


def _entries(reply: Reply) -> list[tuple[int, bytes]]:
    found: list[tuple[int, bytes]] = []
    for entry in reply if isinstance(reply, list) else []:
        if isinstance(entry, bytes):
            seq, _, text = entry.split(b" ", 2)
            found.append((int(seq), text))
    return found


def _scored(reply: Reply) -> list[tuple[str, int]]:
    flat = [item for item in reply if isinstance(item, bytes)] if isinstance(reply, list) else []
    return [(flat[i].decode(), int(float(flat[i + 1]))) for i in range(0, len(flat) - 1, 2)]


def _pair(reply: Reply) -> tuple[bytes, bytes]:
    match reply:
        case [bytes() as one, bytes() as two]:
            return one, two
        case _:
            raise StoreError(f"Redis answered TIME with {reply!r}")


def _text(reply: Reply) -> str:
    return reply.decode() if isinstance(reply, bytes) else ""
