"""Two processes that keep documents: what one of them wrote counts for the other at once."""

from core.broker import open_broker
from core.lease import Lease
from core.life.decision import Refusal
from core.life.event import Ask, Reply, Said, Take
from core.life.result import Answered, Asked, Delivered, Sent, Stopped
from core.link import Link
from core.model import Person
from core.question import Accepted, Question, TextField

ANN = Person(id="web:ann", name="Ann", role="owner")
NAME = Question(title="Name?", fields=(TextField(id="text"),))


async def test_what_another_process_wrote_counts_before_its_hint_has_come(redis_url: str) -> None:
    """Kept documents only save a reading: a decision made from old ones is made again, and again from new ones."""
    async with (
        open_broker(redis_url) as worker,
        open_broker(redis_url) as page,
        Lease(worker, "worker", prefixes=("chat-",)) as lease,
    ):
        sent = await page.said(Said(origin="chat-1", text="go", person=ANN, agent="it"))
        assert isinstance(sent, Sent), sent
        turn = await worker.claim(sent.run, lease.id)
        assert isinstance(turn, Delivered), turn
        for length in range(1, 40, 2):
            asked = await worker.ask(Ask(sent.run, turn.fence, f"ask#{length}", NAME, length))
            assert isinstance(asked, Asked), asked
            waits = await worker.take(Take(sent.run, turn.fence, length + 1))
            assert isinstance(waits, Refusal), waits
            assert waits.code == "waiting"
            answer = Accepted(values={"text": "Bob"})
            answered = await page.answer(Reply(asked.request or "", answer, ANN, "chat", key=asked.request))
            assert isinstance(answered, Answered), answered
            taken = await worker.take(Take(sent.run, turn.fence, length + 1))
            assert isinstance(taken, Delivered), taken
            assert taken.answered == (asked.request,)


async def test_who_shows_a_question_answers_it_without_reading_again(redis_url: str) -> None:
    """Following the journal brings along what the answer needs; that saves a reading, and never decides a refusal."""
    async with (
        open_broker(redis_url) as worker,
        open_broker(redis_url) as page,
        Lease(worker, "worker", prefixes=("chat-",)) as lease,
    ):
        link = page.store.link
        assert isinstance(link, Link)
        sent = await page.said(Said(origin="chat-2", text="go", person=ANN, agent="it"))
        assert isinstance(sent, Sent), sent
        turn = await worker.claim(sent.run, lease.id)
        assert isinstance(turn, Delivered), turn
        seen = await page.store.end("journal", sent.conversation)
        async with page.feeds[0].subscribe("last") as last:
            asked = await worker.ask(Ask(sent.run, turn.fence, "ask#0", NAME, 1))
            assert isinstance(asked, Asked), asked
            await link.call("XADD", page.store.keys[0].feed, "*", "h", "last 1")
            assert await last.wait(10.0)  # every hint of the question has come
        told = await page.journal(sent.conversation, seen)
        assert told
        answer = Reply(asked.request or "", Accepted(values={"text": "Bob"}), ANN, "chat", key="press")
        before = link.commands
        assert isinstance(await page.answer(answer), Answered)
        assert link.commands == before + 1

        taken = await worker.take(Take(sent.run, turn.fence, 2))
        assert isinstance(taken, Delivered), taken
        asked = await worker.ask(Ask(sent.run, turn.fence, "ask#1", NAME, 3))
        assert isinstance(asked, Asked), asked
        assert await page.journal(sent.conversation, told[-1][0])
        assert isinstance(await worker.cancel(sent.run, ANN), Stopped)
        late = await page.answer(Reply(asked.request or "", answer.answer, ANN, "chat", key="late"))
        assert isinstance(late, Refusal), late
        assert late.code == "ended"
