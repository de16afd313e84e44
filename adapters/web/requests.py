"""Routes of requests: list, look, answer, give more time, abort; many answers at once."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Literal

from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict, Field

from adapters.web import wire
from adapters.web.body import JsonRoute
from adapters.web.conversations import Key, Parts, file_of, known_id
from adapters.web.problems import Problem, invalid, refused, unknown
from adapters.web.security import Answerer, Reader, where
from adapters.web.state import Web
from adapters.web.wire import CardShape
from core.accounts import Known
from core.files import told_of
from core.life.card import Reshow
from core.life.check import LONGEST_REASON
from core.life.copying import Copy
from core.life.decision import Refusal
from core.life.event import Reply
from core.life.handing import MOST
from core.life.result import Answered, Copied, Extended, Stopped
from core.model import Json
from core.question import Accepted, Declined, Handed

router = APIRouter(prefix="/v1/requests", tags=["requests"], route_class=JsonRoute)


class AnswerBody(BaseModel):
    """An answer. values: field → value (a confirm field's is one of its option ids, a file field's a list of file ids).

    submit: false stores values of a form without settling it. code: the one-time code that a restricted request needs.
    """

    model_config = ConfigDict(extra="forbid")

    outcome: Literal["accepted", "declined"]
    values: dict[str, Json] = {}
    arguments: dict[str, Json] | None = Field(default=None, description="changed arguments, where it has `edit_schema`")
    submit: bool = Field(default=True, strict=True)
    reason: str | None = Field(default=None, max_length=LONGEST_REASON)
    code: str | None = Field(default=None, max_length=64)


class OneOfMany(AnswerBody):
    """An answer of a batch: to which request, and its own key."""

    request: str
    key: str | None = Field(default=None, pattern=r"^[\x21-\x7e]{1,128}$")


class Batch(BaseModel):
    """Answers to several requests; each has a result of its own."""

    model_config = ConfigDict(extra="forbid")

    answers: list[OneOfMany] = Field(min_length=1, max_length=100)


class Outcome(BaseModel):
    """What came of one answer of a batch: `answered`, or the `problem`."""

    request: str
    status: int
    answered: Answered | None = None
    problem: dict[str, Json] | None = None


class Outcomes(BaseModel):
    """What came of each, in order."""

    results: list[Outcome]


class MoreTime(BaseModel):
    """Seconds from now."""

    model_config = ConfigDict(extra="forbid")

    seconds: float = Field(gt=0, le=366 * 86_400, allow_inf_nan=False, strict=True)


class Places(BaseModel):
    """Places of chats."""

    model_config = ConfigDict(extra="forbid")

    origins: list[str] = Field(min_length=1, max_length=20)


class Cards(BaseModel):
    """Requests."""

    requests: list[CardShape]


def reply_of(id: str, body: AnswerBody, who: Known, key: str | None) -> Reply:
    """An answer as the rules take it."""
    if body.outcome == "declined":
        for field in ("values", "arguments"):
            if getattr(body, field):
                raise invalid(field, "goes with the outcome 'accepted' only")
        return Reply(id, Declined(reason=body.reason), who.person, where(who), key)
    if body.reason is not None:
        raise invalid("reason", "goes with the outcome 'declined' only")
    answer = Accepted(values=body.values, arguments=body.arguments)
    return Reply(id, answer, who.person, where(who), key, body.submit)


@router.get("", summary="Your open requests", response_model_exclude_none=True)
async def requests(
    web: Parts,
    who: Reader,
    state: Annotated[Literal["open"], Query(description="`open`: those that wait for an answer")] = "open",
    conversation: str | None = None,
) -> Cards:
    """List the caller's open requests, the oldest first."""
    assert state == "open", state
    found = (await web.broker.pending(who.person)).requests
    only = None if conversation is None else known_id(conversation, "conversation", "conversation")
    return Cards(requests=wire.cards(one for one in found if only is None or one.conversation == only))


@router.post("/answers", summary="Answer several requests", response_model_exclude_none=True)
async def answers(body: Batch, web: Parts, who: Answerer, key: Key) -> Outcomes:
    """Answer each; one that is refused does not hold up the others."""
    results: list[Outcome] = []
    for one in body.answers:
        own = one.key or (f"{key}.{one.request}" if key is not None else None)
        try:
            result = await _answer(web, known_id(one.request, "request", "request"), one, who, own)
            if isinstance(result, Refusal):
                raise refused(result, _field(result, "request"), "key" if one.key is not None else "Idempotency-Key")
            results.append(Outcome(request=one.request, status=200, answered=result))
        except Problem as problem:
            results.append(Outcome(request=one.request, status=problem.status, problem=problem.body()))
    return Outcomes(results=results)


@router.get("/{id}", summary="A request, with all of its text", response_model_exclude_none=True)
async def request(id: str, web: Parts, who: Reader) -> CardShape:
    """Show a request; a settled one shows what came of it."""
    found = await web.broker.request(known_id(id, "request"), who.person)
    if found is None:
        raise unknown("request")
    return wire.card(found)


@router.post("/{id}/answer", summary="Answer a request; the first answer wins", response_model_exclude_none=True)
async def answer(id: str, body: AnswerBody, web: Parts, who: Answerer, key: Key) -> Answered:
    """Answer; a later answer gets 409 with the one that stands.

    Source: C01, C02, C12, C14.
    """
    result = await _answer(web, known_id(id, "request"), body, who, key)
    if isinstance(result, Refusal):
        raise refused(result, _field(result, "id"))
    return result


async def _answer(web: Web, id: str, body: AnswerBody, who: Known, key: str | None) -> Answered | Refusal:
    """Answer, with the proof of a one-time code when there is one; a code that was used for nothing stays good."""
    event = replace(reply_of(id, body, who, key), files=await _files(web, who, body.values))
    if body.code is None:
        return await web.broker.answer(event)
    if not await web.accounts.prove(who.person, body.code):
        found = await web.broker.request(id, who.person)
        if found is not None and found.state == "settled":  # for good: a repeat hears what came of it
            return await web.broker.answer(event)
        raise invalid("code", "must be a fresh one-time code; `sayso code` prints one")
    result = await web.broker.answer(replace(event, proof=True))
    if isinstance(result, Refusal):
        await web.accounts.give_back(who.person, body.code)
    return result


def _field(refusal: Refusal, named: str) -> str:
    """What is wrong with an answer: its code, where a proof is wanted; else the request, as it was named."""
    return "code" if refusal.standing.get("proof") else named


async def _files(web: Web, who: Known, values: dict[str, Json]) -> dict[str, Handed]:
    """What is stored of the files that values may name; only those that the caller may use."""
    lists = [value[:MOST] for value in values.values() if isinstance(value, list)]
    found = [await file_of(web, who, id) for ids in lists for id in ids if isinstance(id, str)]
    return {one.id: told_of(one) for one in found if one is not None}


@router.post("/{id}/extend", summary="Give a request more time", response_model_exclude_none=True)
async def extend(id: str, body: MoreTime, web: Parts, who: Answerer, key: Key) -> Extended:
    """Move the deadline to so many seconds from now."""
    result = await web.broker.extend(known_id(id, "request"), who.person, body.seconds, key=key, via=where(who))
    if isinstance(result, Refusal):
        raise refused(result)
    return result


@router.post("/{id}/copies", summary="Show an open request in other chats, too", response_model_exclude_none=True)
async def copies(id: str, body: Places, web: Parts, who: Answerer, key: Key) -> Copied:
    """Add places; whoever may answer can answer there, and all cards close together."""
    event = Copy(known_id(id, "request"), who.person, tuple(one.strip() for one in body.origins), key, where(who))
    result = await web.broker.cards.copy(event)
    if isinstance(result, Refusal):
        raise refused(result)
    return result


@router.post("/{id}/show", summary="Show a request again where it could not be shown", status_code=204)
async def show(id: str, web: Parts, who: Answerer) -> None:
    """Try once more at every place that refused it: the bot may be let in again by now.

    Source: C63.
    """
    found = await web.broker.request(known_id(id, "request"), who.person)
    if found is None:
        raise unknown("request")
    for place in found.not_shown:
        again = await web.broker.cards.reshow(Reshow(found.id, place))
        if isinstance(again, Refusal):
            raise refused(again)


@router.post("/{id}/abort", summary="Pause the run that asked", response_model_exclude_none=True)
async def abort(id: str, web: Parts, who: Answerer, key: Key) -> Stopped:
    """Abort: Pause, pressed on a question; the run can be resumed."""
    result = await web.broker.abort(known_id(id, "request"), who.person, key=key, via=where(who))
    if isinstance(result, Refusal):
        raise refused(result)
    return result
