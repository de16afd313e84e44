"""Routes of emergencies: freeze, thaw, cancel everybody's runs, and whether everything is frozen; owners only."""

from __future__ import annotations

import logging
from typing import Final

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field

from adapters.web.body import JsonRoute
from adapters.web.channel import Frame, frame
from adapters.web.conversations import Parts
from adapters.web.hub import Hub
from adapters.web.people import Owner
from adapters.web.problems import refused
from adapters.web.security import Reader, where
from core.emergency import Emergency, Halted
from core.errors import StoreError
from core.frozen import Frozen
from core.leaks import Leak, Leaks
from core.life.decision import Refusal
from core.life.result import Kept

router = APIRouter(prefix="/v1", tags=["emergency"], route_class=JsonRoute)
LOOK: Final = 10.0
"""seconds between two looks whether everything is frozen, when no hint comes"""
_log = logging.getLogger("sayso.live")


class FrozenShape(BaseModel):
    """Whether everything is frozen; by, since (ms) and reason are there when it is."""

    frozen: bool
    by: str | None = None
    since: int | None = None
    reason: str | None = None


class Why(BaseModel):
    """Why everything is frozen; everybody reads it."""

    model_config = ConfigDict(extra="forbid")

    reason: str = Field(default="", max_length=200)


@router.get("/freeze", summary="Whether everything is frozen", response_model_exclude_none=True)
async def look(web: Parts, who: Reader) -> FrozenShape:
    """Tell whether turns start, and who keeps them from it."""
    return shape(await Emergency(web.broker).frozen())


@router.post("/freeze", summary="Let nothing begin, and pause what works")
async def freeze(web: Parts, who: Owner, body: Why | None = None) -> Halted:
    """No turn starts and nothing that acts begins until a thaw; answers, cancels and deletes still work."""
    result = await Emergency(web.broker).freeze(who.person, body.reason if body is not None else "", via=where(who))
    if isinstance(result, Refusal):
        raise refused(result)
    return result


@router.post("/thaw", summary="Let things begin again", response_model_exclude_none=True)
async def thaw(web: Parts, who: Owner) -> Kept:
    """What is queued starts; what was paused waits for a resume."""
    result = await Emergency(web.broker).thaw(who.person, via=where(who))
    if isinstance(result, Refusal):
        raise refused(result)
    return result


@router.post("/stop-all", summary="Cancel every unsettled run of everybody")
async def stop_all(web: Parts, who: Owner) -> Halted:
    """Cancel what is queued, works, waits or is paused, whoever's it is; `stopping` are not over yet."""
    result = await Emergency(web.broker).stop_all(who.person, via=where(who))
    if isinstance(result, Refusal):
        raise refused(result)
    return result


class LeakList(BaseModel):
    """What may still be at work."""

    unproved: list[Leak]


@router.get("/unproved", summary="What may still be at work, and where", response_model_exclude_none=True)
async def unproved(web: Parts, who: Owner) -> LeakList:
    """List the turns whose end nobody saw, of everybody, the oldest first; also of deleted runs."""
    return LeakList(unproved=await Leaks(web.broker).all())


def shape(found: Frozen | None) -> FrozenShape:
    """Show whether everything is frozen."""
    if found is None:
        return FrozenShape(frozen=False)
    by = found.by.name or found.by.id
    return FrozenShape(frozen=True, by=by, since=found.since_ms, reason=found.reason or None)


class Banner:
    """Tells every open page when everything is frozen or thawed. What is true now is told to a page that comes."""

    def __init__(self, hub: Hub) -> None:
        self._hub = hub

    async def watch(self) -> None:
        """Tell pages of changes until cancelled."""
        told: Frame | None = None
        async with self._hub.broker.feeds[0].subscribe("frozen") as hints:
            while True:
                try:
                    found = shape(await Emergency(self._hub.broker).frozen())
                    now = frame("frozen", found.model_dump(mode="json", exclude_none=True))
                    if found.frozen if told is None else now.text != told.text:
                        for page in tuple(self._hub.pages):
                            if page.lists:
                                page.note(now)
                    told = now
                except StoreError as error:
                    _log.debug("cannot look whether everything is frozen: %s", error)
                await hints.wait(LOOK)
