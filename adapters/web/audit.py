"""Routes of the audit, for owners: who decided what, and whether every line is as it was written."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel

from adapters.web.body import JsonRoute
from adapters.web.conversations import Parts
from adapters.web.people import Owner
from core.audit import Audit, Filter
from core.deed import Deed

router = APIRouter(prefix="/v1", tags=["audit"], route_class=JsonRoute)


class Deeds(BaseModel):
    """Decisions, the oldest first."""

    deeds: list[Deed]


class ChainShape(BaseModel):
    """One list of the audit. head: note it elsewhere, and show it later to have its line looked at again."""

    name: str
    lines: int
    head: str
    faults: list[str]


class Chains(BaseModel):
    """Whether the audit is whole: it is, where nothing stands under `faults`."""

    chains: list[ChainShape]


@router.get("/audit", summary="Who decided what", response_model_exclude_none=True)
async def audit(
    web: Parts,
    who: Owner,
    person: str | None = None,
    run: str | None = None,
    request: str | None = None,
    kind: str | None = None,
    since: Annotated[int, Query(ge=0, le=2**53, description="ms since 1970")] = 0,
    limit: Annotated[int, Query(ge=1, le=10_000)] = 200,
) -> Deeds:
    """List the last decisions that fit."""
    wanted = Filter(person=person, run=run, request=request, kind=kind, since_ms=since)
    return Deeds(deeds=await Audit(web.broker).lines(wanted, limit=limit))


@router.get("/audit/chains", summary="Whether every line of the audit is as it was written")
async def chains(web: Parts, who: Owner, head: str | None = None) -> Chains:
    """Look at every line. head: one of earlier, whose line must still be the same."""
    found = await Audit(web.broker).verify(head)
    return Chains(
        chains=[ChainShape(name=one.name, lines=one.lines, head=one.head, faults=list(one.faults)) for one in found]
    )
