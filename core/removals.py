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
    names = [Named.model_validate_json(text) for _, text in await broker.shelf.listing("person")]
    roles = {id for id, _ in await broker.shelf.listing("role")}
    late = now() * 1000 - COMING_MS
    left = [one.id for one in names if one.id not in roles and one.id != OWNER.id and one.since_ms < late]
    gone = [await people.remove(id) for id in left]
    return [one for one in gone if isinstance(one, Person)]
