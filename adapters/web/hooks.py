"""Routes for platforms that call us: what is genuine is stored, then confirmed. It knows no platform."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from adapters.web.problems import Problem

_log = logging.getLogger("sayso.web")


@dataclass(frozen=True, slots=True)
class Called:
    """One route. genuine: tells from the headers whether the platform sent it. keep: stores what it brings."""

    name: str
    path: str
    genuine: Callable[[Mapping[str, str]], bool]
    keep: Callable[[bytes], Awaitable[object]]

    def route(self) -> Route:
        """The route that takes it; a platform that gets no 2xx brings it again."""

        async def take(request: Request) -> Response:
            if not self.genuine(request.headers):
                _log.warning("a call of %s that does not come from %s was refused", self.path, self.name)
                raise Problem(401, "who", f"this call does not come from {self.name}")
            body = await request.body()
            try:
                await self.keep(body)
            except UnicodeDecodeError:
                raise Problem(422, "invalid", "the body is no text") from None
            return Response(status_code=200)

        return Route(self.path, take, methods=["POST"])
