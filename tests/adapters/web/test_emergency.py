"""Freeze, thaw and stop everything over HTTP, for owners."""

from __future__ import annotations

import json

from core.accounts import OWNER
from tests.adapters.web.place import Place, User, heard


async def test_a_freeze_is_told_to_open_pages_and_to_health(place: Place, owner: User) -> None:
    """Everybody sees who froze everything and why, until it is thawed."""
    async with owner.live() as page:
        await page.send(json.dumps({"ping": 1}))
        await heard(page, "pong")
        assert await owner.get("/v1/freeze") == {"frozen": False}
        await owner.post("/v1/freeze", {"reason": "fire"})
        told = await heard(page, "frozen")
        assert (told["frozen"], told["by"], told["reason"]) == (True, OWNER.name, "fire")
        said = await owner.send("hello")
        assert await owner.state(said.run) == "queued"
        assert (await owner.post("/v1/freeze"))["already"] is True
        await owner.post("/v1/thaw")
        assert (await heard(page, "frozen"))["frozen"] is False
        await owner.until(said.run, "completed", "waiting")


async def test_only_owners_stop_and_freeze_everything(place: Place, owner: User) -> None:
    """A member's token with every scope is refused; an owner's stops the member's run."""
    ben = await place.user("Ben")
    said = await ben.send("delete build")
    await ben.asked(said.conversation)
    for call in ("/v1/freeze", "/v1/thaw", "/v1/stop-all"):
        assert (await ben.post(call, status=403))["code"] == "role"
    told = await owner.post("/v1/stop-all")  # its turn may still be held for a moment
    assert (told["settled"], told["stopping"]) in ((1, 0), (0, 1))
    await ben.until(said.run, "canceled")


async def test_owners_read_the_audit_and_nobody_else(place: Place, owner: User) -> None:
    """Who decided what, filtered, and whether it is whole."""
    said = await owner.send("delete build")
    await owner.asked(said.conversation)
    await owner.post(f"/v1/runs/{said.run}/cancel")
    deeds = (await owner.get(f"/v1/audit?run={said.run}"))["deeds"]
    assert isinstance(deeds, list)
    assert [(deed["kind"], deed["by"], deed["where"]) for deed in deeds if isinstance(deed, dict)] == [
        ("cancel", OWNER.id, "api")
    ]
    chains = (await owner.get("/v1/audit/chains"))["chains"]
    assert isinstance(chains, list)
    assert all(isinstance(chain, dict) and chain["faults"] == [] for chain in chains)
    ben = await place.user("Ben")
    assert (await ben.get("/v1/audit", status=403))["code"] == "role"
