"""Our front end on somebody else's imitation of Discord: what we believe of Discord is not only what we built."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from pydantic import SecretStr, TypeAdapter

from adapters.desk import Open
from adapters.discord.adapter import Discord
from adapters.discord.settings import Settings
from adapters.surface import Surface
from core.broker import open_broker
from core.files import FileStore
from core.model import Json
from tests.contract.agents import DID, deploy, what
from tests.standins.twin.twin import INSTALLED, Twin, twin
from tests.waiting import wait_until
from tests.workshop import QUICK, Body, Workshop

JSON: TypeAdapter[Json] = TypeAdapter(Json)

pytestmark = pytest.mark.skipif(not INSTALLED, reason="`make test` installs it: make tools")


@asynccontextmanager
async def working(url: str, folder: Path, body: Body, *guarded: str) -> AsyncGenerator[Twin]:
    """The twin with all of ours behind it."""
    files = FileStore(folder, file_max=1_000_000, quota=10_000_000, keep=3600)
    async with twin() as there, open_broker(url, block=0.2) as broker:
        at = there.at
        settings = Settings(bot_token=SecretStr(at.token), api_url=f"{at.url}/api/v10", gateway_url=at.gateway)
        shop = Workshop(broker, {}, files)
        shop.hire("it", body, guarded=guarded)
        doors = Open((f"dc:{at.ann}",))
        front = Surface(broker, Discord(settings), agents=["it"], doors=doors, files=files, look=0.1, quiet=3600.0)
        async with shop.worker(QUICK), front:
            await front.serving.wait()
            yield there


def parts(message: Json) -> Generator[dict[str, Json]]:
    """A message and everything in it."""
    if isinstance(message, dict):
        yield message
        for one in message.values():
            yield from parts(one)
    elif isinstance(message, list):
        for one in message:
            yield from parts(one)


def says(message: Json) -> str:
    """All text of a message."""
    return "\n".join(str(one["content"]) for one in parts(message) if one.get("content"))


def button(message: Json, label: str) -> str:
    """The id of a button; empty where there is none that can be pressed."""
    found = (one for one in parts(message) if one.get("type") == 2 and label in str(one.get("label")))
    return next((str(one.get("custom_id", "")) for one in found if not one.get("disabled")), "")


async def seen(there: Twin, channel: str, words: str, label: str = "") -> dict[str, Json]:
    """Wait for a message that says these words and has this button."""
    found: list[dict[str, Json]] = []

    async def look() -> bool:
        every = await there.messages(channel)
        found[:] = [one for one in every if words in says(one) and (not label or button(one, label))]
        return bool(found)

    await wait_until(look)
    return found[-1]


async def begun(there: Twin) -> str:
    """Ann begins a task by a command; returns its thread."""
    text: Json = {"name": "text", "type": 3, "value": "to production"}
    await there.act("slash", channel=there.at.room, name="ask", options=[text])

    async def grown() -> bool:
        return bool(await there.threads())

    await wait_until(grown)
    return (await there.threads())[-1]


async def test_an_approval_in_a_thread_runs_once(redis_url: str, tmp_path: Path) -> None:
    DID.clear()
    async with working(redis_url, tmp_path, deploy, "deploy") as there:
        thread = await begun(there)
        card = await seen(there, thread, "Deploy?", "Approve")
        press = await there.act("click", channel=thread, message=str(card["id"]), id=button(card, "Approve"))
        await seen(there, thread, "Deployed.")
        closed = await seen(there, thread, "Approved by")
        assert closed["id"] == card["id"]
        assert not button(closed, "Approve")
        assert (await there.act("response", id=press["id"]))["type"] == 6
        assert DID == ["to production"]


async def test_a_text_is_answered_in_a_form(redis_url: str, tmp_path: Path) -> None:
    async with working(redis_url, tmp_path, what) as there:
        thread = await begun(there)
        card = await seen(there, thread, "What is it?", "Answer")
        press = await there.act("click", channel=thread, message=str(card["id"]), id=button(card, "Answer"))

        async def opened() -> bool:
            return (await there.act("response", id=press["id"])).get("type") == 9

        await wait_until(opened)
        shown = JSON.validate_json(str((await there.act("response", id=press["id"]))["data"]))
        (form,) = (one for one in parts(shown) if "title" in one)
        (field,) = (one for one in parts(shown) if one.get("type") == 4)
        fields: Json = [{"customId": str(field["custom_id"]), "value": "a fish"}]
        await there.act("submit", channel=thread, id=str(form["custom_id"]), fields=fields)
        await seen(there, thread, "You said: a fish.")
