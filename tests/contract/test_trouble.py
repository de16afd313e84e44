"""Platforms fail: what is owed is kept, told once, repaired, or listed; and other chats do not notice."""

from __future__ import annotations

import asyncio
import signal
from pathlib import Path

import pytest

from adapters.platform import Refused, Unclear
from core.agent import Run
from tests.contract.agents import DID, deploy, what, where
from tests.contract.bench import ANN, HOME, Bench, bench, wide
from tests.fakes import Message
from tests.proves import proves
from tests.redis_server import RedisServer
from tests.waiting import wait_until

OTHER = "fa-77"


async def test_a_question_whose_sending_is_unclear_is_shown_again_and_both_cards_work(made: Bench) -> None:
    made.chats[0].fail("post", Unclear(), accepted=True)
    made.hire(where)
    await made.write("please")
    await made.card("Where to?")
    await wait_until(lambda: made.chats[0].calls["post"] >= 2)
    await made.settled()
    cards = [one for one in made.chats[0].cards(HOME) if "Where to?" in one.text]
    assert len(cards) == (1 if made.chats[0].limits.repeats else 2)
    await made.press(cards[0], "staging")
    for card in cards:
        await made.final(card, "staging")
    await made.says("To staging.")


async def test_a_text_whose_sending_is_unclear_is_not_sent_twice(made: Bench) -> None:
    """A platform that recognises repeats gets it again, another does not."""

    async def speak(run: Run, message: str) -> str:
        return "Only once."

    made.hire(speak)
    made.chats[0].fail("post", Unclear(), accepted=True)
    await made.write("please")
    await made.says("Only once.")
    await made.settled()
    assert made.chats[0].texts(HOME).count("Only once.") == 1


@proves("C50", "kit", "telegram")
@proves("C63", "kit", "telegram")
async def test_a_blocked_bot_is_a_fact_on_the_question_and_no_loop(made: Bench) -> None:
    made.hire(where)
    made.chats[0].blocked.add(HOME)
    await made.write("please")
    request = (await pending(made))[0]

    async def marked() -> bool:
        return HOME in (await made.request(request)).not_shown

    await wait_until(marked)
    await made.settled()
    calls = made.chats[0].calls["post"]
    found = await made.request(request)
    assert found.state == "open"
    assert found.not_shown[HOME] == "bot was blocked by the user"
    told = [event async for event in events(made, request)]
    assert any(event.get("not_shown") == HOME for event in told)
    await made.platform.write(ANN, OTHER, "please")
    await made.card("Where to?", place=OTHER)
    assert made.chats[0].calls["post"] == calls + 1


async def pending(made: Bench) -> list[str]:
    """Wait for open questions."""
    found: list[str] = []

    async def there() -> bool:
        found[:] = [one.id for one in (await made.broker.pending(ANN)).requests]
        return bool(found)

    await wait_until(there)
    return found


async def events(made: Bench, request: str):
    """What was told of a question."""
    conversation = (await made.request(request)).conversation
    for _, event in await made.broker.journal(conversation, 0) or []:
        yield event.data


@proves("C63", "kit", "telegram")
async def test_a_chat_with_a_new_id_keeps_its_question(made: Bench) -> None:
    made.hire(what)
    await made.write("please")
    await made.says("What is it?")
    made.chats[0].migrated[HOME] = OTHER
    await made.write("/status")
    card = await made.says("What is it?", place=OTHER)
    await made.platform.write(ANN, OTHER, "a parrot", reply_to=card)
    await made.says("You said: a parrot.", place=OTHER)


async def test_an_outage_leaves_debts_that_are_repaired(made: Bench) -> None:
    made.hire(where)
    await made.write("please")
    card = await made.card("Where to?")
    for _ in range(2):
        made.chats[0].fail("edit", Refused("later", "internal error"))
    await made.press(card, "staging")
    await made.final(card, "staging")
    await made.settled()


async def test_a_card_that_is_gone_is_no_debt(made: Bench) -> None:
    made.hire(where)
    await made.write("please")
    card = await made.card("Where to?")
    await made.write("staging")
    card.gone = True
    await made.says("To staging.")
    await made.settled()


KILLS = ("before send", "after send", "after ledger")


@pytest.mark.parametrize("point", KILLS)
async def test_a_kill_while_showing_loses_nothing(made: Bench, point: str) -> None:
    """Whatever was done: after the restart a card works, the act happens once, every card gets the final edit."""
    DID.clear()
    made.hire(deploy)
    if point == "after ledger":
        await made.write("please")
        await made.card("Deploy?")
        await made.settled()
    else:
        gate = made.chats[0].fail("post", gate=asyncio.Event(), accepted=point == "after send")
        await made.write("please")
        await gate.reached.wait()
    await made.restart()
    card = await made.card("Deploy?")
    await made.press(card, "Approve")
    await made.says("Deployed.")
    await made.settled()
    cards = [one for one in made.chats[0].at(HOME) if "Deploy?" in one.text]
    assert len(cards) <= 2
    assert [one.text for one in cards if "Approved" in one.text or point == "after send"]
    assert made.chats[0].texts(HOME).count("Deployed.") == 1
    assert DID == ["please"]


async def test_a_card_left_by_a_kill_after_its_send_works_as_well(made: Bench) -> None:
    gate = made.chats[0].fail("post", gate=asyncio.Event(), accepted=True)
    made.hire(where)
    await made.write("please")
    await gate.reached.wait()
    left = made.chats[0].cards(HOME)[0]
    await made.down()
    await made.up()
    await wait_until(lambda: made.chats[0].calls["post"] >= 2)
    await made.press(left, "production")
    await made.says("To production.")
    await made.final(left, "production")


async def test_a_kill_before_a_press_is_stored_lets_the_update_come_again(made: Bench) -> None:
    """It was not confirmed, so the platform delivers it again."""
    DID.clear()
    made.hire(deploy)
    await made.write("please")
    card = await made.card("Deploy?")
    payload = card.rows[0][0].payload
    assert payload is not None
    made.doors.gate.clear()
    made.doors.reached.clear()
    press = asyncio.create_task(made.platform.send(ANN, card, payload, key="u-9"))
    await made.doors.reached.wait()
    await made.down()
    await asyncio.gather(press, return_exceptions=True)
    await made.up()
    assert (await made.platform.send(ANN, card, payload, key="u-9")).text == "Accepted."
    await made.final(card, "Approved")
    await made.says("Deployed.")
    assert DID == ["please"]


async def test_a_kill_after_a_press_was_stored_leaves_the_edit_to_the_next_process(made: Bench) -> None:
    DID.clear()
    made.hire(deploy)
    await made.write("please")
    card = await made.card("Deploy?")
    payload = card.rows[0][0].payload
    assert payload is not None
    await made.settled()
    gate = made.chats[0].fail("edit", gate=asyncio.Event())
    await made.press(card, "Approve", key="u-9")
    await gate.reached.wait()
    assert card.rows
    await made.restart()
    assert (await made.platform.send(ANN, card, payload, key="u-9")).text == "Accepted."
    await made.final(card, "Approved")
    await made.says("Deployed.")
    await made.settled()
    assert DID == ["please"]
    assert made.chats[0].texts(HOME).count("Deployed.") == 1


async def test_a_second_front_end_takes_over_when_the_first_is_gone(made: Bench) -> None:
    """One holds the platform; the other sends nothing until then."""
    made.hire(where)
    standby = await made.stand_by(made.chats[0])
    assert not standby.serving.is_set()
    await made.surfaces[0].__aexit__(None, None, None)
    await wait_until(standby.serving.is_set)
    await made.platforms[-1].write(ANN, HOME, "please")
    card = await made.card("Where to?")
    await made.platforms[-1].press(ANN, card, "staging")
    await made.says("To staging.")
    assert made.chats[0].texts(HOME).count("To staging.") == 1


async def test_a_restart_between_every_two_steps_changes_nothing_that_people_see(made: Bench) -> None:
    DID.clear()
    made.hire(deploy)
    await made.write("please", key="u-1")
    await made.restart()
    card = await made.card("Deploy?")
    await made.restart()
    await made.press(card, "Cancel task", key="u-2")
    await made.restart()
    await wait_until(lambda: "Sure?" in card.text)
    await made.restart()
    await made.press(card, "Keep it", key="u-3")
    await made.restart()
    await wait_until(lambda: "Approve" in card.labels)
    await made.press(card, "Approve", key="u-4")
    await made.restart()
    await made.final(card, "Approved by Ann")
    await made.restart()
    await made.says("Deployed.")
    await made.write("please", key="u-1")
    await made.settled()
    assert DID == ["please"]
    assert made.chats[0].texts(HOME).count("Deployed.") == 1
    assert len([one for one in made.chats[0].at(HOME) if "Deploy?" in one.text]) == 1


@pytest.mark.parametrize("accepted", [False, True])
async def test_a_kill_while_a_text_is_sent_never_sends_it_twice(made: Bench, accepted: bool) -> None:
    """A platform that recognises repeats gets it surely; for another the doubt is kept on record."""

    async def speak(run: Run, message: str) -> str:
        return "Only once."

    made.hire(speak)
    gate = made.chats[0].fail("post", gate=asyncio.Event(), accepted=accepted)
    await made.write("please")
    await gate.reached.wait()
    await made.restart()
    await made.settled()
    count = made.chats[0].texts(HOME).count("Only once.")
    posted = await made.broker.cards.posted((await made.runs())[0].conversation)
    assert count == (1 if accepted or made.chats[0].limits.repeats else 0)
    assert bool(posted.unclear) is not made.chats[0].limits.repeats
    doubts = [text for text in made.chats[0].texts(HOME) if "may not have reached" in text]
    assert len(doubts) == len(posted.unclear)


async def test_while_the_store_is_away_a_press_says_that_nothing_was_stored(made: Bench, redis: RedisServer) -> None:
    made.hire(where)
    await made.write("please")
    card = await made.card("Where to?")
    await made.settled()
    redis.process.send_signal(signal.SIGSTOP)
    try:
        answer = await made.press(card, "staging")
        assert answer.pending or answer.alert
    finally:
        redis.process.send_signal(signal.SIGCONT)
    if not answer.pending:
        await made.press(card, "staging")
    await made.final(card, "staging")
    await made.says("To staging.")


async def test_a_question_that_is_shown_twice_is_closed_on_both_cards(redis_url: str, tmp_path: Path) -> None:
    """Whoever wants it once more at the end of the chat gets it; the older card works until then, and not after."""
    async with bench(redis_url, tmp_path, [wide()]) as made:
        made.hire(where)
        await made.write("please")
        first = await made.card("Where to?")
        await made.write("/pending")
        listed = await made.card("(/answer")
        await made.press(listed, "Where to?")

        def shown() -> list[Message]:
            return [one for one in made.chats[0].cards(HOME) if "staging" in str(one.labels)]

        await wait_until(lambda: len(shown()) == 2)
        second = next(one for one in shown() if one.id != first.id)
        await made.restart()
        await made.press(second, "staging")
        await made.says("To staging.")
        for one in (first, second):
            await made.final(one, "staging")
