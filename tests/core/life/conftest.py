"""How long the stateful test looks: `pytest --hypothesis-profile=quick|ci|long`, or the same in PYTEST_ADDOPTS.

The gate runs `ci`: always the same steps, so that it is never red by chance. `long` looks for new ones.
"""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, Phase, settings

SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]
WITHOUT_SHRINKING = (Phase.explicit, Phase.reuse, Phase.generate)
settings.register_profile(
    "quick",
    deadline=None,
    max_examples=30,
    stateful_step_count=50,
    suppress_health_check=SLOW,
    phases=WITHOUT_SHRINKING,
    database=None,
)
settings.register_profile(
    "ci", deadline=None, max_examples=100, stateful_step_count=50, suppress_health_check=SLOW, derandomize=True
)
settings.register_profile("long", deadline=None, max_examples=3_000, stateful_step_count=80, suppress_health_check=SLOW)


def pytest_configure(config: pytest.Config) -> None:
    """Run the profile of the gate unless another one is asked for."""
    if not config.getoption("hypothesis_profile", None):
        settings.load_profile("ci")
