"""Where the page is served right now, as the web processes say in their leases: a link must lead to where somebody is.

It knows no link and no code; nothing is asked of the network.
"""

from __future__ import annotations

from typing import NamedTuple
from urllib.parse import urlsplit

from core.broker import Broker
from core.lease import is_gone, is_here
from core.model import Incarnation
from gateway import health, wiring
from gateway.settings import Settings

LOOPBACK = ("127.0.0.1", "localhost", "::1")


class Served(NamedTuple):
    """An address of the page, and whether a process serves it now; without one it is where `sayso up` would."""

    address: str
    now: bool


async def served(settings: Settings, broker: Broker) -> Served:
    """Find the address: the public one, else that of a web process on this machine, whatever port it took."""
    alive = [one for one in await health.living(broker, "web") if not is_gone(one)]
    if settings.public_url:
        return Served(settings.public_url, bool(alive))
    usual = wiring.address(settings)
    found = [one for one in alive if one.note and _is_reached(one)]
    best = max(found, key=lambda one: (one.note == usual, one.until_ms), default=None)
    return Served(usual, False) if best is None else Served(best.note, True)


def _is_reached(web: Incarnation) -> bool:
    """Whether the address that a web process told leads to it from here."""
    return is_here(web) or urlsplit(web.note).hostname not in LOOPBACK
