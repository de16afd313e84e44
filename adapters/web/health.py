"""Routes for operators: health in words, readiness, figures for Prometheus."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from ipaddress import ip_address
from typing import Final, Literal

from fastapi import APIRouter
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.core import Metric
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from prometheus_client.registry import Collector
from pydantic import BaseModel
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from adapters.web.body import JsonRoute
from adapters.web.conversations import Parts
from adapters.web.people import Owner
from adapters.web.problems import Problem
from adapters.web.security import Admin
from adapters.web.state import Web

router = APIRouter(tags=["health"], route_class=JsonRoute)
ELSEWHERE: Final = "owners see on the page under Health, and by GET /v1/health, what it is; so does `sayso doctor`"


class CheckShape(BaseModel):
    """One thing that health is made of."""

    what: str
    ok: bool
    words: str


class Health(BaseModel):
    """ok: everything works. degraded: something does not, `checks` say what."""

    status: Literal["ok", "degraded"]
    version: str
    checks: list[CheckShape]


class Figures:
    """What this process counts about its front end."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        names = ("method", "route", "status")
        self.requests = Counter("sayso_http_requests", "HTTP requests answered", names, registry=self.registry)
        self.seconds = Histogram("sayso_http_seconds", "Time to answer", ("route",), registry=self.registry)
        self.pages = Gauge("sayso_open_pages", "WebSockets and event streams open now", registry=self.registry)
        self.commits = Gauge("sayso_commits", "Commits by this process", registry=self.registry)
        self.races = Gauge("sayso_lost_races", "Commits that were decided again", registry=self.registry)
        self.fenced = Gauge("sayso_fenced_writes", "Writes refused under an old fence", registry=self.registry)


class Gathered(Collector):
    """Figures that were read already."""

    def __init__(self, metrics: Sequence[Metric]) -> None:
        self._metrics = metrics

    def collect(self) -> Iterable[Metric]:
        """Give them."""
        return self._metrics


class Counting:
    """Counts what a route answered; streams count when they begin."""

    def __init__(self, app: ASGIApp, figures: Figures) -> None:
        self._app = app
        self._figures = figures

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Count a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began = time.perf_counter()

        async def counted(message: Message) -> None:
            if message["type"] == "http.response.start":
                route = getattr(scope.get("route"), "path", "")
                self._figures.requests.labels(scope["method"], route, message["status"]).inc()
                self._figures.seconds.labels(route).observe(time.perf_counter() - began)
            await send(message)

        await self._app(scope, receive, counted)


@router.get("/health", summary="What works and what does not; on its own machine also in words")
async def health(request: Request, web: Parts) -> Response:
    """Answer 200 when everything works, 503 when something does not.

    Words name runs, hosts and people: they are for owners (`/v1/health`), and for who asks on this machine.
    """
    shape = await _looked(web)
    if not _here(request):
        checks = [one.model_copy(update={"words": "" if one.ok else ELSEWHERE}) for one in shape.checks]
        shape = shape.model_copy(update={"checks": checks})
    return JSONResponse(shape.model_dump(), 200 if shape.status == "ok" else 503)


@router.get("/v1/health", summary="The same for owners, what needs them first")
async def owners(web: Parts, who: Owner) -> Health:
    """Tell it with 200 either way: that it could be told is what the status of this call says."""
    shape = await _looked(web)
    return shape.model_copy(update={"checks": sorted(shape.checks, key=lambda one: one.ok)})


def _here(request: Request) -> bool:
    """Whether somebody on this machine asks, by its own address: who comes through a proxy names another one."""
    host = request.url.hostname or ""
    return all(one == "localhost" or _loopback(one) for one in (host, request.client.host if request.client else ""))


def _loopback(text: str) -> bool:
    try:
        return ip_address(text).is_loopback
    except ValueError:
        return False


async def _looked(web: Web) -> Health:
    checks = [CheckShape(what=one.what, ok=one.ok, words=one.words) for one in await web.checks()]
    ok = all(one.ok for one in checks)
    return Health(status="ok" if ok else "degraded", version=web.options.version, checks=checks)


@router.get("/ready", summary="Whether requests can be served now")
async def ready(web: Parts) -> Response:
    """Answer 200 when answers, cancels and messages can be stored."""
    for one in await web.checks():
        if one.what == "redis" and not one.ok:
            raise Problem(503, "not_ready", one.words, headers={"Retry-After": "1"})
    return JSONResponse({"ready": True, "words": "requests can be served"})


@router.get("/metrics", summary="Figures for Prometheus", response_class=Response)
async def metrics(request: Request, web: Parts, who: Admin) -> Response:
    """Print the figures; a scraper shows a token with the scope admin."""
    figures: object = request.app.state.figures
    assert isinstance(figures, Figures), who
    figures.pages.set(len(web.hub.pages))
    committer = web.broker.committer
    figures.commits.set(committer.commits)
    figures.races.set(committer.races)
    figures.fenced.set(committer.fenced)
    text = generate_latest(figures.registry)
    if web.owed is not None:
        everywhere = CollectorRegistry()
        everywhere.register(Gathered(await web.owed()))
        text += generate_latest(everywhere)
    return Response(text, media_type=CONTENT_TYPE_LATEST)
