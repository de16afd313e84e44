"""A restricted approval in a chat: a yes counts only with a one-time code of whoever answers."""

from __future__ import annotations

import pytest

from core.agent import Run
from tests.contract.bench import ANN, BOB, GROUP, HOME, Bench

DID: list[str] = []


@pytest.fixture(autouse=True)
def fresh() -> None:
    """Nothing was done yet."""
    DID.clear()


async def wipe(run: Run, message: str) -> str:
    """Do what destroys."""
    await run.confirm("Wipe the disk?", tool="wipe", arguments={}, restricted=True)
    async with run.tool("wipe"):
        DID.append("wiped")
    return "It is empty now."


@pytest.mark.parametrize("way", ["reply", "text", "command"])
async def test_a_yes_counts_with_a_code_and_not_without(made: Bench, way: str) -> None:
    """In reply to the card, as a text in a private chat, by a command; the code counts once."""
    made.hire(wipe)
    await made.write("please")
    card = await made.says("Wipe the disk?")
    assert not [label for label in card.labels if "Approve" in label]
    assert "one-time code" in card.text
    request = (await made.broker.pending(ANN)).requests[0].id
    code = await made.accounts.code(ANN)
    foreign = await made.accounts.code(BOB)
    for wrong in ("yes", f"yes {foreign}", "yes aaaa-aaaa", f"/approve {request}", f"/approve {request} {foreign}"):
        answer = await made.write(wrong, reply_to=None if wrong.startswith("/") else card)
        assert answer is not None, wrong
        assert DID == []
    match way:
        case "reply":
            await made.write(code, reply_to=card)
        case "text":
            await made.write(f"yes {code.upper()}")
        case _:
            await made.write(f"/approve {request} {code}")
    await made.says("It is empty now.")
    await made.final(card, "Approved by Ann")
    assert DID == ["wiped"]
    assert not await made.accounts.prove(ANN, code)
    assert await made.accounts.prove(BOB, foreign)


async def test_in_a_group_who_may_answer_is_told_how_to_prove(made: Bench) -> None:
    """A refusal for want of a code is no stranger's: it is said in the group, and nothing is used up by it."""
    made.hire(wipe)
    await made.write("please", place=GROUP)
    card = await made.says("Wipe the disk?", place=GROUP)
    answer = await made.write("yes", place=GROUP, reply_to=card)
    assert answer is not None
    await made.says("a fresh one-time code", place=GROUP)
    code = await made.accounts.code(ANN)
    await made.write(f"no idea {code}", place=GROUP, reply_to=card)
    await made.write(code, place=GROUP, reply_to=card)
    await made.says("It is empty now.", place=GROUP)
    assert not made.chats[0].at(HOME)


async def test_a_no_needs_no_code(made: Bench) -> None:
    """Stopping is never made hard."""
    made.hire(wipe)
    await made.write("please")
    card = await made.card("Wipe the disk?")
    await made.press(card, "Deny")
    await made.final(card, "Denied by Ann")
    assert DID == []
