"""What people do, rightly or wrongly, once or twice."""

from __future__ import annotations

from dataclasses import replace

from core.card import Card
from core.life.card import Show
from core.life.decision import Refusal
from core.life.event import (
    Delete,
    Extend,
    Forestall,
    Reply,
    Reset,
    Resume,
    Revert,
    Stop,
    Withdraw,
)
from core.life.result import Answered, Opened, Resumed, Sent
from core.life.whole import approving
from core.model import TERMINAL, Cause, Conversation, Grants, Json, Person, digest
from core.question import Accepted, Declined, Request
from tests.core.life import checks, dice
from tests.core.life.memory import (
    CAUSES,
    FILES,
    ORIGINS,
    PATHS,
    VALUES,
    WORDS,
    Memory,
    ages,
    happens,
    lates,
    people,
    pick,
    picks,
)
from tests.core.life.play import (
    CAT,
)

GROUP = ORIGINS[2]


@happens(3, person=people, origin=dice.sampled_from(ORIGINS), age=ages, forestalled=dice.integers(0, 9))
def say(life: Memory, person: Person, origin: str, age: int, forestalled: int) -> None:
    """What is said starts a run, steers one, answers, or is visibly refused."""
    key, text = life.key(), life.text()
    if forestalled == 9:
        life.act(Forestall(origin, person, key))
    told = life.act(life.saying(text, person, origin, key), age)
    if forestalled == 9 and isinstance(told, Sent) and not told.steer:
        assert life.world.run(told.run).state == "canceled"
    life.heard(text, told)


@happens(3, person=people, origin=dice.sampled_from(ORIGINS), word=dice.sampled_from(WORDS), age=ages, number=picks)
def word(life: Memory, person: Person, origin: str, word: str, age: int, number: int) -> None:
    """A word, a command, a reply to a card: the routing decides, the world stays whole."""
    requests = life.world.all(Request)
    event = life.saying(word, person, origin, life.key())
    if number % 3 == 0:
        sent = ("f1",) if number % 2 else ("f2", "f4")
        event = replace(event, attachments=sent, files={id: FILES[id] for id in sent})
    if requests and number % 4 == 2:
        event = replace(event, reply_to=pick(requests, number // 4).id)
    elif requests and number % 4 == 3:
        name = pick(("approve", "deny", "answer", "abort"), number // 3)
        event = replace(event, text=f"/{name}  {pick(requests, number // 12).id.upper()} a")
    told = life.act(event, age)
    if isinstance(told, Answered):
        assert told.repeat or was_read(life, told, origin), (event, told)
        life.answer_came(told.request, told)
    elif isinstance(told, Sent) and told.steer:
        life.steers.setdefault(life.world.run(told.run).root, []).append(event.text)


@happens(2, lambda life: bool(in_group(life)), number=picks, whole=dice.booleans(), age=ages)
def show(life: Memory, number: int, whole: bool, age: int) -> None:
    """A front end shows a question in the group, all of it or its beginning."""
    life.act(Show(pick(in_group(life), number).id, "request", GROUP, whole=whole), age)


def in_group(life: Memory) -> list[Request]:
    return [one for one in life.world.all(Request) if one.origin == GROUP and one.state == "open"]


def was_read(life: Memory, told: Answered, place: str) -> bool:
    """Whether an answer that came from words was no yes, or a yes to what can be read where it was said."""
    request = life.world.request(told.request)
    values = told.answer.values if isinstance(told.answer, Accepted) and place == GROUP else {}
    shown = life.world.docs.get(("card", request.cards.get(place, "")))
    return not approving(request, values) or (isinstance(shown, Card) and shown.whole is True)


@happens(1, lambda life: bool(life.runs()), person=people, number=picks, age=ages, silent=dice.booleans())
def mean_run(life: Memory, person: Person, number: int, age: int, silent: bool) -> None:
    """A program names the run that it means: resumed, steered, or refused."""
    run = pick(life.runs(), number)
    text = "" if silent else life.text()
    event = replace(life.saying(text, person, run.origin, life.key()), conversation=run.conversation)
    told = life.act(replace(event, pending_task=run.id), age)
    if isinstance(told, Sent) and text:
        life.steers.setdefault(life.world.run(told.run).root, []).append(text)


@happens(
    12,
    lambda life: bool(life.world.all(Request)),
    number=picks,
    person=people,
    value=dice.sampled_from(VALUES),
    how=dice.sampled_from(("fit", "fit", "fit", "fit", "value", "value", "no", "part", "changed")),
    age=ages,
    late=lates,
    keyed=dice.booleans(),
    proof=dice.booleans(),
)
def answer(
    life: Memory, number: int, person: Person, value: object, how: str, age: int, late: int, keyed: bool, proof: bool
) -> None:
    """Somebody answers, with a right or a wrong value, in time or late, twice, or although it is not theirs."""
    requests = life.world.all(Request)
    still = [one for one in requests if one.state == "open"]
    request = pick(still, number) if still and number % 5 != 4 else pick(requests, number)
    event = Reply(request.id, some_answer(request, value, how, number), person, "chat", proof=proof, files=FILES)
    event = replace(event, submit=how != "part", key=life.key() if keyed else None)
    before, run = life.world.request(request.id), life.world.find(request.run)
    told = life.act(event, age, late)
    if isinstance(told, Answered) and told.settled and not told.repeat:
        assert before.state == "open", before
        assert before.deadline_ms is None or life.world.now < before.deadline_ms, before
        assert run is not None
        place = life.world.conversation(request.conversation)
        usual = {place.owner.id} if place.private else {run.starter.id, CAT.id}
        allowed = set(before.question.responders) or usual
        assert person.id in allowed, (event, run)
        assert proof or not request.question.restricted or isinstance(told.answer, Declined)
        life.answer_came(request.id, told)


def some_answer(request: Request, value: object, how: str, number: int) -> Accepted | Declined:
    fields = request.question.fields
    if how == "no" or not fields:
        return Declined(reason="no")
    fits: dict[str, tuple[Json, ...]] = {
        "confirm": ("once", "run", "always"),
        "choice": ("a", "b"),
        "text": ("7", "9"),
        "secret": ("x",),
        "file": (["f1"], ["f2"]),
    }
    values = {field.id: pick(fits[field.kind], number) for field in fields}
    if fields[0].kind == "choice" and getattr(fields[0], "multiple", False):
        return Accepted.model_validate({"values": {fields[0].id: ["b"]}})
    if how == "value":
        return Accepted.model_validate({"values": {fields[0].id: value}})
    if how == "part":
        return Accepted.model_validate({"values": dict([pick(list(values.items()), number)])})
    changed = {"path": "/tmp/c"} if how == "changed" else None
    return Accepted.model_validate({"values": values, "arguments": changed})


@happens(
    4,
    lambda life: bool(life.runs()),
    number=picks,
    person=people,
    cause=dice.sampled_from(CAUSES),
    age=ages,
    urgent=dice.booleans(),
)
def stop(life: Memory, number: int, person: Person, cause: Cause, age: int, urgent: bool) -> None:
    """Cancel, pause or abort, in every state: recorded, or said why not."""
    run = pick(life.runs(), number)
    now, place = life.world.find(run.id), life.world.docs.get(("conversation", run.conversation))
    told = life.act(Stop(run.id, cause, person, life.key(), urgent), age)
    if now is None or not isinstance(place, Conversation) or place.deleted:
        assert isinstance(told, Refusal)
        return
    mine = {place.owner.id} if place.private else {now.starter.id, CAT.id}
    if person.id in mine and cause == "user_canceled" and now.state not in TERMINAL:
        after = life.world.find(run.id)
        assert after is not None
        assert after.shown in ("canceling", "canceled"), (told, after)
    elif person.id not in mine:
        assert isinstance(told, Refusal), told


@happens(4, lambda life: bool(life.runs()), number=picks, person=people, age=ages)
def resume(life: Memory, number: int, person: Person, age: int) -> None:
    """A paused run goes on, or it is said why not."""
    paused = [run for run in life.runs() if run.state in ("paused", "stopping")]
    run = pick(paused, number) if paused and number % 4 != 3 else pick(life.runs(), number)
    told = life.act(Resume(run.id, person, life.key()), age)
    if isinstance(told, Resumed):
        assert life.world.run(told.run).state in ("waiting", "queued")


@happens(2, lambda life: any(run.state == "paused" for run in life.runs()), number=picks, person=people, age=ages)
def revert(life: Memory, number: int, person: Person, age: int) -> None:
    """A paused run goes back to where it last asked; the answers it has not taken yet are asked for again."""
    run = pick([run for run in life.runs() if run.state == "paused"], number)
    steps = life.steps(run.root)
    asks = [place for place, step in enumerate(steps) if step.kind == "ask"]
    dropped = run.requests
    told = life.act(Revert(run.id, person, asks[-1] if asks else 0, life.world.length(run.root), life.key()), age)
    if isinstance(told, Resumed):
        life.reverted |= set(dropped)


@happens(
    1, lambda life: bool(life.world.all(Request)), number=picks, person=people, span=dice.integers(-1, 60), age=ages
)
def extend(life: Memory, number: int, person: Person, span: int, age: int) -> None:
    """A request gets more time, never less."""
    limited = [one for one in life.world.all(Request) if one.deadline_ms is not None and one.state == "open"]
    request = pick(limited if limited and number % 4 != 3 else life.world.all(Request), number)
    told = life.act(Extend(request.id, person, span, life.key()), age)
    if not isinstance(told, Refusal):
        after = life.world.request(request.id)
        assert after.deadline_ms is not None
        assert after.deadline_ms >= (request.deadline_ms or 0)


@happens(
    1, lambda life: bool(life.world.all(Grants)), number=picks, person=people, path=dice.sampled_from(PATHS), age=ages
)
def withdraw(life: Memory, number: int, person: Person, path: str, age: int) -> None:
    """A remembered approval is taken back."""
    run = pick(life.runs(), number)
    name = digest("rm", {"path": path})
    life.act(Withdraw(run.conversation, person, name, run.id if number % 2 else None), age)


@happens(
    1,
    lambda life: len(life.world.all(Conversation)) > 1,
    number=picks,
    person=people,
    age=ages,
    really=dice.integers(0, 3),
)
def delete_or_reset(life: Memory, number: int, person: Person, age: int, really: int) -> None:
    """A conversation is deleted whatever goes on in it, or a new one is laid beside it."""
    place = pick(life.world.all(Conversation), number)
    if really != 3:
        told = life.act(Reset(place.origin, person, "demo", place.private, place.people, life.key()), age)
        assert isinstance(told, Refusal | Opened)
        return
    told = life.act(Delete(place.id, person, life.key()), age)
    if not isinstance(told, Refusal):
        left = [run for run in checks.runs(life.world) if run.conversation == place.id]
        assert all(run.state in TERMINAL for run in left), left


@happens(2, lambda life: bool(life.keyed), number=picks, age=ages)
def again(life: Memory, number: int, age: int) -> None:
    """An event that comes a second time has no second effect, and is told the same."""
    event, told = pick(life.keyed, number)
    before = life.world.commits
    repeat = life.act(event, age)
    life.keyed.pop()
    assert life.world.commits == before, (event, repeat)
    assert repeat == told or isinstance(repeat, Refusal), (repeat, told)
