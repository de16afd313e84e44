"""An event takes effect once: what came of a keyed event is kept with its key, and a repeat gets the same.

Keys are a person's own, and a verb's own: the same key of another person, or for another verb, is another event.
"""

from __future__ import annotations

from typing import Literal, TypeVar

from core.life.decision import Refusal
from core.life.draft import Draft
from core.life.result import RESULT, Answered, Copied, Deleted, Extended, Opened, Result, Resumed, Stopped
from core.model import Person, Seen

T = TypeVar("T", Answered, Stopped, Resumed, Extended, Copied, Deleted, Opened)
SEEN = Seen()
OTHER = Refusal("conflict", "this key named something else before: nothing was done, send it with a new key")
FORESTALLED: Literal["forestalled"] = "forestalled"


def recall(d: Draft, key: str | None, person: Person | None, of: type[T]) -> T | None:
    """Tell what came of this event when it came before."""
    seen = d.seen(_name(key, person, of.__name__)) if key is not None else None
    result = RESULT.validate_json(seen.result) if seen is not None else None
    return result if isinstance(result, of) else None


def remember(d: Draft, key: str | None, person: Person | None, result: T) -> T:
    """Keep what came of this event, in the same commit."""
    if key is not None:
        name = _name(key, person, type(result).__name__)
        d.put(("seen", name), SEEN.changed(result=result.as_json().decode()))
    return result


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
