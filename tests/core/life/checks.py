"""What must be true of the world after every step, whatever happened before: one function a truth, each says why."""

from __future__ import annotations

from collections.abc import Iterator

from core.life.access import may_see
from core.life.decision import Ref
from core.life.handing import of_value
from core.life.leak import member
from core.model import TERMINAL, Conversation, Incarnation, Person, Run, Turn
from core.question import Accepted, Declined, FileField, Request
from tests.core.life.play import Play

PEOPLE = ("web:ann", "web:ben", "tg:cat", "tg:dan")
PLACES = {"queued": "queue", "waiting": "waiting", "paused": "paused"}


def check(world: Play) -> None:
    """Check everything that can be seen in the world alone."""
    conversations = [one for one in world.all(Conversation) if not one.deleted]
    for conversation in conversations:
        places(world, conversation)
        questions(world, conversation)
        indexes(world, conversation)
        lifetimes(world, conversation)
    for run in runs(world):
        turns(run)
    ready(world, conversations)
    held(world)
    timers(world)
    answers(world)
    files(world)
    leaks(world)


def runs(world: Play) -> Iterator[Run]:
    """Every run, under the id it has now."""
    return (run for run in world.all(Run) if run.moved_to is None)


def all_turns(run: Run) -> tuple[Turn, ...]:
    """The turns whose end is not proved."""
    return run.unproved if run.turn is None else (*run.unproved, run.turn)


def places(world: Play, conversation: Conversation) -> None:
    """Every run is in exactly the list of its state, so that whoever looks there finds it; one at most is at work."""
    found: dict[str, list[str]] = {}
    for name in ("queue", "waiting", "paused", "stopping"):
        for id in getattr(conversation, name):
            found.setdefault(id, []).append(name)
    if conversation.live is not None:
        found.setdefault(conversation.live, []).append("live")
    mine = {run.id: run for run in runs(world) if run.conversation == conversation.id}
    for id, run in mine.items():
        at = found.pop(id, [])
        if run.state in TERMINAL:
            assert at == [], (run, at)
        elif run.state == "working":
            assert at == ["live"], (run, at)
        elif run.state == "stopping":
            assert at == ["live"] if at == ["live"] and run.turn is not None else at == ["stopping"], (run, at)
        else:
            assert at == [PLACES[run.state]], (run, at)
    assert not found, (conversation, found)


def questions(world: Play, conversation: Conversation) -> None:
    """What is open can be answered, what cannot be answered is not open."""
    asked = [one for one in world.all(Request) if one.conversation == conversation.id]
    assert sorted(conversation.open) == sorted(one.id for one in asked if one.state == "open"), conversation
    for request in asked:
        for person in request.question.responders:
            assert (request.id in world.index("asked", person)) == (request.state == "open"), request
        if request.state == "settled":
            continue
        run = world.run(request.run)
        assert request.run == run.id, (request, run)
        assert request.id in run.requests, (request, run)
        allowed = ("waiting",) if request.state == "open" else ("paused", "stopping")
        if request.state == "open" and run.origin.startswith("cli-"):
            allowed = ("waiting", "queued", "working")
        assert run.state in allowed, (request.state, run)


def indexes(world: Play, conversation: Conversation) -> None:
    """Who may see a conversation has it in their list, and in what waits while it is unsettled; nobody else has."""
    people = {*PEOPLE, conversation.owner.id, *conversation.people}
    for person in people:
        seen = may_see(Person(id=person), conversation)
        assert (conversation.id in world.index("mine", person)) == seen, (person, conversation)
        waits = conversation.id in world.index("pending", person)
        assert waits == (seen and conversation.unsettled), (person, conversation)


def lifetimes(world: Play, conversation: Conversation) -> None:
    """The lists of what is settled end by themselves; of what is not, never. Their numbers are dense."""
    for kind in ("journal", "history"):
        key = (kind, conversation.id)
        entries = world.lists.get(key)
        if entries is None:
            continue
        numbers = [number for number, _ in entries]
        assert numbers == list(range(numbers[0], numbers[-1] + 1)) if numbers else True
        assert (key in world.mortal) != conversation.unsettled, (key, conversation)
    for run in runs(world):
        if run.conversation == conversation.id and ("steps", run.root) in world.lists:
            assert (("steps", run.root) in world.mortal) == (run.state in TERMINAL), run
            assert run.state != "canceled", run


def turns(run: Run) -> None:
    """A run's turn agrees with its state, and only the newest fence works."""
    match run.state:
        case "working":
            assert run.turn is not None, run
            assert not run.turn.held, run
        case "waiting" | "queued":
            assert run.turn is None or run.turn.held, run
        case "stopping":
            assert all_turns(run), run
        case _:
            assert run.turn is None, run
    assert run.turn is None or run.turn.fence == run.fence, run
    fences = [turn.fence for turn in run.unproved]
    assert len(set(fences)) == len(fences), run
    assert all(fence < run.fence for fence in fences), run
    undelivered = [id for id in run.requests if id not in run.answered]
    assert run.state not in ("waiting",) or undelivered, run
    if run.state in ("working", "queued") and not run.origin.startswith("cli-"):
        assert not undelivered, run
    assert set(run.answered) <= set(run.requests), run
    assert run.state not in TERMINAL or not run.requests, run


def ready(world: Play, conversations: list[Conversation]) -> None:
    """The head of a free conversation can be claimed, and nobody else."""
    heads = {one.queue[0] for one in conversations if one.live is None and one.queue}
    assert set(world.index("ready")) == heads
    for id, at in world.index("ready").items():
        retry = world.run(id).retry_ms or 0
        assert retry <= at <= max(world.now + world.spans.held_grace_ms, retry), (id, at)


def held(world: Play) -> None:
    """Each worker's index names what it holds, so that its loss settles it; stops are owed to who works.

    One that was lost is known for as long as what it holds may still work, so that proof of its end is looked for.
    """
    for worker in world.all(Incarnation):
        lives = ("incarnation", worker.id) in world.docs
        claims = {run.id for id in world.index("claims", worker.id) if (run := world.find(id))}
        stops = {run.id for id in world.index("stop", worker.id) if (run := world.find(id))}
        holds = {run.id for run in runs(world) if any(turn.worker == worker.id for turn in all_turns(run))}
        open = {id for id in holds if world.run(id).state not in TERMINAL}
        assert claims == holds if lives else open <= claims <= holds, (worker.id, claims, holds)
        stopping = {run.id for run in runs(world) if run.state == "stopping"}
        assert stopping & holds <= stops or not lives, (worker.id, stops)
        old = {run.id for run in runs(world) if any(turn.worker == worker.id for turn in run.unproved)}
        assert stops <= stopping | old, (worker.id, stops)
    assert set(world.index("stopping")) == {run.id for run in runs(world) if run.state == "stopping"}


def timers(world: Play) -> None:
    """Every deadline and every 15 seconds stand in the timers, and no others."""
    found = {name: at for name, at in world.index("timers").items() if not name.startswith("shrink:")}
    due: dict[str, int] = {
        f"deadline:{one.id}": one.deadline_ms
        for one in world.all(Request)
        if one.state == "open" and one.deadline_ms is not None
    }
    for run in runs(world):
        if run.state == "stopping" and run.turn is not None:
            assert run.stop_ms is not None, run
            due[f"free:{run.id}"] = run.stop_ms + world.spans.free_ms
    assert found == due


def files(world: Play) -> None:
    """A file of an answer is one that exists, of the kind and size that was asked for, and not more of them than that.

    Whoever reads a settled request can rely on it, whichever way the answer came.
    """
    for request in world.all(Request):
        given = {name: one.value for name, one in request.given.items()}
        values = request.answer.values if isinstance(request.answer, Accepted) else given
        for field in request.question.fields:
            if not isinstance(field, FileField) or field.id not in values:
                continue
            found, value = of_value(values[field.id]).values(), values[field.id]
            assert isinstance(value, list), value
            assert len(found) == len(value) <= field.max_files, value
            assert field.required is False or value or request.state != "settled", request
            for one in found:
                assert not field.types or one.name.endswith(field.types), (field, one)
                assert field.max_bytes is None or one.size <= field.max_bytes, (field, one)


def answers(world: Play) -> None:
    """What a person answered is kept until a turn has recorded it; each answer is recorded and remembered once."""
    recorded: dict[str, int] = {}
    told: dict[str, int] = {}
    for (kind, _), entries in world.lists.items():
        for _, entry in entries:
            counts = recorded if kind == "steps" else told if kind == "history" else None
            name: object = getattr(entry, "data", {}).get("request")
            wanted = getattr(entry, "kind" if kind == "steps" else "role", "")
            if counts is not None and isinstance(name, str) and wanted in ("answered", "request"):
                counts[name] = counts.get(name, 0) + 1
    assert all(count == 1 for count in recorded.values()), recorded
    assert all(count == 1 for count in told.values()), told
    for request in world.all(Request):
        if isinstance(request.answer, Accepted | Declined) and not request.delivered:
            run = world.run(request.run)
            assert request.id in run.answered, (request, run)
            assert run.state not in TERMINAL, run
        there = ("history", request.conversation) in world.lists
        if request.by is not None and there:
            assert told.get(request.id) == 1, request
        assert (request.answer is None) == (request.state != "settled"), request


def leaks(world: Play) -> None:
    """Every turn whose end nobody saw is listed, and of runs that are there no other one is."""
    assert set(world.index("undelivered")) == {id for run in runs(world) for id in run.answered}
    listed = set(world.index("unproved"))
    wanted = {member(run.id, turn.worker) for run in runs(world) for turn in run.unproved}
    assert wanted == {one for one in listed if ("run", one.split()[0]) in world.docs}, (wanted, listed)


def settled(world: Play) -> None:
    """After everything came to its end nothing is owed."""
    for (name, of), members in world.indexes.items():
        if name == "timers":
            assert all(member.startswith("shrink:") for member in members), members
        elif name not in ("mine", "leases", "debt", "outbox"):
            assert not members, (name, of, members)
    for run in runs(world):
        assert run.state in TERMINAL, run
        assert not run.unproved, run
    left: list[Ref] = [ref for ref, one in world.docs.items() if isinstance(one, Request) and one.state != "settled"]
    assert not left, left
