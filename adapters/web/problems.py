"""Errors as people and programs see them: one problem+json document for everything that is not a success.

    {"type", "title", "status", "detail", "code", "errors": [{"field", "rule"}], …what stands instead}

Every 4xx names the field and the rule; a field is one that the caller sent, `id` is the one in the path. What is
unknown and what is somebody else's give the same answer.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Final

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response

from adapters.web.wording import broken
from adapters.web.wording import refused as rule_of
from core.errors import Full, LinkDown, LinkLost, StoreError
from core.life.decision import Code, Refusal
from core.model import Json

MEDIA_TYPE: Final = "application/problem+json"
STATUS: Final[Mapping[Code, int]] = {
    "unknown": 404,
    "already_answered": 409,
    "expired": 409,
    "paused": 409,
    "invalid": 422,
    "conflict": 409,
    "ended": 409,
    "gone": 410,
    "fenced": 409,
    "halted": 409,
    "busy": 409,
    "waiting": 409,
    "answered": 409,
    "not_approved": 409,
    "not_whole": 409,
    "steered": 409,
    "not_allowed": 403,
    "scope": 403,
    "choose": 409,
    "secret": 409,
    "length": 409,
    "contended": 503,
    "frozen": 423,
    "early": 409,
}
TRY_AGAIN: Final = {"Retry-After": "1"}
_log = logging.getLogger("sayso.web")


class FieldError(BaseModel):
    """One thing that is wrong with what was sent: where, and the rule it breaks."""

    field: str
    rule: str


class ProblemShape(BaseModel):
    """The body of every answer that is not a success (RFC 9457); what stands instead is beside these."""

    type: str = Field(default="about:blank", description="always `about:blank`: `code` says which problem it is")
    title: str
    status: int
    detail: str = Field(description="what happened and what to do, in words")
    code: str
    errors: list[FieldError] = []


class Problem(Exception):
    """What a route raises instead of a success."""

    def __init__(
        self,
        status: int,
        code: str,
        detail: str,
        *,
        errors: Sequence[tuple[str, str]] = (),
        standing: Mapping[str, Json] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(detail)
        self.status = status
        self.code = code
        self.detail = detail
        self.errors = errors
        self.standing = standing or {}
        self.headers = headers

    def body(self) -> dict[str, Json]:
        """The document."""
        plain: dict[str, Json] = {
            **self.standing,
            "type": "about:blank",
            "title": HTTPStatus(self.status).phrase,
            "status": self.status,
            "detail": self.detail,
            "code": self.code,
        }
        if self.errors:
            plain["errors"] = [{"field": field, "rule": rule} for field, rule in self.errors]
        return plain

    def response(self) -> Response:
        """The answer."""
        return JSONResponse(self.body(), self.status, headers=self.headers, media_type=MEDIA_TYPE)


def invalid(field: str, rule: str) -> Problem:
    """Say that one field breaks a rule."""
    return Problem(422, "invalid", f"{field!r}: {rule}", errors=[(field, rule)])


def unknown(what: str, field: str = "id") -> Problem:
    """Say that there is no such thing, or that it is somebody else's: both look the same.

    field: where the caller named it; `id` stands for the one in the path.
    """
    return Problem(404, "unknown", f"there is no such {what}", errors=[(field, rule_of("unknown"))])


def refused(refusal: Refusal, field: str = "id", key: str = "Idempotency-Key") -> Problem:
    """Say what a rule said. field: what is wrong, where the rule names nothing; key: where the caller named a key."""
    standing = dict(refusal.standing)
    found, rule = str(standing.pop("field", field)), str(standing.pop("rule", rule_of(refusal.code)))
    if found == "key":
        found = key
    return Problem(STATUS[refusal.code], refusal.code, refusal.text, errors=[(found, rule)], standing=standing)


def of_store(error: StoreError) -> Problem:
    """Say what Redis did not do; never a word of success."""
    match error:
        case LinkLost():
            words = "the outcome is unknown: the same Idempotency-Key makes a repeat safe"
            return Problem(503, "outcome_unknown", words, headers=TRY_AGAIN)
        case LinkDown():
            return Problem(503, "not_stored", "not stored, try again: Redis cannot be reached", headers=TRY_AGAIN)
        case Full():
            words = "Redis is full: new work is refused until memory is freed; answers and cancels still work"
            return Problem(507, "full", words)
        case _:
            return Problem(503, "store", f"Redis refused: {error}", headers=TRY_AGAIN)


def of_input(error: RequestValidationError) -> Problem:
    """Say what is wrong with what was sent."""
    found: list[tuple[str, str]] = []
    for detail in error.errors():
        place, more = tuple(detail["loc"]), detail.get("ctx", {})
        field = ".".join(str(part) for part in place[1:]) or str(place[0])
        found.append((field, broken(str(detail["type"]), more)))
    return Problem(422, "invalid", "; ".join(f"{field!r}: {rule}" for field, rule in found), errors=found)


FOUND: Final[Mapping[int, tuple[str, str, str, str]]] = {
    400: ("broken_form", "the body is no multipart form", "body", "must be a multipart form"),
    404: ("not_found", "there is no such path", "path", "must be one that /openapi.json lists"),
    405: ("method_not_allowed", "this path does not know that method", "method", "must be one of the Allow header"),
}
"""status → code, words, field and rule"""


def of_http(error: HTTPException) -> Problem:
    """Say what the framework refused: no such path, no such method, a body that is too large."""
    if error.status_code == 413:
        return Problem(413, "too_large", error.detail, errors=[("body", error.detail.removeprefix("the body "))])
    phrase = HTTPStatus(error.status_code).phrase.lower().replace(" ", "_")
    code, words, field, rule = FOUND.get(error.status_code, (phrase, error.detail, "body", error.detail))
    return Problem(error.status_code, code, words, errors=[(field, rule)], headers=error.headers)


def install(app: FastAPI) -> None:
    """Have every error of an app leave it as a problem."""

    async def on_problem(_: Request, error: Exception) -> Response:
        match error:
            case Problem():
                return error.response()
            case RequestValidationError():
                return of_input(error).response()
            case HTTPException():
                return of_http(error).response()
            case StoreError():
                return of_store(error).response()
            case _:
                _log.error("an error of ours", exc_info=error)
                words = "an error of ours; it was logged, nothing more is known"
                return Problem(500, "internal", words).response()

    for kind in (Problem, RequestValidationError, HTTPException, StoreError, Exception):
        app.add_exception_handler(kind, on_problem)
