"""Everything at once, for a while, with a fixed seed; `make chaos MINUTES=10` goes on longer."""

from tests.faults.chaos import rage


async def test_whatever_happens_to_the_processes_no_run_is_lost_stuck_or_done_twice() -> None:
    happened = await rage(1, 25.0)
    assert happened.get("begin", 0) > 3, happened
