"""A second opinion: a Bot API emulator by others, in a process of its own, with updates queued from outside.

It models another messenger's part of the Bot API, so it refuses a few fields that Telegram has; `forgiving` is a way to
it that leaves those out. It knows no people: a test writes the updates itself.
"""

from __future__ import annotations

import asyncio
import json
import socket
import sys
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import uvicorn
from fastapi import FastAPI, Request, Response

from tests.standins.telegram.app import read
from tests.standins.telegram.wire import Fields, Json, Object, Upload, as_objects
from tests.waiting import wait_until

TOKEN = "7:AAsecond-opinion-token-of-forty-chars-xx"
NOT_MODELLED = {
    "link_preview_options",
    "disable_content_type_detection",
    "message_thread_id",
    "reply_parameters",
    "allow_paid_broadcast",
}
NO_KINDS = {"stopped_message_generation"}
BUTTON_FIELDS = {"text", "url", "callback_data"}


@dataclass(frozen=True)
class Told:
    """One call as the bot made it, and the answer of the emulator."""

    method: str
    fields: Object
    answer: Object

    @property
    def text(self) -> str:
        """The text that was sent."""
        return str(self.fields.get("text", ""))

    @property
    def message(self) -> int:
        """The number of the message that came of it."""
        result = self.answer["result"]
        assert isinstance(result, dict)
        number = result["message_id"]
        assert isinstance(number, int)
        return number

    def payload(self, label: str) -> str:
        """What the button with this label carries."""
        given: Json = json.loads(str(self.fields["reply_markup"]))
        rows = Fields(given if isinstance(given, dict) else {}).list("inline_keyboard")
        buttons = [one for row in rows for one in as_objects(row)]
        return next(str(one["callback_data"]) for one in buttons if one["text"] == label)


@dataclass(frozen=True)
class Second:
    """A running emulator. url: the way to it that leaves out what it does not model; direct: the emulator itself.

    told: every call that the bot made on that way, in order.
    """

    url: str
    direct: str
    journal: Path
    client: httpx.AsyncClient
    told: list[Told]
    token: str = TOKEN

    async def update(self, **body: Object) -> int:
        """Queue an update; returns its id."""
        answer = await self.client.post(f"{self.direct}/__fixture/updates", json={"token": self.token, "update": body})
        assert answer.is_success, answer.text
        id = answer.json()["result"]["update_id"]
        assert isinstance(id, int)
        return id

    def calls(self, method: str) -> list[Object]:
        """What it wrote down of the calls of a method: names of fields, and the status."""
        lines: list[Json] = [json.loads(line) for line in self.journal.read_text().splitlines()]
        return [one for one in as_objects(lines) if one.get("method") == method]

    def refused(self) -> list[Object]:
        """The calls that it refused."""
        lines: list[Json] = [json.loads(line) for line in self.journal.read_text().splitlines()]
        return [one for one in as_objects(lines) if one.get("method") and one.get("status") != 200]


def free_port() -> int:
    """A port that nobody uses."""
    with socket.create_server(("127.0.0.1", 0)) as one:
        return int(one.getsockname()[1])


@asynccontextmanager
async def second_opinion(folder: Path) -> AsyncGenerator[Second]:
    """The emulator, for as long as the context lasts."""
    port, journal = free_port(), folder / "calls.jsonl"
    words = ["--port", str(port), "--enable-control", "--journal", str(journal), "--allow-insecure-loopback-webhooks"]
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", "from lo_bot_api_emulator import main; main()", *words, stdout=asyncio.subprocess.DEVNULL
    )
    direct = f"http://127.0.0.1:{port}"
    try:
        told: list[Told] = []
        async with httpx.AsyncClient(timeout=60) as client, forgiving(direct, client, told) as url:
            await wait_until(lambda: _answers(client, direct), timeout=30)
            yield Second(url, direct, journal, client, told)
    finally:
        process.kill()
        await process.wait()


async def _answers(client: httpx.AsyncClient, url: str) -> bool:
    try:
        return (await client.post(f"{url}/bot{TOKEN}/getMe")).is_success
    except httpx.TransportError:
        return False


@asynccontextmanager
async def forgiving(direct: str, client: httpx.AsyncClient, told: list[Told]) -> AsyncGenerator[str]:
    """A way to the emulator that leaves out what it does not model."""
    app = FastAPI(openapi_url=None)

    async def forward(request: Request, token: str, name: str) -> Response:
        values, files = await read(request)
        answer = await client.post(
            f"{direct}/bot{token}/{name}", data=_left(values), files=_parts(files) if files else None
        )
        content = answer.content
        told.append(Told(name, values, answer.json()))
        if name == "getMe":
            content = json.dumps(_named(answer.json())).encode()
        return Response(content, answer.status_code, media_type="application/json")

    app.add_api_route("/bot{token}/{name}", forward, methods=["GET", "POST"], response_model=None)
    listening = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(app, lifespan="off", log_config=None, access_log=False, ws="none")
    server = uvicorn.Server(config)
    task = asyncio.create_task(server._serve([listening]))  # pyright: ignore[reportPrivateUsage] `serve` takes signals
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        server.should_exit = server.force_exit = True
        await task


def _named(body: Object) -> Object:
    """A bot has a name on Telegram."""
    result = body["result"]
    assert isinstance(result, dict)
    result["username"] = "sayso_bot"
    return body


def _parts(files: Mapping[str, Upload]) -> dict[str, tuple[str, bytes, str]]:
    return {name: (one.name, one.content, one.mime) for name, one in files.items()}


def _left(values: Object) -> dict[str, str]:
    """The fields that it models, as a form."""
    kept = {name: value for name, value in values.items() if name not in NOT_MODELLED}
    if "allowed_updates" in kept:
        asked: Json = json.loads(str(kept["allowed_updates"]))
        kept["allowed_updates"] = [one for one in asked if one not in NO_KINDS] if isinstance(asked, list) else asked
    if "reply_markup" in kept:
        kept["reply_markup"] = _keyboard(kept["reply_markup"])
    texts = {name: value if isinstance(value, str) else json.dumps(value) for name, value in kept.items()}
    return {name: text for name, text in texts.items() if text != "null"}


def _keyboard(markup: Json) -> Json:
    given: Json = json.loads(markup) if isinstance(markup, str) else markup
    if not isinstance(given, dict) or "inline_keyboard" not in given:
        return None
    rows = [as_objects(row) for row in Fields(given).list("inline_keyboard")]
    kept: list[Json] = [
        [{name: value for name, value in button.items() if name in BUTTON_FIELDS} for button in row] for row in rows
    ]
    return {"inline_keyboard": kept}
