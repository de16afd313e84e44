"""Routes of secrets: give one to a request, by login or by a single-use ticket; list and drop what the vault keeps.

A value comes in here and nowhere else; no answer, log or problem repeats it. Source: C126 to C128.
"""

from __future__ import annotations

from fastapi import APIRouter, Request
from pydantic import BaseModel, ConfigDict, Field, SecretStr

from adapters.web.body import JsonRoute
from adapters.web.conversations import Key, Parts, known_id
from adapters.web.problems import Problem, refused, unknown
from adapters.web.security import Admin, known_to, lacking, stranger, where
from adapters.web.state import Web
from core.errors import StoreError
from core.life.decision import Refusal
from core.life.result import Answered
from core.model import Person
from core.safe import Gift, Kept, secret_fields

router = APIRouter(prefix="/v1", tags=["secrets"], route_class=JsonRoute)


class Ticket(BaseModel):
    """What stands behind `#` in a link; not needed by who is signed in."""

    model_config = ConfigDict(extra="forbid")

    ticket: str | None = Field(default=None, max_length=128)


class Giving(Ticket):
    """values: field → secret. stored: use what the vault keeps. store: keep it for the next time, where offered."""

    values: dict[str, SecretStr] = {}
    stored: bool = Field(default=False, strict=True)
    store: bool = Field(default=True, strict=True)
    submit: bool = Field(default=True, strict=True)


class FieldShape(BaseModel):
    """A field that asks for a secret. store: it can be kept; kept: the vault has one for this agent and person."""

    id: str
    label: str
    name: str
    store: bool
    kept: bool


class Look(BaseModel):
    """What is asked for, and by whom."""

    request: str
    state: str
    title: str
    message: str
    agent: str
    fields: list[FieldShape]
    whole: bool = Field(description="nothing but secrets is asked for, so giving them answers the request")


class Given(BaseModel):
    """What came of giving a secret."""

    request: str
    run: str
    settled: bool


class KeptShape(BaseModel):
    """A secret in the vault; its value is never shown."""

    id: str
    agent: str
    name: str
    since: int
    used: int | None = None


class KeptList(BaseModel):
    """What the vault keeps for the caller."""

    secrets: list[KeptShape]


async def _giver(web: Web, request: Request, id: str, ticket: str | None, *, use: bool) -> tuple[Person, str]:
    """Who gives: the ticket's person, or who is signed in and may answer; and where."""
    if ticket is not None:
        person = await (web.tickets.take if use else web.tickets.look)(ticket, id)
        if person is None:
            words = "this link does not count (any more): it works once, for a few minutes"
            raise Problem(403, "ticket", words, errors=[("ticket", "must be of a fresh link for this question")])
        return person, "chat"
    known = await known_to(web, request)
    if known is None:
        raise stranger()
    wrong = lacking(known, "answer")
    if wrong is not None:
        raise wrong
    return known.person, where(known)


@router.post("/requests/{id}/secret/look", summary="What secret is asked for")
async def look(id: str, request: Request, web: Parts, body: Ticket | None = None) -> Look:
    """Tell what a page needs to ask for a secret; it uses nothing up."""
    id = known_id(id, "request")
    person, _ = await _giver(web, request, id, body.ticket if body is not None else None, use=False)
    found = await web.broker.request(id, person)
    run = await web.broker.peek(found.run) if found is not None else None
    fields = secret_fields(found) if found is not None else ()
    if found is None or run is None or not fields:
        raise unknown("request")
    kept = {offer.id for offer in await web.broker.safe.offered(found, person)}
    shapes = [
        FieldShape(id=one.id, label=one.label or one.name, name=one.name, store=one.store, kept=one.id in kept)
        for one in fields
    ]
    question = found.question
    return Look(
        request=found.id,
        state=found.state,
        title=question.title,
        message=question.message,
        agent=run.agent,
        fields=shapes,
        whole=len(fields) == len(question.fields),
    )


@router.post("/requests/{id}/secret", summary="Give a secret; the first answer wins")
async def give(id: str, request: Request, web: Parts, key: Key, body: Giving | None = None) -> Given:
    """Seal what is given to the run that asked. A ticket is used up by this, and only by what is taken."""
    id, body = known_id(id, "request"), body or Giving()
    until = await web.tickets.until(body.ticket) if body.ticket is not None else 0
    person, via = await _giver(web, request, id, body.ticket, use=True)
    gift = Gift(id, person, via, body.values, body.stored, body.store, body.submit, key)
    try:
        result = await web.broker.safe.give(gift)
    except StoreError:
        await _back(web, id, body, person, until)
        raise
    if isinstance(result, Refusal):
        await _back(web, id, body, person, until)
        raise refused(result)
    return _given(result)


async def _back(web: Web, id: str, body: Giving, person: Person, until: int) -> None:
    if body.ticket is not None:
        await web.tickets.give_back(body.ticket, id, person, until)


def _given(result: Answered) -> Given:
    return Given(request=result.request, run=result.run, settled=result.settled)


@router.get("/vault", summary="The names of your stored secrets", response_model_exclude_none=True)
async def vault(web: Parts, who: Admin) -> KeptList:
    """List what the vault keeps for the caller; values are never shown."""
    return KeptList(secrets=[_kept(one) for one in await web.broker.safe.kept(who.person)])


@router.delete("/vault/{id}", summary="Drop a stored secret", status_code=204)
async def forget(id: str, web: Parts, who: Admin) -> None:
    """It is gone at once."""
    if not await web.broker.safe.forget(who.person, id):
        raise unknown("secret")


def _kept(one: Kept) -> KeptShape:
    return KeptShape(id=one.id, agent=one.agent, name=one.name, since=one.since_ms, used=one.used_ms)
