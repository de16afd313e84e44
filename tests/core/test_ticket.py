"""Tickets of one-time links, on a real server."""

from core.broker import open_broker
from core.model import Person
from core.people import OWNER
from core.ticket import Tickets
from tests.proves import proves


@proves("C126", "broker")
async def test_a_ticket_that_was_used_for_nothing_has_the_time_that_it_had(redis_url: str) -> None:
    """What is refused does not use it up; nor does it make it last longer, however often it is tried."""
    now = [1_000_000.0]

    async def current(id: str) -> Person | None:
        return OWNER if id == OWNER.id else None

    async with open_broker(redis_url, block=0.2) as broker:
        tickets = Tickets(broker, current, public_url=None, life=900.0, now=lambda: now[0])
        code = await tickets.make("q0", OWNER)
        until = await tickets.until(code)
        for _ in range(3):
            now[0] += 290.0
            assert await tickets.until(code) == until
            assert await tickets.take(code, "q0") == OWNER
            assert await tickets.take(code, "q0") is None
            await tickets.give_back(code, "q0", OWNER, until)
        assert await tickets.look(code, "q0") == OWNER
        now[0] += 31.0
        assert await tickets.take(code, "q0") is None
        await tickets.give_back(code, "q0", OWNER, until)
        assert await tickets.look(code, "q0") is None
