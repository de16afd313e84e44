"""Routes of people, for owners: invite, rename, change roles, remove, sign out, pair chat accounts, bind groups."""

from __future__ import annotations

from typing import Annotated, TypeAlias

from fastapi import APIRouter, Depends, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from adapters.web.body import JsonRoute
from adapters.web.conversations import Parts
from adapters.web.problems import Problem, invalid, refused, unknown
from adapters.web.security import Admin, where
from adapters.web.session import Code, hurried, let_in
from adapters.web.state import Web
from adapters.web.wire import PersonShape
from core.accounts import Known
from core.life.decision import Refusal
from core.model import Person
from core.pairing import Locked, Paired, Wrong
from core.people import IDENTITY, PLACE, Role

router = APIRouter(prefix="/v1", tags=["people"], route_class=JsonRoute)


async def owner(who: Admin) -> Known:
    """Only an owner looks after people, emergencies, the record and health."""
    if who.person.role != "owner":
        raise Problem(403, "role", "only an owner may do this", errors=[("Authorization", "must be of an owner")])
    return who


Owner: TypeAlias = Annotated[Known, Depends(owner)]


class Member(PersonShape):
    """A person as they are listed. since: ms; you: the caller."""

    since: int
    identities: list[str]
    you: bool = False


class InvitationShape(BaseModel):
    """An invitation that still counts. link: told once, when it is made."""

    id: str
    name: str
    role: Role
    until: int
    link: str | None = None


class WaitingShape(BaseModel):
    """A chat account that shows a code, and waits for somebody to enter it."""

    identity: str
    name: str
    until: int


class GroupShape(BaseModel):
    """A place with several people. people: ids of those who may talk there; bound: false when nobody was chosen yet."""

    place: str
    people: list[str]
    bound: bool = True


class Everybody(BaseModel):
    """People, and all that waits for an owner about them."""

    people: list[Member]
    invitations: list[InvitationShape]
    waiting: list[WaitingShape]
    groups: list[GroupShape]
    warnings: list[str]


class NewInvitation(BaseModel):
    """Whom to invite."""

    model_config = ConfigDict(extra="forbid")

    name: str = Field(min_length=1, max_length=60)
    role: Role = "member"


class Change(BaseModel):
    """What to change about a person."""

    model_config = ConfigDict(extra="forbid")

    name: str | None = Field(default=None, min_length=1, max_length=60)
    role: Role | None = None


class Entered(BaseModel):
    """A code that a chat account shows, and the person it belongs to."""

    model_config = ConfigDict(extra="forbid")

    code: str = Field(min_length=1, max_length=32)
    person: str


class PairedShape(BaseModel):
    """A chat account that is linked now."""

    identity: str
    name: str
    person: PersonShape


class Ended(BaseModel):
    """How many browsers were signed out."""

    sessions: int


@router.get("/people", summary="Everybody, and what waits about them", response_model_exclude_none=True)
async def everybody(web: Parts, who: Owner) -> Everybody:
    """List people, invitations, accounts that wait, and groups."""
    people = web.people
    return Everybody(
        people=[
            Member(
                id=one.person.id,
                name=one.person.name,
                role=one.person.role,
                since=one.since_ms,
                identities=list(one.identities),
                you=one.person.id == who.person.id,
            )
            for one in await people.all()
        ],
        invitations=[
            InvitationShape(id=one.id, name=one.name, role=one.role, until=one.until_ms)
            for one in await people.invitations()
        ],
        waiting=[
            WaitingShape(identity=one.identity, name=one.name, until=one.until_ms) for one in await people.waiting()
        ],
        groups=[GroupShape(place=one.place, people=list(one.people), bound=one.bound) for one in await people.groups()],
        warnings=await people.warnings(),
    )


@router.post("/invitations", summary="Invite somebody", status_code=201)
async def invite(body: NewInvitation, request: Request, web: Parts, who: Owner) -> InvitationShape:
    """Make a link that lets somebody in as a new person, once, for a day."""
    found = await web.people.by(who.person, where(who)).invite(body.name, body.role, who.person.id)
    if isinstance(found, Refusal):
        raise refused(found)
    code, made = found
    place = web.options.public_url or str(request.base_url).rstrip("/")
    return InvitationShape(
        id=made.id, name=made.name, role=made.role, until=made.until_ms, link=f"{place}/invite#{code}"
    )


@router.delete("/invitations/{id}", summary="Take an invitation back", status_code=204)
async def uninvite(id: str, web: Parts, who: Owner) -> None:
    """It lets nobody in any more."""
    if not await web.people.by(who.person, where(who)).uninvite(id):
        raise unknown("invitation")


@router.post("/invitations/accept", summary="Come in by an invitation", status_code=204)
async def accept(body: Code, request: Request, response: Response, web: Parts) -> None:
    """Become a person here, and be signed in; an invitation works once."""
    hurried(request)
    person = await web.people.accept(body.code)
    if isinstance(person, Refusal):
        code = {"ended": "used", "expired": "expired"}.get(person.code, "unknown")
        raise Problem(403, code, person.text, errors=[("code", "must be of a fresh invitation")])
    secret, _ = await web.accounts.sign_in(person)
    let_in(web, request, response, secret)


@router.patch("/people/{id}", summary="Rename somebody, or change their role")
async def change(id: str, body: Change, web: Parts, who: Owner) -> PersonShape:
    """It counts from their next press on, on every surface."""
    person: Person | Refusal | None = await web.people.person(id)
    if person is None:
        raise unknown("person")
    if body.role is not None and body.role != person.role:
        person = await web.people.by(who.person, where(who)).change_role(id, body.role)
    if isinstance(person, Person) and body.name is not None:
        person = await web.people.rename(id, body.name)
    if isinstance(person, Refusal):
        raise refused(person)
    return PersonShape(id=person.id, name=person.name, role=person.role)


@router.delete("/people/{id}", summary="Remove somebody")
async def remove(id: str, web: Parts, who: Owner) -> Ended:
    """Take their rights on every surface, sign them out everywhere, take their tokens back."""
    person = await web.people.by(who.person, where(who)).remove(id)
    if isinstance(person, Refusal):
        raise unknown("person") if person.code == "unknown" else refused(person)
    return Ended(sessions=await signed_out(web, person, tokens=True))


@router.post("/people/{id}/sign-out", summary="Sign somebody out everywhere")
async def sign_out(id: str, web: Parts, who: Owner) -> Ended:
    """End every browser session of theirs; API tokens stay."""
    person = await web.people.person(id)
    if person is None:
        raise unknown("person")
    return Ended(sessions=await signed_out(web, person, tokens=False))


async def signed_out(web: Web, person: Person, *, tokens: bool) -> int:
    """End every browser session of somebody, and take their tokens back; returns how many sessions ended."""
    ended = await web.accounts.sign_out_everywhere(person)
    for token in await web.accounts.tokens(person) if tokens else ():
        await web.accounts.revoke(person, token.id)
    await web.hub.look_at_credentials()
    return ended


@router.post("/pairings", summary="Link the chat account that shows a code")
async def pair(body: Entered, web: Parts, who: Owner) -> PairedShape:
    """Link it to a person; a code works once, five wrong ones lock this for an hour."""
    match await web.people.by(who.person, where(who)).pair(body.code, body.person):
        case Paired() as paired:
            person = PersonShape(id=paired.person.id, name=paired.person.name, role=paired.person.role)
            return PairedShape(identity=paired.identity, name=paired.name, person=person)
        case Wrong(left=left):
            words = "no account shows this code (any more): codes count for an hour, and once"
            raise Problem(
                403,
                "code",
                words,
                errors=[("code", f"must be shown by an account; {left} more tries")],
            )
        case Locked():
            words = "too many wrong codes: for an hour none is taken"
            raise Problem(429, "too_many", words, errors=[("code", "five wrong ones lock this for an hour")])
        case Refusal():
            raise unknown("person", "person")


@router.delete("/identities/{identity}", summary="Unlink a chat account", status_code=204)
async def unpair(identity: str, web: Parts, who: Owner) -> None:
    """It is a stranger's again, at once."""
    if not IDENTITY.fullmatch(identity) or not await web.people.by(who.person, where(who)).unpair(identity):
        raise unknown("account", "identity")


@router.put("/groups", summary="Say who may talk to the agent in a group")
async def bind(body: GroupShape, web: Parts, who: Owner) -> GroupShape:
    """Bind a list of people to a place; an empty one means nobody."""
    if not PLACE.fullmatch(body.place):
        raise invalid("place", "must be the origin of a group, such as tg--1001234567890")
    group = await web.people.by(who.person, where(who)).bind(body.place, body.people)
    if isinstance(group, Refusal):
        raise refused(group)
    return GroupShape(place=group.place, people=list(group.people), bound=True)


@router.delete("/groups/{place}", summary="Forget a group", status_code=204)
async def unbind(place: str, web: Parts, who: Owner) -> None:
    """Nobody may talk to the agent there any more."""
    if not PLACE.fullmatch(place) or not await web.people.by(who.person, where(who)).unbind(place):
        raise unknown("group", "place")
