"""How a decision is written: documents, effects and guards become keys and arguments of the one script.

It knows how each effect is stored, and no rule. Source: the header of `commit.lua`.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import assert_never

from pydantic_core import to_json

from core.deed import Deed
from core.keys import Index, Keys, Listed, Retention
from core.life.decision import (
    FAR,
    Body,
    Cut,
    Decision,
    Effect,
    Guard,
    Hint,
    Log,
    Model,
    Note,
    Owe,
    Ready,
    Ref,
    Rest,
    Seal,
    Settle,
    Shrink,
    Tell,
    Timer,
    Unready,
    Untimer,
    Wipe,
    Write,
)
from core.life.result import Result
from core.listening import Listeners
from core.model import Conversation, Run
from core.question import Request
from core.wire import Argument

SOON_MS = 300


class Call:
    """One call of the script in the making."""

    def __init__(self, keys: Keys, retention: Retention, now: int) -> None:
        self._keys = keys
        self._keep = retention
        self._now = now
        self._names: dict[str, int] = {}
        self._guards: list[Argument] = []
        self._ops: list[Argument] = []
        self._hints: dict[str, None] = {}
        self._count = 0
        self._checks = 0
        self._own: tuple[str, int] = ("none", 0)
        self._place = ""

    def finish(self, id: str, from_ms: int, until_ms: int) -> tuple[list[str], list[Argument]]:
        """Return the keys and arguments of the call."""
        if self._hints or self._place:
            wrote = [f"wrote {self._place} {id}"] if self._place else []
            self._op("feed", self._keys.feed, self._keep.feed_cap, "\n".join((*wrote, *self._hints)))
        until = 0 if until_ms >= FAR else until_ms
        head: list[Argument] = [id, from_ms, until, self._own[0], self._own[1], self._checks]
        return list(self._names), [*head, *self._guards, self._count, *self._ops]

    def guard(self, guard: Guard, v: str) -> None:
        """Add a guard; v: the id of the commit that wrote the document as it was read."""
        value: Argument
        match guard.kind:
            case "at":
                key, value = self._keys.doc(guard.ref), v
            case "fence":
                key, value = self._keys.doc(guard.ref), guard.fence
            case "begin":
                key, value = self._keys.doc(guard.ref), f"{guard.fence}:{guard.halt}"
            case "exists" | "absent":
                key, value = self._keys.doc(guard.ref), ""
            case "length":
                kind: Listed = "history" if guard.ref[0] == "conversation" else "steps"
                key, value = self._keys.entries(kind, guard.ref[1]), guard.fence
            case _:
                assert_never(guard.kind)
        self._checks += 1
        self._guards += [guard.kind, self._key(key), value]

    def own(self, how: str, key: str) -> None:
        """Say how a repeat of this very commit is recognised."""
        self._own = (how, self._key(key))

    def put(self, ref: Ref, model: Model | None) -> None:
        """Write or drop a document."""
        key = self._keys.doc(ref)
        if model is None:
            self._op("drop", key)
            return
        fence, halt = 0, 0
        match model:
            case Run():
                fence, halt, self._place = model.fence, model.halt, model.conversation
            case Conversation():
                self._place = model.id
            case Listeners():
                fence = model.fence
            case _:
                pass
        ttl = self._keep.of(ref, model)
        self._op("put", key, fence, halt, stored(model), ttl)
        if ttl and isinstance(model, Request) and model.body:
            self._op("expire", self._keys.body(model.id), ttl)

    def effect(self, effect: Effect, puts: Mapping[Ref, Model | None]) -> None:
        """Write something besides documents."""
        match effect:
            case Tell() | Write() | Log():
                self._append(effect)
            case Hint(kind=kind, id=id):
                self._hints[f"{kind} {id}" if id else kind] = None
            case Ready(run=run, at_ms=at):
                self._op("zadd", self._keys.index("ready"), at, run)
            case Unready(run=run):
                self._op("zrem", self._keys.index("ready"), run)
            case Timer(what=what, id=id, at_ms=at):
                self._op("zadd", self._keys.index("timers"), at, f"{what}:{id}")
                if at - self._now < SOON_MS:
                    self._hints["timer"] = None
            case Untimer(what=what, id=id, at_ms=None):
                self._op("zrem", self._keys.index("timers"), f"{what}:{id}")
            case Untimer(what=what, id=id, at_ms=at):
                self._op("zrem_at", self._keys.index("timers"), f"{what}:{id}", at or 0)
            case Owe(index=index, member=member, score=score, of=of):
                self._owe(index, of, member, score)
            case Settle(index=index, member=member, of=of):
                self._op("zrem", self._keys.index(index, of), member)
            case Note(deed=deed):
                self._op("chain", self._keys.deeds, stored(deed), self._key(self._keys.deeds_head))
            case Cut(upto=upto):
                self._op("cut", self._keys.deeds, upto)
            case Body(of=of, text=text):
                self._op("value", self._keys.body(of), text, 0)
            case Seal(handle=handle, text=text):
                self._op("value", self._keys.secret(handle), text, 0)
            case Wipe() | Rest() | Shrink():
                self._clear(effect, puts)
            case _:
                assert_never(effect)

    def _owe(self, index: Index, of: str, member: str, score: int) -> None:
        self._op("zadd", self._keys.index(index, of), score, member)
        if index in ("unshown", "outbox", "debt", "inbox"):
            self._hints[f"{index} {of}"] = None

    def _append(self, effect: Tell | Write | Log) -> None:
        match effect:
            case Tell(conversation=conversation, event=event):
                text = event.as_json()
                self._op("append", self._keys.entries("journal", conversation), text, self._keep.journal_cap, -1)
                self._hints[f"journal {conversation}"] = None
            case Write(conversation=conversation, entry=entry):
                text = entry.as_json()
                self._op("append", self._keys.entries("history", conversation), text, self._keep.history_cap, -1)
            case Log(root=root, step=step):
                text = step.as_json()
                self._op("append", self._keys.entries("steps", root), text, 0, -1)

    def _clear(self, effect: Wipe | Rest | Shrink, puts: Mapping[Ref, Model | None]) -> None:
        keys, keep = self._keys, self._keep
        match effect:
            case Wipe(what="run", id=id):
                for key in (keys.entries("steps", id), keys.snapshot(id), keys.body(id)):
                    self._op("drop", key)
            case Wipe(what="request", id=id):
                self._op("drop", keys.body(id))
            case Wipe(what="secret", id=id):
                self._op("drop", keys.secret(id))
            case Wipe(id=id):
                for key in (keys.entries("journal", id), keys.entries("history", id)):
                    self._op("drop", key)
            case Rest(what="run", id=id):
                for key in (keys.entries("steps", id), keys.snapshot(id), keys.body(id)):
                    self._op("expire", key, keep.steps_ms)
            case Rest(id=id, wake=wake):
                ttl = 0 if wake else keep.conversation_ms
                names = [keys.entries("journal", id), keys.entries("history", id)]
                conversation = puts.get(("conversation", id))
                if isinstance(conversation, Conversation):
                    names.append(keys.doc(("origin", conversation.origin)))
                for key in names:
                    self._op("expire", key, ttl)
            case Shrink(conversation=conversation):
                self._op("trim", keys.entries("journal", conversation), 1, -1)

    def _key(self, name: str) -> int:
        return self._names.setdefault(name, len(self._names) + 1)

    def _op(self, verb: str, key: str, *args: Argument) -> None:
        self._count += 1
        self._ops += [verb, self._key(key), len(args), *args]


def stored(model: Model | Deed) -> bytes:
    """Return a document's text: without what is empty by default and empty now; reading fills that in.

    A parked question stands in Redis for days, and a third of its texts would say that something is empty.
    """
    values = model.__dict__
    empty = {name for name in _empty_by_default(type(model)) if not values[name]}
    return to_json(model, exclude_none=True, exclude=empty)


@cache
def _empty_by_default(kind: type[Model | Deed]) -> tuple[str, ...]:
    fields = kind.model_fields.items()
    return tuple(
        name
        for name, field in fields
        if field.default in (False, "", ())
        or (field.default_factory is not None and not field.get_default(call_default_factory=True))
    )


def call(
    decision: Decision[Result], versions: Mapping[Ref, str], keys: Keys, retention: Retention, id: str, now: int
) -> tuple[list[str], list[Argument]]:
    """Turn a decision into a call of the script. versions: who wrote each document that was read."""
    made = Call(keys, retention, now)
    for guard in decision.guards:
        made.guard(guard, versions.get(guard.ref, ""))
    if decision.guards and decision.puts.get(decision.guards[0].ref) is not None:
        made.own("doc", keys.doc(decision.guards[0].ref))
    else:
        for effect in decision.effects:
            if isinstance(effect, Log):
                made.own("list", keys.entries("steps", effect.root))
                break
            if isinstance(effect, Tell):
                made.own("list", keys.entries("journal", effect.conversation))
    for ref, model in decision.puts.items():
        made.put(ref, model)
    last = [effect for effect in decision.effects if isinstance(effect, Rest | Wipe)]
    for effect in decision.effects:
        if not isinstance(effect, Rest | Wipe):
            made.effect(effect, decision.puts)
    for effect in last:  # times to live are set when the lists have been written
        made.effect(effect, decision.puts)
    return made.finish(id, decision.from_ms, decision.until_ms)
