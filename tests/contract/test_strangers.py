"""Who is not known is told how to come in, where nobody else reads it, and changes nothing."""

from __future__ import annotations

from pathlib import Path

from adapters.doors import Linked
from core.people import OWNER, People
from tests.contract.agents import where
from tests.contract.bench import EVE, GROUP, HOME, bench, wide


async def test_a_stranger_gets_a_code_in_private_and_comes_in_when_it_is_entered(
    redis_url: str, tmp_path: Path
) -> None:
    async with bench(redis_url, tmp_path, [wide()]) as made:
        people = People(made.broker)
        made.let_in_by(Linked(people))
        made.hire(where)
        answer = await made.write("please", person=EVE)
        assert answer is not None
        code = answer.text.split("Your code is ")[1].split(":")[0]
        await made.says("Your code is")
        assert not await made.broker.conversations(EVE)
        await people.pair(code, OWNER.id)
        await made.write("please", person=EVE)
        card = await made.card("Where to?")
        await made.press(card, "staging", person=EVE)
        await made.says("To staging.")
        run = (await made.broker.conversations(OWNER))[0]
        assert run.owner.id == OWNER.id


async def test_in_a_group_a_stranger_is_told_alone(redis_url: str, tmp_path: Path) -> None:
    async with bench(redis_url, tmp_path, [wide()]) as made:
        made.let_in_by(Linked(People(made.broker)))
        made.hire(where)
        await made.write("please", person=EVE, place=GROUP)
        told = await made.says("not known here", place=GROUP)
        assert told.only == EVE.id
        assert not made.chats[0].cards(HOME)
