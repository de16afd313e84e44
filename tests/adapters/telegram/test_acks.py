"""Presses are acknowledged in time: before those before them are decided, once, and with the outcome if it is known."""

from __future__ import annotations

from pathlib import Path

import pytest

from adapters.desk import LATER
from adapters.telegram.acks import CROWD
from core.agent import Run
from tests.adapters.telegram.bench import Office, office
from tests.contract.agents import where
from tests.faults.proxy import Proxy
from tests.proves import proves
from tests.redis_server import RedisServer
from tests.standins.telegram import Person, TelegramServer, cut, flood, server_error
from tests.waiting import wait_until

MANY = 40


@proves("C06", "telegram")
async def test_a_crowd_of_presses_is_acknowledged_while_none_is_decided_and_each_counts_once_in_order(
    made: Office, ann: Person, server: TelegramServer
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
    asked = [call.fields.text("callback_query_id") for call in server.calls("answerCallbackQuery")]
    assert sorted(asked) == sorted(one.id for one in presses), "one call for each, also none that Telegram refused"


async def test_in_a_crowd_nobody_waits_for_their_outcome_but_the_first(
    redis_url: str, tmp_path: Path, server: TelegramServer, ann: Person
) -> None:
    """However patient we are: those behind the first few hear at once that theirs is stored."""
    async with office(redis_url, tmp_path, server, patience=3600.0) as made:
        made.hire(where)
        ann.says("please")
        card = await made.ask(ann, "Where to?")
        made.doors.gate.clear()
        presses = [ann.presses_data(card, str(card.buttons[0]["callback_data"])) for _ in range(MANY)]
        await wait_until(lambda: all(one.answers for one in presses[CROWD:]), 30)
        assert not any(one.answers for one in presses[:CROWD])
        made.doors.gate.set()
        await wait_until(lambda: all(one.answers for one in presses), 30)
        assert presses[0].notice == "Accepted."
        assert {one.notice for one in presses[1:CROWD]} == {"Already answered: that is the answer that stands."}
        assert {one.notice for one in presses[CROWD:]} == {LATER.text}
        await made.sees(ann, "To staging.")


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


async def test_a_press_that_was_said_to_be_received_is_decided_after_the_store_was_away(
    redis: RedisServer, tmp_path: Path, server: TelegramServer, ann: Person, caplog: pytest.LogCaptureFixture
) -> None:
    """Once somebody heard "received", "not stored" is no answer any more: it is tried until it is decided."""
    ops = server.group("Ops", [ann])
    async with Proxy(redis.socket) as proxy, office(proxy.url, tmp_path, server, patience=0.1) as made:
        made.doors.set((f"tg:{ann.id}",))
        made.hire(where)
        ann.says("@sayso_bot please", ops)
        card = await made.ask(ops, "Where to?")
        await made.settled("tg")
        made.doors.gate.clear()
        press = ann.presses(card, "staging")
        await wait_until(lambda: press.answers)
        assert press.notice == LATER.text
        proxy.welcome = False
        proxy.cut()
        made.doors.gate.set()
        await wait_until(lambda: "waits to be stored" in caplog.text, 20)
        proxy.welcome = True
        await made.ends(card, "staging")
        await made.sees(ops, "To staging.")


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
