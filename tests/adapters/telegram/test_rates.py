"""Telegram says to wait: that chat waits, others do not, and what matters comes afterwards, whole and once."""

from __future__ import annotations

import asyncio

from core.agent import Run
from tests.adapters.telegram.ground import Ground
from tests.proves import proves
from tests.standins.telegram import Rates, flood
from tests.waiting import wait_until


@proves("C107", "telegram")
async def test_a_chat_told_to_wait_while_it_streams_gets_its_question_and_its_end_once(ground: Ground) -> None:
    """`violations` notes each call to a chat that was told to wait; the fixture wants none."""
    going = asyncio.Event()

    async def write(run: Run, message: str) -> str:
        async with run.stream() as stream:
            for number in range(20):
                await stream.write(f"word {number} ")
                if number == 10:
                    await going.wait()
        choice = await run.choose("Where to?", ["staging", "production"])
        return f"To {choice}."

    ground.hire(write)
    ann, bob = ground.telegram.person("Ann"), ground.telegram.person("Bob")
    group = ground.telegram.group("Ops", [ann])
    async with ground.front(quiet=0.1):
        held = ground.telegram.fail_next("editMessageText", flood(2), group)
        ann.says("@sayso_bot go", group)
        await ground.says(group, "word")
        going.set()
        bob.says("go")
        await ground.card(bob, "Where to?")
        card = await ground.card(group, "Where to?")
        ann.presses(card, "staging")
        await ground.says(group, "To staging.")
        await ground.settled()
    assert held.left in (0, 1)
    assert sum("To staging." in text for text in ground.texts(group)) == 1
    assert sum("word 19" in text for text in ground.texts(group)) == 1


@proves("C107", "telegram")
async def test_a_pause_of_one_chat_is_not_a_pause_of_another(ground: Ground) -> None:
    async def talk(run: Run, message: str) -> str:
        await run.say("First words.")
        return "Last words."

    ground.hire(talk)
    ann, bob = ground.telegram.person("Ann"), ground.telegram.person("Bob")
    async with ground.front():
        ground.telegram.fail_next("sendMessage", flood(2), ann)
        ann.says("go")
        await wait_until(lambda: any(not call.ok for call in ground.telegram.calls("sendMessage", ann.chat)))
        bob.says("go")
        await ground.says(bob, "Last words.")
        assert ground.texts(ann) == []
        await ground.says(ann, "Last words.")
        await ground.settled()
    assert ground.texts(ann) == ["First words.", "Last words."]


async def test_a_pause_of_the_whole_bot_is_obeyed_and_all_comes_after_it(ground: Ground) -> None:
    async def talk(run: Run, message: str) -> str:
        return "Last words."

    ground.hire(talk)
    everybody = [ground.telegram.person(f"Person {number}") for number in range(5)]
    ground.telegram.limit_rates(Rates(burst=2, all_per_second=3, penalty=1))
    async with ground.front():
        for one in everybody:
            one.says("go")
        for one in everybody:
            await ground.says(one, "Last words.")
        await ground.settled()
    assert all(ground.texts(one) == ["Last words."] for one in everybody)
