"""What ends when somebody is removed: their runs, at work or waiting, so that nothing acts for a person who is gone.

It decides nothing: each stop is an event of `core.life`, with a cause of its own; questions close, what could be
resumed is discarded. Their conversations stay until their time is over, and nobody sees them.
"""

from __future__ import annotations

import logging

from core.broker import Broker
from core.life import run as life
from core.life.decision import Refusal
from core.life.event import Stop
from core.life.turn import effects_of
from core.looks import unsettled
from core.model import Person

_log = logging.getLogger(__name__)
MANY = 10_000


async def end_runs(broker: Broker, person: Person) -> int:
    """Cancel every run of a person; returns how many are stopped, or stopping. A second call finds the rest."""
    stopped = 0
    for conversation in await broker.conversations(person, limit=MANY):
        if conversation.owner.id != person.id:
            continue
        for id in unsettled(conversation):
            found = await broker.peek(id)
            at = broker.store.partition(id)
            if found is None or at is None:
                continue
            steps = [step for _, step in await broker.steps(found.root)] if found.turn is None else None
            effects = effects_of(steps) if steps is not None else None
            result = await broker.committer.carry(life.stop, Stop(id, "owner_removed", effects=effects), at)
            if isinstance(result, Refusal):
                _log.info("run %s of a removed person was not stopped: %s", id, result.text)
            else:
                stopped += 1
    return stopped
