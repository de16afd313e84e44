"""Routes of conversations: say something, list, look, delete; what an older API called sessions."""

from __future__ import annotations

import hashlib
import re
import secrets
from collections.abc import Sequence
from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Header, Query
from pydantic import BaseModel, ConfigDict, Field

from adapters import proving
from adapters.web import wire
from adapters.web.body import JsonRoute
from adapters.web.lists import shapes
from adapters.web.problems import Problem, invalid, refused, unknown
from adapters.web.security import Reader, Runner, Sender, where
from adapters.web.state import Web, state_of
from adapters.web.wire import (
    CardShape,
    ConversationShape,
    EntryShape,
    GrantShape,
    HistoryShape,
    RunShape,
    SnapshotShape,
)
from core.accounts import Known
from core.files import File, told_of
from core.life.decision import Refusal
from core.life.event import Said
from core.life.result import Deleted, Result
from core.looks import unsettled
from core.model import Conversation, Entry
from core.question import Handed

router = APIRouter(prefix="/v1", tags=["conversations"], route_class=JsonRoute)
LONGEST_TEXT = 262_144
RIGHTS: tuple[Literal["answer", "run"], ...] = ("answer", "run")
KEY = re.compile(r"[\x21-\x7e]{1,128}")
ID = re.compile(r"[0-9a-hjkmnp-z]{16}")

Parts = Annotated[Web, Depends(state_of)]


async def event_key(
    idempotency_key: Annotated[
        str | None, Header(description="names what you do: sent again with the same key it takes effect once")
    ] = None,
) -> str | None:
    """The name that the caller gave to what they do."""
    if idempotency_key is not None and not KEY.fullmatch(idempotency_key):
        raise invalid("Idempotency-Key", "must be 1 to 128 visible ASCII characters")
    return idempotency_key


Key = Annotated[str | None, Depends(event_key)]


def known_id(text: str, what: str, field: str = "id") -> str:
    """An id as people type it, in ours: lower case, no spaces; what is none is unknown. field: where it was named.

    Source: C21.
    """
    id = text.strip().casefold()
    if not ID.fullmatch(id):
        raise unknown(what, field)
    return id


class Send(BaseModel):
    """What a person or a program says. Without `conversation` it starts a new one.

    pending_task: the run that is meant: it is resumed, or steered while it works.
    """

    model_config = ConfigDict(extra="forbid")

    text: str = Field(default="", max_length=LONGEST_TEXT)
    conversation: str | None = None
    session: str | None = Field(default=None, description="an older name of `conversation`")
    agent: str | None = None
    pending_task: str | None = None
    reply_to: str | None = Field(default=None, description="the request that is answered by this text")
    attachments: list[str] = Field(default_factory=list[str], max_length=20)
    key: str | None = Field(default=None, description="as the header Idempotency-Key")
    deliver_to: str | None = Field(
        default=None,
        description="a chat, as tg-42: where the questions of a run that this starts are shown",
        max_length=200,
    )


@router.post(
    "/send",
    summary="Say something: start a run, steer one, answer a question, give a command",
    response_model_exclude_none=True,
)
async def send(body: Send, web: Parts, who: Sender, key: Key) -> Result:
    """Route what was said; the answer says what it was taken for."""
    key = key or body.key
    if key is not None and not KEY.fullmatch(key):
        raise invalid("key", "must be 1 to 128 visible ASCII characters")
    if not body.text.strip() and not body.attachments and body.pending_task is None:
        raise invalid("text", "must not be empty")
    if body.agent is not None and body.agent not in web.options.agents:
        raise invalid("agent", f"must be one of {', '.join(web.options.agents)}")
    conversation = await named(web, who, body.conversation, body.session)
    files: dict[str, Handed] = {}
    for id in body.attachments:
        found = await file_of(web, who, id)
        if found is None:
            raise invalid("attachments", f"there is no file {id!r} of yours")
        files[id] = told_of(found)
    said = Said(
        origin=conversation.origin if conversation is not None else new_origin(who, key),
        text=body.text,
        person=who.person,
        agent=body.agent or web.options.agent,
        with_agent=body.agent,
        agents=web.options.agents,
        key=key,
        reply_to=None if body.reply_to is None else known_id(body.reply_to, "request", "reply_to"),
        attachments=tuple(body.attachments),
        files=files,
        conversation=conversation.id if conversation is not None else None,
        pending_task=None if body.pending_task is None else known_id(body.pending_task, "run", "pending_task"),
        rights=frozenset(right for right in RIGHTS if right in who.scopes),
        deliver_to=body.deliver_to.strip() if body.deliver_to is not None else None,
        surface=where(who),
    )
    result = await proving.said(web.broker, web.accounts, said)
    if isinstance(result, Refusal):
        named_by = "pending_task" if body.pending_task else "reply_to" if body.reply_to else "text"
        raise refused(result, named_by, "key" if key == body.key else "Idempotency-Key")
    return result


def new_origin(who: Known, key: str | None) -> str:
    """A new place on the web; the same one for the same key, so that a repeat finds what came of the first."""
    if key is None:
        return f"chat-{secrets.token_hex(8)}"
    return f"chat-{hashlib.sha256(f'{who.person.id}|{key}'.encode()).hexdigest()[:16]}"


async def named(web: Web, who: Known, conversation: str | None, session: str | None) -> Conversation | None:
    """The conversation that a body names, by one name or the other; None when it names none."""
    if conversation:
        return await conversation_of(web, who, conversation, "conversation")
    return await conversation_of(web, who, session, "session") if session is not None else None


async def conversation_of(web: Web, who: Known, id: str, field: str = "id") -> Conversation:
    """A conversation that the caller may see; 404 for unknown and foreign ones, 410 for a deleted one."""
    id = known_id(id, "conversation", field)
    found = await web.broker.conversation(id, who.person)
    if found is None:
        if await web.broker.deleted(id, who.person) is not None:
            raise Problem(410, "gone", "this conversation was deleted", errors=[(field, "must not be deleted")])
        raise unknown("conversation", field)
    return found


async def file_of(web: Web, who: Known, id: str) -> File | None:
    """A file that is the caller's, or of a conversation that they may see."""
    found = await web.files.get(id)
    if found is None or found.owner == who.person.id:
        return found
    return found if await web.broker.conversation(found.owner, who.person) is not None else None


# ── looking ──────────────────────────────────────────────────────────────────────────────────────────────────────────


class Conversations(BaseModel):
    """A list of conversations."""

    conversations: list[ConversationShape]


@router.get("/conversations", summary="Your conversations, the last changed first")
@router.get("/sessions", include_in_schema=False)
async def conversations(web: Parts, who: Reader, limit: Annotated[int, Query(ge=1, le=500)] = 100) -> Conversations:
    """List the caller's conversations."""
    found = await web.broker.conversations(who.person, limit=limit)
    return Conversations(conversations=await shapes(web.broker, found))


@router.get(
    "/conversations/{id}",
    summary="A conversation at this moment, or older entries of its history",
    response_model_exclude_none=True,
)
@router.get("/sessions/{id}", include_in_schema=False, response_model_exclude_none=True)
async def conversation(
    id: str,
    web: Parts,
    who: Reader,
    before: Annotated[int | None, Query(ge=1, le=2**53, description="a `seq` of the history")] = None,
    limit: Annotated[int, Query(ge=1, le=500)] = 200,
) -> SnapshotShape | HistoryShape:
    """Show what a page needs at first paint; with `before` only older entries."""
    found = await conversation_of(web, who, id)
    if before is not None:
        older = await web.broker.history(found.id, who.person, before=before, limit=limit) or []
        return HistoryShape(history=await _entries(web, older))
    snapshot = await web.broker.snapshot(found.id, who.person, limit=limit)
    if snapshot is None:
        raise unknown("conversation")
    return SnapshotShape(
        conversation=(await shapes(web.broker, [snapshot.conversation]))[0],
        history=await _entries(web, snapshot.history),
        runs=[wire.run(one) for one in snapshot.runs],
        requests=wire.cards(snapshot.requests),
        partial=snapshot.going.partial,
        tools=snapshot.going.tools,
        status=snapshot.going.status,
        seq=snapshot.seq,
    )


async def _entries(web: Web, many: Sequence[tuple[int, Entry]]) -> list[EntryShape]:
    return [wire.entry(seq, one, await web.attached.described(one.data), web.render) for seq, one in many]


@router.delete("/conversations/{id}", summary="Delete a conversation, whatever goes on in it")
@router.delete("/sessions/{id}", include_in_schema=False)
async def delete(id: str, web: Parts, who: Runner, key: Key) -> Deleted:
    """Delete; the answer lists what is not proved to have stopped."""
    result = await web.broker.delete(known_id(id, "conversation"), who.person, key=key, via=where(who))
    if isinstance(result, Refusal):
        raise refused(result)
    return result


# ── what waits ───────────────────────────────────────────────────────────────────────────────────────────────────────


class Waiting(BaseModel):
    """Open questions, and runs that can be resumed."""

    requests: list[CardShape]
    runs: list[RunShape]


@router.get("/pending", summary="Everything of yours that waits", response_model_exclude_none=True)
async def pending(web: Parts, who: Reader) -> Waiting:
    """List the caller's open questions and resumable runs."""
    return await _waiting(web, who, None)


@router.get("/conversations/{id}/pending", summary="What waits in a conversation", response_model_exclude_none=True)
@router.get("/session/{id}/task", summary="An older name of …/pending", response_model_exclude_none=True)
@router.get("/sessions/{id}/pending", include_in_schema=False, response_model_exclude_none=True)
async def pending_in(id: str, web: Parts, who: Reader) -> Waiting:
    """List the open questions and resumable runs of one conversation."""
    return await _waiting(web, who, await conversation_of(web, who, id))


async def _waiting(web: Web, who: Known, only: Conversation | None) -> Waiting:
    found = await web.broker.pending(who.person)
    titles = {one.id: one.title for one in await web.broker.conversations(who.person, limit=500)}
    cards = wire.cards(one for one in found.requests if only is None or one.conversation == only.id)
    return Waiting(
        requests=[one if one.conversation in titles else one.model_copy(update={"foreign": True}) for one in cards],
        runs=[
            wire.run(one, title=titles.get(one.conversation))
            for one in found.runs
            if only is None or one.conversation == only.id
        ],
    )


# ── remembered approvals ─────────────────────────────────────────────────────────────────────────────────────────────


class GrantList(BaseModel):
    """Remembered approvals."""

    grants: list[GrantShape]


@router.get("/conversations/{id}/grants", summary="Remembered approvals", response_model_exclude_none=True)
async def grants(id: str, web: Parts, who: Reader) -> GrantList:
    """List what needs no question in this conversation any more."""
    found = await conversation_of(web, who, id)
    return GrantList(grants=[wire.grant(one) for one in await web.broker.grants(found.id, who.person) or []])


@router.delete("/conversations/{id}/grants/{digest}", status_code=204, summary="Take an approval back")
async def withdraw(id: str, digest: str, web: Parts, who: Runner, run: str | None = None) -> None:
    """From now on the same call asks again. run: when it was remembered for one run only."""
    found = await conversation_of(web, who, id)
    meant = (None, *unsettled(found)) if run is None else (known_id(run, "run", "run"),)
    for one in meant:
        result = await web.broker.withdraw_grant(found.id, who.person, digest, one, via=where(who))
        if not isinstance(result, Refusal):
            return
        if result.code != "unknown":
            raise refused(result)
    raise unknown("approval", "digest")
