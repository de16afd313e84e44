"""The sheet on which a rule writes: it shows documents and time, and collects what the rule wants.

`decide` runs one rule on a fresh draft and closes it. Closing works out what follows from the documents alone: which
run stands in `ready`, which indexes name a conversation, which lists may get a time to live. This file must not know
the rules themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, TypeVar

from core.card import Card, Posted
from core.frozen import Frozen
from core.life.debt import indebt, lists
from core.life.decision import (
    FAR,
    Decision,
    Effect,
    Guard,
    Hint,
    Log,
    Missing,
    Model,
    Owe,
    Ready,
    Ref,
    Refusal,
    Rest,
    Settle,
    Tell,
    Unready,
    Write,
)
from core.life.delivery import delivering
from core.life.leak import leaking
from core.listening import Listeners
from core.model import Conversation, Entry, Event, EventType, Grants, Incarnation, Json, Origin, Person, Run, Seen, Step
from core.overheard import Overheard
from core.question import Request

R = TypeVar("R")
E = TypeVar("E")
M = TypeVar("M", bound=Model)
Mode = Literal["at", "fence", "exists"]


@dataclass(frozen=True, slots=True)
class Spans:
    """The spans that the rules use, in milliseconds (DESIGN sections 3 to 6).

    losses: so often may a run lose its worker; retry_ms: the pause after the first time, the next are longer.
    """

    held_grace_ms: int = 1_000
    free_ms: int = 15_000
    journal_keep_ms: int = 600_000
    losses: int = 3
    retry_ms: int = 250
    proof_ms: int = 5_000


class Draft:
    """Documents to read, the time, and what is wanted so far."""

    def __init__(
        self, docs: Mapping[Ref, Model | None], now: int, ids: Callable[[str], str], spans: Spans | None = None
    ) -> None:
        self.spans = spans or Spans()
        self.now = now
        self.ids = ids
        self.docs = docs
        self.modes: dict[Ref, Mode] = {}
        self.puts: dict[Ref, Model | None] = {}
        self.effects: list[Effect] = []
        self.extra: list[Guard] = []
        self.from_ms = 0
        self.until_ms = FAR
        self.spare = True
        self.origin_of: dict[str, str] = {}

    # reading

    def _get(self, ref: Ref, of: type[M], mode: Mode = "at") -> M | None:
        if ref in self.puts:
            found = self.puts[ref]
        else:
            try:
                found = self.docs[ref]
            except KeyError:
                raise Missing(ref) from None
            if self.modes.get(ref) != "at":
                self.modes[ref] = mode
        if found is None or isinstance(found, of):
            return found
        raise TypeError(f"{ref!r} holds {type(found).__name__}")

    def conversation(self, id: str) -> Conversation | None:
        """Read a conversation."""
        return self._get(("conversation", id), Conversation)

    def run(self, id: str, mode: Mode = "at") -> Run | None:
        """Read a run by exactly this id."""
        return self._get(("run", id), Run, mode)

    def run_now(self, id: str) -> Run | None:
        """Read a run, following where it moved."""
        run = self.run(id)
        for _ in range(64):
            if run is None or run.moved_to is None:
                return run
            run = self.run(run.moved_to)
        return run

    def request(self, id: str) -> Request | None:
        """Read a request."""
        return self._get(("request", id), Request)

    def grants(self, conversation: str) -> Grants:
        """Read what a conversation remembers; nothing is the same as no document."""
        return self._get(("grants", conversation), Grants) or Grants()

    def incarnation(self, id: str) -> Incarnation | None:
        """Read a process's lease; guarded only by its being there."""
        return self._get(("incarnation", id), Incarnation, "exists")

    def one(self, name: str) -> Incarnation | None:
        """Read who holds what only one may hold."""
        return self._get(("incarnation", f"one:{name}"), Incarnation)

    def listeners(self) -> Listeners:
        """Read who listens in this partition; guarded by the set, not by each heartbeat."""
        return self._get(("listeners", ""), Listeners, "fence") or Listeners()

    def origin(self, name: str) -> Origin | None:
        """Read where an origin points."""
        return self._get(("origin", name), Origin)

    def card(self, id: str) -> Card | None:
        """Read one showing."""
        return self._get(("card", id), Card)

    def posted(self, conversation: str) -> Posted:
        """Read how far a conversation was brought to its platform."""
        return self._get(("posted", conversation), Posted) or Posted()

    def seen(self, key: str) -> Seen | None:
        """Read whether an event key took effect already."""
        return self._get(("seen", key), Seen)

    def overheard(self, place: str) -> Overheard:
        """Read what people said among themselves at a place; nothing is the same as no document."""
        return self._get(("overheard", place), Overheard) or Overheard()

    def frozen(self) -> Frozen | None:
        """Read whether everything is frozen in this partition."""
        return self._get(("frozen", ""), Frozen)

    # wanting

    def put(self, ref: Ref, model: Model | None) -> None:
        """Want a document written (or dropped, with None)."""
        self.modes[ref] = "at"
        self.puts[ref] = model

    def save_run(self, run: Run, **changes: object) -> Run:
        """Want a run written with changes; its time of change is now."""
        run = run.changed(**{"changed_ms": self.now, **changes})
        self.put(("run", run.id), run)
        return run

    def save_conversation(self, conversation: Conversation, **changes: object) -> Conversation:
        """Want a conversation written with changes."""
        conversation = conversation.changed(**{"changed_ms": self.now, **changes})
        self.put(("conversation", conversation.id), conversation)
        return conversation

    def save_request(self, request: Request, **changes: object) -> Request:
        """Want a request written with changes."""
        request = request.changed(**changes)
        self.put(("request", request.id), request)
        return request

    def want(self, *effects: Effect) -> None:
        """Want something besides documents."""
        self.effects.extend(effects)

    def tell(self, conversation: str, type: EventType, run: str | None = None, **data: Json) -> None:
        """Want an event told."""
        plain: dict[str, Json] = {name: value for name, value in data.items() if value is not None}
        self.effects.append(Tell(conversation, EVENT.changed(type=type, run=run, at=self.now, data=plain)))

    def write(
        self,
        conversation: str,
        role: RoleName,
        text: str,
        run: str | None = None,
        by: Person | None = None,
        **data: Json,
    ) -> str:
        """Want a history entry; returns its id."""
        id = self.ids("m")
        plain: dict[str, Json] = {name: value for name, value in data.items() if value is not None}
        self.effects.append(
            Write(conversation, ENTRY.changed(id=id, role=role, run=run, text=text, by=by, at=self.now, data=plain))
        )
        return id

    def log(self, root: str, kind: StepName, key: str, fence: int, **data: Json) -> None:
        """Want an entry in a run's own journal."""
        self.effects.append(Log(root, STEP.changed(kind=kind, key=key, fence=fence, at=self.now, data=data)))

    def guard(self, guard: Guard) -> None:
        """Want a guard besides those of the documents read."""
        self.extra.append(guard)

    def hold(self, *, from_ms: int = 0, until_ms: int = FAR) -> None:
        """Narrow the time in which the decision holds."""
        self.from_ms = max(self.from_ms, from_ms)
        self.until_ms = min(self.until_ms, until_ms)


# What the rules tell is right as it is: copies of these, with everything replaced, save a check of each.
EVENT = Event(type="status", at=0)
ENTRY = Entry(id="", role="note", at=0)
STEP = Step(kind="turn", key="", at=0)
RoleName = Literal["person", "agent", "tool", "request", "note"]
StepName = Literal["turn", "ask", "answered", "begun", "done", "said", "steer", "park", "dropped"]


def decide(
    rule: Callable[[Draft, E], R | Refusal],
    event: E,
    docs: Mapping[Ref, Model | None],
    now: int,
    ids: Callable[[str], str],
    spans: Spans | None = None,
) -> Decision[R] | Refusal:
    """Run one rule and close its draft.

    Raises: `Missing` when the rule needs a document that `docs` lacks.
    """
    draft = Draft(docs, now, ids, spans)
    result = rule(draft, event)
    if isinstance(result, Refusal):
        return result
    for ref, model in list(draft.puts.items()):
        if ref[0] == "conversation":
            before = docs.get(ref)
            _follow(
                draft,
                before if isinstance(before, Conversation) else None,
                model if isinstance(model, Conversation) else None,
            )
    indebt(draft)
    leaking(draft)
    delivering(draft)
    return Decision(
        result=result,
        guards=(*_guards(draft), *draft.extra),
        puts=draft.puts,
        effects=tuple(draft.effects),
        from_ms=draft.from_ms,
        until_ms=draft.until_ms,
        spare=draft.spare,
    )


def _guards(draft: Draft) -> list[Guard]:
    """Guard every document that was read; one that is rewritten comes first.

    One that is written unread has a new id, or is dropped whatever it says.
    """
    found: list[Guard] = []
    for ref, mode in draft.modes.items():
        if ref not in draft.docs:
            continue
        before = draft.docs[ref]
        if before is None:
            guard = Guard("absent", ref)
        elif mode == "fence" and isinstance(before, Run | Listeners):
            guard = Guard("fence", ref, fence=before.fence)
        elif mode == "exists":
            guard = Guard("exists", ref)
        else:
            guard = Guard("at", ref)
        if ref in draft.puts and draft.puts[ref] is not None:
            found.insert(0, guard)
        else:
            found.append(guard)
    return found


def _head(conversation: Conversation | None) -> str | None:
    if conversation is None or conversation.live is not None or not conversation.queue:
        return None
    return conversation.queue[0]


def _follow(draft: Draft, before: Conversation | None, after: Conversation | None) -> None:
    """Want what follows from a conversation's change: who is ready, which indexes name it, its lists' time to live."""
    old, new = _head(before), _head(after)
    if old != new:
        if old is not None:
            draft.want(Unready(old))
        if new is not None:
            run = draft.run(new)
            held = run is not None and run.turn is not None
            at = draft.now + (draft.spans.held_grace_ms if held else 0)
            retry = (run.retry_ms if run is not None else None) or 0
            draft.want(
                Ready(new, max(at, retry)),
                Hint("run", new) if held else Hint("ready", new if retry <= draft.now else ""),
            )
    was, is_ = before is not None and before.unsettled, after is not None and after.unsettled
    some = after or before
    if some is None:
        return
    if is_ and not was:
        draft.want(Rest("conversation", some.id, wake=True))
    if not is_ and after is not None and not after.deleted:
        draft.want(Rest("conversation", some.id))
    left, there = lists(before), lists(after)
    if left != there:
        draft.want(*(Settle(index, some.id, of=of) for index, of in left if (index, of) not in there))
        draft.want(*(Owe(index, some.id, draft.now, of=of) for index, of in there if (index, of) not in left))
