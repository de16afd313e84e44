"""Routes of runs: look, cancel, pause, resume, revert; a cancel that may come before its start."""

from __future__ import annotations

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field

from adapters.web import wire
from adapters.web.body import JsonRoute
from adapters.web.conversations import Key, Parts, known_id, named, new_origin
from adapters.web.problems import refused, unknown
from adapters.web.security import Reader, Runner, where
from adapters.web.wire import RunShape
from core.leaks import Leaks
from core.life.decision import Refusal
from core.life.result import Changed, Forestalled, Resumed, Stopped

router = APIRouter(prefix="/v1/runs", tags=["runs"], route_class=JsonRoute)


class Stop(BaseModel):
    """How to stop. urgent: skip to the next step, when a first press was not enough."""

    model_config = ConfigDict(extra="forbid")

    urgent: bool = Field(default=False, strict=True)


class StartKey(BaseModel):
    """The Idempotency-Key with which a message was or will be sent, and to which conversation, if to one."""

    model_config = ConfigDict(extra="forbid")

    key: str = Field(pattern=r"^[\x21-\x7e]{1,128}$")
    conversation: str | None = None
    session: str | None = Field(default=None, description="an older name of `conversation`")


@router.post(
    "/cancel-start",
    summary="Cancel by the key of the start, which may not have come yet",
    response_model_exclude_none=True,
)
async def cancel_start(body: StartKey, web: Parts, who: Runner) -> Forestalled | Stopped:
    """A cancel that comes first is kept for an hour; the start that finds it is canceled."""
    found = await named(web, who, body.conversation, body.session)
    origin = found.origin if found is not None else new_origin(who, body.key)
    result = await web.broker.cancel_start(origin, who.person, body.key)
    if isinstance(result, Refusal):
        raise refused(result)
    return result


@router.get("/{id}", summary="A run as it is now", response_model_exclude_none=True)
async def run(id: str, web: Parts, who: Reader) -> RunShape:
    """Show a run; the id of one that moved shows the new one, with `moved_to`."""
    asked = known_id(id, "run")
    found = await web.broker.run(asked, who.person)
    if found is None:
        raise unknown("run")
    return wire.run(found, asked=asked)


@router.post("/{id}/cancel", summary="End a run and discard what could be resumed", response_model_exclude_none=True)
async def cancel(id: str, web: Parts, who: Runner, key: Key, body: Stop | None = None, urgent: bool = False) -> Stopped:
    """Cancel, in any state; the answer says what is known now."""
    now = urgent or (body is not None and body.urgent)
    result = await web.broker.cancel(known_id(id, "run"), who.person, key=key, urgent=now, via=where(who))
    if isinstance(result, Refusal):
        raise refused(result)
    return result


@router.post("/{id}/pause", summary="Stop a run and keep it for a resume", response_model_exclude_none=True)
async def pause(id: str, web: Parts, who: Runner, key: Key, body: Stop | None = None, urgent: bool = False) -> Stopped:
    """Pause."""
    now = urgent or (body is not None and body.urgent)
    result = await web.broker.pause(known_id(id, "run"), who.person, key=key, urgent=now, via=where(who))
    if isinstance(result, Refusal):
        raise refused(result)
    return result


@router.post("/{id}/accept-stopped", summary="Take a run as stopped whose end nobody saw")
async def accept_stopped(id: str, web: Parts, who: Runner) -> Changed:
    """State that its work has ended; who did stands on record. Refused while its end may still be seen."""
    result = await Leaks(web.broker).vouch(known_id(id, "run"), who.person, via=where(who))
    if isinstance(result, Refusal):
        raise refused(result)
    return result


@router.post("/{id}/resume", summary="Let a paused run go on", response_model_exclude_none=True)
async def resume(id: str, web: Parts, who: Runner, key: Key) -> Resumed:
    """Resume; of two that want it one starts it, the other gets 409."""
    result = await web.broker.resume(known_id(id, "run"), who.person, key=key, via=where(who))
    if isinstance(result, Refusal):
        raise refused(result)
    return result


@router.post("/{id}/revert", summary="Let a paused run go back to its last question", response_model_exclude_none=True)
async def revert(id: str, web: Parts, who: Runner, key: Key) -> Resumed:
    """Revert; what came after that point is marked as dropped in the history."""
    result = await web.broker.revert(known_id(id, "run"), who.person, key=key, via=where(who))
    if isinstance(result, Refusal):
        raise refused(result)
    return result
