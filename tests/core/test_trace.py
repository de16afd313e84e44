"""The trace tells every subscriber, counts, and lets a test wait for what happened."""

import asyncio
import logging

import pytest

from core.trace import Event, count, emit, seen, subscribe


async def test_a_test_may_wait_for_what_happens_and_for_what_happened() -> None:
    waiting = asyncio.create_task(seen("thing.made", name="a"))
    emit("thing.made", name="b")
    emit("thing.made", name="a", size=1)
    assert (await waiting).fields == {"name": "a", "size": 1}
    assert (await seen("thing.made", name="b")).fields == {"name": "b"}


async def test_what_does_not_happen_is_named() -> None:
    with pytest.raises(TimeoutError, match=r"thing\.missed"):
        await seen("thing.missed", timeout=0.01)


def test_a_subscriber_that_fails_changes_nothing_for_the_others(caplog: pytest.LogCaptureFixture) -> None:
    told: list[str] = []

    def fail(event: Event) -> None:
        raise ValueError(event.name)

    ends = [subscribe(fail), subscribe(lambda event: told.append(event.name))]
    before = count("thing.broken")
    with caplog.at_level(logging.WARNING):
        emit("thing.broken")
    for end in ends:
        end()
    emit("thing.broken")
    assert told == ["thing.broken"]
    assert count("thing.broken") == before + 2
    assert "a subscriber of the trace failed" in caplog.text
