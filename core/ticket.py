"""Tickets: single-use links with which a person gives a secret without being signed in.

    made for one request and one person ──▶ looked at, any number of times ──▶ used up by giving, or its time is over

The ticket stands behind `#` in its link, so that no server, log or preview of a chat gets to see it; only its SHA-256
is kept. This file must not know how a link is shown. Source: DESIGN sections 6 and 9, C126, C127.
"""

from __future__ import annotations

import hashlib
import secrets
import time
from collections.abc import Awaitable, Callable

from core.broker import Broker
from core.model import Person, Value
from core.safe import secret_fields


class Ticket(Value):
    """Lets one person answer one request, once."""

    request: str
    person: str
    until_ms: int


class Tickets:
    """Makes tickets and takes them in.

    current: tells who a person is now. public_url: where people reach the page; None: nowhere. life: seconds.
    """

    def __init__(
        self,
        broker: Broker,
        current: Callable[[str], Awaitable[Person | None]],
        *,
        public_url: str | None,
        life: float = 900.0,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._broker = broker
        self._current = current
        self._public_url = public_url
        self._life = life
        self._now = now

    async def link(self, request: str, person: Person) -> str | None:
        """The address at which a person gives the secret that a request asks for; None when there is no public one.

        Only in a one-to-one place it lets in whoever has it; where several people read along, it asks for a login.
        """
        found = await self._broker.request(request, person)
        if self._public_url is None or found is None or found.state != "open" or not secret_fields(found):
            return None
        place = await self._broker.conversation(found.conversation, person)
        page = f"{self._public_url}/secret/{found.id}"
        if place is None or not place.private:
            return page
        return f"{page}#{await self.make(found.id, person)}"

    async def make(self, request: str, person: Person) -> str:
        """Make a ticket; its text is kept nowhere."""
        code = secrets.token_urlsafe(24)
        ticket = Ticket(request=request, person=person.id, until_ms=int((self._now() + self._life) * 1000))
        await self._broker.shelf.keep("ticket", _mark(code), ticket.model_dump_json(), self._life)
        return code

    async def look(self, code: str, request: str) -> Person | None:
        """Whom a ticket lets answer this request; nothing is used up."""
        text = await self._broker.shelf.fetch("ticket", _mark(code))
        return None if text is None else await self._person(text, request)

    async def take(self, code: str, request: str) -> Person | None:
        """Use a ticket up; of two that bring the same one, one gets it."""
        if await self.look(code, request) is None:
            return None
        text = await self._broker.shelf.take("ticket", _mark(code))
        return None if text is None else await self._person(text, request)

    async def until(self, code: str) -> int:
        """When a ticket's time is over, in milliseconds; 0 for one that does not count."""
        text = await self._broker.shelf.fetch("ticket", _mark(code))
        return 0 if text is None else Ticket.model_validate_json(text).until_ms

    async def give_back(self, code: str, request: str, person: Person, until_ms: int) -> None:
        """Let a ticket count again that was used for nothing, for the time that it had left."""
        left = until_ms / 1000 - self._now()
        if left > 0:
            ticket = Ticket(request=request, person=person.id, until_ms=until_ms)
            await self._broker.shelf.keep("ticket", _mark(code), ticket.model_dump_json(), left)

    async def _person(self, text: str, request: str) -> Person | None:
        ticket = Ticket.model_validate_json(text)
        if ticket.request != request or self._now() * 1000 > ticket.until_ms:
            return None
        return await self._current(ticket.person)


def _mark(code: str) -> str:
    return hashlib.sha256(code.encode("utf-8", "surrogateescape")).hexdigest()
