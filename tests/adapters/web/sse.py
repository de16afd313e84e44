"""A program that reads an event stream, as the specification of server-sent events says."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import httpx

from core.model import Json
from tests.adapters.web.place import OBJECT, User


@dataclass(frozen=True)
class Told:
    """One event of a stream."""

    id: str
    type: str
    plain: dict[str, Json]


class Stream:
    """An open stream."""

    def __init__(self, response: httpx.Response) -> None:
        self.response = response
        self._lines = response.aiter_lines()

    async def next(self) -> Told:
        """The next event; comments and pauses are passed over."""
        fields: dict[str, str] = {}
        async for line in self._lines:
            if not line and "data" in fields:
                return Told(fields.get("id", ""), fields["event"], OBJECT.validate_json(fields["data"]))
            name, _, value = line.partition(": ")
            fields = {} if not line else {**fields, name: value}
        raise EOFError("the stream has ended")

    async def until(self, *types: str) -> list[Told]:
        """All events up to the first of these types."""
        found: list[Told] = []
        while not found or found[-1].type not in types:
            found.append(await self.next())
        return found


@asynccontextmanager
async def stream(user: User, conversation: str, last: str | None = None, query: str = "") -> AsyncGenerator[Stream]:
    """Open a stream, after the event with the id `last`."""
    headers = {"Last-Event-ID": last} if last else {}
    path = f"/v1/conversations/{conversation}/events{query}"
    async with user.http.stream("GET", path, headers=headers) as response:
        yield Stream(response)
