"""Figures for Prometheus: what is owed, and what every process counted, from one scrape."""

from __future__ import annotations

from contextlib import AsyncExitStack

from core.emergency import Emergency
from core.people import OWNER
from gateway import wiring
from gateway.figures import tallied
from tests.adapters.web.place import Place, User
from tests.waiting import wait_until


async def test_one_scrape_shows_what_is_owed_and_what_every_process_counted(place: Place, owner: User) -> None:
    """A worker's counts are seen at the web process; a freeze, claims, and how runs ended stand beside them."""
    said = await owner.send("wait gate")
    await place.script.at("gate").wait()
    async with wiring.opened(place.settings) as broker, tallied(broker, "worker", every=0.05):
        assert await broker.cancel(said.run, OWNER)
        assert await Emergency(broker).freeze(OWNER)

        async def shown() -> bool:
            text = (await owner.http.get("/metrics")).text
            wanted = ('role="worker"', "sayso_frozen 1.0", "sayso_claims ", "sayso_stop_seconds_bucket")
            return all(one in text for one in wanted)

        await wait_until(shown)
    await owner.until(said.run, "canceled")


async def test_how_runs_ended_is_counted_with_the_time_it_took(place: Place, owner: User) -> None:
    """What a process committed it counts: here the cancel of a question that waited."""
    said = await owner.send("delete build")
    await owner.asked(said.conversation)

    async def parked() -> bool:
        return "sayso_claims 0.0" in (await owner.http.get("/metrics")).text

    await wait_until(parked)
    async with wiring.opened(place.settings) as broker, tallied(broker, "test", every=0.05):
        assert await broker.cancel(said.run, OWNER)

        async def shown() -> bool:
            lines = (await owner.http.get("/metrics")).text.splitlines()
            mine = [line for line in lines if line.startswith("sayso_runs_ended_total{") and 'role="test"' in line]
            return any('how="canceled"' in line and line.endswith(" 1.0") for line in mine)

        await wait_until(shown)


async def test_an_accepted_answer_counts_as_undelivered_until_its_run_takes_it(bare: Place, owner: User) -> None:
    """Also of a run that waits behind another one; `/health` says it in words, with the oldest."""
    async with AsyncExitStack() as first:
        await bare.worker(first)
        said = await owner.send("delete build")
        (card,) = await owner.asked(said.conversation)
    await owner.accept(card["request"], "once")
    assert "sayso_undelivered 1.0" in (await owner.http.get("/metrics")).text
    words = {check["what"]: check["words"] for check in (await owner.http.get("/health")).json()["checks"]}
    assert words["answers"].startswith("1 accepted answer waits to be taken")
    await bare.worker()
    await owner.until(said.run, "completed")
    assert "sayso_undelivered 0.0" in (await owner.http.get("/metrics")).text
