"""JSON as every call takes it: UTF-8 text, no half characters, and numbers and depth that can be kept and shown again.

What is wrong is said with its place before any route sees it. It knows no route and no rule about what is sent.
Source: RFC 8259, RFC 7493 (I-JSON).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Coroutine
from math import isfinite
from typing import Final, NoReturn

from fastapi import Request
from fastapi.routing import APIRoute
from starlette.responses import Response

from adapters.web.problems import Problem, invalid
from core.model import Json

DEEPEST: Final = 64
"""lists and objects inside each other"""
LARGEST: Final = 2**64
"""integers stay below"""
ODD: Final = re.compile(rb"\\u[dD][89a-fA-F]|\d{19}|\d[eE]\+?\d{2}")
"""without any of these in it, a body is whole text and has no number that is too large"""
LONGEST_PLACE: Final = 200
TOO_DEEP: Final = f"must not have more than {DEEPEST} lists and objects inside each other"
TOO_LARGE: Final = "must be a number that can be kept: an integer of at most 64 bits, or a float up to 1.8e308"


class JsonRoute(APIRoute):
    """A route that takes JSON only as it can be kept."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[object, object, Response]]:
        """Look at a body before the route does."""
        handle = super().get_route_handler()

        async def looked_at(request: Request) -> Response:
            body = JsonBody(request.scope, request.receive)
            if request.headers.get("content-type", "").partition(";")[0].strip().casefold() == "application/json":
                await body.look()
            return await handle(body)

        return looked_at


class JsonBody(Request):
    """A request whose body was looked at."""

    _found: Json = None

    async def look(self) -> None:
        """Read the body, and see that all of it can be kept.

        Raises: `Problem`.
        """
        raw = await self.body()
        if raw:
            self._found = parsed(raw)

    async def json(self) -> Json:
        """What the body says."""
        return self._found


def parsed(raw: bytes) -> Json:
    """Read JSON.

    Raises: `Problem` with the place of what cannot be kept.
    """
    try:
        found: Json = json.loads(raw.decode(), parse_constant=_no_number)
    except UnicodeDecodeError as error:
        raise _broken(f"byte {error.start} is no UTF-8") from None
    except json.JSONDecodeError as error:
        raise _broken(f"{error.msg} at character {error.pos}") from None
    except RecursionError:
        raise _broken(TOO_DEEP) from None
    except ValueError:  # an integer of more digits than Python reads
        raise invalid("body", TOO_LARGE) from None
    if raw.count(b"[") + raw.count(b"{") > DEEPEST or ODD.search(raw):
        _whole(found)
    return found


def _whole(found: Json) -> None:
    """See that every part can be kept, each with the names that lead to it."""
    left: list[tuple[str, int, Json]] = [("", 0, found)]
    while left:
        place, depth, one = left.pop()
        if depth > DEEPEST:
            raise invalid(place[:LONGEST_PLACE], TOO_DEEP)
        match one:
            case str():
                _text(place, one)
            case int() | float():
                _number(place, one)
            case list():
                left += [(_inside(place, str(index)), depth + 1, inner) for index, inner in enumerate(one)]
            case dict():
                for name, inner in one.items():
                    _text(place, name)
                    left.append((_inside(place, name), depth + 1, inner))
            case None:
                pass


def _inside(place: str, name: str) -> str:
    return f"{place}.{name}"[:LONGEST_PLACE] if place else name[:LONGEST_PLACE]


def _text(place: str, text: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise invalid(place or "body", f"must be whole text; half of a character stands at {error.start}") from None


def _number(place: str, number: float) -> None:
    if not isfinite(number) if isinstance(number, float) else abs(number) >= LARGEST:
        raise invalid(place or "body", TOO_LARGE)


def _no_number(text: str) -> NoReturn:
    raise _broken(f"{text} is no number")


def _broken(reason: str) -> Problem:
    return Problem(400, "broken_json", f"the body is no JSON: {reason}", errors=[("body", f"must be JSON: {reason}")])
