"""The mark that ties a test to a promise of `tests/requirements.py`."""

from collections.abc import Callable
from typing import Literal, TypeVar

import pytest

Surface = Literal["broker", "api", "page", "store", "kit", "telegram", "discord", "terminal", "process", "jobs"]
T = TypeVar("T", bound=Callable[..., object])


def proves(case: str, *surfaces: Surface) -> Callable[[T], T]:
    """Say that the test shows the case to hold on these surfaces: `@proves("C01", "broker")`; may be repeated.

    A case may be an id of `docs/cases.md` or a promise of our own, as `tests/requirements.py` lists them.
    """

    def mark(test: T) -> T:
        for surface in surfaces:
            test = pytest.mark.proves(case, surface)(test)
        return test

    return mark
