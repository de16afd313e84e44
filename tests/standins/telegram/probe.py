"""A bare client for the stand-in's own tests: the method and its fields, the whole answer."""

from __future__ import annotations

import httpx

from tests.standins.telegram.server import TelegramServer
from tests.standins.telegram.wire import Json, Object


class Probe:
    """Calls methods as a library would, and shows what comes back."""

    def __init__(self, server: TelegramServer, client: httpx.AsyncClient) -> None:
        self.server = server
        self._client = client

    async def ask(self, method: str, **fields: Json) -> Object:
        """The body of the answer, whatever it is."""
        return await self.ask_as(self.server.token, method, **fields)

    async def ask_as(self, token: str, method: str, **fields: Json) -> Object:
        """The same with any token."""
        address = f"{self.server.base_url}{token}/{method}"
        answer = await self._client.post(address, json=fields)
        body = answer.json()
        assert body["ok"] is (answer.status_code == 200)
        return body

    async def result(self, method: str, **fields: Json) -> Json:
        """The result of a call that has to succeed."""
        answer = await self.ask(method, **fields)
        assert answer["ok"] is True, answer
        return answer["result"]

    async def refused(self, method: str, **fields: Json) -> str:
        """The words of a refusal, after its code."""
        answer = await self.ask(method, **fields)
        assert answer["ok"] is False, answer
        return f"{answer['error_code']} {answer['description']}"

    async def id_of(self, method: str, **fields: Json) -> int:
        """The message id in the result."""
        result = await self.result(method, **fields)
        assert isinstance(result, dict)
        id = result["message_id"]
        assert isinstance(id, int)
        return id
