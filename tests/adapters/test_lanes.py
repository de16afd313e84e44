"""What matters most goes first, one chat waits alone, and what streams is dropped while it does."""

from __future__ import annotations

import asyncio

from adapters.lanes import Job, Lanes, Rank
from tests.waiting import wait_until
from tests.workshop import Gate

Done = list[str]


def job(done: Done, name: str, *, again: list[float] | None = None, gate: Gate | None = None) -> Job:
    """A job that notes that it was done. again: pauses that it asks for before. gate: holds it when it was begun."""

    async def run() -> float | None:
        if gate is not None:
            await gate()
        done.append(name)
        return again.pop(0) if again else None

    return run


async def test_an_answer_goes_before_a_text_before_an_edit_before_a_stream() -> None:
    done: Done = []
    gate = Gate()
    async with Lanes(lambda: True) as lanes:
        lanes.put("a", Rank.EDIT, "first", job(done, "first", gate=gate))
        await gate.reached.wait()
        for rank in (Rank.STREAM, Rank.EDIT, Rank.FINAL, Rank.ANSWER):
            lanes.put("a", rank, rank.name, job(done, rank.name))
        gate.opened.set()
        await wait_until(lambda: len(done) == 5)
    assert done[-4:] == ["ANSWER", "FINAL", "EDIT", "STREAM"]


async def test_a_newer_job_takes_the_place_of_the_one_that_waits() -> None:
    done: Done = []
    gate = Gate()
    async with Lanes(lambda: True) as lanes:
        lanes.put("a", Rank.EDIT, "gate", job(done, "gate", gate=gate))
        await gate.reached.wait()
        lanes.put("a", Rank.EDIT, "card", job(done, "old"))
        lanes.put("a", Rank.FINAL, "text", job(done, "text"))
        lanes.put("a", Rank.STREAM, "card", job(done, "new"))
        gate.opened.set()
        await wait_until(lambda: len(done) == 3)
    assert done == ["gate", "text", "new"]


async def test_a_chat_that_rests_does_its_job_again_in_order_and_drops_streams() -> None:
    done: Done = []
    async with Lanes(lambda: True) as lanes:
        lanes.put("a", Rank.FINAL, "one", job(done, "one", again=[0.3]))
        lanes.put("a", Rank.FINAL, "two", job(done, "two"))
        await wait_until(lambda: lanes.rests("a"))
        lanes.put("a", Rank.STREAM, "stream", job(done, "stream"))
        lanes.put("b", Rank.FINAL, "other", job(done, "other"))
        await wait_until(lambda: "other" in done)
        assert done == ["one", "other"]
        await wait_until(lambda: len(done) == 4)
    assert done == ["one", "other", "one", "two"]


async def test_nothing_is_begun_while_this_process_may_not_send() -> None:
    done: Done = []
    allowed = False
    async with Lanes(lambda: allowed) as lanes:
        lanes.put("a", Rank.FINAL, "one", job(done, "one"))
        await wait_until(lambda: not lanes.holds("a", "one"))
        allowed = True
        lanes.put("a", Rank.FINAL, "two", job(done, "two"))
        await wait_until(lambda: done == ["two"])


async def test_a_job_that_fails_does_not_end_its_lane() -> None:
    done: Done = []

    async def fail() -> float | None:
        raise ValueError("broken")

    async with Lanes(lambda: True) as lanes:
        lanes.put("a", Rank.FINAL, "bad", fail)
        lanes.put("a", Rank.FINAL, "good", job(done, "good"))
        await wait_until(lambda: done == ["good"])


async def test_at_the_end_what_is_under_way_is_finished_and_people_are_told_and_nothing_else_begins() -> None:
    """What is cut off would be unclear; what is not begun is owed, and the next process does it."""
    done: Done = []
    gate = Gate()
    async with Lanes(lambda: True) as lanes:
        lanes.put("a", Rank.EDIT, "first", job(done, "first", gate=gate))
        await gate.reached.wait()
        lanes.put("a", Rank.FINAL, "text", job(done, "text"))
        draining = asyncio.create_task(lanes.drain(10.0))
        lanes.put("a", Rank.ANSWER, "answer", job(done, "answer"))
        gate.opened.set()
        await draining
        assert done == ["first", "answer"]


async def test_the_end_does_not_wait_for_ever() -> None:
    """A platform that does not answer keeps nobody."""
    gate = Gate()
    async with Lanes(lambda: True) as lanes:
        lanes.put("a", Rank.EDIT, "stuck", job([], "stuck", gate=gate))
        await gate.reached.wait()
        await lanes.drain(0.05)
