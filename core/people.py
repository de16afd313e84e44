"""Who people are: names, roles, invitations, linked chat accounts, and who may talk at a place with several people.

A person has one id on every surface (`web:ann-7k2m`); a chat account (`tg:42`) is linked to it. Ids are never given
twice, so nobody inherits what somebody before them owned. Everything is read when it is used, so that a removal counts
at once; a role stands apart from the name, so that two changes at a time cannot bring an older role back.
This file must not know how somebody shows who they are (`accounts.py`, `pairing.py`).
"""

from __future__ import annotations

import hashlib
import re
import secrets
import time
from collections.abc import Callable, Iterable
from copy import copy
from typing import Literal

from pydantic import TypeAdapter, ValidationError

from core.broker import Broker
from core.deed import Deed, DeedKind
from core.life.decision import Refusal
from core.model import ALPHABET, Person, Value
from core.pairing import Locked, Paired, Pairing, Pending, TooMany, Wrong
from core.parting import end_runs

Role = Literal["owner", "approver", "member"]
ROLES: tuple[Role, ...] = ("owner", "approver", "member")
ROLE: TypeAdapter[Role] = TypeAdapter(Role)
LIST: TypeAdapter[tuple[str, ...]] = TypeAdapter(tuple[str, ...])
OWNER = Person(id="web:owner", name="owner", role="owner")
INVITED_S = 86_400.0
SEEN_S = 7 * 86_400.0
"""seconds for which a place where the bot was spoken to is offered for binding"""
MOST_SEEN = 100
LONGEST_NAME = 60
IDENTITY = re.compile(r"[a-z]{2,12}:[\x21-\x7e]{1,80}")
PLACE = re.compile(r"[a-z]{2,12}-[\x21-\x7e]{1,80}")
UNKNOWN = Refusal("unknown", "there is no such person; the list of people names those there are")


class Named(Value):
    """What is kept of a person besides their role."""

    id: str
    name: str
    since_ms: int
    by: str = ""


class Member(Value):
    """A person, and the chat accounts that are linked to them."""

    person: Person
    since_ms: int = 0
    identities: tuple[str, ...] = ()


class Invitation(Value):
    """A link that makes somebody a person here, once. id: names it for people, lets nobody in."""

    id: str
    name: str
    role: Role
    by: str
    until_ms: int
    used: bool = False


class Group(Value):
    """A place with several people, and the ids of those who may talk to the agent there; empty means nobody."""

    place: str
    people: tuple[str, ...] = ()
    bound: bool = True


class People:
    """The people of this gateway. now: seconds since 1970."""

    def __init__(self, broker: Broker, *, now: Callable[[], float] = time.time) -> None:
        self._broker = broker
        self._shelf = broker.shelf
        self._now = now
        self._pairing = Pairing(broker.shelf, now=now)
        self._topics: set[str] = set()
        self._by = ""
        self._where: str | None = None

    def by(self, person: Person, where: str) -> People:
        """The same people, for somebody who decides about them: it stands on record under their name."""
        made = copy(self)
        made._by, made._where = person.id, where
        return made

    def _deed(
        self, kind: DeedKind, whom: str, *, role: str | None = None, by: str = "", reason: str | None = None
    ) -> Deed:
        at, who = int(self._now() * 1000), by or self._by
        return Deed(kind=kind, at=at, by=who, where=self._where, whom=whom, role=role, reason=reason)

    # ── persons ──────────────────────────────────────────────────────────────────────────────────────────────────────

    async def person(self, id: str) -> Person | None:
        """The person with an id, as they are now; None when there is none (any more)."""
        text, role = await self._shelf.fetch("person", id), await self._shelf.fetch("role", id)
        if id == OWNER.id:
            return OWNER if text is None else OWNER.changed(name=Named.model_validate_json(text).name)
        try:
            return None if text is None else _person(Named.model_validate_json(text), ROLE.validate_python(role))
        except ValidationError:
            return None

    async def find(self, name: str) -> Person | None:
        """The person with an id or a name, in any case."""
        wanted = name.strip().casefold()
        if not wanted:
            return await self.person(OWNER.id)
        found = [one.person for one in await self.all() if wanted in (one.person.id, one.person.name.casefold())]
        return found[0] if found else await self.person(OWNER.id) if wanted == "owner" else None

    async def all(self) -> list[Member]:
        """List everybody, the owner first, then by time."""
        names = [Named.model_validate_json(text) for _, text in await self._shelf.listing("person")]
        roles = dict(await self._shelf.listing("role"))
        linked: dict[str, list[str]] = {}
        for identity, id in await self._shelf.listing("identity"):
            linked.setdefault(id, []).append(identity)
        owner = next((one for one in names if one.id == OWNER.id), Named(id=OWNER.id, name=OWNER.name, since_ms=0))
        kept = [(owner, "owner"), *((one, roles[one.id]) for one in names if one.id in roles and one.id != OWNER.id)]
        made = [
            Member(
                person=_person(one, ROLE.validate_python(role)),
                since_ms=one.since_ms,
                identities=tuple(sorted(linked.get(one.id, ()))),
            )
            for one, role in kept
        ]
        return [made[0], *sorted(made[1:], key=lambda one: (one.since_ms, one.person.id))]

    async def add(self, name: str, role: Role, by: str = "") -> Person | Refusal:
        """Make a person. Nobody else may have the name."""
        bad = await self._bad_name(name)
        if bad is not None:
            return bad
        name = " ".join(name.split())
        plain = re.sub(r"[^a-z0-9]+", "-", name.casefold()).strip("-")[:24] or "person"
        id = f"web:{plain}-" + "".join(secrets.choice(ALPHABET) for _ in range(4))
        named = Named(id=id, name=name, since_ms=int(self._now() * 1000), by=by)
        if not await self._shelf.first("person", id, named.model_dump_json()):
            return await self.add(name, role, by)
        deed = self._deed("join", id, role=role, by=by)
        await self._shelf.keep("role", id, role, deed=deed)
        return _person(named, role)

    async def rename(self, id: str, name: str) -> Person | Refusal:
        """Give somebody another name; their id stays."""
        person = await self.person(id)
        if person is None:
            return UNKNOWN
        bad = await self._bad_name(name, but=id)
        if bad is not None:
            return bad
        text = await self._shelf.fetch("person", id)
        before = Named.model_validate_json(text) if text is not None else Named(id=id, name=person.name, since_ms=0)
        await self._shelf.keep("person", id, before.changed(name=" ".join(name.split())).model_dump_json())
        return person.changed(name=" ".join(name.split()))

    async def change_role(self, id: str, role: Role) -> Person | Refusal:
        """Give somebody another role; it counts from their next press on, everywhere."""
        person = await self.person(id)
        if person is None:
            return UNKNOWN
        if id == OWNER.id:
            return Refusal("not_allowed", "the first owner stays owner, so that there is always one")
        await self._shelf.keep("role", id, role, deed=self._deed("role", id, role=role))
        return person.changed(role=role)

    async def remove(self, id: str) -> Person | Refusal:
        """Take somebody's rights on every surface, and cancel their runs.

        Their conversations stay until their time is over, and are nobody's.
        """
        text = await self._shelf.fetch("person", id)
        if id == OWNER.id:
            return Refusal("not_allowed", "the first owner stays, so that there is always one")
        if text is None:
            return UNKNOWN
        person = await self.person(id) or _person(Named.model_validate_json(text), "member")
        await self._shelf.drop("role", id, deed=self._deed("remove", id))
        for identity, other in await self._shelf.listing("identity"):
            if other == id:
                await self._shelf.drop("identity", identity)
        known = {one.person.id for one in await self.all()}  # others may be half removed, too
        for group in await self.groups():
            if id in group.people:
                await self.bind(group.place, (one for one in group.people if one in known))
        await end_runs(self._broker, person)
        await self._shelf.drop("person", id)  # last, so that what was interrupted can be said again
        return person

    async def _bad_name(self, name: str, but: str | None = None) -> Refusal | None:
        plain = " ".join(name.split())
        if not plain or len(plain) > LONGEST_NAME or not plain.isprintable():
            rule = f"must have 1 to {LONGEST_NAME} visible characters"
            return Refusal("invalid", f"'name': {rule}", {"field": "name", "rule": rule})
        found = await self.find(plain)
        if found is not None and found.id != but:
            rule = f"there is somebody called {plain!r} already"
            return Refusal("invalid", f"'name': {rule}", {"field": "name", "rule": rule})
        return None

    # ── invitations ──────────────────────────────────────────────────────────────────────────────────────────────────

    async def invite(self, name: str, role: Role, by: str) -> tuple[str, Invitation] | Refusal:
        """Make a code that lets somebody in as a new person, once, for a day; it is kept nowhere."""
        bad = await self._bad_name(name)
        if bad is not None:
            return bad
        code = secrets.token_urlsafe(24)
        mark = _mark(code)
        until = int((self._now() + INVITED_S) * 1000)
        invitation = Invitation(id=mark[:12], name=" ".join(name.split()), role=role, by=by, until_ms=until)
        deed = self._deed("invite", invitation.name, role=role, by=by)
        await self._shelf.keep("invite", mark, invitation.model_dump_json(), 2 * INVITED_S, deed=deed)
        return code, invitation

    async def invitations(self) -> list[Invitation]:
        """List the invitations that still count."""
        found = [Invitation.model_validate_json(text) for _, text in await self._shelf.listing("invite")]
        return [one for one in found if not one.used and one.until_ms > self._now() * 1000]

    async def uninvite(self, id: str) -> bool:
        """Take an invitation back."""
        for mark, text in await self._shelf.listing("invite"):
            invitation = Invitation.model_validate_json(text)
            if invitation.id == id:
                return await self._shelf.drop("invite", mark, deed=self._deed("uninvite", invitation.name))
        return False

    async def accept(self, code: str) -> Person | Refusal:
        """Trade an invitation for a new person; of two that bring the same code one gets it."""
        mark = _mark(code)
        text = await self._shelf.take("invite", mark)
        invitation = Invitation.model_validate_json(text) if text is not None else None
        if invitation is None:
            return Refusal("unknown", "this invitation is not known; ask for a new one")
        await self._shelf.keep("invite", mark, invitation.changed(used=True).model_dump_json(), INVITED_S)
        if invitation.used:
            return Refusal("ended", "this invitation was used already; ask for a new one")
        if self._now() * 1000 > invitation.until_ms:
            return Refusal("expired", "this invitation is too old; ask for a new one")
        return await self.add(invitation.name, invitation.role, invitation.by)

    # ── chat accounts ────────────────────────────────────────────────────────────────────────────────────────────────

    async def who(self, identity: str, name: str = "") -> Person | None:
        """The person to whom a chat account (`tg:42`) is linked; None for a stranger."""
        id = await self._shelf.fetch("identity", identity)
        return await self.person(id) if id is not None else None

    async def account(self, id: str, platform: str) -> str | None:
        """The account that a person has on a platform (`tg`), if one is linked; an account is its own."""
        if id.startswith(f"{platform}:"):
            return id
        linked = [identity for identity, other in await self._shelf.listing("identity") if other == id]
        return next((one for one in sorted(linked) if one.startswith(f"{platform}:")), None)

    async def pairing(self, identity: str, name: str, place: str) -> str | Locked | TooMany:
        """Give a stranger's account a code to be linked with; only to be shown in a private place."""
        return await self._pairing.code(identity, name, place)

    async def waiting(self) -> list[Pending]:
        """List the accounts that have a code and wait for somebody to enter it."""
        return await self._pairing.waiting()

    async def pair(self, code: str, id: str) -> Paired | Wrong | Locked | Refusal:
        """Link the account that shows a code to a person."""
        person = await self.person(id)
        if person is None:
            return UNKNOWN
        found = await self._pairing.redeem(code)
        if isinstance(found, Pending):
            deed = self._deed("pair", person.id, reason=found.identity)
            await self._shelf.keep("identity", found.identity, person.id, deed=deed)
            return Paired(person=person, identity=found.identity, name=found.name, place=found.place)
        return found

    async def unpair(self, identity: str) -> bool:
        """Make an account a stranger's again, at once."""
        return await self._shelf.drop("identity", identity, deed=self._deed("unpair", identity))

    # ── places with several people ───────────────────────────────────────────────────────────────────────────────────

    async def group(self, place: str) -> tuple[str, ...]:
        """The ids of those who may talk at a place; a topic has the list of its place, unless it has its own."""
        for name in _upwards(place):
            text = await self._shelf.fetch("group", name)
            if text is not None:
                group = Group.model_validate_json(text)
                if name != place and place not in self._topics:
                    await self._shelf.keep("topic", place, name)
                    self._topics.add(place)
                return group.people
        if len(await self._shelf.listing("group")) < MOST_SEEN:
            await self._shelf.first("group", place, Group(place=place, bound=False).model_dump_json(), SEEN_S)
        return ()

    async def groups(self) -> list[Group]:
        """List the places that have a list, and those where the bot was spoken to and nobody may talk yet."""
        found = [Group.model_validate_json(text) for _, text in await self._shelf.listing("group")]
        return sorted(found, key=lambda one: one.place)

    async def bind(self, place: str, people: Iterable[str]) -> Group | Refusal:
        """Say who may talk at a place; it counts at once, also for what is open there."""
        ids = tuple(dict.fromkeys(people))
        known = {one.person.id for one in await self.all()}
        if strangers := [id for id in ids if id not in known]:
            return Refusal("invalid", f"'people': there is no {strangers[0]!r}", {"field": "people", "rule": "unknown"})
        group = Group(place=place, people=ids)
        deed = self._deed("bind", place, reason=", ".join(ids) or "nobody")
        await self._shelf.keep("group", place, group.model_dump_json(), deed=deed)
        below = [topic for topic, of in await self._shelf.listing("topic") if of == place]
        for origin in (place, *below):
            await self._broker.bind(origin, ids)
        return group

    async def unbind(self, place: str) -> bool:
        """Forget a place: nobody may talk there any more."""
        bound = await self.bind(place, ())
        return not isinstance(bound, Refusal) and await self._shelf.drop("group", place)

    async def warnings(self) -> list[str]:
        """What is set up in a way that nobody means, in words. Source: C08."""
        empty = [one.place for one in await self.groups() if one.bound and not one.people]
        return [f"group {place!r} lists no people, so nobody may talk to the agent there" for place in empty]


def _person(named: Named, role: Role) -> Person:
    return Person(id=named.id, name=named.name, role=role)


def _upwards(place: str) -> list[str]:
    parts = place.split(".")
    return [".".join(parts[:end]) for end in range(len(parts), 0, -1)]


def _mark(code: str) -> str:
    return hashlib.sha256(code.encode("utf-8", "surrogateescape")).hexdigest()
