"""One REST call, its place in the table of routes, and the marks by which routes are found."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

from tests.standins.discord.routes import ROUTES
from tests.standins.discord.shapes import Json, Obj
from tests.standins.discord.world import World
from tests.standins.discord.writing import Upload

TEMPLATES = [path for path, _ in ROUTES]
PATTERNS = [(path, re.compile(re.sub(r"\{(\w+)\}", r"(?P<\1>[^/]+)", path))) for path in TEMPLATES]


@dataclass
class Call:
    """A call as it came. route: `POST /channels/{channel_id}/messages`. status: how it was answered, 0 for not yet."""

    route: str
    params: dict[str, str]
    query: dict[str, str]
    body: Json
    files: list[Upload] = field(default_factory=list[Upload])
    with_token: bool = False
    status: int = 0
    code: int = 0
    answer: Json = None

    @property
    def form(self) -> Obj:
        """The body when it is an object."""
        return self.body if isinstance(self.body, dict) else {}

    def __str__(self) -> str:
        return f"{self.route} {self.params} → {self.status} {self.code or ''}"


Answer: TypeAlias = Callable[[World, Call], Json]
"""Answers one route: the body of a 200, or None for a 204. Raises `Refusal`."""
TABLE: dict[str, Answer] = {}


def answers(*routes: str) -> Callable[[Answer], Answer]:
    """Put a function into the table of routes."""

    def mark(function: Answer) -> Answer:
        for route in routes:
            assert route.partition(" ")[2] in TEMPLATES, route
            TABLE[route] = function
        return function

    return mark


def found(method: str, path: str) -> tuple[str, dict[str, str]] | None:
    """The route of an address and what stands in its gaps."""
    fits = [(template, match) for template, pattern in PATTERNS if (match := pattern.fullmatch(path))]
    fits.sort(key=lambda one: one[0].count("{"))
    for template, match in fits:
        if f"{method} {template}" in TABLE:
            return f"{method} {template}", match.groupdict()
    return None
