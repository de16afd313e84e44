"""The pages about the API and about operations say what the server says of itself."""

import re
from collections.abc import AsyncGenerator
from pathlib import Path

import httpx
import pytest
from pydantic import TypeAdapter

from adapters.web.problems import STATUS
from adapters.web.wire import SnapshotShape
from core.accounts import SCOPES, Scope
from core.model import Json
from gateway.commands import app
from tests.adapters.web.place import Place
from tests.house.pages import rows

CALL = re.compile(r"`(GET|POST|PUT|PATCH|DELETE) (/[^`?]*)`")
OBJECT: TypeAdapter[dict[str, dict[str, Json]]] = TypeAdapter(dict[str, dict[str, Json]])
CALLS = [(made[1], made[2], row[1]) for row in rows("docs/api.md", "## Calls") if (made := CALL.search(row[0]))]
"""(method, path, scope) of each call of the page."""


@pytest.fixture
async def place(redis_url: str, tmp_path: Path) -> AsyncGenerator[Place]:
    async with Place(redis_url, tmp_path) as made:
        await made.web()
        await made.worker()
        yield made


async def test_every_call_stands_on_the_page_and_every_call_of_the_page_exists(place: Place) -> None:
    async with httpx.AsyncClient(base_url=place.url) as http:
        described = OBJECT.validate_python((await http.get("/openapi.json")).json()["paths"])
    there = {(method.upper(), path) for path, methods in described.items() for method in methods}
    assert {(method, path) for method, path, _ in CALLS} == there


async def test_every_call_needs_the_scope_that_the_page_says(place: Place) -> None:
    wrong: list[str] = []
    async with httpx.AsyncClient(base_url=place.url) as http:
        for method, path, scope in CALLS:
            url = re.sub(r"\{\w+\}", "c0" + "0" * 14, path)
            without: tuple[Scope, ...] = tuple(one for one in SCOPES if one != scope)
            stranger = (await http.request(method, url)).status_code
            limited = await http.request(
                method, url, headers={"Authorization": f"Bearer {await place.token(scopes=without)}"}
            )
            if (stranger == 401) != bool(scope) or (scope and limited.json().get("code") != "scope"):
                wrong.append(f"{method} {path}: {stranger}, {limited.status_code} {limited.text[:80]}")
    assert not wrong


def test_the_page_tells_every_field_of_a_conversation() -> None:
    told = [row[0].strip("`") for row in rows("docs/api.md", "## A conversation at this moment")]
    assert told == list(SnapshotShape.model_fields)


async def test_the_checks_of_health_are_those_of_the_page(place: Place) -> None:
    async with httpx.AsyncClient(base_url=place.url) as http:
        checks = (await http.get("/health")).json()["checks"]
    assert [check["what"] for check in checks] == [row[0] for row in rows("docs/operations.md", "## Health")]


def test_the_scopes_are_those_of_the_page() -> None:
    assert [row[0].strip("`") for row in rows("docs/operations.md", "## Logins and tokens")] == list(SCOPES)


def test_codes_of_the_page_have_the_status_that_the_page_says() -> None:
    known: dict[str, int] = dict(STATUS.items())
    wrong = [
        (status, code)
        for status, codes, when in rows("docs/api.md", "## Errors")
        for code in re.findall(r"`(\w+)`", codes)
        if "login code" not in when and str(known.get(code, status)) not in status
    ]
    assert not wrong


def test_every_command_stands_on_the_page_and_every_command_of_the_page_exists() -> None:
    there = {command.name or getattr(command.callback, "__name__", "") for command in app.registered_commands}
    named = {
        name
        for row in rows("docs/operations.md", "## Start, stop, processes")
        for name in re.findall(r"`sayso (\w+)", row[0])
    }
    assert named == there
