"""The garbage collector of a process that serves: what was made while it started is never looked at again."""

import gc

YOUNG = 50_000
"""So many new objects, and the young ones are looked through; a commit makes hundreds that die with it."""


def calm_collector() -> None:
    """Take what exists now for permanent, and look for garbage less often. To be called once all is imported."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(YOUNG, 20, 20)
