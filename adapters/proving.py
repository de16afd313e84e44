"""A one-time code that a person writes with what they say: the proof of presence that restricted approvals ask for.

The code is the last word of `/approve ID CODE`, of a reply to the card, or all there is. It is used up by taking effect
and stays good when what was said was refused. It knows no platform. Source: DESIGN section 6 ("Restricted").
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Protocol

from core.broker import Broker
from core.life.decision import Refusal
from core.life.event import Said
from core.life.result import Result
from core.model import Person

CODE = re.compile(r"(?:^|\s)([a-z2-9]{4}-[a-z2-9]{4})\s*$", re.IGNORECASE)


class Proofs(Protocol):
    """Who checks codes."""

    async def prove(self, person: Person, code: str) -> bool:
        """Use up a person's code."""
        ...

    async def give_back(self, person: Person, code: str) -> None:
        """Make a code count again."""
        ...


async def said(broker: Broker, proofs: Proofs | None, event: Said) -> Result | Refusal:
    """A person said something, perhaps with a code.

    Raises: `StoreError`.
    """
    found = None if event.edited or proofs is None else CODE.search(event.text)
    if proofs is None or found is None or not await proofs.prove(event.person, found[1]):
        return await broker.said(event)
    result = await broker.said(replace(event, rights=event.rights | {"proof"}))
    if isinstance(result, Refusal):
        await proofs.give_back(event.person, found[1])
    return result
