"""A direct message with the bot: cards, presses and forms, as a person meets them."""

from __future__ import annotations

from pathlib import Path

from tests.adapters.discord.sim import labels, shown, simulated
from tests.contract.agents import deploy


async def test_an_approval_in_a_direct_message_runs_once(redis_url: str, tmp_path: Path) -> None:
    async with simulated(redis_url, tmp_path) as sim:
        sim.hire(deploy, guarded=("deploy",))
        ann = sim.env.create_user("ann")
        await ann.send_dm("to production")
        card = await sim.says(ann.dm_channel, "Deploy?")
        assert labels(card)[:2] == ["Approve", "Deny"]
        pressed = await ann.click(card, label="Approve")
        assert pressed.acknowledged
        await sim.final(ann.dm_channel, card, "Approved by ann on Discord")
        await sim.says(ann.dm_channel, "Deployed.")
        assert [shown(one) for one in ann.dm_channel.history()].count("Deployed.") == 1
