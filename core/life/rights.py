"""What somebody may do by what they say: see a question, answer it, stop and resume runs.

A question that is not theirs looks like one that does not exist. A program's token may lack a right that its person
has: what it says may start and steer, but answers and stops nothing. Source: C12, C133, DESIGN section 9 ("scopes").
"""

from __future__ import annotations

from typing import Literal

from core.life.access import may_answer, may_see
from core.life.decision import Refusal
from core.life.draft import Draft
from core.life.event import Said
from core.model import Json
from core.question import Request

UNKNOWN = Refusal("unknown", "there is no such request; `/pending` lists those that are open")


def lacks(e: Said, right: Literal["answer", "run"]) -> Refusal | None:
    """Refuse what a token has no right to."""
    if right in e.rights:
        return None
    does = {"answer": "answer questions", "run": "stop or resume runs"}[right]
    told: dict[str, Json] = {
        "scope": right,
        "field": "Authorization",
        "rule": f"the token must have the scope {right!r}",
    }
    return Refusal("scope", f"this token may not {does}: it lacks the scope `{right}`", told)


def asked_of(d: Draft, e: Said, id: str, right: Literal["answer", "run"] = "answer") -> Request | Refusal:
    """The request that is meant, for a person who may know of it and act on it."""
    request = d.request(id)
    conversation = d.conversation(request.conversation) if request is not None else None
    run = d.run_now(request.run) if request is not None else None
    if request is None or conversation is None or run is None:
        return UNKNOWN
    if may_answer(e.person, conversation, run, request):
        return lacks(e, right) or request
    seen = may_see(e.person, conversation)
    return Refusal("not_allowed", "this question is not yours to answer") if seen else UNKNOWN
