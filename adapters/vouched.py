"""Doors beside the doors: people whom a platform vouches for at a place, because of a role that they have there.

A role counts only in places with several people, and only where the platform told of it; it is told again with every
event. One that was taken away ends with the next event of who had it, in each thread of the chat, before that event has
any effect; where the platform tells of it by itself, at once. Nothing is stored but the list of people of the place.
Source: C07, C08.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from typing import Literal

from adapters.doors import Doors
from adapters.outcomes import Notice
from core.model import Person

Role = Literal["owner", "approver", "member"]
Bind = Callable[[str, tuple[str, ...]], Awaitable[None]]


class Vouched:
    """Doors that also let in whom the platform vouches for. bind: makes a list of people count at a place at once."""

    def __init__(self, doors: Doors, bind: Bind) -> None:
        self._doors = doors
        self._bind = bind
        self._roles: dict[tuple[str, str], Role] = {}
        self._people: dict[str, dict[str, str]] = {}
        self._told: dict[str, tuple[str, ...]] = {}
        self._chats: set[str] = set()
        self._stale: set[str] = set()

    def vouch(self, place: str, person: Person, role: Role | None) -> None:
        """Say which role somebody has at a place now; None for none."""
        at = _chat(place)
        self._chats.add(at)
        if role is not None:
            self._roles[at, person.id] = role
        elif self._roles.pop((at, person.id), None) is not None:
            self._people.get(at, {}).pop(person.id, None)
            self._stale.update(told for told in self._told if _chat(told) == at)

    async def changed(self, chats: Iterable[str], person: Person, role: Role | None) -> None:
        """Say which role somebody has in these chats now, beside anything that they do; what ended ends at once."""
        for chat in self._chats.intersection(chats):
            self.vouch(chat, person, role)
            await self._recount(chat)

    async def admit(self, person: Person, place: str, private: bool) -> Person | Notice:
        """Tell who an account is to us; who is not known but vouched for is who the platform says."""
        found = await self._doors.admit(person, place, private)
        at = _chat(place)
        if private or at not in self._chats:
            return found
        role = self._roles.get((at, person.id))
        who = person.changed(role=role) if role is not None and isinstance(found, Notice) else found
        if role is not None and not isinstance(who, Notice):
            self._people.setdefault(at, {})[person.id] = who.id
        await self._recount(at)
        if not isinstance(who, Notice):
            await self._count(place)
        return who

    async def _recount(self, at: str) -> None:
        for stale in [one for one in self._stale if _chat(one) == at]:
            await self._count(stale)

    async def _count(self, place: str) -> None:
        """Make the list of a place count, also against one that was stored before we began."""
        people = await self.people(place)
        if self._told.get(place) != people:
            await self._bind(place, people)
            self._told[place] = people
        self._stale.discard(place)

    async def people(self, place: str) -> tuple[str, ...]:
        """List who may talk at a place: the list it has, and those vouched for."""
        vouched = self._people.get(_chat(place), {}).values()
        return tuple(dict.fromkeys((*await self._doors.people(place), *vouched)))

    async def redeem(self, code: str, person: Person) -> Notice:
        """Link the account that shows a code to a person who is known."""
        return await self._doors.redeem(code, person)


def _chat(place: str) -> str:
    return place.partition(".")[0]
