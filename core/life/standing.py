"""What stands already when a person answers: the answer of a settled request, the values of a form.

The first answer wins and everybody else is told which one it is; a value of a form belongs to who gave it, until the
form is submitted. These are pieces of `request.py`. Source: DESIGN section 6, C01, C02, C28.
"""

from __future__ import annotations

from core.life.check import outcome, values
from core.life.closing import mark, public, shown_given
from core.life.decision import Refusal
from core.life.draft import Draft
from core.life.event import Reply
from core.life.handing import alike, usable
from core.life.memory import remember
from core.life.result import Answered
from core.life.sealing import drop, handle_of, seal
from core.model import Json, Run
from core.question import Accepted, Answer, ChoiceField, ConfirmField, Declined, Expired, Given, Request


def meant(e: Reply) -> str:
    """Name an answer, so that its key cannot stand for another one.

    Of a secret no digest is kept; what a platform hands over again, a secret or a file, has another name each time. A
    press or a form on a card means what it makes of what stands there, which another time is something else.
    """
    told = "" if e.sealed or e.files or e.place is not None else mark(e.answer)
    return f"answer {e.request} {e.submit} {told}"


def standing(e: Reply, request: Request, run: Run) -> Answered | Refusal:
    """Tell which answer stands; the same one by the same person counts as accepted."""
    stands = request.answer
    told: dict[str, Json] = {
        "outcome": stands.outcome if stands else None,
        "by": (request.by.name or request.by.id) if request.by else None,
        "where": request.via,
        "at": request.settled_ms,
        **public(request),
        **_picked(request),
    }
    if isinstance(stands, Expired):
        return Refusal("expired", "nobody answered in time, the question is closed", told)
    if request.by is None:
        return Refusal("ended", f"this run has ended: {run.shown}", {**told, "state": run.shown})
    files = usable(request, stands.values.values() if isinstance(stands, Accepted) else (), e.files)
    again = outcome(request.question, _with(stands, e.answer), e.sealed, files)
    if request.by.id == e.person.id and not isinstance(again, Refusal) and request.mark == mark(again):
        return Answered(request=request.id, run=run.id, repeat=True, answer=again, by=e.person.id, via=request.via)
    who = told["by"]
    return Refusal("already_answered", f"already answered by {who} on {request.via}: {told['outcome']}", told)


def _picked(request: Request) -> dict[str, Json]:
    """The labels of what was picked, as long as the question is remembered."""
    values = request.answer.values if isinstance(request.answer, Accepted) else {}
    found: list[str] = []
    for field in request.question.fields:
        value = values.get(field.id)
        picks = value if isinstance(value, list) else [value]
        options = field.options if isinstance(field, ConfirmField | ChoiceField) else ()
        found += [option.label for option in options if option.id in picks]
    return {"picked": ", ".join(found)} if found else {}


def _with(standing: Answer | None, sent: Accepted | Declined) -> Accepted | Declined:
    """What was sent, with what a form had before its submit."""
    if isinstance(standing, Accepted) and isinstance(sent, Accepted) and len(standing.values) > 1:
        return sent.changed(values={**standing.values, **sent.values})
    return sent


def others(e: Reply, request: Request) -> Refusal | None:
    """Refuse to change what somebody else filled in."""
    for name, value in e.answer.values.items() if isinstance(e.answer, Accepted) else ():
        before = request.given.get(name)
        if before is not None and before.by != e.person.id and not alike(before.value, value):
            rule = "was filled in by somebody else, only they can change it"
            return Refusal("not_allowed", f"{name!r} {rule}", {"field": name, "rule": rule})
    return None


def partly(d: Draft, e: Reply, request: Request, run: Run) -> Answered | Refusal:
    """Store values of a form that is not submitted yet."""
    assert isinstance(e.answer, Accepted)
    files = usable(request, (one.value for one in request.given.values()), e.files)
    checked = values(request.question, e.answer.values, whole=False, sealed=e.sealed, files=files)
    if isinstance(checked, Refusal):
        return checked
    taken = others(e, request)
    if taken is not None:
        return taken
    if e.sealed:
        before = (handle_of(request.given[name].value) for name in checked if name in request.given)
        run = seal(d, drop(d, run, (handle for handle in before if handle is not None)), e.sealed)
    given = dict(request.given)
    for name, value in checked.items():
        if name not in given or given[name].by == e.person.id:
            given[name] = Given(value=value, by=e.person.id)
    d.save_request(request, given=given)
    d.tell(request.conversation, "request.updated", request.run, request=request.id, given=shown_given(request, given))
    return remember(d, e.key, e.person, Answered(request=request.id, run=run.id, settled=False), meant(e))
