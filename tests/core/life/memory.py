"""The plain model of the stateful test: what was said, answered, approved and done, and what was told about it.

It knows no rule. `age` lets an event be decided on the documents of up to five steps ago, so that every guard is met by
somebody who lost a race; `late` lets it be decided by a clock that is behind.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

from core.life.decision import Refusal
from core.life.event import (
    Ask,
    Begin,
    Said,
)
from core.life.result import Answered, Delivered, Result, Sent
from core.model import Cause, Grants, Person, Run, Step, digest
from core.question import Accepted, FileField, Handed, Question
from tests.core.life import dice
from tests.core.life.play import (
    ANN,
    BEN,
    CAT,
    CHOICE,
    DAN,
    FORM,
    GROUP,
    MULTI,
    NUMBER,
    SURE,
    TEXT,
    Event,
    Play,
    call,
)
from tests.core.life.world import Look

T = TypeVar("T")
PEOPLE = (ANN, BEN, CAT, DAN)
ORIGINS = ("chat-1", "chat-2", "tg-7")
PATHS = ("/tmp/a", "/tmp/b")
SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
TABLE = Question(title="Which table?", fields=(FileField(types=(".csv",), max_bytes=1_000),))
FILES = {
    id: Handed(id=id, name=f"{id}.{kind}", type="text/plain", size=size)
    for id, kind, size in (("f1", "csv", 9), ("f2", "csv", 1_000), ("f3", "csv", 1_001), ("f4", "exe", 1))
}
SENT: tuple[object, ...] = ([], ["f0"], ["f1"], ["f1", "f2"], ["f3"], ["f4"], [{"id": "f1"}])
QUESTIONS = {
    "call": call(PATHS[0]),
    "call with a deadline": call(PATHS[1], timeout_ms=40),
    "restricted call": call(PATHS[0], restricted=True),
    "call to change": call(PATHS[0], edit_schema=SCHEMA),
    "long call": call(PATHS[1], message="x" * 7_000),
    "sure": SURE,
    "sure, for others": SURE.model_copy(update={"responders": (CAT.id, DAN.id), "copies": ("tg-9",)}),
    "choice with a deadline": CHOICE.model_copy(update={"timeout_ms": 30}),
    "multi": MULTI,
    "text": TEXT,
    "number": NUMBER,
    "form": FORM,
    "file": TABLE,
    "files, or none": TABLE.model_copy(update={"fields": (FileField(max_files=2, required=False),)}),
    "form with a file": FORM.model_copy(update={"fields": (*FORM.fields, FileField(types=(".csv",)))}),
    "sure, or undeliverable": SURE.model_copy(update={"on_no_listener": "undeliverable"}),
}
VALUES = ("a", "b", ["a"], ["a", "b"], "once", "run", "always", "deny", "text", "7", "", 1, None, True, "maybe", *SENT)
WORDS = ("yes", "no", "1", "2", "Alpha", "beta", "whatever", "7", "/help", "/cancel", "/pause", "/resume", "/new")
CAUSES: tuple[Cause, ...] = ("user_canceled", "user_paused", "user_aborted")
picks = dice.integers(0, 1_000_000)
ages = dice.mostly_nothing(5)
lates = dice.mostly_nothing(40)
people = dice.sampled_from((ANN, ANN, ANN, BEN, CAT, DAN))


def pick(found: Sequence[T], number: int) -> T:
    """One of these."""
    return found[number % len(found)]


@dataclass
class Working:
    """A turn as its worker knows it; it goes on although it may have been fenced long ago."""

    delivered: Delivered
    worker: str
    root: str
    conversation: str
    asks: int = 0


class Happening(NamedTuple):
    """Something that can happen: how often, when at all, and with what."""

    weight: int
    needs: Callable[[Memory], bool]
    draws: dict[str, dice.Draw]
    act: Callable[..., None]


STEPS: dict[str, Happening] = {}


def happens(
    weight: int, needs: Callable[[Memory], bool] = lambda life: True, **draws: dice.Draw
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Say that a function is something that happens."""

    def keep(act: Callable[..., None]) -> Callable[..., None]:
        STEPS[act.__name__] = Happening(weight, needs, draws, act)
        return act

    return keep


class Memory:
    """The world, who works in it, and what people were told so far."""

    def __init__(self) -> None:
        self.world = Play()
        self.looks: deque[Look] = deque(maxlen=6)
        self.turns: list[Working] = []
        self.workers = ["w1", "w2"]
        self.keyed: list[tuple[Event, Result]] = []
        self.number = 0
        self.ends: dict[str, str] = {}
        self.accepted: dict[str, str] = {}
        self.approved: Counter[tuple[str, str]] = Counter()
        self.begun: Counter[tuple[str, str]] = Counter()
        self.steers: dict[str, list[str]] = {}
        self.reverted: set[str] = set()

    def act(self, event: Event, age: int = 0, late: int = 0) -> Result | Refusal:
        """Let an event happen, perhaps decided on old documents and by a slow clock; a refusal changes nothing."""
        look = self.looks[-min(age, len(self.looks))] if age and self.looks else None
        before = self.world.commits
        told = self.world.act(event, look, self.world.now - late if late else None)
        if isinstance(told, Refusal):
            assert self.world.commits == before, (event, told)
        elif getattr(event, "key", None) is not None and not isinstance(event, Ask | Begin) and told.kind != "told":
            self.keyed.append((event, told))
        return told

    def key(self) -> str:
        """A new name of an event."""
        self.number += 1
        return f"k{self.number}"

    def text(self) -> str:
        """A text that was never said before."""
        self.number += 1
        return f"text {self.number}"

    def runs(self) -> list[Run]:
        return self.world.all(Run)

    def saying(self, text: str, person: Person, origin: str, key: str | None) -> Said:
        group = origin.startswith("tg-")
        return Said(origin, text, person, "demo", key, private=not group, people=GROUP if group else ())

    def heard(self, text: str, told: Result | Refusal) -> None:
        match told:
            case Sent(steer=True, run=id):
                run = self.world.run(id)
                assert any(step.data.get("text") == text for step in self.world.steps(id)), told
                self.steers.setdefault(run.root, []).append(text)
            case Sent(resumed=False, run=id):
                run = self.world.run(id)
                assert run.state == "canceled" or run.message == text, run
            case Answered(request=id):
                self.answer_came(id, told)
            case _:
                assert isinstance(told, Refusal) or told.kind in ("told", "stopped", "resumed", "opened"), told

    def answer_came(self, id: str, told: Answered) -> None:
        """Remember an accepted answer and what it approves; the first one stands for ever."""
        if not told.settled or told.repeat or told.answer is None:
            return
        assert id not in self.accepted, told
        self.accepted[id] = told.answer.model_dump_json()
        request = self.world.request(id)
        subject = request.question.subject
        if isinstance(told.answer, Accepted) and subject is not None:
            name = request.digest or ""
            if told.answer.arguments is not None:
                name = digest(subject.tool, told.answer.arguments)
            self.approved[(self.world.run(request.run).root, name)] += 1

    def some_turn(self, number: int) -> Working:
        """A turn; mostly one that is live."""
        live = [turn for turn in self.turns if self.is_live(turn)]
        return pick(live, number) if live and number % 5 != 4 else pick(self.turns[-6:], number // 5)

    def is_live(self, turn: Working) -> bool:
        run = self.world.docs.get(("run", turn.delivered.run))
        return isinstance(run, Run) and run.turn is not None and run.turn.fence == turn.delivered.fence

    def turn_began(self, told: Delivered, worker: str) -> None:
        run = self.world.run(told.run)
        assert run.state == "working", run
        self.turns.append(Working(told, worker, run.root, run.conversation))

    def steps(self, root: str) -> list[Step]:
        return [step for _, step in self.world.lists.get(("steps", root), []) if isinstance(step, Step)]

    def remembered(self, turn: Working, question: Question) -> bool:
        run = self.world.find(turn.delivered.run)
        if question.subject is None or run is None:
            return False
        name = digest(question.subject.tool, question.subject.arguments)
        grants = self.world.docs.get(("grants", run.conversation))
        always = grants.all if isinstance(grants, Grants) else ()
        mine = [grant for grant in always if grant.person == run.starter.id]
        return any(grant.digest == name for grant in (*mine, *run.grants))

    def only_the_live(self, turn: Working, told: Result | Refusal) -> None:
        """What a turn does counts only while it is its run's live turn; checked after an accepted act of it."""
        if not isinstance(told, Refusal):
            run = self.world.docs.get(("run", turn.delivered.run))
            assert isinstance(run, Run)
            assert run.moved_to is None
            assert turn.delivered.fence in (run.fence, run.fence - 1, run.fence - 2), (turn, run)
