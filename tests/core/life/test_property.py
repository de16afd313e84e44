"""The life of runs and requests, in thousands of random steps against a plain model, without Redis."""

from __future__ import annotations

import pytest

from tests.core.life.machine import Life

TestLife = pytest.mark.timeout(900)(Life.TestCase)
