"""An event takes effect once: what came of a keyed event is kept with its key, and a repeat gets the same.

Keys are a person's own, and a kind of result's own: the same key of another person is another event. A key that comes
again and means something else, another run or another verb, is refused: it must not be taken for done.
"""

from __future__ import annotations

from typing import Literal, TypeVar

from core.life.decision import Refusal
from core.life.draft import Draft
from core.life.result import RESULT, Answered, Copied, Deleted, Extended, Opened, Result, Resumed, Stopped
from core.model import Cause, Person, Run, Seen

T = TypeVar("T", Answered, Stopped, Resumed, Extended, Copied, Deleted, Opened)
SEEN = Seen()
OTHER = Refusal(
    "conflict",
    "this key named something else before: nothing was done, send it with a new key",
    {"field": "key", "rule": "must name one thing only"},
)
FORESTALLED: Literal["forestalled"] = "forestalled"


def recall(d: Draft, key: str | None, person: Person | None, of: type[T], meant: str) -> T | Refusal | None:
    """Tell what came of this event when it came before. meant: what is to be done to what; another thing is refused."""
    seen = d.seen(_name(key, person, of.__name__)) if key is not None else None
    result = RESULT.validate_json(seen.result) if seen is not None else None
    if seen is None or not isinstance(result, of):
        return None
    return OTHER if seen.mark and seen.mark != meant else result


def remember(d: Draft, key: str | None, person: Person | None, result: T, meant: str) -> T:
    """Keep what came of this event, in the same commit. meant: as for `recall`."""
    if key is not None:
        name = _name(key, person, type(result).__name__)
        d.put(("seen", name), SEEN.changed(result=result.as_json().decode(), mark=meant))
    return result


def stopping(run: Run, cause: Cause, *, urgent: bool = False) -> str:
    """Name what a stop means."""
    return f"stop {run.root} {cause} {urgent}"


def said_before(
    d: Draft, key: str | None, person: Person, mark: str = ""
) -> Result | Refusal | Literal["forestalled"] | None:
    """Tell what came of something said with this key, or that a cancel came before it. mark: names what is said."""
    seen = d.seen(_name(key, person, "Said")) if key is not None else None
    if seen is None:
        return None
    if seen.mark and mark and seen.mark != mark:
        return OTHER
    return FORESTALLED if seen.result == FORESTALLED else RESULT.validate_json(seen.result)


def remember_said(
    d: Draft, key: str | None, person: Person, result: Result | Literal["forestalled"], mark: str = ""
) -> None:
    """Keep what came of something said."""
    if key is not None:
        text = result if isinstance(result, str) else result.as_json().decode()
        d.put(("seen", _name(key, person, "Said")), Seen(result=text, mark=mark))


def _name(key: str, person: Person | None, verb: str) -> str:
    return f"{person.id if person else ''}|{verb}|{key}"
