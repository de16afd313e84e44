"""One holds, the others stand by; a holder that says nothing any more is followed by another."""

from __future__ import annotations

from collections.abc import AsyncGenerator

import pytest

from core.broker import Broker, open_broker
from core.sole import Sole
from tests.waiting import wait_until


@pytest.fixture
async def broker(redis_url: str) -> AsyncGenerator[Broker]:
    async with open_broker(redis_url, block=0.2) as made:
        yield made


async def test_only_one_holds_and_the_next_follows_when_it_leaves(broker: Broker) -> None:
    async with Sole(broker, "bot:x", span=1.5) as second_best:
        assert second_best.held()
        async with Sole(broker, "bot:x", span=1.5) as other:
            assert not other.held()
            await second_best.__aexit__(None, None, None)
            await other.until_held()
            assert not second_best.held()


async def test_a_holder_that_falls_silent_is_followed_and_learns_of_it(broker: Broker) -> None:
    """Its process sleeps: it trusts its hold no longer than Redis does."""
    awake = True

    async with (
        Sole(broker, "bot:x", span=1.0, alive=lambda: awake) as first,
        Sole(broker, "bot:x", span=1.0) as second,
    ):
        assert first.held()
        awake = False
        await second.until_held()
        assert not first.held()
        awake = True
        await first.until_taken()
        await wait_until(second.held)
