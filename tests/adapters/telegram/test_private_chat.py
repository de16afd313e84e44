"""A private chat, from the first word to the end of a task."""

from __future__ import annotations

from core.agent import Run
from tests.adapters.telegram.bench import Office
from tests.contract.agents import DID, deploy, what, where
from tests.proves import proves
from tests.standins.telegram import Person, TelegramServer
from tests.waiting import wait_until


async def test_a_question_is_answered_by_a_button(made: Office, ann: Person) -> None:
    made.hire(where)
    ann.says("please")
    card = await made.ask(ann, "Where to?")
    assert card.labels == ["staging", "production", "Abort (pause)", "Cancel task"]
    assert await made.presses(ann, card, "staging") == "Accepted."
    await made.ends(card, "staging")
    await made.sees(ann, "To staging.")


async def test_an_answer_is_written(made: Office, ann: Person) -> None:
    made.hire(what)
    ann.says("please")
    card = await made.ask(ann, "What is it?")
    ann.says("a parrot", reply_to=card)
    await made.sees(ann, "You said: a parrot.")


@proves("C01", "telegram")
async def test_three_presses_are_one_answer_and_each_is_acknowledged(made: Office, ann: Person) -> None:
    DID.clear()
    made.hire(deploy)
    ann.says("please")
    card = await made.ask(ann, "Deploy?")
    data = str(card.buttons[0]["callback_data"])
    presses = [ann.presses_data(card, data) for _ in range(3)]
    await wait_until(lambda: all(one.answers for one in presses))
    assert presses[0].notice == "Accepted."
    assert {one.notice for one in presses[1:]} == {"Already answered: that is the answer that stands."}
    await made.ends(card, "Approved")
    await made.sees(ann, "Deployed.")
    assert DID == ["please"]


async def test_nothing_waits_at_telegram_afterwards(made: Office, ann: Person, server: TelegramServer) -> None:
    async def greet(run: Run, message: str) -> str:
        return f"Hello, {message}."

    made.hire(greet)
    ann.says("Ann")
    await made.sees(ann, "Hello, Ann.")
    await wait_until(lambda: not server.pending)
