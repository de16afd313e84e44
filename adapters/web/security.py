"""Who a request comes from, and whether it may: the gate before every route, and the dependencies of the routes.

    Host      must be a name of ours, so that a foreign name that resolves to us (DNS rebinding) gets nothing
    Origin    a request that a page of another origin made is refused before anything is read; with a cookie, a change
              of state and a WebSocket must say that they come from our own page
    body      JSON up to a limit; anything else is refused before it is read whole
    headers   strict content policy on every answer; no query values in the log

A program shows `Authorization: Bearer sayso_…` and needs no Origin; a browser has a cookie that scripts cannot read.
"""

from __future__ import annotations

import ipaddress
import logging
import time
from collections.abc import Callable
from typing import Annotated, Final
from urllib.parse import urlsplit

from fastapi import Depends, Request
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from adapters.web.problems import Problem
from adapters.web.state import Web, state_of
from core.accounts import Known
from core.accounts import Scope as Right

CSP: Final = "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
PAGE_CSP: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; connect-src 'self'; "
    "font-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS: Final = {
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=(), payment=()",
}
SAFE: Final = frozenset({"GET", "HEAD", "OPTIONS"})
_log = logging.getLogger("sayso.access")


class Gate:
    """The outermost layer of the web front end; what it refuses is never seen by a route.

    any_host: paths that platforms call, by whatever name they were told, and that show in a header who they are.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        host: str,
        public_url: str | None,
        body_max: int,
        file_max: int,
        any_host: frozenset[str] = frozenset(),
    ) -> None:
        self._app = app
        self._any_host = any_host
        self._public = urlsplit(public_url) if public_url else None
        names = {"127.0.0.1", "localhost", "::1", host}
        if self._public is not None and self._public.hostname:
            names.add(self._public.hostname)
        self._names = {name.casefold() for name in names}
        self._any_address = host in ("0.0.0.0", "::", "")  # it is compared, nothing is bound
        self._body_max = body_max
        self._file_max = file_max

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Look at a request, then let it in."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        called = str(scope["path"]) in self._any_host
        problem = (
            (None if called else self._stranger(headers))
            or self._cross_site(scope, headers)
            or self._body(scope, headers)
        )
        if scope["type"] == "websocket":
            if problem is None:
                await self._app(scope, receive, send)
            else:
                await refuse(scope, receive, send, problem)
            return
        noted = _noted(scope, send)
        if problem is None:
            limit = self._limit(scope)
            await self._app(scope, _bounded(receive, limit), noted)
        else:
            await problem.response()(scope, receive, noted)

    def _stranger(self, headers: Headers) -> Problem | None:
        """Refuse names that are not ours."""
        try:
            host = urlsplit("//" + headers.get("host", ""))
            name = (host.hostname or "") if host.port != 0 else ""
        except ValueError:  # also of a port that is no number
            name = ""
        if name.casefold() in self._names or (self._any_address and _is_address(name)):
            return None
        words = "this Host is none of ours; set SAYSO_PUBLIC_URL to the address that people use"
        return Problem(421, "wrong_host", words, errors=[("Host", "must be a name that Sayso was told")])

    def _cross_site(self, scope: Scope, headers: Headers) -> Problem | None:
        """Refuse what another page sent, and changes by cookie that do not say where they come from."""
        origin, fetched = headers.get("origin"), headers.get("sec-fetch-site")
        path = str(scope["path"])
        navigates = headers.get("sec-fetch-mode") == "navigate" and scope.get("method") in SAFE
        if origin is not None and not self._ours(origin, headers):
            return _foreign("Origin")
        if fetched is not None and fetched not in ("same-origin", "none") and not navigates:
            return _foreign("Sec-Fetch-Site")
        changes = scope["type"] == "websocket" or scope.get("method") not in SAFE
        if not changes or not path.startswith("/v1") or "authorization" in headers:
            return None
        if origin is None and fetched != "same-origin" and "cookie" in headers:
            return _foreign("Origin")
        return None

    def _ours(self, origin: str, headers: Headers) -> bool:
        try:
            parts = urlsplit(origin)
        except ValueError:
            return False
        if self._public is not None and (parts.scheme, parts.netloc) == (self._public.scheme, self._public.netloc):
            return True
        return parts.scheme in ("http", "https") and parts.netloc.casefold() == headers.get("host", "").casefold()

    def _body(self, scope: Scope, headers: Headers) -> Problem | None:
        """Refuse bodies that are too large or of an unknown type, by what their headers say."""
        if scope["type"] != "http" or scope["method"] in SAFE:
            return None
        length = headers.get("content-length", "")
        if length.isdigit() and int(length) > self._limit(scope):
            return too_large(self._limit(scope))
        if length in ("", "0") and "transfer-encoding" not in headers:
            return None
        given = headers.get("content-type", "").partition(";")[0].strip().casefold()
        wanted = "multipart/form-data" if scope["path"] == "/v1/files" else "application/json"
        if given == wanted:
            return None
        words = f"this call takes {wanted}, not {given or 'a body without a type'}"
        return Problem(415, "wrong_type", words, errors=[("Content-Type", f"must be {wanted}")])

    def _limit(self, scope: Scope) -> int:
        return self._file_max + 64 * 1_024 if scope["path"] == "/v1/files" else self._body_max


def too_large(limit: int) -> Problem:
    """Say that a body is too large. The connection stays: what still comes is thrown away, so the answer arrives."""
    rule = f"must not be longer than {limit} bytes"
    return Problem(413, "too_large", f"the body {rule}", errors=[("body", rule)])


def _foreign(field: str) -> Problem:
    words = "this request was made by another page than ours; nothing was read or changed"
    return Problem(403, "cross_site", words, errors=[(field, "must be the address of this gateway")])


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _bounded(receive: Receive, limit: int) -> Receive:
    """Stop reading a body that turns out to be longer than it may be."""
    taken = 0

    async def bounded() -> Message:
        nonlocal taken
        message = await receive()
        if message["type"] == "http.request":
            taken += len(message.get("body", b""))
            if taken > limit:
                problem = too_large(limit)
                raise HTTPException(problem.status, problem.detail)
        return message

    return bounded


def _noted(scope: Scope, send: Send) -> Send:
    """Put our headers on an answer, and note it in the access log: the path, never the query."""
    began = time.perf_counter()

    async def noted(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers.setdefault(name, value)
            headers.setdefault("content-security-policy", CSP)
            headers.setdefault("cache-control", "no-store")
            spent = (time.perf_counter() - began) * 1_000
            _log.info("%s %s %d %.1f ms", scope["method"], scope["path"], message["status"], spent)
        await send(message)

    return noted


async def refuse(scope: Scope, receive: Receive, send: Send, problem: Problem) -> None:
    """Refuse a WebSocket before it is accepted, with the problem as an HTTP answer where the server can send one."""
    if "websocket.http.response" in scope.get("extensions", {}):
        await problem.response()(scope, receive, send)
    else:
        await send({"type": "websocket.close", "code": 1008, "reason": problem.code})


# ── who it is ────────────────────────────────────────────────────────────────────────────────────────────────────────


def cookie_name(connection: HTTPConnection) -> str:
    """The name of our cookie: it holds the port, as browsers share cookies between the ports of a host."""
    port = urlsplit("//" + connection.headers.get("host", "")).port
    return f"sayso-{port}" if port else "sayso"


async def known_to(web: Web, connection: HTTPConnection) -> Known | None:
    """Tell who sends a request: by token if it shows one, else by cookie."""
    kind, _, shown = connection.headers.get("authorization", "").partition(" ")
    if kind:
        return await web.accounts.bearer(shown.strip()) if kind.casefold() == "bearer" else None
    secret = connection.cookies.get(cookie_name(connection))
    return await web.accounts.session(secret) if secret else None


def stranger() -> Problem:
    """Ask for a login or a token."""
    return Problem(
        401,
        "who",
        "sign in with the link of `sayso login`, or show a token of `sayso token`",
        errors=[("Authorization", "must be Bearer and a token that counts")],
        headers={"WWW-Authenticate": "Bearer"},
    )


def where(who: Known) -> str:
    """The surface from which somebody decides, as others are told, and as it stands on record."""
    return "chat" if who.by == "session" else "api"


def lacking(known: Known, right: Right) -> Problem | None:
    """Say that a token has no right to something; None when it has."""
    if right in known.scopes:
        return None
    words = f"this token may not {right}: its scopes are {', '.join(known.scopes) or 'none'}"
    return Problem(403, "scope", words, errors=[("Authorization", f"the token must have the scope {right!r}")])


def needs(right: Right) -> Callable[[Request], object]:
    """Make the dependency of a route that needs a right; its value is who was let in."""

    async def let_in(request: Request) -> Known:
        known = await known_to(state_of(request), request)
        if known is None:
            raise stranger()
        wrong = lacking(known, right)
        if wrong is not None:
            raise wrong
        return known

    return let_in


Reader = Annotated[Known, Depends(needs("read"))]
Sender = Annotated[Known, Depends(needs("send"))]
Answerer = Annotated[Known, Depends(needs("answer"))]
Runner = Annotated[Known, Depends(needs("run"))]
Admin = Annotated[Known, Depends(needs("admin"))]
