"""Turns whose end nobody saw: kept in an index, whatever becomes of their run, until proof comes or a person vouches.

    unproved   "<run> <worker>", entered with the turn, taken out by proof (`ended`, `lost`) or by a person (`vouch`)

The index is worked out when a draft is closed, from the runs before and after, so that no rule can forget it; a run
that is deleted leaves there what may still be at work. Source: DESIGN sections 3 and 4 ("unproved", "Accept as
stopped").
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from core.life.access import may_act
from core.life.decision import Owe, Settle
from core.model import Conversation, Person, Run

if TYPE_CHECKING:
    from core.life.draft import Draft


@dataclass(frozen=True, slots=True)
class Vouch:
    """A person states that the work of a run has ended, although nobody saw it.

    workers: who may still be at work for it, for a run that was deleted.
    """

    run: str
    person: Person
    workers: tuple[str, ...] = ()
    via: str | None = None


def member(run: str, worker: str) -> str:
    """Name what a worker may still do for a run."""
    return f"{run} {worker}"


def leaking(d: Draft) -> None:
    """Want the index to say which turns are unproved after this change."""
    for ref, after in d.puts.items():
        if ref[0] != "run":
            continue
        before = d.docs.get(ref)
        if isinstance(after, Run):
            was = before.unproved if isinstance(before, Run) else ()
            if was != after.unproved:
                old, new = {turn.worker for turn in was}, {turn.worker for turn in after.unproved}
                d.want(*(Owe("unproved", member(after.id, worker), d.now) for worker in sorted(new - old)))
                d.want(*(Settle("unproved", member(after.id, worker)) for worker in sorted(old - new)))
        elif isinstance(before, Run) and before.turn is not None:
            d.want(Owe("unproved", member(before.id, before.turn.worker), d.now))


def proved(d: Draft, run: str, worker: str) -> None:
    """A run is gone, and a worker was seen to do nothing for it any more, under whatever id it began."""
    while True:
        d.want(
            *(Settle(index, run, of=worker) for index in ("claims", "stop")), Settle("unproved", member(run, worker))
        )
        moved = d.run(run)
        if moved is None or moved.moved_to is None:
            return
        run = moved.moved_to


def may_vouch(person: Person, conversation: Conversation, run: Run) -> bool:
    """Tell whether a person's word counts as the end of a run's work: whoever may act on it, and owners."""
    return person.role == "owner" or may_act(person, conversation, run)
