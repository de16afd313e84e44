"""What happens on the side of turns, processes and time."""

from __future__ import annotations

from core.life.again import awaits_proof
from core.life.decision import Refusal
from core.life.emergency import Freeze, Thaw
from core.life.event import Append, Ask, Begin, Broke, Claim, Deadline, Ended, Finish, Free, Lost, Park, Take, Took
from core.life.living import Leave, Swept
from core.life.result import Asked, Changed, Delivered, Kept
from core.model import Conversation, Run, Step, digest
from core.question import Request
from tests.core.life import dice
from tests.core.life.checks import runs
from tests.core.life.memory import (
    ORIGINS,
    PATHS,
    QUESTIONS,
    Memory,
    ages,
    happens,
    lates,
    pick,
    picks,
)
from tests.core.life.play import (
    ANN,
    OWNER,
)


@happens(5, number=picks)
def go_to_work(life: Memory, number: int) -> None:
    """The usual: somebody says something, a worker takes it."""
    worker = life.workers[0]
    origin = pick(ORIGINS, number)
    place = next((one for one in life.world.all(Conversation) if one.origin == origin and not one.deleted), None)
    text = life.text()
    told = life.act(life.saying(text, place.owner if place and place.private else ANN, origin, None))
    life.heard(text, told)
    for id in sorted(life.world.index("ready")):
        taken = life.act(Claim(id, worker))
        if isinstance(taken, Delivered):
            life.turn_began(taken, worker)


@happens(5, lambda life: bool(life.runs()), slot=dice.integers(0, 1), number=picks, age=ages, late=lates)
def claim(life: Memory, slot: int, number: int, age: int, late: int) -> None:
    """A worker takes what is ready; or something that is not, and is refused."""
    worker = life.workers[slot]
    waiting = sorted(life.world.index("ready"))
    run = pick(waiting, number) if waiting and number % 7 != 6 else pick(life.runs(), number // 7).id
    frozen = ("frozen", "") in life.world.docs
    told = life.act(Claim(run, worker), age, late)
    if isinstance(told, Delivered):
        assert not frozen
        assert ("incarnation", worker) in life.world.docs
        life.turn_began(told, worker)


@happens(
    8,
    lambda life: bool(life.turns),
    number=picks,
    asked=dice.sampled_from(sorted(QUESTIONS)),
    age=ages,
    late=lates,
    times=dice.integers(1, 2),
)
def ask(life: Memory, number: int, asked: str, age: int, late: int, times: int) -> None:
    """A turn asks, once or twice; a remembered approval stands in only for exactly its call."""
    question = QUESTIONS[asked]
    turn = life.some_turn(number)
    for _ in range(times):
        turn.asks += 1
        event = Ask(
            turn.delivered.run, turn.delivered.fence, f"ask#{turn.asks}", question, life.world.length(turn.root)
        )
        remembered = life.remembered(turn, question)
        told = life.act(event, age, late)
        life.only_the_live(turn, told)
        if isinstance(told, Asked) and told.granted is not None:
            assert remembered, told
            assert not question.restricted
            life.approved[(turn.root, told.granted)] += 1


@happens(4, lambda life: bool(life.turns), number=picks, age=ages)
def take(life: Memory, number: int, age: int) -> None:
    """A held turn takes its answers."""
    turn = life.some_turn(number)
    event = Take(turn.delivered.run, turn.delivered.fence, life.world.length(turn.root))
    told = life.act(event, age)
    life.only_the_live(turn, told)
    if isinstance(told, Delivered):
        turn.delivered = told


@happens(1, thaw=dice.integers(0, 3))
def freeze_or_thaw(life: Memory, thaw: int) -> None:
    """An owner lets nothing begin; mostly it is over soon."""
    assert not isinstance(life.act(Thaw(OWNER) if thaw else Freeze(OWNER)), Refusal)


@happens(3, lambda life: bool(life.turns), number=picks, age=ages)
def park(life: Memory, number: int, age: int) -> None:
    """A held turn lets go."""
    turn = life.some_turn(number)
    life.only_the_live(turn, life.act(Park(turn.delivered.run, turn.delivered.fence), age))


@happens(
    5,
    lambda life: bool(life.turns),
    number=picks,
    path=dice.sampled_from((*PATHS, "/tmp/c", "")),
    age=ages,
    stale=dice.booleans(),
)
def effect(life: Memory, number: int, path: str, age: int, stale: bool) -> None:
    """A step acts, after the last check: at most as often as exactly this call was approved."""
    turn = life.some_turn(number)
    named = digest("rm", {"path": path}) if path else None
    run = life.world.find(turn.delivered.run)
    if run is not None and run.approvals and number % 4 != 3:
        named = pick(run.approvals, number).digest
    length = life.world.length(turn.root)
    event = Begin(turn.delivered.run, turn.delivered.fence, turn.delivered.halt, "step", length - stale, digest=named)
    before = life.world.docs.get(("run", turn.delivered.run))
    told = life.act(event, age)
    if isinstance(told, Kept):
        assert not stale
        assert isinstance(before, Run)
        assert before.state in ("working", "waiting", "queued"), before
        assert (before.fence, before.halt) == (turn.delivered.fence, turn.delivered.halt), before
        if named is not None:
            life.begun[(turn.root, named)] += 1
            assert life.begun[(turn.root, named)] <= life.approved[(turn.root, named)], turn


@happens(1, lambda life: bool(life.turns), number=picks)
def record(life: Memory, number: int) -> None:
    """A turn records that a step is done; a fenced one is refused."""
    turn = life.some_turn(number)
    step = Step(kind="done", key="step", fence=turn.delivered.fence, at=life.world.now)
    told = life.act(
        Append(
            turn.delivered.run,
            turn.root,
            turn.conversation,
            turn.delivered.fence,
            length=life.world.length(turn.root),
            steps=(step,),
        )
    )
    assert isinstance(told, Kept) == life.is_live(turn), (told, turn)


@happens(
    3,
    lambda life: bool(life.turns),
    number=picks,
    age=ages,
    taken=dice.integers(0, 2),
    failed=dice.booleans(),
    pass_on=dice.booleans(),
)
def finish(life: Memory, number: int, age: int, taken: int, failed: bool, pass_on: bool) -> None:
    """The agent returns; whatever was said to it and not taken in starts the next run."""
    turn = life.some_turn(number)
    said = [str(step.data["text"]) for step in life.steps(turn.root) if step.kind == "steer"]
    took = max(0, len(said) - taken)
    untaken = tuple(said[took:]) if pass_on else ()
    outcome = "failed" if failed else "completed"
    event = Finish(turn.delivered.run, turn.delivered.fence, outcome, "the end", took, untaken)
    before = life.world.find(turn.delivered.run)
    told = life.act(event, age)
    if isinstance(told, Changed) and told.state in ("completed", "failed"):
        assert before is not None
        assert before.turn is not None
        assert before.turn.fence == turn.delivered.fence
        assert len(said) <= max(took, before.took) + len(untaken), told
        if untaken:
            assert told.next_run is not None
            assert life.world.run(told.next_run).message == "\n\n".join(untaken)


@happens(1, lambda life: bool(life.turns), number=picks, age=ages, count=dice.integers(0, 3))
def take_in(life: Memory, number: int, age: int, count: int) -> None:
    """A turn takes in what was said to it."""
    turn = life.some_turn(number)
    said = sum(step.kind == "steer" for step in life.steps(turn.root))
    life.only_the_live(turn, life.act(Took(turn.delivered.run, turn.delivered.fence, min(count, said)), age))


@happens(
    2,
    lambda life: bool(life.turns),
    number=picks,
    age=ages,
    how=dice.sampled_from(("broke", "ended", "ended", "asserted")),
)
def come_to_an_end(life: Memory, number: int, age: int, how: str) -> None:
    """A turn breaks, or its work is seen to end."""
    turn = life.some_turn(number)
    if how == "broke":
        life.act(Broke(turn.delivered.run, turn.delivered.fence, "boom"), age)
    else:
        life.act(Ended(turn.delivered.run, turn.delivered.fence, how, "done", worker=turn.worker), age)


@happens(3, span=dice.sampled_from((1, 10, 30, 60, 300)), number=picks, lazy=dice.booleans())
def tick(life: Memory, span: int, number: int, lazy: bool) -> None:
    """Time goes by; what is due happens, perhaps only later. What is not due does not happen."""
    requests = [one for one in life.world.all(Request) if one.deadline_ms is not None and one.state == "open"]
    for one in requests[:1]:
        early = life.act(Deadline(one.id)) if one.deadline_ms and one.deadline_ms > life.world.now else None
        assert early is None or isinstance(early, Refusal)
    for run in [run for run in life.runs() if run.state == "stopping" and run.turn is not None][:1]:
        early = life.act(Free(run.id)) if (run.stop_ms or 0) + 50 > life.world.now else None
        assert early is None or isinstance(early, Refusal)
    life.world.now += span
    if not lazy:
        life.world.due()


@happens(3, slot=dice.integers(0, 1), gone=dice.booleans(), replayable=dice.booleans(), number=picks, age=ages)
def lose(life: Memory, slot: int, gone: bool, replayable: bool, number: int, age: int) -> None:
    """A worker is lost, or said goodbye; what it held is settled, and another one comes."""
    worker = life.workers[slot]
    if number % 3 != 2:
        life.world.beat(worker)
        return
    life.act(Leave(worker))
    for id in list(life.world.index("claims", worker)):
        life.act(Lost(id, worker, gone, replayable, "shutdown" if number % 2 else "worker_lost"), age)
    open = set(life.world.index("claims", worker))
    life.act(Swept(worker, open=bool(open)))
    deleted = {id for id in open if ("run", id) not in life.world.docs}
    assert open - deleted == {run.id for run in runs(life.world) if awaits_proof(run, worker)}
    assert not (open and gone)
    assert open or not life.world.index("stop", worker)
    life.number += 1
    life.workers[slot] = f"w{slot + 1}.{life.number}"
    life.world.beat(life.workers[slot])


@happens(1, lambda life: any(run.unproved for run in life.runs()), number=picks, age=ages)
def know_at_last(life: Memory, number: int, age: int) -> None:
    """The host of a lost worker is back: what it held is known to be gone."""
    run = pick([run for run in life.runs() if run.unproved], number)
    worker = run.unproved[0].worker
    if ("incarnation", worker) not in life.world.docs:
        for id in {run.id, *life.world.index("claims", worker)}:
            life.act(Lost(id, worker, gone=True), age)
        assert not life.world.index("claims", worker)
        assert not life.world.index("stop", worker)
        life.act(Swept(worker))
