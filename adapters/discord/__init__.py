"""Discord as a front end: what plugs it in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adapters.discord.settings import Settings

if TYPE_CHECKING:
    from adapters.platform import Platform

__all__ = ["Settings", "create"]


def create(settings: Settings) -> Platform:
    """Make the platform."""
    from adapters.discord.adapter import Discord  # loads the library

    return Discord(settings)
