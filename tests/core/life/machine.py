"""Everything that can happen, in any order, and what must be true after each step and at the end."""

from __future__ import annotations

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from core.life.decision import Refusal
from core.life.emergency import Thaw
from core.life.event import (
    Ended,
)
from core.model import TERMINAL, Incarnation, Run
from tests.core.life import checks, people, workers
from tests.core.life.memory import (
    STEPS,
    Memory,
)
from tests.core.life.play import (
    CAT,
    OWNER,
    Play,
)

REGISTERED = (people, workers)
"""The modules whose functions stand in `STEPS`."""


class Life(Memory, RuleBasedStateMachine):
    """Conversations, workers and people, driven at random; the model is compared with the world after every step."""

    def __init__(self) -> None:
        RuleBasedStateMachine.__init__(self)
        Memory.__init__(self)

    @initialize(listening=st.booleans())
    def begin_world(self, listening: bool) -> None:
        self.world.beat("w1", *(("chat-", "tg-") if listening else ()))
        self.world.beat("w2")

    @rule(data=st.data())
    def anything(self, data: st.DataObject) -> None:
        """One of all the things that can happen, drawn by their weights."""
        able = [name for name, one in STEPS.items() for _ in range(one.weight) if one.needs(self)]
        one = STEPS[data.draw(st.sampled_from(able), "what")]
        one.act(self, **{name: data.draw(draw.strategy, name) for name, draw in one.draws.items()})

    @invariant()
    def the_world_is_whole(self) -> None:
        checks.check(self.world)
        self.looks.append(self.world.look())

    @invariant()
    def an_end_is_an_end(self) -> None:
        """A terminal state never changes."""
        for id, state in self.ends.items():
            run = self.world.docs.get(("run", id))
            assert run is None or (isinstance(run, Run) and run.state == state), (id, state, run)
        self.ends |= {run.id: run.state for run in self.runs() if run.state in TERMINAL}

    @invariant()
    def no_answer_is_lost(self) -> None:
        """The first accepted answer stands; it was recorded by a turn, is kept for one, or went with its run."""
        for id, answer in self.accepted.items():
            request = self.world.request(id)
            assert request.answer is not None
            assert request.answer.outcome in answer, request
            run = self.world.find(request.run)
            if run is None or run.shown in ("canceling", *TERMINAL) or id in self.reverted:
                continue
            steps = self.steps(run.root)
            recorded = sum(step.kind == "answered" and step.data.get("request") == id for step in steps)
            assert recorded == (1 if request.delivered else 0), (request, run)
            assert request.delivered or id in run.answered, (request, run)

    @invariant()
    def nothing_said_is_lost(self) -> None:
        """What steered a run stands in its journal, unless the run was canceled or deleted."""
        for root, texts in self.steers.items():
            if ("steps", root) in self.world.lists:
                kept = [step.data.get("text") for step in self.steps(root) if step.kind == "steer"]
                assert kept == texts, (root, kept, texts)

    def teardown(self) -> None:
        """Whatever happened, everything has a way to its end."""
        if self.world.commits:
            heal(self.world)
            checks.settled(self.world)


def heal(world: Play) -> None:
    """Everything thaws, timers fire, workers are lost, everything is canceled: nothing may stay owed."""
    world.act(Thaw(OWNER))
    for _ in range(3):
        world.later(1_000)
        for worker in world.all(Incarnation):
            world.sweep(worker.id)
        for id in list(world.index("ready")):
            turn = world.claimed(id, "last")
            taken = sum(step.kind == "steer" for step in world.steps(id))
            world.finished(turn, took=taken)
            checks.check(world)
    for run in list(checks.runs(world)):
        if run.state not in TERMINAL:
            place = world.conversation(run.conversation)
            told = world.stop(run.id, "user_canceled", place.owner if place.private else CAT)
            assert not isinstance(told, Refusal), (run, told)
    world.sweep("last")
    checks.check(world)
    for run in list(checks.runs(world)):
        for turn in run.unproved:
            world.act(Ended(run.id, turn.fence, "asserted"))
    world.later(1_000)
    checks.check(world)
