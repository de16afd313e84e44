"""A front end for tests, as its own package: named in the settings, reached over loopback HTTP."""

from adapters.platform import Platform
from tests.outpost.settings import Settings

__all__ = ["create"]


def create(settings: Settings) -> Platform:
    """Make the platform."""
    from tests.outpost.adapter import Outpost

    return Outpost(settings)
