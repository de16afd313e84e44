"""The front ends that Sayso ships, beside the web: one line each. It must not know how one is opened.

A new one: a folder in `adapters/` as `docs/adding-a-platform.md` says, and its line here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class FrontEnd:
    """Where a front end comes from.

    name: of its command, of its table in `sayso.toml`, and what its settings begin with in the environment. title: as
    people call it. prefix: of its origins. module: its package, which has `create` and `settings.Settings`.
    match: which places' questions it shows, all when empty.
    """

    name: str
    title: str
    prefix: str
    module: str
    match: str = ""


SHIPPED: Final[tuple[FrontEnd, ...]] = (
    FrontEnd("telegram", "Telegram", "tg", "adapters.telegram"),
    FrontEnd("discord", "Discord", "dc", "adapters.discord"),
)


def command(front: FrontEnd) -> str:
    """The command that runs it alone."""
    return front.name if front.module.startswith("adapters.") else f"front {front.name}"
