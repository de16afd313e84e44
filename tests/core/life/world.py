"""A plain world for the pure rules: what `core/commit.lua` and `core/store.py` do, in dictionaries, for tests only.

`step` decides an event, on the documents of now or of an older `look`, and commits it under its guards and in its
time, as the real loop does: a lost race is decided again from fresh documents, and a refusal that was made from old
ones is never returned. Lists keep their numbers, and know whether they would end by themselves (`mortal`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from core.deed import Deed
from core.life.decision import (
    Body,
    Cut,
    Decision,
    Effect,
    Guard,
    Hint,
    Log,
    Missing,
    Model,
    Note,
    Owe,
    Ready,
    Ref,
    Refusal,
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
from core.life.draft import Draft, Spans, decide
from core.listening import Listeners
from core.model import Conversation, Entry, Event, Run, Step
from core.question import Request

R = TypeVar("R")
E = TypeVar("E")
ListKey = tuple[str, str]
SPANS = Spans(held_grace_ms=10, free_ms=50, journal_keep_ms=200, losses=3, retry_ms=5)
LENGTH = Refusal("length", "somebody else wrote to the run's journal: read its end, then again")
EARLY = Refusal("contended", "it is too early for this")


@dataclass(frozen=True, slots=True)
class Look:
    """The documents as they were at one moment, and who wrote them."""

    docs: Mapping[Ref, Model]
    versions: Mapping[Ref, int]


@dataclass
class World:
    """Documents, lists, indexes and a clock that tests move."""

    spans: Spans = SPANS
    now: int = 1_000
    docs: dict[Ref, Model] = field(default_factory=dict[Ref, Model])
    versions: dict[Ref, int] = field(default_factory=dict[Ref, int])
    lists: dict[ListKey, list[tuple[int, Event | Entry | Step]]] = field(
        default_factory=dict[ListKey, list[tuple[int, Event | Entry | Step]]]
    )
    mortal: set[ListKey] = field(default_factory=set[ListKey])
    bodies: dict[str, str] = field(default_factory=dict[str, str])
    indexes: dict[tuple[str, str], dict[str, int]] = field(default_factory=dict[tuple[str, str], dict[str, int]])
    deeds: list[Deed] = field(default_factory=list[Deed])
    hints: list[str] = field(default_factory=list[str])
    words: Counter[str] = field(default_factory=Counter[str])
    commits: int = 0
    made: int = 0

    # reading

    def look(self) -> Look:
        """Keep the documents as they are now, to decide on them later."""
        return Look(dict(self.docs), dict(self.versions))

    def run(self, id: str) -> Run:
        """The run, where it is now if it moved."""
        run = self.docs[("run", id)]
        assert isinstance(run, Run)
        return run if run.moved_to is None else self.run(run.moved_to)

    def find(self, id: str) -> Run | None:
        """The same, or None when it was deleted."""
        run = self.docs.get(("run", id))
        assert run is None or isinstance(run, Run)
        return run if run is None or run.moved_to is None else self.find(run.moved_to)

    def request(self, id: str) -> Request:
        found = self.docs[("request", id)]
        assert isinstance(found, Request)
        return found

    def conversation(self, id: str) -> Conversation:
        found = self.docs[("conversation", id)]
        assert isinstance(found, Conversation)
        return found

    def all(self, of: type[R]) -> list[R]:
        """Every document of a kind."""
        return [model for model in self.docs.values() if isinstance(model, of)]

    def index(self, name: str, of: str = "") -> dict[str, int]:
        """The members of an index, with their scores."""
        return self.indexes.get((name, of), {})

    def journal(self, conversation: str) -> list[Event]:
        """What was told in a conversation."""
        return [entry for _, entry in self.lists.get(("journal", conversation), []) if isinstance(entry, Event)]

    def history(self, conversation: str) -> list[Entry]:
        """What a conversation remembers."""
        return [entry for _, entry in self.lists.get(("history", conversation), []) if isinstance(entry, Entry)]

    def steps(self, run: str) -> list[Step]:
        """A run's own journal."""
        found = self.lists.get(("steps", self.run(run).root), [])
        return [entry for _, entry in found if isinstance(entry, Step)]

    def length(self, root: str) -> int:
        """The number of the last entry of a run's own journal."""
        found = self.lists.get(("steps", root))
        return found[-1][0] if found else 0

    # changing

    def step(
        self,
        rule: Callable[[Draft, E], R | Refusal],
        event: E,
        look: Look | None = None,
        *,
        clock: int | None = None,
    ) -> R | Refusal:
        """Decide an event and commit it. look: the old documents, clock: the wrong time, of the first attempt."""
        early = 0
        for _ in range(20):
            decision = self._decide(rule, event, look, self.now if clock is None else clock)
            first = look is not None or clock is not None
            if isinstance(decision, Refusal):
                if not first:
                    return decision
            else:
                word, guard = self.commit(decision, look)
                self.words[word] += 1
                if word == "OK":
                    return decision.result
                if guard is not None and guard.kind == "length":
                    return LENGTH
                early += word == "EARLY"
                if early > 1:
                    return EARLY
                if guard is not None and not first and word in ("FENCED", "HALTED", "GONE"):
                    return Refusal("gone" if word == "GONE" else "fenced" if word == "FENCED" else "halted", word)
            look = clock = None
        raise AssertionError(f"{event!r} is never decided")

    def _decide(
        self, rule: Callable[[Draft, E], R | Refusal], event: E, look: Look | None, now: int
    ) -> Decision[R] | Refusal:
        docs: dict[Ref, Model | None] = {}
        source = self.docs if look is None else look.docs
        while True:
            try:
                return decide(rule, event, docs, now, self._id, self.spans)
            except Missing as missing:
                docs[missing.ref] = source.get(missing.ref)

    def _id(self, kind: str) -> str:
        self.made += 1
        return f"{kind}0{self.made:014d}"

    def commit(self, decision: Decision[R], look: Look | None = None) -> tuple[str, Guard | None]:
        """Check guards and time, then write all or nothing; the word, and the guard that failed."""
        if not decision.changes:
            return "OK", None
        if self.now < decision.from_ms:
            return "EARLY", None
        if self.now > decision.until_ms:
            return "LATE", None
        versions = self.versions if look is None else look.versions
        for guard in decision.guards:
            word = self._guard(guard, versions)
            if word is not None:
                return word, guard
        self.commits += 1
        for ref, model in decision.puts.items():
            self.versions[ref] = self.commits
            if model is None:
                self.docs.pop(ref, None)
            else:
                self.docs[ref] = self._stored(model)
        for effect in sorted(decision.effects, key=lambda effect: isinstance(effect, Rest | Wipe)):
            self._apply(effect)
        return "OK", None

    def _stored(self, model: Model) -> Model:
        """What is read again of a document: its wire form, with fence and halt that are kept beside it."""
        again = type(model).model_validate_json(model.model_dump_json(exclude_none=True, by_alias=True))
        if isinstance(model, Run):
            return again.model_copy(update={"fence": model.fence, "halt": model.halt})
        if isinstance(model, Listeners):
            return again.model_copy(update={"fence": model.fence})
        return again

    def _guard(self, guard: Guard, versions: Mapping[Ref, int]) -> str | None:
        model = self.docs.get(guard.ref)
        if guard.kind == "length":
            listed = self.lists.get(("history" if guard.ref[0] == "conversation" else "steps", guard.ref[1]))
            return None if (listed[-1][0] if listed else 0) == guard.fence else "STALE"
        if guard.kind == "absent":
            return None if model is None else "STALE"
        if model is None:
            return "GONE"
        fence = model.fence if isinstance(model, Run | Listeners) else 0
        match guard.kind:
            case "at":
                return None if self.versions[guard.ref] == versions.get(guard.ref) else "STALE"
            case "fence":
                return None if fence == guard.fence else "FENCED"
            case "begin":
                halt = model.halt if isinstance(model, Run) else 0
                return "FENCED" if fence != guard.fence else None if halt == guard.halt else "HALTED"
            case "exists":
                return None

    def _apply(self, effect: Effect) -> None:
        match effect:
            case Ready(run=run, at_ms=at):
                self._owe("ready", "", run, at)
            case Unready(run=run):
                self._settle("ready", "", run)
            case Timer(what=what, id=id, at_ms=at):
                self._owe("timers", "", f"{what}:{id}", at)
            case Untimer(what=what, id=id, at_ms=at):
                if at is None or self.index("timers").get(f"{what}:{id}") == at:
                    self._settle("timers", "", f"{what}:{id}")
            case Owe(index=index, member=member, score=score, of=of):
                self._owe(index, of, member, score)
            case Settle(index=index, member=member, of=of):
                self._settle(index, of, member)
            case Tell(conversation=conversation, event=event):
                self._append(("journal", conversation), event)
            case Write(conversation=conversation, entry=entry):
                self._append(("history", conversation), entry)
            case Log(root=root, step=step):
                self._append(("steps", root), step)
            case Body(of=of, text=text) | Seal(handle=of, text=text):
                self.bodies[of] = text
            case Note(deed=deed):
                self.deeds.append(deed)
            case Cut(upto=upto):
                del self.deeds[:upto]
            case Hint(kind=kind, id=id):
                self.hints.append(f"{kind} {id}".strip())
            case Wipe() | Rest() | Shrink():
                self._clear(effect)

    def _clear(self, effect: Wipe | Rest | Shrink) -> None:
        match effect:
            case Wipe(what="run", id=id):
                self._drop(("steps", id))
                self.bodies.pop(id, None)
            case Wipe(what="request" | "secret", id=id):
                self.bodies.pop(id, None)
            case Wipe(id=id):
                self._drop(("journal", id), ("history", id))
            case Rest(what="run", id=id):
                self.mortal |= {("steps", id)} & self.lists.keys()
            case Rest(id=id, wake=wake):
                keys: set[ListKey] = {("journal", id), ("history", id)}
                self.mortal = self.mortal - keys if wake else self.mortal | (keys & self.lists.keys())
            case Shrink(conversation=conversation):
                del self.lists.get(("journal", conversation), [])[:-1]

    def _owe(self, name: str, of: str, member: str, score: int) -> None:
        self.indexes.setdefault((name, of), {})[member] = score

    def _settle(self, name: str, of: str, member: str) -> None:
        self.indexes.get((name, of), {}).pop(member, None)

    def _append(self, key: ListKey, entry: Event | Entry | Step) -> None:
        found = self.lists.setdefault(key, [])
        found.append((found[-1][0] + 1 if found else 1, entry))

    def _drop(self, *keys: ListKey) -> None:
        for key in keys:
            self.lists.pop(key, None)
            self.mortal.discard(key)
