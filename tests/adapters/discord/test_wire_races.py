"""Races over the wire: two people decide the same thing at the same moment."""

from __future__ import annotations

import asyncio
from pathlib import Path

from core.agent import Run
from core.broker import Broker, open_broker
from core.life.decision import Refusal
from core.life.event import Reply
from core.life.result import Answered
from core.model import Person
from core.question import Declined
from tests.adapters.discord.wire import Wire, acked, plain, wired
from tests.contract.agents import approved
from tests.proves import proves
from tests.standins.discord import Channel, Message
from tests.waiting import wait_until

ROUNDS, AT_ONCE = 200, 10


async def many(run: Run, message: str) -> str:
    """Ask for many approvals at once."""
    given = await asyncio.gather(*(approved(run, f"step{n}") for n in range(AT_ONCE)))
    return f"Round {message}: {' '.join('yes' if one else 'no' for one in given)}."


@proves("C02", "discord")
async def test_of_two_opposite_presses_one_wins_and_the_other_is_told(redis_url: str, tmp_path: Path) -> None:
    """200 races, half of them of two people on Discord, half against the dashboard of another process."""
    async with wired(redis_url, tmp_path) as wire, open_broker(redis_url, block=0.2) as other:
        wire.hire(many)
        thread = await wire.thread(wire.room(), "0")
        for number in range(ROUNDS // AT_ONCE):
            if number:
                wire.ann.says(thread, str(number))
            cards = await open_cards(wire, thread, number * (AT_ONCE + 1))
            told = len(wire.ann.notices) + len(wire.bob.notices)
            lost = await asyncio.gather(*(race(wire, other, card, turn) for turn, card in enumerate(cards)))
            for card in cards:
                await wire.final(card)
            approved = ["Approved by Ann" in plain(one) for one in cards]
            assert approved == ["Denied by Bob" not in plain(one) for one in cards]
            await wire.says(f"Round {number}: {' '.join('yes' if one else 'no' for one in approved)}.", thread)
            ends = [plain(one).split(":")[0] for one in wire.there.ours(thread) if plain(one).startswith("Round")]
            assert ends == [f"Round {n}" for n in range(number + 1)]
            elsewhere = sum(one is not None for one in lost)
            await wait_until(
                lambda told=told + AT_ONCE - elsewhere: len(wire.ann.notices) + len(wire.bob.notices) == told
            )
        anns = {plain(one) for one in wire.ann.notices}
        assert anns <= {f"Already answered by Bob on {place}: denied." for place in ("Discord", "the dashboard")}
        bobs = {plain(one) for one in wire.bob.notices}
        assert bobs <= {f"Already answered by Ann on Discord{picked}." for picked in (": Approve", "")}


async def open_cards(wire: Wire, thread: Channel, before: int) -> list[Message]:
    """Wait for the cards of all that `many` asks for; in its order. before: how many messages stood there before."""
    await wait_until(lambda: len(wire.there.ours(thread)) == before + AT_ONCE)
    found = wire.there.ours(thread)[before:]
    assert all(one.live for one in found)
    return sorted(found, key=lambda one: int(plain(one).partition("Step")[2].partition("?")[0]))


async def race(wire: Wire, other: Broker, card: Message, turn: int) -> Refusal | None:
    """Ann approves on Discord while Bob denies, there or, every second time, elsewhere: what he hears if he lost."""
    request = card.buttons[0].custom_id.split(":")[1]
    if turn % 2:
        bob = Person(id=f"dc:{wire.bob.id}", name="Bob", role="approver")
        wire.ann.presses(card, "Approve")
        told = await other.answer(Reply(request, Declined(), bob, "chat"))
        assert isinstance(told, Answered) or told.standing["by"] == "Ann"
        return told if isinstance(told, Refusal) else None
    people = (wire.ann, "Approve"), (wire.bob, "Deny")
    await acked(*(who.presses(card, label) for who, label in (people if turn % 4 else people[::-1])))
    return None
