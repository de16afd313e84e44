"""The loop: read, decide, commit, and on a lost race again. Every change of state goes through here.

A decision made from kept documents saves a round trip; a refusal made from them is never returned: it is decided again
from fresh ones. A commit whose outcome is unknown is sent again under its own id (`core/link.py`), so it lands once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from core.keys import ABSENT, Stored
from core.life.decision import Decision, Missing, Model, Ref, Refusal
from core.life.draft import Draft, Spans, decide
from core.life.result import Result
from core.model import fresh
from core.store import Store
from core.tally import Tally
from core.writing import call

R = TypeVar("R", bound=Result)
E = TypeVar("E")
ATTEMPTS = 200
LENGTH = Refusal("length", "somebody else wrote to the run's journal: read its end, then again")
LOST = {
    "FENCED": Refusal("fenced", "the run has a newer turn"),
    "HALTED": Refusal("halted", "the run was asked to stop"),
    "GONE": Refusal("gone", "the run was deleted"),
}


class Committer:
    """Carries decisions out, one at a time or many side by side."""

    def __init__(self, store: Store, spans: Spans) -> None:
        self._store = store
        self._spans = spans
        self.tally = Tally()
        self.commits = 0
        self.races = 0
        self.fenced = 0

    async def carry(
        self,
        rule: Callable[[Draft, E], R | Refusal],
        event: E,
        partition: int,
        *,
        first: Ref | None = None,
        seqs: list[int] | None = None,
    ) -> R | Refusal:
        """Decide an event and commit the decision.

        first: the document with which the rule begins; it is read together with those around it.
        seqs: filled with the numbers that the appended entries got, in order.

        Raises: `LinkDown` (surely nothing stored), `LinkLost` (unknown), `Full`.
        """
        kept = True
        view: dict[Ref, Stored] = {}
        for _ in range(ATTEMPTS):
            if not kept:
                view = await self._store.read(partition, list(view))
            elif first is not None:
                await self._gather(partition, first, view)
            decision, stale = await self._decide(rule, event, partition, view, kept=kept)
            if isinstance(decision, Refusal) or not decision.changes:
                if stale:
                    self._store.doubt(partition, view)
                    kept = False
                    continue
                return decision if isinstance(decision, Refusal) else decision.result
            lost = await self._commit(decision, partition, view, seqs)
            if lost is None:
                return decision.result
            if isinstance(lost, Refusal):
                return lost
            kept = False
        return Refusal("contended", "too many others change this at the same moment: try again")

    def told(self) -> Tally:
        """What this process counted so far."""
        self.tally.commits, self.tally.races, self.tally.fenced = self.commits, self.races, self.fenced
        return self.tally

    def add(self, tally: Tally) -> None:
        """Count what a process of ours counted that is at its end."""
        self.commits, self.races = self.commits + tally.commits, self.races + tally.races
        self.fenced += tally.fenced
        self.tally.add(tally)

    async def _gather(self, partition: int, first: Ref, view: dict[Ref, Stored]) -> None:
        """Read a document with those around it, as far as they are not kept; if nothing told them, it tells now."""
        refs = self._store.together(partition, first, view, kept=True)
        if refs:
            view.update(await self._store.read(partition, refs))
        if refs == [first] and (refs := self._store.together(partition, first, view, kept=True)):
            view.update(await self._store.read(partition, refs))

    async def _decide(
        self,
        rule: Callable[[Draft, E], R | Refusal],
        event: E,
        partition: int,
        view: dict[Ref, Stored],
        *,
        kept: bool,
    ) -> tuple[Decision[R] | Refusal, bool]:
        """Decide, reading what the rule asks for; also tells whether anything was taken from what is kept."""
        docs = _Docs(self._store, partition, view, kept=kept)

        def ids(kind: str) -> str:
            return fresh(kind, partition)

        while True:
            try:
                return decide(rule, event, docs, self._store.now(), ids, self._spans), docs.stale
            except Missing as missing:
                wanted = self._store.together(partition, missing.ref, view, kept=kept)
                read = await self._store.read(partition, wanted)
                view.update(read)
                docs.update({ref: stored.model for ref, stored in read.items()})

    async def _commit(
        self, decision: Decision[R], partition: int, view: dict[Ref, Stored], seqs: list[int] | None
    ) -> Refusal | bool | None:
        """Commit a decision: None when it is done, a refusal when it cannot be, True to decide again."""
        store = self._store
        id = f"{store.tag}{self.commits & 0xFFFFFFFF:08x}"
        versions = {ref: stored.v for ref, stored in view.items()}
        keys, argv = call(decision, versions, store.keys[partition], store.retention, id, store.now())
        self.commits += 1
        outcome = await store.link.commit(keys, argv, oom=decision.spare)
        store.heard(outcome.now_ms)
        if outcome.word == "OK":
            self.tally.note(decision.puts, decision.effects)
            for ref, model in decision.puts.items():
                store.remember(partition, ref, Stored(id, model) if model is not None else ABSENT)
            if seqs is not None:
                seqs[:] = outcome.seqs
            return None
        self.races += 1
        store.doubt(partition, view)
        guard = decision.guards[outcome.guard] if outcome.guard is not None else None
        if guard is not None and guard.kind == "length":
            return LENGTH
        if guard is not None and guard.ref not in view and outcome.word in LOST:
            self.fenced += outcome.word == "FENCED"
            return LOST[outcome.word]
        return True


class _Docs(dict[Ref, Model | None]):
    """The documents of one decision: those that were read, and while `kept` those that this process remembers.

    stale: something was taken from memory; an event key that was never seen is taken for new, its guard will tell.
    """

    def __init__(self, store: Store, partition: int, view: dict[Ref, Stored], *, kept: bool) -> None:
        super().__init__({ref: stored.model for ref, stored in view.items()})
        self.stale = False
        self._store = store
        self._partition = partition
        self._view = view
        self._kept = kept

    def __missing__(self, ref: Ref) -> Model | None:
        known = self._store.kept(self._partition, ref) if self._kept else None
        if known is None and self._kept and ref[0] == "seen":
            known = ABSENT
        if known is None:
            raise KeyError(ref)
        self.stale = True
        self._view[ref] = known
        self[ref] = known.model
        return known.model
