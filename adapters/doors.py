"""Who comes in by a chat platform: accounts that are linked to a person, and in groups those who were bound to them.

A stranger learns in a private chat how to be linked; in a group nothing is said to them. It knows no platform.
Source: C07, C08.
"""

from __future__ import annotations

from typing import Protocol

from adapters.outcomes import Notice
from core.life.decision import Refusal
from core.model import Person
from core.pairing import Locked, Paired, TooMany, Wrong
from core.people import People


class Doors(Protocol):
    """Who may come in: accounts that were paired, the lists of people of groups."""

    async def admit(self, person: Person, place: str, private: bool) -> Person | Notice:
        """Tell who an account is to us, or what to say to a stranger (how to be let in)."""
        ...

    async def people(self, place: str) -> tuple[str, ...]:
        """List the ids of those who may talk to the agent in a group; empty means nobody."""
        ...

    async def redeem(self, code: str, person: Person) -> Notice:
        """Link the account that shows a code to a person who is known."""
        ...


class Open:
    """Doors for a platform that lets in only whom it knows (a terminal of the owner, a test)."""

    def __init__(self, people: tuple[str, ...] = ()) -> None:
        self._people = people

    async def admit(self, person: Person, place: str, private: bool) -> Person | Notice:
        """Let everybody in as who they are."""
        return person

    async def people(self, place: str) -> tuple[str, ...]:
        """The same list for every group."""
        return self._people

    async def redeem(self, code: str, person: Person) -> Notice:
        """There is nothing to link."""
        return Notice(text="Nobody has to be linked here.")


class Linked:
    """Doors that let in whom `People` knows; the shape of `adapters.desk.Doors`."""

    def __init__(self, people: People) -> None:
        self._people = people

    async def admit(self, person: Person, place: str, private: bool) -> Person | Notice:
        """Tell who an account (`tg:42`) is; a stranger gets a code in a private chat, and is turned away in a group."""
        known = await self._people.who(person.id, person.name)
        if known is not None:
            return known
        if not private:
            return Notice(text="You are not known here: write to me in a private chat.", alert=True)
        match await self._people.pairing(person.id, person.name, place):
            case Locked():
                return Notice(text="Too many wrong codes were entered: try again in an hour.", alert=True)
            case TooMany():
                return Notice(text="Too many accounts wait to be linked: try again later.", alert=True)
            case code:
                words = f"I do not know you yet. Your code is {code}: enter it on the dashboard, or with “sayso pair”."
                return Notice(text=words)

    async def people(self, place: str) -> tuple[str, ...]:
        """List who may talk to the agent in a group."""
        return await self._people.group(place)

    async def redeem(self, code: str, person: Person) -> Notice:
        """Link the account that shows a code to a person who is known."""
        match await self._people.pair(code, person.id):
            case Paired() as paired:
                return Notice(text=f"Linked: {paired.name or paired.identity} is you from now on.")
            case Wrong(left=left):
                return Notice(text=f"No account shows this code (any more). Tries left: {left}.", alert=True)
            case Locked():
                return Notice(text="Too many wrong codes were entered: try again in an hour.", alert=True)
            case Refusal() as no:
                return Notice(text=no.text[:1].upper() + no.text[1:], alert=True)


def unbound(group: str) -> Notice:
    """Say in a group that nobody may talk there yet, and how that is changed; for everybody to read, but only once."""
    how = f"on the dashboard under People, or “sayso group {group} NAME”"
    words = f"Nobody may talk to me here yet. An owner says who may: {how}."
    return Notice(text=words, private=False, alert=True)
