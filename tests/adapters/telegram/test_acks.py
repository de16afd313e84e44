"""Presses are acknowledged in time: before those before them are decided, once, and with the outcome if it is known."""

from __future__ import annotations

from adapters.desk import LATER
from core.agent import Run
from tests.adapters.telegram.bench import Office
from tests.contract.agents import where
from tests.proves import proves
from tests.standins.telegram import Person, TelegramServer, cut, flood, server_error
from tests.waiting import wait_until

MANY = 40


@proves("C06", "telegram")
async def test_a_crowd_of_presses_is_acknowledged_while_none_is_decided_and_each_counts_once_in_order(
    made: Office, ann: Person
) -> None:
    """Nobody gets through the doors; Telegram hears of every press all the same."""

    async def pick(run: Run, message: str) -> str:
        return f"Picked {', '.join(await run.choose('Which?', ['Alpha', 'Bravo'], multiple=True))}."

    made.hire(pick)
    ann.says("please")
    card = await made.ask(ann, "Which?")
    alpha, bravo, done = (
        next(str(one["callback_data"]) for one in card.buttons if word in str(one["text"]))
        for word in ("Alpha", "Bravo", "Done")
    )
    made.doors.gate.clear()
    presses = [ann.presses_data(card, data) for data in (*[alpha] * (MANY - 1), bravo, done)]
    await wait_until(lambda: all(one.answers for one in presses), 30)
    made.doors.gate.set()
    await made.sees(ann, "Picked Alpha, Bravo.")
    await made.taken()
    assert {one.notice for one in presses} == {LATER.text}
    assert all(len(one.answers) == 1 for one in presses)


async def test_an_outcome_that_came_too_late_to_be_shown_on_the_press_is_told_in_the_chat(
    made: Office, ann: Person
) -> None:
    made.hire(where)
    ann.says("please")
    card = await made.ask(ann, "Where to?")
    staging, production = (str(one["callback_data"]) for one in card.buttons[:2])
    made.doors.gate.clear()
    presses = [ann.presses_data(card, data) for data in (*[staging] * MANY, production)]
    await wait_until(lambda: all(one.answers for one in presses), 30)
    made.doors.gate.set()
    await made.sees(ann, "Already answered by Ann on Telegram")
    await made.sees(ann, "To staging.")


async def test_an_acknowledgement_that_telegram_did_not_take_is_given_again(
    made: Office, ann: Person, server: TelegramServer
) -> None:
    made.hire(where)
    for fault in (flood(1), cut(), server_error()):
        ann.says("please")
        card = await made.ask(ann, "Where to?")
        server.fail_next("answerCallbackQuery", fault)
        query = ann.presses(card, "staging")
        await wait_until(lambda query=query: query.answers)
        assert query.notice == "Accepted."
        await made.ends(card, "staging")
