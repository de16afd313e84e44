"""What goes wrong on purpose, and how Discord limits rates.

Source: Discord developer page "Rate Limits".
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Literal
from zlib import crc32

from tests.standins.discord.refusals import CODES
from tests.standins.discord.shapes import Json

Scope = Literal["user", "shared", "global"]


@dataclass(eq=False)
class Fault:
    """What goes wrong with the next calls of a route.

    code: one of Discord's codes. status: a bare HTTP status. retry_after: a 429 with these seconds. via: it comes from
    Discord and not from the proxy in front of it, which discord.py does not retry. cut: the connection breaks before
    the call took effect or after. held: the answer waits for `release`, the call has taken effect then (`late`) or not.
    """

    route: str
    code: int | None = None
    status: int | None = None
    retry_after: float | None = None
    scope: Scope = "user"
    via: bool = True
    cut: Literal["before", "after"] | None = None
    held: Literal["early", "late"] | None = None
    times: int = 1
    reached: asyncio.Event = field(default_factory=asyncio.Event)
    opened: asyncio.Event = field(default_factory=asyncio.Event)

    def release(self) -> None:
        """Let the held call go on."""
        self.opened.set()

    @property
    def reply(self) -> Reply | None:
        """What is answered instead of the truth."""
        if self.retry_after is not None:
            return limited(self.retry_after, self.scope, via=self.via)
        if self.code is not None:
            status, message = CODES.get(self.code, (400, "Refused"))
            return Reply(self.status or status, {"message": message, "code": self.code})
        if self.status is not None:
            return Reply(self.status, {"message": f"{self.status}: no", "code": 0})
        return None


@dataclass
class Reply:
    """An HTTP answer."""

    status: int
    body: Json = None
    headers: dict[str, str] = field(default_factory=dict[str, str])
    plain: str | None = None


def limited(retry_after: float, scope: Scope, *, via: bool = True) -> Reply:
    """A 429 as Discord words it, or as the proxy in front of it does."""
    if not via:
        return Reply(429, headers={"Retry-After": str(max(1, round(retry_after)))}, plain="error code: 1015")
    headers = {"Retry-After": str(max(1, round(retry_after))), "X-RateLimit-Scope": scope, "Via": "1.1 google"}
    if scope == "global":
        headers["X-RateLimit-Global"] = "true"
    told = "You are being rate limited."
    return Reply(429, {"message": told, "retry_after": retry_after, "global": scope == "global"}, headers)


@dataclass
class Bucket:
    """So many calls in so many seconds, by the loop's clock."""

    limit: int
    per: float
    used: int = 0
    ends: float = 0.0

    def take(self, now: float) -> bool:
        """Count a call; false when there is no room for it."""
        if now >= self.ends:
            self.used, self.ends = 0, now + self.per
        self.used += 1
        return self.used <= self.limit

    def headers(self, now: float) -> dict[str, str]:
        left = max(0, self.limit - self.used)
        return _headers(self.limit, left, max(0.0, self.ends - now))


def _headers(limit: int, left: int, seconds: float) -> dict[str, str]:
    shown = {"X-RateLimit-Limit": limit, "X-RateLimit-Remaining": left, "X-RateLimit-Reset-After": f"{seconds:.3f}"}
    return {key: str(value) for key, value in shown.items()}


ROOMY = _headers(1000, 999, 0.001)
"""What a route without a bucket of its own tells."""


class Limits:
    """The rates of all routes. invalid: calls that count towards the ban of an address (401, 403, 429).

    A 429 that is global, or of the proxy, holds for every call but those of interactions until its time is over.
    """

    def __init__(self) -> None:
        self.buckets: dict[tuple[str, str], Bucket] = {}
        self.rules: dict[str, tuple[int, float]] = {}
        self.everything: Bucket | None = None
        self.closed_until = 0.0
        self.invalid = 0

    def check(self, route: str, major: str, *, exempt: bool) -> tuple[Reply | None, dict[str, str]]:
        """A 429 if this call is one too many, and the headers that tell of its bucket."""
        now = asyncio.get_running_loop().time()
        if now < self.closed_until and not exempt:
            return limited(self.closed_until - now, "global", via=False), {}
        if self.everything is not None and not exempt and not self.everything.take(now):
            return limited(self.everything.ends - now, "global"), {}
        rule = self.rules.get(route)
        if rule is None:
            return None, {**ROOMY, "X-RateLimit-Bucket": f"{crc32(route.encode()):08x}"}
        bucket = self.buckets.setdefault((route, major), Bucket(*rule))
        allowed = bucket.take(now)
        headers = {**bucket.headers(now), "X-RateLimit-Bucket": f"{crc32(route.encode()):08x}"}
        return (None if allowed else limited(bucket.ends - now, "user")), headers

    def note(self, fault: Fault | None) -> None:
        """Hold what a 429 said that was made on purpose."""
        if fault is not None and fault.retry_after is not None and (fault.scope == "global" or not fault.via):
            self.closed_until = asyncio.get_running_loop().time() + fault.retry_after

    def count(self, reply: Reply) -> None:
        if reply.status in {401, 403, 429} and reply.headers.get("X-RateLimit-Scope") != "shared":
            self.invalid += 1
