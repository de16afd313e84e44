"""The outpost itself: a tiny chat platform behind real HTTP on loopback, which people and bots use.

What a test sees is what people would see. It keeps an update until the bot confirmed it.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from itertools import count

import httpx
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from adapters.platform import Button, View
from core.model import Json
from tests.outpost.adapter import Update
from tests.waiting import wait_until

TOKEN = "1234567:the-token-of-the-outpost"


@dataclass
class Shown:
    """A message of the bot."""

    id: str
    place: str
    text: str
    buttons: tuple[Button, ...]


@dataclass
class Station:
    """The platform's memory. polls: how many ask for updates now. calls: how often the bot did something."""

    token: str = TOKEN
    url: str = ""
    webhook: str = ""
    messages: dict[str, Shown] = field(default_factory=dict[str, Shown])
    updates: list[Update] = field(default_factory=list[Update])
    polls: int = 0
    calls: int = 0
    rivals: bool = False
    refused: int = 0
    ids: count[int] = field(default_factory=lambda: count(1))
    came: asyncio.Event = field(default_factory=asyncio.Event)

    # ── what people do and see ───────────────────────────────────────────────────────────────────────────────────────

    async def write(self, text: str, place: str = "op-7", person: str = "7") -> None:
        """A person writes."""
        await self._happened(
            Update(id=next(self.ids), place=place, person=person, message=f"p{next(self.ids)}", text=text)
        )

    async def press(self, message: Shown, label: str, person: str = "7") -> None:
        """A person presses the button that begins with these words."""
        payload = next(one.payload for one in message.buttons if one.label.startswith(label))
        id = next(self.ids)
        await self._happened(Update(id=id, place=message.place, person=person, message=message.id, press=payload))

    async def says(self, words: str, place: str = "op-7", timeout: float = 20.0) -> Shown:
        """Wait for a message that says these words; the newest."""

        def found() -> list[Shown]:
            return [one for one in self.messages.values() if one.place == place and words in one.text]

        try:
            await wait_until(lambda: bool(found()), timeout)
        except AssertionError:
            seen = [one.text for one in self.messages.values()]
            raise AssertionError(f"nothing at {place} says {words!r}: {seen}") from None
        return found()[-1]

    async def _happened(self, update: Update) -> None:
        self.updates.append(update)
        self.came.set()
        if self.webhook:
            await self.call()

    async def call(self, token: str = "") -> list[int]:
        """Bring what is not confirmed by the webhook; the replies."""
        replies: list[int] = []
        headers = {"token": token or self.token, "content-type": "application/json"}
        async with httpx.AsyncClient(headers=headers) as http:
            for update in list(self.updates):
                reply = await http.post(self.webhook, content=update.model_dump_json())
                replies.append(reply.status_code)
                if reply.is_success:
                    self.updates.remove(update)
        return replies

    # ── what the bot does ────────────────────────────────────────────────────────────────────────────────────────────

    def _known(self, request: Request) -> bool:
        known = request.headers.get("token") == self.token
        self.refused += not known
        return known

    async def me(self, request: Request) -> Response:
        """Who the bot is."""
        return JSONResponse({"name": "Outpost Bot"}, 200 if self._known(request) else 401)

    async def poll(self, request: Request) -> Response:
        """Hand out what came in, and forget what the bot has done."""
        if not self._known(request):
            return Response(status_code=401)
        if self.rivals:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(0.1):
                    await asyncio.Event().wait()
            return Response(status_code=409)
        done = int(request.query_params["done"])
        self.updates[:] = [one for one in self.updates if one.id > done]
        self.polls += 1
        try:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(float(request.query_params["patience"])):
                    while not self.updates:
                        self.came.clear()
                        await self.came.wait()
        finally:
            self.polls -= 1
        return JSONResponse({"updates": [one.model_dump() for one in self.updates]})

    async def bot(self, request: Request) -> Response:
        """Take what the bot shows."""
        if not self._known(request):
            return Response(status_code=401)
        self.calls += 1
        words: dict[str, Json] = await request.json()
        id = str(words.get("message") or f"m{next(self.ids)}")
        if words["verb"] == "remove":
            self.messages.pop(id, None)
        else:
            view = View.model_validate(words["view"])
            self.messages[id] = Shown(id, str(words["place"]), view.text, view.buttons)
        return JSONResponse({"message": id})


@contextlib.asynccontextmanager
async def station() -> AsyncGenerator[Station]:
    """An outpost that is open for as long as the block lasts."""
    made = Station()
    routes = [
        Route("/me", made.me),
        Route("/updates", made.poll),
        Route("/call", made.bot, methods=["POST"]),
    ]
    config = uvicorn.Config(Starlette(routes=routes), port=0, log_config=None, lifespan="off", ws="none")
    config.timeout_graceful_shutdown = 1
    server = uvicorn.Server(config)
    server.capture_signals = contextlib.nullcontext  # pyright: ignore[reportAttributeAccessIssue]  # signals stay with pytest
    serving = asyncio.create_task(server.serve())
    await wait_until(lambda: server.started)
    made.url = f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    try:
        yield made
    finally:
        server.should_exit = True
        await serving
