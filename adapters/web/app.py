"""The web front end as one ASGI app: the gate, the routes, the page's files, and errors as problems."""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path
from typing import Final

from fastapi import FastAPI, Request
from starlette.exceptions import HTTPException
from starlette.responses import FileResponse, RedirectResponse, Response
from starlette.routing import WebSocketRoute
from starlette.types import ASGIApp

from adapters.web import (
    audit,
    conversations,
    emergency,
    files,
    health,
    live,
    people,
    problems,
    requests,
    runs,
    secrets,
    session,
)
from adapters.web.problems import MEDIA_TYPE, Problem, ProblemShape
from adapters.web.security import PAGE_CSP, Gate, known_to
from adapters.web.state import Web, state_of
from core.errors import StoreError

PAGE: Final = Path(__file__).parent / "page"
TYPES: Final = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".ico": "image/x-icon",
    ".woff2": "font/woff2",
    ".webmanifest": "application/manifest+json",
}
PAGE_HEADERS: Final = {"content-security-policy": PAGE_CSP, "cache-control": "no-cache"}
UNKEPT: Final = {"cache-control": "no-store"}
PLACES: Final = re.compile(r"pending|new|c[0-9a-z]{6,}")
"""places of the page that people may type as a path; on the page they stand behind `#`"""
ABOUT: Final = (
    "Say something, answer what runs ask, cancel, pause and resume. Every error is problem+json. "
    "Programs send `Authorization: Bearer` with a token of `sayso token`; "
    "an `Idempotency-Key` makes every repeat safe."
)

OPEN: Final = ("/health", "/ready", "/v1/login")
"""what strangers may ask"""
SHOWN: Final = {
    "token": {"type": "http", "scheme": "bearer", "description": "a token of `sayso token`"},
    "browser": {"type": "apiKey", "in": "cookie", "name": "sayso-<port>", "description": "set by /v1/login"},
}


class Api(FastAPI):
    """The routes; their description is made when somebody asks for it."""

    def openapi(self) -> dict[str, object]:
        """Describe the API, and how programs and browsers show who they are."""
        if self.openapi_schema is None:
            schema = super().openapi()
            schema["components"]["securitySchemes"] = SHOWN
            schema["security"] = [{name: []} for name in SHOWN]
            for path in OPEN:
                for operation in schema["paths"][path].values():
                    operation["security"] = []
        return super().openapi()


def create(web: Web) -> ASGIApp:
    """Build the app around its parts."""
    app = Api(
        title="Sayso",
        version=web.options.version,
        description=ABOUT,
        docs_url=None,
        redoc_url=None,
        responses={"4XX": _problem("What was wrong, and what to do"), "5XX": _problem("What did not work")},
    )
    app.state.web = web
    app.state.tries = session.Tries()
    app.state.figures = figures = health.Figures()
    for one in (conversations, emergency, audit, runs, secrets, requests, files, session, people, live, health):
        app.include_router(one.router)
    app.router.routes.append(WebSocketRoute("/v1/ws", live.Socket))
    app.router.routes.extend(one.route() for one in web.called)
    pages = {"/": index, "/login": login, "/invite": login, "/secret/{id}": secret, "/page/{name}": page}
    for path, endpoint in {**pages, "/favicon.ico": icon}.items():
        app.add_api_route(path, endpoint, include_in_schema=False, response_class=Response)
    problems.install(app)
    app.add_exception_handler(HTTPException, elsewhere)
    app.add_middleware(health.Counting, figures=figures)
    options = web.options
    return Gate(
        app,
        host=options.host,
        public_url=options.public_url,
        body_max=options.body_max,
        file_max=options.file_max,
        any_host=frozenset(one.path for one in web.called),
    )


def _problem(description: str) -> dict[str, object]:
    schema = {"$ref": "#/components/schemas/ProblemShape"}
    return {"description": description, "model": ProblemShape, "content": {MEDIA_TYPE: {"schema": schema}}}


# ── the page ─────────────────────────────────────────────────────────────────────────────────────────────────────────


async def index(request: Request) -> Response:
    """The chat page, for somebody who is signed in; it holds no secret, and says itself when Redis is away."""
    with suppress(StoreError):
        if await known_to(state_of(request), request) is None:
            return RedirectResponse("/login#", 303)  # without its own `#` it would take the place's along as a code
    return _file(request, "index.html")


async def login(request: Request) -> Response:
    """The page that trades the code in its fragment for a cookie."""
    return _file(request, "login.html")


async def elsewhere(request: Request, error: Exception) -> Response:
    """What the framework refused; a person who mistyped an address gets a page that leads back, or the place itself."""
    assert isinstance(error, HTTPException)
    name = request.url.path.strip("/")
    reads = request.method in ("GET", "HEAD") and "text/html" in request.headers.get("accept", "")
    if error.status_code != 404 or not reads or name.startswith("v1/"):
        return problems.of_http(error).response()
    if PLACES.fullmatch(name):
        return RedirectResponse(f"/#{name}", 303)
    return FileResponse(PAGE / "lost.html", 404, media_type=TYPES[".html"], headers={**PAGE_HEADERS, **UNKEPT})


async def secret() -> Response:
    """The page on which a secret is given, by a ticket in its fragment or by login; opening it uses nothing up."""
    return FileResponse(PAGE / "secret.html", media_type=TYPES[".html"], headers={**PAGE_HEADERS, **UNKEPT})


async def page(request: Request, name: str) -> Response:
    """One of the page's files."""
    return _file(request, name)


async def icon(request: Request) -> Response:
    """The icon that browsers ask for by themselves."""
    return _file(request, "icon.svg")


def _file(request: Request, name: str) -> Response:
    path = PAGE / name
    kind = TYPES.get(path.suffix)
    if kind is None or path.parent != PAGE or not path.is_file():
        raise Problem(404, "unknown", "there is no such page", errors=[("path", "must be a file of the page")])
    stat = path.stat()
    tag = f'"{stat.st_mtime_ns:x}-{stat.st_size:x}"'
    headers = {**PAGE_HEADERS, "etag": tag}
    if tag in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    return FileResponse(path, media_type=kind, headers=headers, stat_result=stat)
