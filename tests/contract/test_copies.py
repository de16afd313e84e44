"""A question that is copied to an approver's own chat, on another platform than the one where it was asked."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
import pytest_asyncio

from core.agent import Denied, Run
from core.audit import Audit, Filter
from core.life.copying import Copy
from core.life.event import Said
from core.life.result import Copied, Sent
from core.model import Person
from core.question import ConfirmField, Question, Subject, TextField
from tests.contract.bench import ANN, HOME, Bench, bench, wide
from tests.fakes import FakeChats
from tests.waiting import wait_until
from tests.workshop import Body

BEN = Person(id="fb:8", name="Ben", role="approver")
EVE = Person(id="fb:9", name="Eve")
THERE = "fb-8"


@pytest.fixture
def theirs() -> FakeChats:
    """The platform on which the approver is."""
    chats = wide()
    chats.prefix = "fb"
    return chats


@pytest_asyncio.fixture(loop_scope="session")
async def both(redis_url: str, tmp_path: Path, theirs: FakeChats) -> AsyncGenerator[Bench]:
    """Ann is asked on one platform, and Ben on the other."""
    async with bench(redis_url, tmp_path, [wide(), theirs]) as made:
        yield made


def asks(question: Question, word: str = "confirm") -> Body:
    """An agent that asks exactly this."""

    async def body(run: Run, message: str) -> str:
        try:
            given = await run._ask(word, question)  # pyright: ignore[reportPrivateUsage] copies come from the API
        except Denied as denied:
            return f"Left alone: {denied.reason}."
        return f"Done: {next(iter(given.values.values()))}."

    return body


APPROVAL = Question(
    title="Deploy?",
    fields=(ConfirmField(),),
    subject=Subject(tool="deploy", arguments={"to": "production"}),
    copies=(THERE,),
    responders=(BEN.id,),
)


async def test_an_approver_answers_in_their_own_chat_and_nobody_else_does(both: Bench, theirs: FakeChats) -> None:
    """Not even who started it; both cards say who did, also when everything was restarted in between."""
    both.hire(asks(APPROVAL))
    await both.write("please")
    here = await both.card("Deploy?")
    there = await both.card("Deploy?", place=THERE, chats=theirs)
    assert "production" in there.text
    assert (await both.press(here, "Approve")).alert
    assert (await both.platforms[-1].press(EVE, there, "Approve")).alert
    await both.restart()
    await both.platforms[-1].press(BEN, there, "Approve")
    await both.final(here, "Approved by Ben on fb")
    await both.final(there, "Approved by Ben on fb")
    await both.says("Done: once.")
    await both.settled()
    await both.settled("fb")


@pytest.mark.parametrize("way", ["reply", "command"])
async def test_an_approver_says_no_with_a_reason(both: Bench, theirs: FakeChats, way: str) -> None:
    """By the command with the request's id, or in reply to the card."""
    both.hire(asks(APPROVAL))
    await both.write("please")
    there = await both.card("Deploy?", place=THERE, chats=theirs)
    (request,) = (await both.broker.pending(ANN)).requests
    words = f"/deny {request.id} not on a Friday" if way == "command" else "no"
    await both.platforms[-1].write(BEN, THERE, words, reply_to=there if way == "reply" else None)
    await both.says("Left alone: not on a Friday." if way == "command" else "Left alone")
    await both.final(there, "Denied by Ben")


async def test_a_text_is_given_in_reply_to_the_copy(both: Bench, theirs: FakeChats) -> None:
    """In the approver's chat other text is for the agent there, and answers nothing."""
    asked = Question(title="Which window?", fields=(TextField(),), copies=(THERE,), responders=(BEN.id,))
    both.hire(asks(asked, "ask"))
    await both.write("please")
    there = await both.says("Which window?", place=THERE, chats=theirs)
    await both.platforms[-1].write(BEN, THERE, "Sunday at six", reply_to=there)
    await both.says("Done: Sunday at six.")
    assert not [text for text in both.chats[0].texts(HOME) if "not yours" in text]
    await both.final(there, "Ben")


async def test_a_copy_that_cannot_be_shown_leaves_the_question_where_it_was_asked(
    both: Bench, theirs: FakeChats
) -> None:
    """Ben blocked the bot: the question stays open, and can be cancelled where it was asked."""
    theirs.blocked.add(THERE)
    both.hire(asks(APPROVAL))
    await both.write("please")
    here = await both.card("Deploy?")
    await both.settled("fb")
    (request,) = (await both.broker.pending(ANN)).requests
    assert request.state == "open"
    assert not theirs.at(THERE)
    await both.write("/cancel")
    await both.final(here, "canceled by Ann")


async def test_a_copy_that_is_added_while_it_is_open_is_shown_and_closed_with_the_others(
    both: Bench, theirs: FakeChats
) -> None:
    """Also when everything was restarted in between; shown twice at the same place it never is."""

    async def body(run: Run, message: str) -> str:
        await run.confirm("Deploy?", tool="deploy", arguments={"to": "production"}, responders=[ANN.id, BEN.id])
        return "Done."

    both.hire(body)
    await both.write("please")
    here = await both.card("Deploy?")
    (request,) = (await both.broker.pending(BEN)).requests
    assert not theirs.at(THERE)
    for _ in range(2):
        added = await both.broker.cards.copy(Copy(request.id, ANN, (THERE, HOME)))
        assert isinstance(added, Copied)
        assert (added.copies, added.unserved) == ((THERE,), ())
    there = await both.card("Deploy?", place=THERE, chats=theirs)
    await both.settled("fb")
    assert len(theirs.cards(THERE)) == 1
    await both.restart()
    assert (await both.platforms[-1].press(EVE, there, "Approve")).alert
    await both.platforms[-1].press(BEN, there, "Approve")
    await both.final(here, "Approved by Ben on fb")
    await both.final(there, "Approved by Ben on fb")
    await both.says("Done.")
    assert not (await both.broker.pending(BEN)).requests
    await both.settled()
    await both.settled("fb")


async def test_what_is_decided_in_a_chat_stands_on_record_with_its_platform(both: Bench) -> None:
    """By a button and by a command: pausing, going on, freezing, taking an approval back."""

    async def body(run: Run, message: str) -> str:
        await run.confirm("Run it?", tool="deploy", arguments={})
        return "Done."

    both.hire(body)
    await both.write("please")
    card = await both.card("Run it?")
    await both.press(card, "Abort (pause)")
    await wait_until(lambda: "Resume" in card.labels)
    await both.press(card, "Resume")
    await wait_until(lambda: "Approve" in card.labels)
    await both.write("/pause")
    await wait_until(lambda: "Resume" in card.labels)
    await both.write("/resume")
    await wait_until(lambda: "Always" in str(card.labels))
    await both.press(card, "Always")
    await both.says("Done.")
    await both.write("/grants")
    await both.press(await both.card("Remembered approvals"), "Take back 1")
    await both.write("/freeze")
    await both.write("/thaw")
    found = [(deed.kind, deed.where) for deed in await Audit(both.broker).lines(Filter())]
    kinds = ("abort", "resume", "pause", "resume", "answer", "grant.removed", "freeze", "thaw")
    assert found == [(kind, "fa") for kind in kinds]


async def test_a_program_has_its_questions_delivered_to_a_chat(both: Bench, theirs: FakeChats) -> None:
    """They are asked and answered there, by a button and by a reply, also after a restart; its words stay with it."""

    async def body(run: Run, message: str) -> str:
        await run.confirm("Deploy?", tool="deploy", arguments={})
        return f"Deployed for {await run.ask('Who asked for it?')}."

    both.hire(body)
    sent = await both.broker.said(Said("chat-program", "deploy", ANN, "it", deliver_to=THERE))
    assert isinstance(sent, Sent)
    card = await both.card("Deploy?", place=THERE, chats=theirs)
    assert (await both.platforms[-1].press(EVE, card, "Approve")).alert
    await both.restart()
    await both.platforms[-1].press(ANN, card, "Approve")
    await both.final(card, "Approved by Ann")
    asked = await both.says("Who asked for it?", place=THERE, chats=theirs)
    await both.platforms[-1].write(ANN, THERE, "marketing", reply_to=asked)

    async def told() -> list[str]:
        entries = await both.broker.history(sent.conversation, ANN) or []
        return [entry.text for _, entry in entries if entry.role == "agent"]

    async def over() -> bool:
        return bool(await told())

    await wait_until(over)
    assert await told() == ["Deployed for marketing."]
    await both.settled("fb")
    assert not [text for text in theirs.texts(THERE) if "Deployed" in text]
    assert not both.chats[0].at(HOME)
