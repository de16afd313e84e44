"""Discord says no, says wait, or its answer is lost: a press has its effect all the same, and nothing is sent twice."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.adapters.discord.wire import Wire, plain, wired
from tests.contract.agents import deploy
from tests.proves import proves
from tests.standins.discord import Message
from tests.waiting import wait_until


async def asked(wire: Wire) -> Message:
    """Ann asked for a deployment, and is asked."""
    wire.hire(deploy, guarded=("deploy",))
    wire.ann.says(wire.ann.dm, "to production")
    return await wire.card("Deploy?")


@pytest.mark.parametrize("via", [True, False], ids=["of-discord", "of-its-proxy"])
async def test_what_is_refused_for_its_rate_comes_once_and_soon(redis_url: str, tmp_path: Path, via: bool) -> None:
    """The library raises a 429 that carries no `Via`; what it says about the pause is obeyed all the same."""
    async with wired(redis_url, tmp_path) as wire:
        wire.there.fail_next("send", retry_after=1.0, via=via)
        card = await asked(wire)
        assert [one.status for one in wire.there.calls("send")] == [429, 200]
        wire.ann.presses(card, "Approve")
        await wire.says("Deployed.")
        assert wire.there.invalid_calls == 1


@pytest.mark.parametrize("via", [True, False], ids=["of-discord", "of-its-proxy"])
async def test_a_pause_for_the_whole_bot_is_kept_in_every_chat(redis_url: str, tmp_path: Path, via: bool) -> None:
    """Every call before its end is one more towards the ban of our address."""
    async with wired(redis_url, tmp_path) as wire:
        wire.there.fail_next("send", retry_after=1.0, scope="global", via=via)
        wire.hire(deploy, guarded=("deploy",))
        wire.ann.says(wire.ann.dm, "to production")
        await wait_until(lambda: [one.status for one in wire.there.calls("send")] == [429])
        wire.bob.says(wire.bob.dm, "to production")
        await wire.card("Deploy?")
        await wire.card("Deploy?", wire.bob.dm)
        assert wire.there.invalid_calls == 1


async def test_a_question_whose_sending_is_unclear_is_shown_once(redis_url: str, tmp_path: Path) -> None:
    """Discord has it, its answer was lost: the repeat goes under the same nonce and finds the first."""
    async with wired(redis_url, tmp_path) as wire:
        lost = wire.there.fail_next("send", cut="after")
        card = await asked(wire)
        await lost.reached.wait()
        wire.ann.presses(card, "Approve")
        await wire.final(card, "Approved by Ann on Discord")
        await wire.says("Deployed.")
        assert [one for one in wire.there.ours(wire.ann.dm) if "Deploy?" in plain(one)] == [card]


@proves("C46", "discord")
@pytest.mark.parametrize("code", [40060, 10062])
async def test_an_acknowledgement_that_is_refused_costs_nothing(redis_url: str, tmp_path: Path, code: int) -> None:
    """Somebody else acknowledged it, or it was too late: the answer stands, and the card says so.

    Nothing is left of it that would take what the person writes next for something else.
    """
    async with wired(redis_url, tmp_path) as wire:
        card = await asked(wire)
        refused = wire.there.fail_next("callback", code=code)
        wire.ann.presses(card, "Deny with a reason")
        await refused.reached.wait()
        wire.there.fail_next("callback", code=code)
        wire.ann.presses(card, "Approve")
        await wire.final(card, "Approved by Ann on Discord")
        await wire.says("Deployed.")
        assert not wire.ann.modals
        wire.ann.says(wire.ann.dm, "to staging")
        await wire.card("Deploy?")


async def test_a_press_that_reached_us_after_three_seconds_counts(redis_url: str, tmp_path: Path) -> None:
    """The person saw "interaction failed", and sees the card change."""
    async with wired(redis_url, tmp_path) as wire:
        card = await asked(wire)
        wire.there.gateway.drop()
        press = wire.ann.presses(card, "Approve")
        wire.there.passes(4)
        await wire.final(card, "Approved by Ann on Discord")
        assert press.acked is None
        assert wire.there.calls("callback")[-1].code == 10062


async def test_what_can_no_longer_be_said_in_private_leaves_no_trace(redis_url: str, tmp_path: Path) -> None:
    """50027: the token of the interaction died meanwhile; the next press is answered as ever."""
    async with wired(redis_url, tmp_path) as wire:
        card = await asked(wire)
        held = wire.there.fail_next("callback", held="late")
        wire.ann.presses_id(card, "v1:q0zzzzzzzzzzzzzz:deny")
        await held.reached.wait()
        wire.there.passes(16 * 60)
        held.release()
        await wait_until(lambda: wire.there.calls("follow-up"))
        await wait_until(lambda: wire.there.calls("follow-up")[-1].code == 50027)
        assert not wire.ann.notices
        wire.ann.presses(card, "Approve")
        await wire.final(card, "Approved by Ann on Discord")
