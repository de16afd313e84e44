"""What ends when somebody is removed: their runs, at work or waiting, so that nothing acts for a person who is gone.

It decides nothing: each stop is an event of `core.life`, with a cause of its own; questions close, what could be
resumed is discarded. Their conversations stay until their time is over, and nobody sees them.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator

from core.broker import Broker
from core.life import run as life
from core.life.decision import Ref, Refusal
from core.life.event import Stop
from core.life.turn import effects_of
from core.looks import unsettled
from core.model import Conversation, Person, Run

_log = logging.getLogger(__name__)
MANY = 1_000_000
AT_ONCE = 100


async def end_runs(broker: Broker, person: Person) -> int:
    """Cancel every run that a person started, in whosever conversation; returns how many are stopped, or stopping."""
    stopped = 0
    told: set[str] = set()
    async for found in _unsettled(broker):
        at = broker.store.partition(found.id)
        if at is None or found.starter.id != person.id or found.id in told:
            continue
        told.add(found.id)
        steps = [step for _, step in await broker.steps(found.root)] if found.turn is None else None
        effects = effects_of(steps) if steps is not None else None
        result = await broker.committer.carry(life.stop, Stop(found.id, "owner_removed", effects=effects), at)
        if isinstance(result, Refusal):
            _log.info("run %s of a removed person was not stopped: %s", found.id, result.text)
        else:
            stopped += 1
    return stopped


async def _unsettled(broker: Broker) -> AsyncIterator[Run]:
    """The runs of everybody that are not at their end, however many conversations there are; some of them twice."""
    for partition in range(len(broker.store.keys)):
        for whose in await broker.store.waited_for(partition):
            places = [id for id, _ in await broker.store.due(partition, "pending", of=whose, limit=MANY)]
            for begin in range(0, len(places), AT_ONCE):
                refs: list[Ref] = [("conversation", id) for id in places[begin : begin + AT_ONCE]]
                for stored in (await broker.store.read(partition, refs)).values():
                    for id in unsettled(stored.model) if isinstance(stored.model, Conversation) else ():
                        found = await broker.peek(id)
                        if found is not None:
                            yield found
