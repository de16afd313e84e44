"""The tape: a run's own journal, read so that a turn can be replayed from it.

Each outward verb of an agent has a key: the verb, its name and how often it was called before (`say#0`, `step:push#1`),
below the tool or agent that it is called in (`tool:deploy#0/step:push#0`). What the journal holds under a key is not
done again. The order of calls counts per name only, so calls side by side are replayed as well; the code must make the
same calls again when it gets the same results. This file must not know how a turn waits or what an agent is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from pydantic import TypeAdapter

from core.errors import SaysoError
from core.model import Json, Step, Value
from core.question import Accepted, Answer, Declined

ANSWER: TypeAdapter[Answer] = TypeAdapter(Answer)
ACTS = frozenset({"ask", "answered", "begun", "done", "said"})


class Diverged(SaysoError):
    """A replay asked or did something else than the journal says; no recorded answer was used."""


class Steer(Value):
    """What a person said while the run worked. attachments: ids of files."""

    text: str
    by: str = ""
    attachments: tuple[str, ...] = ()


@dataclass(slots=True)
class Place:
    """What the journal holds under one key.

    request: the newest one that was opened here. told: names the question exactly. begun: how often it was begun.
    ended: what was recorded at its end; trailing: nothing came after that end, the turn broke there.
    """

    request: str | None = None
    told: str | None = None
    answer: Accepted | Declined | None = None
    granted: str | None = None
    begun: int = 0
    ended: dict[str, Json] | None = None
    ended_seq: int = 0
    said: bool = False
    size: int = 0
    mark: str = ""
    used: bool = False


@dataclass(slots=True)
class Tape:
    """A run's journal as one turn knows it. length: number of the last entry that was read or written."""

    fence: int
    length: int = 0
    resumed: bool = False
    steers: list[Steer] = field(default_factory=list[Steer])
    given: int = 0
    _places: dict[str, Place] = field(default_factory=dict[str, Place])
    _calls: Counter[str] = field(default_factory=Counter[str])
    _left: dict[str, Place] = field(default_factory=dict[str, Place])
    _last: int = 0

    def load(self, entries: Iterable[tuple[int, Step]]) -> list[Step]:
        """Take in entries; those that a revert dropped are void, but what a person said stays."""
        entries = [(seq, step) for seq, step in entries if seq > self.length]
        void: set[int] = set()
        for seq, step in entries:
            to = step.data.get("to")
            if step.kind == "dropped" and isinstance(to, int):
                void |= {other for other, past in entries if to < other < seq and past.kind != "steer"}
        for seq, step in entries:
            self.length = seq
            if seq not in void:
                self._take(seq, step)
        return [step for _, step in entries]

    def _take(self, seq: int, step: Step) -> None:
        if step.kind == "steer":
            self.steers.append(Steer.model_validate(step.data))
        if step.kind == "turn":
            self.resumed = step.data.get("resumed") is True
        if step.kind not in ACTS:
            return
        if step.kind in ("ask", "answered", "begun") and not _inner(step.key) and not step.data.get("again"):
            self._last = seq
        place = self._places.setdefault(step.key, Place())
        if step.fence != self.fence and not place.used:
            self._left[step.key] = place
        match step.kind:
            case "ask":
                place.request, place.told = _text(step.data.get("request")), _text(step.data.get("question"))
                place.answer = None
            case "answered":
                answer = ANSWER.validate_python(step.data.get("answer"))
                place.answer = answer if isinstance(answer, Accepted | Declined) else None
                place.granted = _text(step.data.get("granted"))
            case "begun":
                place.begun += 1
                place.ended = None
            case "done":
                place.ended, place.ended_seq = step.data, seq
            case _:
                size = step.data.get("size")
                place.said, place.size = True, size if isinstance(size, int) else 0
                place.mark = _text(step.data.get("mark")) or ""

    def key(self, scope: str, verb: str) -> str:
        """Name the next call of a verb in a scope."""
        name = f"{scope}{verb}"
        number = self._calls[name]
        self._calls[name] += 1
        return f"{name}#{number}"

    def look(self, key: str) -> Place:
        """What the journal holds under a key; from now on it counts as replayed."""
        place = self._places.setdefault(key, Place())
        place.used = True
        self._left.pop(key, None)
        return place

    def glance(self, key: str) -> Place | None:
        """What the journal holds under a key, if anything; it counts as replayed, and nothing is kept of the call."""
        return self.look(key) if key in self._places else None

    def trailing(self, place: Place) -> bool:
        """Tell whether nothing was asked or begun after this end: the turn broke by it."""
        return place.ended is not None and place.ended_seq > self._last

    def inside(self, key: str) -> bool:
        """Tell whether anything was begun below a key."""
        return any(name.startswith(f"{key}/") and place.begun for name, place in self._places.items())

    def skip(self, key: str) -> None:
        """Count all that the journal holds below a key as replayed."""
        for name in [name for name in self._left if name.startswith(f"{key}/")]:
            self.look(name)

    def later(self, key: str) -> bool:
        """Tell whether a later call of the same verb in the same scope is recorded and not replayed yet."""
        name = key.rpartition("#")[0]
        return any(other.rpartition("#")[0] == name for other in self._left)

    def unused(self) -> list[str]:
        """The keys of questions and calls that the journal holds and this replay did not come to yet."""
        return [key for key, place in self._left.items() if _counts(key, place)]

    def replaying(self) -> bool:
        """Tell whether there is something left to replay."""
        return any(not _inner(key) for key in self._left)

    def wrote(self, kind: str, key: str, step: Step) -> bool:
        """Tell whether an entry that was read is the one this turn wrote under a key; a question may be granted."""
        kinds = ("ask", "answered") if kind == "ask" else (kind,)
        return step.kind in kinds and step.key == key and step.fence == self.fence


def _counts(key: str, place: Place) -> bool:
    return not _inner(key) and bool(place.request or place.granted or place.begun)


def _inner(key: str) -> bool:
    """Tell what stands and falls with the call above it: its approval, our own question about it, its interruption."""
    return key.rpartition("/")[2].startswith(("approve#", "unknown:", "interrupted#"))


def _text(value: Json) -> str | None:
    return value if isinstance(value, str) else None
