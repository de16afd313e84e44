"""Everything at once, for two minutes, with fixed seeds; `make chaos MINUTES=10` goes on longer.

Most of it is waiting, so it runs beside others.
"""

import pytest

from tests.faults.chaos import rage


@pytest.mark.parametrize("seed", [1, 2, 3, 4])
async def test_whatever_happens_to_the_processes_no_run_is_lost_stuck_or_done_twice(seed: int) -> None:
    happened = await rage(seed, 30.0)
    assert happened["processes"] > 3, happened
