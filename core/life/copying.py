"""An open request that is shown at further places: at an approver's chat, at another chat of the same person.

Every card shows the same request: the first answer closes all. Source: DESIGN section 6 ("Routing").
"""

from __future__ import annotations

from dataclasses import dataclass

from core.life.access import may_copy, may_see
from core.life.audit import note
from core.life.check import misplaced
from core.life.decision import Refusal
from core.life.draft import Draft
from core.life.memory import recall, remember
from core.life.request import UNKNOWN, gate
from core.life.result import Copied
from core.model import Person

MOST = 20


@dataclass(frozen=True, slots=True)
class Copy:
    """A person wants an open request shown at further places."""

    request: str
    person: Person
    places: tuple[str, ...]
    key: str | None = None
    via: str | None = None


def copy(d: Draft, e: Copy) -> Copied | Refusal:
    """Owe a card of an open request at further places; where it is shown already, nothing is done."""
    request = d.request(e.request)
    conversation = d.conversation(request.conversation) if request is not None else None
    run = d.run_now(request.run) if request is not None else None
    if request is None or conversation is None or run is None:
        return UNKNOWN
    if not may_copy(e.person, conversation, run, request):
        seen = may_see(e.person, conversation)
        return Refusal("not_allowed", "this question is not yours to show elsewhere") if seen else UNKNOWN
    meant = " ".join(("copy", e.request, *sorted(set(e.places))))
    if (known := recall(d, e.key, e.person, Copied, meant)) is not None:
        return known
    if request.state == "withdrawn":
        return Refusal("paused", "paused: resume first", {"run": run.id, "state": run.shown})
    if request.state != "open":
        return Refusal("ended", f"the question is {request.state}, it is shown nowhere else")
    if request.deadline_ms is not None:
        d.hold(until_ms=request.deadline_ms - 1)
        if d.now >= request.deadline_ms:
            return Refusal("expired", "nobody answered in time, the question is closed", {"outcome": "expired"})
    copies = request.question.copies
    new = tuple(place for place in dict.fromkeys(e.places) if place not in (request.origin, *copies))
    if (wrong := _wrong(request.origin, (*copies, *new), new)) is not None:
        return Refusal("invalid", f"'origins': {wrong}", {"field": "origins", "rule": wrong})
    if not new:
        return Copied(request=request.id, copies=copies)
    unserved = tuple(place for place in new if not gate(d, request.question, place))
    question = request.question.changed(copies=(*copies, *new))
    d.save_request(request, question=question, surface=request.surface or unserved != new)
    note(d, "copy", e.person, conversation, run, where=e.via, request=request.id)
    d.tell(request.conversation, "request.updated", request.run, request=request.id, copies=list(question.copies))
    copied = Copied(request=request.id, copies=question.copies, unserved=unserved)
    return remember(d, e.key, e.person, copied, meant)


def _wrong(origin: str, places: tuple[str, ...], new: tuple[str, ...]) -> str | None:
    if origin.startswith("cli-"):
        return "a question of a terminal is answered in its window only"
    if len(places) > MOST:
        return f"at most {MOST} places"
    return next((wrong for place in new if (wrong := misplaced(place)) is not None), None)
