"""Conversations on a real server: what is said goes where the table says, and nothing waits for what has ended."""

import asyncio
from collections.abc import AsyncGenerator

import pytest

from core.agent import Denied, Run
from core.broker import Broker, open_broker
from core.life.decision import Refusal
from core.life.event import Ask, Ended, Finish, Reply, Said
from core.life.result import Answered, Asked, Deleted, Opened, Resumed, Sent, Stopped, Told
from core.model import Person
from core.question import Accepted
from tests.by_hand import DEPLOY, asked, claimed, request
from tests.proves import proves
from tests.waiting import wait_until
from tests.workshop import ANN, PATIENT, Gate, Workshop

BOB = Person(id="tg:2", name="Bob", role="approver")
YES = Accepted(values={"confirm": "once"})


@pytest.fixture
async def shop(redis_url: str) -> AsyncGenerator[Workshop]:
    async with open_broker(redis_url, block=0.2) as broker:
        yield Workshop(broker)


async def guarded(shop: Workshop) -> list[str]:
    """An agent whose one action needs a yes; returns what it did."""
    ran: list[str] = []

    async def body(run: Run, message: str) -> str:
        try:
            await run.confirm("Wipe", tool="wipe", arguments={"what": message})
        except Denied:
            return "denied"
        async with run.tool("wipe", what=message):
            ran.append(message)
        return "wiped"

    shop.hire("it", body)
    return ran


@proves("C19", "broker")
async def test_two_hundred_unanswered_questions_hold_nothing(shop: Workshop) -> None:
    """Parked runs take no slot and no turn; a new run starts beside them as always."""
    await guarded(shop)
    connections = await shop.broker.store.link.call("CLIENT", "LIST")
    async with shop.worker(slots=4) as worker:
        runs = [await shop.say("all", origin=f"chat-{number}") for number in range(200)]
        for run in runs:
            await shop.parked(run)
        await wait_until(lambda: (worker.running, worker.held) == (0, 0))
        assert len((await shop.broker.pending(ANN)).requests) == 200
        after = await shop.broker.store.link.call("CLIENT", "LIST")
        assert isinstance(connections, bytes)
        assert isinstance(after, bytes)
        assert after.count(b"\n") == connections.count(b"\n")
        one_more = await shop.say("one more", origin="chat-new")
        await shop.parked(one_more)


@proves("C34", "broker")
async def test_a_reply_to_an_open_question_is_its_answer(shop: Workshop) -> None:
    """It resumes the run as one new turn; it is no interruption and no new run."""

    async def body(run: Run, message: str) -> str:
        return f"hello {await run.ask('Your name?')}"

    shop.hire("it", body)
    async with shop.worker():
        run = await shop.say("go", origin="tg-5")
        await shop.parked(run)
        told = await shop.broker.said(Said("tg-5", "Bob", ANN, "it"))
        assert isinstance(told, Answered), told
        await shop.until(run, "completed")
    assert await shop.said_by_agent(run) == ["hello Bob"]
    assert "steer.taken" not in [event.type for event in await shop.events(run)]


@proves("C36", "broker")
async def test_commands_are_no_answers_and_other_slashes_are_text(shop: Workshop) -> None:
    """While a text question is open /status and /help show something; "/etc/hosts" is the answer."""

    async def body(run: Run, message: str) -> str:
        return f"path {await run.ask('Which file?')}"

    shop.hire("it", body)
    async with shop.worker():
        run = await shop.say("go")
        question = await shop.question()
        for text in ("/status", "/help", "/PENDING"):
            told = await shop.broker.said(Said("chat-1", text, ANN, "it"))
            assert isinstance(told, Told), told
        assert (await request(shop.broker, question.id)).state == "open"
        told = await shop.broker.said(Said("chat-1", "/etc/hosts", ANN, "it"))
        assert isinstance(told, Answered), told
        await shop.until(run, "completed")
    assert await shop.said_by_agent(run) == ["path /etc/hosts"]


@proves("C36", "broker")
async def test_new_opens_a_conversation_and_cancel_ends_the_waiting_run(shop: Workshop) -> None:
    """The stop and new-session commands act at once, while a question is open."""
    await guarded(shop)
    async with shop.worker():
        run = await shop.say("all")
        await shop.parked(run)
        stopped = await shop.broker.said(Said("chat-1", "/cancel", ANN, "it"))
        assert isinstance(stopped, Stopped), stopped
        await shop.until(run, "canceled")
        opened = await shop.broker.said(Said("chat-1", "/new", ANN, "it"))
    assert isinstance(opened, Opened), opened


@proves("C38", "broker")
@pytest.mark.parametrize("text", ["/cancel", "yes", "once", "go again"])
async def test_an_edited_message_changes_nothing(shop: Workshop, text: str) -> None:
    """It runs no command, answers nothing and starts nothing; the person is told that the earlier text stands."""
    ran = await guarded(shop)
    async with shop.worker():
        run = await shop.say("all")
        await shop.parked(run)
        before = await shop.record(run)
        told = await shop.broker.said(Said("chat-1", text, ANN, "it", key="edit-1", edited=True))
        assert isinstance(told, Told), told
        assert told.command == "edited"
        assert await shop.record(run) == before
    assert ran == []


@proves("C64", "broker")
async def test_cancel_of_a_parked_run_leaves_a_stub_without_text(shop: Workshop) -> None:
    """The question is gone from all lists; its text stands nowhere in Redis; a second cancel says so."""
    await guarded(shop)
    async with shop.worker():
        run = await shop.say("SECRET-PLAN")
        await shop.parked(run)
        question = await shop.question()
        assert isinstance(await shop.broker.cancel(run, ANN), Stopped)
        record = await shop.until(run, "canceled")
        again = await shop.broker.cancel(run, ANN)
    assert isinstance(again, Refusal)
    assert again.text == "already canceled"
    stub = await request(shop.broker, question.id)
    assert (stub.question.title, stub.question.subject, stub.state) == ("", None, "settled")
    assert record.message == ""
    assert (await shop.broker.pending(ANN)).requests == ()
    assert "[Canceled]" in [entry.text for entry in await shop.history(run)]
    assert await shop.broker.steps(run) == []


@proves("C64", "broker")
@pytest.mark.parametrize("how", ["cancelled", "deleted"])
async def test_texts_of_answered_questions_go_with_their_run(shop: Workshop, how: str) -> None:
    """A question that was answered before the cancel leaves only its stub, too; delete leaves no text at all."""

    async def body(run: Run, message: str) -> str:
        await run.ask("MARKER one", message="MARKER")
        return await run.ask("MARKER two")

    shop.hire("it", body)
    async with shop.worker():
        run = await shop.say("go", origin="chat-marker")
        await shop.answer(await shop.question(), "MARKER answer")
        await wait_until(lambda: seen(shop, 2))
        if how == "cancelled":
            await shop.broker.cancel(run, ANN)
            record = await shop.until(run, "canceled")
        else:
            record = await shop.record(run)
            assert isinstance(await shop.broker.delete(record.conversation, ANN), Deleted)
    keys = await texts(shop.broker)
    told = {key.split("}:")[1][:2] for key, text in keys.items() if "MARKER" in text}
    assert told <= ({"h:", "j:"} if how == "cancelled" else set())


async def seen(shop: Workshop, count: int) -> bool:
    """Whether so many questions were asked, of which the last one is open."""
    (question,) = (await shop.broker.pending(ANN)).requests or (None,)
    return question is not None and question.step.endswith(f"#{count - 1}")


async def texts(broker: Broker) -> dict[str, str]:
    """Everything that stands in Redis as text, by its key."""
    call = broker.store.link.call
    found: dict[str, str] = {}
    reply = await call("KEYS", "sayso:*")
    for key in reply if isinstance(reply, list) else []:
        assert isinstance(key, bytes)
        kind = await call("TYPE", key)
        read = {b"string": ("GET", key), b"list": ("LRANGE", key, 0, -1), b"zset": ("ZRANGE", key, 0, -1)}
        if isinstance(kind, bytes) and kind in read:
            found[key.decode()] = repr(await call(*read[kind]))
    return found


@proves("C65", "broker")
async def test_of_cancel_and_approve_exactly_one_wins(shop: Workshop, redis_url: str) -> None:
    """100 races in each order: if Cancel won, the action ran 0 times and the approver is told so."""
    ran = await guarded(shop)
    async with open_broker(redis_url, block=0.2) as other, shop.worker():
        for number in range(200):
            run = await shop.say(f"{number}", origin=f"chat-{number}")
            await shop.parked(run)
            question = await shop.question()
            acts = [other.answer(Reply(question.id, YES, ANN, "tg")), shop.broker.cancel(run, ANN)]
            if number % 2:
                acts.reverse()
            told = await asyncio.gather(*acts)
            record = await shop.until(run, "canceled", "completed")
            approved = any(isinstance(one, Answered) for one in told)
            if record.state == "completed":
                assert approved
                assert ran.count(f"{number}") == 1
            elif not approved:
                assert f"{number}" not in ran
                late = await other.answer(Reply(question.id, YES, ANN, "tg"))
                assert isinstance(late, Refusal)
                assert late.standing["outcome"] == "cancelled"
            assert ran.count(f"{number}") <= 1


@proves("C67", "broker")
@pytest.mark.parametrize("how", ["cancelled", "deleted", "failed"])
async def test_nothing_is_offered_for_a_run_that_has_ended(shop: Workshop, how: str) -> None:
    """Whatever ended it, its question is on no list and a press hears that the run has ended."""
    sent = await shop.broker.said(Said("chat-1", "go", ANN, "it"))
    assert isinstance(sent, Sent)
    taken = await claimed(shop.broker, sent.run)
    asking = await shop.broker.ask(Ask(sent.run, taken.fence, "ask:confirm#0", DEPLOY, 1))
    assert isinstance(asking, Asked)
    assert asking.request is not None
    match how:
        case "cancelled":
            await shop.broker.cancel(sent.run, ANN)
            await shop.broker.ended(Ended(sent.run, taken.fence, "cooperative"))
        case "deleted":
            assert isinstance(await shop.broker.delete(sent.conversation, ANN), Deleted)
        case _:
            await shop.broker.finish(Finish(sent.run, taken.fence, "failed", "gave up"))
    told = await shop.broker.answer(Reply(asking.request, YES, ANN, "chat"))
    assert isinstance(told, Refusal), told
    assert told.code in ("ended", "unknown")
    assert (await shop.broker.pending(ANN)).requests == ()


@proves("C67", "broker")
async def test_a_paused_run_is_listed_apart_as_resumable(shop: Workshop) -> None:
    """Its withdrawn question is not open; the run stands in `pending`."""
    sent = await shop.broker.said(Said("chat-1", "go", ANN, "it"))
    assert isinstance(sent, Sent)
    (question,) = await asked(shop.broker, sent.run)
    await shop.broker.abort(question, ANN)
    pending = await shop.broker.pending(ANN)
    assert pending.requests == ()
    assert [run.id for run in pending.runs] == [sent.run]


@proves("C77", "broker")
async def test_a_question_of_a_paused_run_says_resume_first(shop: Workshop) -> None:
    """The answer is refused while the run is paused; resumed, the same question is open and the action runs once."""
    ran = await guarded(shop)
    async with shop.worker():
        run = await shop.say("all")
        await shop.parked(run)
        question = await shop.question()
        assert isinstance(await shop.broker.abort(question.id, ANN), Stopped)
        await shop.until(run, "paused")
        told = await shop.answer(question, "once")
        assert isinstance(told, Refusal), told
        assert (told.code, ran) == ("paused", [])
        resumed = await shop.broker.resume(run, ANN)
        assert isinstance(resumed, Resumed)
        assert resumed.reopened == (question.id,)
        assert isinstance(await shop.answer(question, "once"), Answered)
        await shop.until(run, "completed")
    assert ran == ["all"]


@proves("C83", "broker")
async def test_a_decision_alone_resumes_a_parked_run(shop: Workshop, redis_url: str) -> None:
    """No worker and no page was there when it was given, and no text came with it."""
    ran = await guarded(shop)
    async with shop.worker():
        run = await shop.say("all", origin="tg-9")
        await shop.parked(run)
    async with open_broker(redis_url, block=0.2) as elsewhere:
        (question,) = (await elsewhere.pending(ANN)).requests
        assert isinstance(await elsewhere.answer(Reply(question.id, YES, ANN, "chat")), Answered)
    async with shop.worker():
        await shop.until(run, "completed")
    assert ran == ["all"]


@proves("C88", "broker")
async def test_a_message_beside_a_resumed_run_joins_it(shop: Workshop) -> None:
    """One run per conversation at work: the message steers the resumed run, or starts the next one; one reply each."""
    gate = Gate()

    async def body(run: Run, message: str) -> str:
        await gate()
        return f"re: {message}"

    shop.hire("it", body)
    async with shop.worker(PATIENT):
        run = await shop.say("first")
        await gate.reached.wait()
    gate.reached.clear()
    async with shop.worker(PATIENT):
        await gate.reached.wait()
        second = await shop.say("second")
        assert second == run
        assert (await shop.record(run)).state == "working"
        gate.opened.set()
        await shop.until(run, "completed")
        conversation = await shop.broker.conversation((await shop.record(run)).conversation, ANN)
        assert conversation is not None
        assert conversation.newest is not None
        await shop.until(conversation.newest, "completed")
    assert await shop.said_by_agent(run) == ["re: first", "re: second"]
