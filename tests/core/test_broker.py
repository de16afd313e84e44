"""The broker on a real server: one question from ask to answer, and what stands around it."""

from collections.abc import AsyncGenerator

import pytest

from core.broker import Broker, open_broker
from core.life.decision import Refusal
from core.life.event import Ask, Finish, Reply, Said, Take
from core.life.living import Beat
from core.life.result import Answered, Asked, Changed, Delivered, Sent
from core.listening import Serves
from core.model import Incarnation, Person
from core.question import Accepted, ChoiceField, Option, Question

OWNER = Person(id="web:owner", name="Ann", role="owner")
CITY = Question(
    title="Where to?",
    fields=(ChoiceField(options=(Option(id="a", label="staging"), Option(id="b", label="production"))),),
)


@pytest.fixture
async def broker(redis_url: str) -> AsyncGenerator[Broker]:
    async with open_broker(redis_url) as made:
        yield made


async def started(broker: Broker, text: str = "deploy") -> tuple[Sent, Delivered]:
    """A run at work: said, claimed by worker `w0`."""
    lease = Incarnation(id="w0", kind="worker", until_ms=broker.store.now() + 60_000)
    await broker.beat(Beat(lease, (Serves(prefix="chat-"),), first=True), 0)
    sent = await broker.said(Said(origin="chat-1", text=text, person=OWNER, agent="demo"))
    assert isinstance(sent, Sent)
    claimed = await broker.claim(sent.run, "w0")
    assert isinstance(claimed, Delivered), claimed
    return sent, claimed


async def test_a_question_is_asked_answered_and_taken_by_its_run(broker: Broker) -> None:
    """The main job: what the person answers reaches the run that owns the question, and the run ends."""
    sent, claimed = await started(broker)
    end = await broker.store.end("steps", sent.run)
    asked = await broker.ask(Ask(sent.run, claimed.fence, "ask:choice#0", CITY, end))
    assert isinstance(asked, Asked), asked
    assert asked.request is not None
    pending = await broker.pending(OWNER)
    assert [one.id for one in pending.requests] == [asked.request]
    answered = await broker.answer(Reply(asked.request, Accepted(values={"choice": "b"}), OWNER, "chat"))
    assert isinstance(answered, Answered), answered
    end = await broker.store.end("steps", sent.run)
    taken = await broker.take(Take(sent.run, claimed.fence, end))
    assert isinstance(taken, Delivered), taken
    finished = await broker.finish(Finish(sent.run, claimed.fence, "completed", "done"))
    assert isinstance(finished, Changed), finished
    kinds = [step.kind for _, step in await broker.steps(sent.run)]
    assert kinds == ["turn", "ask", "answered"]


async def test_a_late_answer_learns_which_one_stands(broker: Broker) -> None:
    """First answer wins; everybody else is told what was answered."""
    sent, claimed = await started(broker)
    asked = await broker.ask(Ask(sent.run, claimed.fence, "ask:choice#0", CITY, 1))
    assert isinstance(asked, Asked)
    assert asked.request is not None
    await broker.answer(Reply(asked.request, Accepted(values={"choice": "b"}), OWNER, "chat"))
    again = await broker.answer(Reply(asked.request, Accepted(values={"choice": "a"}), OWNER, "tg"))
    assert isinstance(again, Refusal)
    assert again.code == "already_answered"
    assert again.standing["values"] == {"choice": "b"}
