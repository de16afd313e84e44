"""Routes of coming in and going out: login by a single-use code, logout, who am I, API tokens."""

from __future__ import annotations

import time
from collections import deque
from typing import Annotated

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from adapters.web.body import JsonRoute
from adapters.web.conversations import Parts
from adapters.web.problems import Problem, invalid, unknown
from adapters.web.security import Admin, Reader, cookie_name
from adapters.web.state import Web
from adapters.web.wire import PersonShape
from core.accounts import SCOPES, Known, Scope, Token

router = APIRouter(prefix="/v1", tags=["session"], route_class=JsonRoute)
TRIES = 10
MINUTE = 60.0
_WORDS = {
    "unknown": "this link is not known; `sayso login` prints a fresh one",
    "used": "this link was used already; `sayso login` prints a fresh one",
    "expired": "this link is too old; `sayso login` prints a fresh one",
}


class Tries:
    """How often an address tried to sign in lately; more than `TRIES` in a minute are refused."""

    def __init__(self) -> None:
        self._at: dict[str, deque[float]] = {}

    def wait(self, address: str) -> float:
        """Note a try; returns the seconds to wait when there were too many."""
        now = time.monotonic()
        if len(self._at) > 10_000:
            self._at.clear()
        tries = self._at.setdefault(address, deque())
        while tries and now - tries[0] > MINUTE:
            tries.popleft()
        if len(tries) >= TRIES:
            return MINUTE - (now - tries[0])
        tries.append(now)
        return 0.0


class Code(BaseModel):
    """The code of a login link."""

    model_config = ConfigDict(extra="forbid")

    code: str = Field(min_length=1, max_length=128)


class Leaving(BaseModel):
    """everywhere: every browser of this person, not only this one."""

    model_config = ConfigDict(extra="forbid")

    everywhere: bool = Field(default=False, strict=True)


class Me(BaseModel):
    """Who is signed in, and what they may talk to."""

    person: PersonShape
    scopes: list[Scope]
    agents: list[str]
    agent: str
    version: str


class NewToken(BaseModel):
    """What a new token may do."""

    model_config = ConfigDict(extra="forbid")

    name: str = Field(default="", max_length=80)
    scopes: Annotated[list[Scope], Field(min_length=1)] = list(SCOPES)


class TokenShape(BaseModel):
    """A token as it is listed; `token`, its text, is told once, when it is made."""

    id: str
    name: str
    scopes: list[Scope]
    created: int
    token: str | None = None


class Tokens(BaseModel):
    """Tokens."""

    tokens: list[TokenShape]


@router.post("/login", summary="Sign a browser in with the code of a link", status_code=204)
async def login(body: Code, request: Request, response: Response, web: Parts) -> None:
    """Trade a single-use code for a cookie that scripts cannot read."""
    hurried(request)
    found = await web.accounts.redeem(body.code)
    if isinstance(found, str):
        raise Problem(403, found, _WORDS[found], errors=[("code", "must be of a fresh link")])
    let_in(web, request, response, found[0])


def hurried(request: Request) -> None:
    """Refuse an address that tries too often."""
    tries: object = request.app.state.tries
    assert isinstance(tries, Tries)
    wait = tries.wait(request.client.host if request.client else "")
    if wait:
        words = "too many tries to sign in; wait a minute"
        headers = {"Retry-After": str(int(wait) + 1)}
        rule = f"at most {TRIES} tries in a minute"
        raise Problem(429, "too_many", words, errors=[("code", rule)], headers=headers)


def let_in(web: Web, request: Request, response: Response, secret: str) -> None:
    """Give a browser its session, as a cookie that scripts cannot read."""
    response.set_cookie(
        cookie_name(request),
        secret,
        max_age=web.options.login_days * 86_400,
        httponly=True,
        samesite="lax",
        secure=request.url.scheme == "https" or (web.options.public_url or "").startswith("https://"),
        path="/",
    )


@router.post("/logout", summary="Sign out this browser, or all", status_code=204)
async def logout(request: Request, response: Response, web: Parts, who: Reader, body: Leaving | None = None) -> None:
    """End the session at once, here and in every process."""
    if body is not None and body.everywhere:
        _administers(who)
        await web.accounts.sign_out_everywhere(who.person)
    elif who.by == "session":
        await web.accounts.sign_out(who)
    response.delete_cookie(cookie_name(request), path="/", httponly=True, samesite="lax")
    await web.hub.look_at_credentials()


def _administers(who: Known) -> None:
    if "admin" not in who.scopes:
        raise Problem(403, "scope", "this token may not sign others out", errors=[("everywhere", "needs scope admin")])


@router.get("/me", summary="Who is asking", response_model_exclude_none=True)
async def me(web: Parts, who: Reader) -> Me:
    """Tell who is signed in, which agents there are, and the version."""
    return Me(
        person=PersonShape(id=who.person.id, name=who.person.name or who.person.id, role=who.person.role),
        scopes=list(who.scopes),
        agents=list(web.options.agents),
        agent=web.options.agent,
        version=web.options.version,
    )


@router.get("/tokens", summary="Your API tokens", response_model_exclude_none=True)
async def tokens(web: Parts, who: Admin) -> Tokens:
    """List them; their texts are kept nowhere."""
    return Tokens(tokens=[_token(one) for one in await web.accounts.tokens(who.person)])


@router.post("/tokens", summary="Make an API token", status_code=201, response_model_exclude_none=True)
async def make_token(body: NewToken, web: Parts, who: Admin) -> TokenShape:
    """Make a token that may do no more than the caller."""
    if not set(body.scopes) <= set(who.scopes):
        raise invalid("scopes", f"must be among your own: {', '.join(who.scopes)}")
    text, token = await web.accounts.token(who.person, tuple(body.scopes), body.name)
    return _token(token, text)


@router.delete("/tokens/{id}", summary="Take an API token back", status_code=204)
async def revoke(id: str, web: Parts, who: Admin) -> None:
    """It stops counting within 5 s, everywhere."""
    if not await revoked(web, who, id):
        raise unknown("token")


async def revoked(web: Web, who: Known, id: str) -> bool:
    """Take a token back and end what it has open."""
    gone = await web.accounts.revoke(who.person, id)
    await web.hub.look_at_credentials()
    return gone


def _token(one: Token, text: str | None = None) -> TokenShape:
    return TokenShape(id=one.id, name=one.name, scopes=list(one.scopes), created=one.created_ms, token=text)
