"""Telegram as a front end."""

from adapters.telegram.adapter import Telegram
from adapters.telegram.settings import Settings

__all__ = ["create"]


def create(settings: Settings) -> Telegram:
    """Make the platform; nothing is sent yet."""
    return Telegram(settings)
