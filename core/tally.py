"""What this process has seen come of its commits: how runs ended, how long stops and answers took. Counts, no texts.

Each process tells its own now and then, under a name that ends by itself; `/metrics` shows them side by side.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence

from pydantic import BaseModel, Field

from core.life.decision import Effect, Model, Ref, Tell
from core.model import Event, Run
from core.question import Request
from core.shelf import Shelf

BOUNDS = (0.01, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 15.0, 30.0, 60.0)
"""seconds up to which the spans of a histogram reach; the last one has no end"""
LIFE = 60.0
NOTHING_AT_WORK = frozenset({"nothing was at work", "never started"})


class Spans(BaseModel):
    """How long something took. counts: per bound, and one beyond the last; sum: seconds."""

    counts: list[int] = Field(default_factory=lambda: [0] * (len(BOUNDS) + 1))
    sum: float = 0.0

    def took(self, ms: int) -> None:
        """Count one span."""
        seconds = max(0.0, ms / 1_000)
        self.counts[bisect_left(BOUNDS, seconds)] += 1
        self.sum += seconds


class Tally(BaseModel):
    """ended: state or, of a paused run, cause → how often. stops: Cancel or Pause to the end. answers: to their run."""

    role: str = ""
    commits: int = 0
    races: int = 0
    fenced: int = 0
    ended: dict[str, int] = Field(default_factory=dict[str, int])
    stops: Spans = Field(default_factory=Spans)
    answers: Spans = Field(default_factory=Spans)

    def note(self, puts: Mapping[Ref, Model | None], effects: Sequence[Effect]) -> None:
        """Count what came of a commit that landed."""
        for effect in effects:
            if isinstance(effect, Tell) and effect.event.type.startswith("run."):
                self._note(puts, effect.event)

    def add(self, other: Tally) -> None:
        """Count what another process counted that will not tell it."""
        for how, many in other.ended.items():
            self.ended[how] = self.ended.get(how, 0) + many
        for mine, theirs in ((self.stops, other.stops), (self.answers, other.answers)):
            mine.counts = [one + more for one, more in zip(mine.counts, theirs.counts, strict=True)]
            mine.sum += theirs.sum

    def _note(self, puts: Mapping[Ref, Model | None], event: Event) -> None:
        run = puts.get(("run", event.run or ""))
        if not isinstance(run, Run):
            return
        match event.type:
            case "run.completed" | "run.failed" | "run.canceled" | "run.paused":
                how = run.cause if event.type == "run.paused" and run.cause is not None else run.state
                self.ended[how] = self.ended.get(how, 0) + 1
                if run.stop_ms and run.ended_ms and run.ended_by not in NOTHING_AT_WORK:
                    self.stops.took(run.ended_ms - run.stop_ms)
            case "run.working":
                for model in puts.values():
                    if isinstance(model, Request) and model.delivered and model.settled_ms:
                        self.answers.took(event.at - model.settled_ms)
            case _:
                pass


async def tell(shelf: Shelf, id: str, tally: Tally) -> None:
    """Let others see a process's tally for a minute."""
    await shelf.keep("tally", id, tally.model_dump_json(), LIFE)


async def told(shelf: Shelf) -> list[tuple[str, Tally]]:
    """The tallies of the processes that live, by id."""
    return [(id, Tally.model_validate_json(text)) for id, text in await shelf.listing("tally")]
