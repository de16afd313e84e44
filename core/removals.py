"""Removals that were interrupted: who lost their role, and nothing else yet, is taken out everywhere all the same.

The role goes first and the name last, so whoever has a name and no role is being removed, or is just being let in.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from core.broker import Broker
from core.model import Person
from core.people import OWNER, Named, People

COMING_MS = 60_000
"""so long may somebody have a name without a role because they come in"""


async def finish_removals(broker: Broker, people: People, *, now: Callable[[], float] = time.time) -> list[Person]:
    """Do the rest of every removal that was interrupted; returns who is gone by that. now: seconds since 1970."""
    late = now() * 1000 - COMING_MS
    gone = [await people.remove(one.id) for one in await _half(broker) if one.since_ms < late]
    return [one for one in gone if isinstance(one, Person)]


async def being_removed(broker: Broker, name: str) -> str | None:
    """The id of somebody with an id or a name, in any case, whose removal was interrupted."""
    wanted = name.strip().casefold()
    return next((one.id for one in await _half(broker) if wanted in (one.id, one.name.casefold())), None)


async def _half(broker: Broker) -> list[Named]:
    names = [Named.model_validate_json(text) for _, text in await broker.shelf.listing("person")]
    roles = {id for id, _ in await broker.shelf.listing("role")}
    return [one for one in names if one.id not in roles and one.id != OWNER.id]
