"""Errors as people and programs see them: one problem+json document for everything that is not a success.

    {"type", "title", "status", "detail", "code", "errors": [{"field", "rule"}], …what stands instead}

Every 4xx names the field and the rule. What is unknown and what is somebody else's give the same answer.
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


def unknown(what: str) -> Problem:
    """Say that there is no such thing, or that it is somebody else's: both look the same."""
    return Problem(404, "unknown", f"there is no such {what}", errors=[(what, "must be the id of one of yours")])


def refused(refusal: Refusal) -> Problem:
    """Say what a rule said."""
    status = STATUS[refusal.code]
    standing = dict(refusal.standing)
    if status == 422:
        field, rule = str(standing.pop("field", "body")), str(standing.pop("rule", refusal.text))
        return Problem(status, refusal.code, refusal.text, errors=[(field, rule)], standing=standing)
    errors = [("id", "must be the id of one of yours")] if status == 404 else []
    return Problem(status, refusal.code, refusal.text, errors=errors, standing=standing)


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
        kind, place, words = str(detail["type"]), tuple(detail["loc"]), str(detail["msg"])
        if kind == "json_invalid":
            reason = str(detail.get("ctx", {}).get("error", words))
            return Problem(400, "broken_json", f"the body is no JSON: {reason}", errors=[("body", "must be JSON")])
        field = ".".join(str(part) for part in place[1:]) or str(place[0])
        found.append((field, _rule(kind, words)))
    return Problem(422, "invalid", "; ".join(f"{field!r}: {rule}" for field, rule in found), errors=found)


def _rule(kind: str, words: str) -> str:
    if kind == "missing":
        return "is missing"
    if kind == "extra_forbidden":
        return "is no field of this call"
    words = words.removeprefix("Value error, ").replace("Input should", "must").replace("String should", "must")
    words = words.replace("List should", "must").replace("Value should", "must")
    return words[:1].lower() + words[1:]


def of_http(error: HTTPException) -> Problem:
    """Say what the framework refused: no such path, no such method, a body that is too large."""
    words = {404: "there is no such path", 405: "this path does not know that method"}
    errors = {
        404: [("path", "must be one that /openapi.json lists")],
        405: [("method", "must be one of the Allow header")],
    }
    phrase = HTTPStatus(error.status_code).phrase
    return Problem(
        error.status_code,
        phrase.lower().replace(" ", "_"),
        words.get(error.status_code, error.detail),
        errors=errors.get(error.status_code, [("body", error.detail)]),
        headers=error.headers,
    )


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
