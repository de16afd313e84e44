"""The life of runs and requests, in thousands of random steps against a plain model, without Redis."""

from __future__ import annotations

from tests.core.life.machine import Life

TestLife = Life.TestCase
