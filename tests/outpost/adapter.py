"""The outpost's platform: every verb is one HTTP call, updates come by a long poll or by a webhook."""

from __future__ import annotations

import asyncio
import hmac
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager, suppress
from urllib.parse import urlsplit

import httpx
from pydantic import BaseModel

from adapters.desk import Desk
from adapters.platform import Finding, Hook, Limits, NotLetIn, Outcome, Refused, Sent, Unclear, View
from core.model import Person
from tests.outpost.settings import Settings


class Update(BaseModel):
    """What a person did. press: the payload of the button, for a press on `message`."""

    id: int
    place: str
    person: str
    message: str
    text: str = ""
    press: str | None = None


class Updates(BaseModel):
    """What came in."""

    updates: list[Update]


class Outpost:
    """The platform; `Platform` says what each verb is."""

    prefix = "op"
    name = "Outpost"
    limits = Limits(text_max=4_000, edit_gap=0.05, typing_every=0.0, file_max=100_000)

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._token = settings.bot_token.get_secret_value()
        self._http: httpx.AsyncClient | None = None
        self._desk: Desk | None = None
        self._wrong: str | None = None
        self._turns: dict[str, asyncio.Lock] = {}

    @asynccontextmanager
    async def connect(self, desk: Desk) -> AsyncGenerator[None]:
        async with self._client() as self._http:
            if (await self._http.get("/me")).status_code == 401:
                raise NotLetIn("Outpost refuses the token: correct OUTPOST_BOT_TOKEN.")
            self._desk = desk
            polling = None if self._settings.webhook_url else asyncio.create_task(self._poll(self._http))
            try:
                yield
            finally:
                self._desk = None
                if polling is not None:
                    polling.cancel()
                    with suppress(asyncio.CancelledError):
                        await polling

    def _client(self) -> httpx.AsyncClient:
        return httpx.AsyncClient(base_url=self._settings.api_url, headers={"token": self._token}, timeout=10)

    async def _poll(self, http: httpx.AsyncClient) -> None:
        done = 0
        while True:
            reply = await http.get("/updates", params={"done": done, "patience": self._settings.patience})
            self._wrong = None
            if reply.status_code == 409:
                self._wrong = "Somebody else asks the outpost for updates with the same token: end that program."
                continue
            for one in Updates.model_validate_json(reply.content).updates:
                await self._bring(one)
                done = one.id

    async def _bring(self, update: Update) -> None:
        assert self._desk is not None
        person = Person(id=f"op:{update.person}", name=update.person)
        key = f"op:{update.id}"
        if update.press is not None:
            await self._desk.press(update.place, update.message, update.press, person, key=key)
        else:
            await self._desk.text(update.place, update.message, update.text, person, key=key)

    def hook(self) -> Hook | None:
        path = urlsplit(self._settings.webhook_url or "").path
        return Hook(path, self._genuine, self._take) if path else None

    def _genuine(self, headers: Mapping[str, str]) -> bool:
        return hmac.compare_digest(headers.get("token", ""), self._token)

    async def _take(self, body: bytes) -> None:
        update = Update.model_validate_json(body)
        async with self._turns.setdefault(update.place, asyncio.Lock()):
            await self._bring(update)

    def alive(self) -> bool:
        return self._wrong is None

    def trouble(self) -> str | None:
        return self._wrong

    async def check(self) -> tuple[Finding, ...]:
        async with self._client() as http:
            reply = await http.get("/me")
        if reply.status_code == 401:
            return (Finding(False, "Outpost refuses the token: correct OUTPOST_BOT_TOKEN."),)
        return (Finding(True, f"the bot is called {reply.json()['name']}"),)

    def measure(self, view: View) -> int:
        return len(view.text)

    def chat(self, place: str) -> str:
        return place

    def is_private(self, place: str) -> bool:
        return not place.startswith("op-g")

    async def post(self, place: str, view: View, *, nonce: str, reply_to: str | None = None) -> Outcome:
        return await self._call({"verb": "post", "place": place, "view": view.model_dump(mode="json")})

    async def edit(self, place: str, message: str, view: View) -> Outcome:
        words = {"verb": "edit", "place": place, "message": message, "view": view.model_dump(mode="json")}
        return await self._call(words)

    async def remove(self, place: str, message: str) -> Outcome:
        return await self._call({"verb": "remove", "place": place, "message": message})

    async def draft(self, place: str, of: str, view: View) -> Outcome:
        return Refused("final", "the outpost shows no drafts")

    async def typing(self, place: str) -> None:
        """Nobody sees who types there."""

    async def upload(self, place: str, name: str, content: bytes, *, nonce: str, asks: str | None = None) -> Outcome:
        return Refused("final", "the outpost takes no files")

    async def _call(self, words: Mapping[str, object]) -> Outcome:
        assert self._http is not None
        try:
            reply = await self._http.post("/call", json=words)
        except httpx.HTTPError as error:
            return Unclear(type(error).__name__)
        return Sent(reply.json()["message"]) if reply.status_code == 200 else Refused("gone", "no such message")
