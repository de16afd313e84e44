"""A whole Sayso for one test: any number of web servers, each with a broker of its own, a worker, and people."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from pathlib import Path
from types import TracebackType
from typing import Self

import httpx
from pydantic import SecretStr, TypeAdapter
from websockets.asyncio.client import ClientConnection, connect

from core.accounts import SCOPES, Accounts, Scope
from core.broker import Broker
from core.lease import Lease
from core.model import Json, Person
from core.pace import Pace
from core.worker import Worker
from gateway import wiring
from gateway.settings import Settings
from gateway.web import serve
from tests.adapters.web.scripted import Script
from tests.waiting import wait_until

OBJECT: TypeAdapter[dict[str, Json]] = TypeAdapter(dict[str, Json])


class Place:
    """Everything runs in this process, as several processes would: nothing is shared but Redis and the script."""

    def __init__(self, redis_url: str, folder: Path, **settings: object) -> None:
        given: dict[str, object] = {"data_dir": folder, "port": 0, "redis_url": SecretStr(redis_url), **settings}
        self.settings = Settings.model_validate({"agent": "scripted", "feed_block": 0.5, **given})
        self.script = Script()
        self.urls: list[str] = []
        self._stack = AsyncExitStack()
        self._stop = asyncio.Event()
        self._servers: list[asyncio.Task[None]] = []

    async def __aenter__(self) -> Self:
        self.broker: Broker = await self._stack.enter_async_context(wiring.opened(self.settings))
        self.accounts: Accounts = wiring.accounts(self.settings, self.broker)
        self.people = wiring.people(self.broker)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()
        await asyncio.gather(*self._servers)
        await self._stack.aclose()

    @property
    def url(self) -> str:
        """The first web server."""
        return self.urls[0]

    async def web(self) -> str:
        """Start a web server; returns its address."""
        ports: asyncio.Queue[int] = asyncio.Queue()

        async def run() -> None:
            async with wiring.opened(self.settings) as broker:
                await serve(self.settings, broker, self._stop, ports.put_nowait)

        server = asyncio.create_task(run())
        self._servers.append(server)
        asking = asyncio.create_task(ports.get())
        await asyncio.wait({server, asking}, return_when=asyncio.FIRST_COMPLETED)
        if server.done():
            await server
        self.urls.append(f"http://127.0.0.1:{await asking}")
        return self.urls[-1]

    async def worker(self, stack: AsyncExitStack | None = None) -> Worker:
        """Start a worker that lives as long as the stack, or the place."""
        stack = stack or self._stack
        broker = await stack.enter_async_context(wiring.opened(self.settings))
        lease = await stack.enter_async_context(Lease(broker, "worker"))
        agent = self.script.agent()
        return await stack.enter_async_context(
            Worker(broker, lease, lambda _: agent, files=wiring.files(self.settings), pace=Pace(hot=0.1))
        )

    async def token(self, person: str = "owner", scopes: tuple[Scope, ...] = SCOPES) -> str:
        """A token of somebody."""
        found = await self.people.find(person) or await self.people.add(person, "member")
        assert isinstance(found, Person), found
        return (await self.accounts.token(found, scopes, ""))[0]

    async def user(self, person: str = "owner", *, url: str = "", scopes: tuple[Scope, ...] = SCOPES) -> User:
        """Somebody who uses the API with a token."""
        user = User(url or self.url, await self.token(person, scopes))
        self._stack.push_async_callback(user.http.aclose)
        return user

    async def browser(self, *, url: str = "") -> httpx.AsyncClient:
        """A browser that is signed in as the owner."""
        place = url or self.url
        http = httpx.AsyncClient(base_url=place, headers={"Origin": place})
        self._stack.push_async_callback(http.aclose)
        response = await http.post("/v1/login", json={"code": await self.accounts.link()})
        assert response.status_code == 204, response.text
        return http


class User:
    """A person, or their program, at one web server."""

    def __init__(self, url: str, token: str) -> None:
        self.url = url
        self.token = token
        self.http = httpx.AsyncClient(base_url=url, headers={"Authorization": f"Bearer {token}"}, timeout=20)

    async def get(self, path: str, status: int = 200) -> dict[str, Json]:
        """Look at something."""
        return plain(await self.http.get(path), status)

    async def post(
        self, path: str, body: dict[str, Json] | None = None, status: int = 200, key: str | None = None
    ) -> dict[str, Json]:
        """Do something."""
        headers = {"Idempotency-Key": key} if key is not None else {}
        return plain(await self.http.post(path, json=body, headers=headers), status)

    async def send(self, text: str, conversation: str | None = None, **more: Json) -> Said:
        """Say something that starts a run, or steers one."""
        place: dict[str, Json] = {"conversation": conversation} if conversation else {}
        sent = await self.post("/v1/send", {"text": text, **place, **more})
        return Said(str(sent["conversation"]), str(sent["run"]))

    async def state(self, run: str) -> str:
        """A run's state."""
        return str((await self.get(f"/v1/runs/{run}"))["state"])

    async def until(self, run: str, *states: str) -> str:
        """Wait for a run to be in one of these states."""
        found: list[str] = []

        async def there() -> bool:
            found[:] = [await self.state(run)]
            return found[0] in states

        await wait_until(there)
        return found[0]

    async def asked(self, conversation: str, count: int = 1) -> list[dict[str, Json]]:
        """Wait for open questions in a conversation, the oldest first."""
        found: list[dict[str, Json]] = []

        async def there() -> bool:
            cards = (await self.get(f"/v1/requests?state=open&conversation={conversation}"))["requests"]
            assert isinstance(cards, list)
            found[:] = [card for card in cards if isinstance(card, dict)]
            return len(found) == count

        await wait_until(there)
        return found

    async def accept(self, request: Json, value: Json, status: int = 200, field: str = "confirm") -> dict[str, Json]:
        """Answer a question that has one field."""
        body: dict[str, Json] = {"outcome": "accepted", "values": {field: value}}
        return await self.post(f"/v1/requests/{request}/answer", body, status)

    async def history(self, conversation: str) -> list[dict[str, Json]]:
        """What was said and done."""
        entries = (await self.get(f"/v1/conversations/{conversation}"))["history"]
        assert isinstance(entries, list)
        return [entry for entry in entries if isinstance(entry, dict)]

    def live(self) -> connect:
        """A WebSocket, as a page opens it."""
        return connect(f"ws{self.url[4:]}/v1/ws", additional_headers={"Authorization": f"Bearer {self.token}"})


class Said:
    """Where something was said, and the run that it started."""

    def __init__(self, conversation: str, run: str) -> None:
        self.conversation = conversation
        self.run = run


def plain(response: httpx.Response, status: int) -> dict[str, Json]:
    """The body of an answer that has that status; every error is a problem document."""
    assert response.status_code == status, f"{response.request.method} {response.request.url}: {response.text}"
    if status >= 400:
        assert response.headers["content-type"] == "application/problem+json"
    return OBJECT.validate_json(response.content) if response.content else {}


async def heard(socket: ClientConnection, *types: str) -> dict[str, Json]:
    """Read frames until one of these types comes."""
    async with asyncio.timeout(10):
        while True:
            frame = OBJECT.validate_json(await socket.recv())
            if frame["type"] in types:
                return frame
