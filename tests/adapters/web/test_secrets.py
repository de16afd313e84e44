"""Secrets over HTTP: one-time pages by ticket or login, and the value is found nowhere afterwards."""

import asyncio
import json
import logging
from pathlib import Path

import httpx
import pytest

from core.model import Json, Person
from gateway import wiring
from gateway.cannot_start import CannotStart
from gateway.settings import SettingsError, load
from tests.adapters.web.place import Place, User, plain
from tests.everything import everything, sealed
from tests.proves import proves
from tests.redis_server import RedisServer

MARKER = "S3cr3t-MARKER-42"
OWNER = Person(id="web:owner", name="owner", role="owner")


def files_of(folder: Path) -> str:
    """All files below a folder, as one text."""
    return "".join(file.read_text("utf-8", "replace") for file in folder.rglob("*") if file.is_file())


async def asked(owner: User, text: str = "secret") -> tuple[str, str, str]:
    """Start a run that asks for a secret; returns its conversation, its id and the request."""
    said = await owner.send(text)
    (card,) = await owner.asked(said.conversation)
    return said.conversation, said.run, str(card["request"])


@proves("C126", "api")
async def test_a_secret_given_on_the_web_is_found_nowhere_but_where_it_is_used(
    place: Place, owner: User, redis: RedisServer, caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    """Redis, debug logs, live events, their replay, history, files: all are searched."""
    caplog.set_level(logging.DEBUG)
    told: list[str] = []
    conversation, run, request = await asked(owner)
    async with owner.live() as socket, asyncio.timeout(20):
        await socket.send(json.dumps({"follow": conversation, "after": 0}))
        given = await owner.post(f"/v1/requests/{request}/secret", {"values": {"secret": MARKER}})
        assert given == {"request": request, "run": run, "settled": True}
        while not told or "run.completed" not in told[-1]:
            told.append(str(await socket.recv()))
    assert place.script.effects == [MARKER]
    shown = [
        everything(redis),
        caplog.text,
        "".join(told),
        json.dumps(await owner.get(f"/v1/conversations/{conversation}")),
        json.dumps(await owner.get(f"/v1/requests/{request}")),
        files_of(tmp_path),
    ]
    assert not [text[max(0, text.find(MARKER) - 200) :][:400] for text in shown if MARKER in text]
    assert sealed(redis) == []
    (entry,) = [one for one in await owner.history(conversation) if one["role"] == "request"]
    assert entry["values"] == {"secret": "received"}


@proves("C128", "api")
async def test_no_answer_and_no_text_carries_a_secret(place: Place, owner: User, redis: RedisServer) -> None:
    """What is refused repeats nothing: not in the answer, not in the problem, not in Redis."""
    conversation, run, request = await asked(owner)
    tries: list[tuple[str, dict[str, Json]]] = [
        ("/v1/send", {"text": MARKER, "conversation": conversation}),
        ("/v1/send", {"text": f"/answer {request} {MARKER}", "conversation": conversation}),
        ("/v1/send", {"text": f"/sercet {MARKER}", "conversation": conversation}),
        (f"/v1/requests/{request}/answer", {"outcome": "accepted", "values": {"secret": MARKER}}),
        (f"/v1/requests/{request}/answer", {"outcome": "accepted", "values": {"secret": {"secret": MARKER}}}),
        (f"/v1/requests/{request}/secret", {"values": {"other": MARKER}}),
        (f"/v1/requests/{request}/secret", {"values": {"secret": [MARKER]}}),
        (f"/v1/requests/{request}/secret", {"values": {"secret": MARKER * 2_000}}),
        (f"/v1/requests/{request}/secret", {"ticket": "guess", "values": {"secret": MARKER}}),
    ]
    for path, body in tries:
        response = await owner.http.post(path, json=body)
        assert response.status_code >= 400, (path, response.text)
        assert MARKER not in response.text, path
    assert MARKER not in everything(redis)
    assert await owner.state(run) == "waiting"


@proves("C126", "api")
async def test_a_ticket_is_used_up_by_giving_and_by_nothing_else(place: Place, owner: User) -> None:
    """A preview opens the page, a person looks twice and gives something empty first: the link still counts, once."""
    _, run, request = await asked(owner)
    tickets = wiring.tickets(place.settings, place.broker)
    ticket = await tickets.make(request, OWNER)
    async with httpx.AsyncClient(base_url=place.url) as stranger:
        for _ in range(2):
            page = await stranger.get(f"/secret/{request}")
            assert page.status_code == 200
            assert page.headers["cache-control"] == "no-store"
            assert page.headers["referrer-policy"] == "no-referrer"
            assert "frame-ancestors 'none'" in page.headers["content-security-policy"]
        path = f"/v1/requests/{request}/secret"
        assert (await stranger.post(f"{path}/look", json={})).status_code == 401
        look = plain(await stranger.post(f"{path}/look", json={"ticket": ticket}), 200)
        assert look["state"] == "open"
        plain(await stranger.post(path, json={"ticket": ticket, "values": {"secret": " "}}), 422)
        given = await asyncio.gather(
            *(stranger.post(path, json={"ticket": ticket, "values": {"secret": MARKER}}) for _ in range(4))
        )
        assert sorted(one.status_code for one in given) == [200, 403, 403, 403]
    await owner.until(run, "completed")


async def test_a_ticket_lets_its_person_answer_its_question_only(place: Place, owner: User) -> None:
    _, _, request = await asked(owner)
    _, other_run, other = await asked(owner)
    tickets = wiring.tickets(place.settings, place.broker)
    foreign = await tickets.make(request, Person(id="web:eve", name="Eve"))
    mine = await tickets.make(request, OWNER)
    async with httpx.AsyncClient(base_url=place.url) as http:
        for id, ticket in ((request, foreign), (other, mine)):
            body = {"ticket": ticket, "values": {"secret": MARKER}}
            assert (await http.post(f"/v1/requests/{id}/secret", json=body)).status_code == 403
    assert await owner.state(other_run) == "waiting"


@proves("C127", "api")
async def test_links_let_nobody_in_where_several_people_read_and_need_a_public_address(
    place: Place, owner: User
) -> None:
    _, _, request = await asked(owner)
    assert await wiring.tickets(place.settings, place.broker).link(request, OWNER) is None
    public = place.settings.model_copy(update={"public_url": "https://sayso.example"})
    link = await wiring.tickets(public, place.broker).link(request, OWNER)
    assert link is not None
    assert link.startswith(f"https://sayso.example/secret/{request}#")
    assert await wiring.tickets(public, place.broker).link(request, Person(id="web:eve")) is None


async def test_a_stored_secret_is_given_again_by_a_press_and_deleted(place: Place, owner: User) -> None:
    _, run, request = await asked(owner, "stored")
    await owner.post(f"/v1/requests/{request}/secret", {"values": {"secret": MARKER}})
    await owner.until(run, "completed")
    _, run, request = await asked(owner, "stored")
    look = await owner.post(f"/v1/requests/{request}/secret/look", {})
    assert "'kept': True" in str(look["fields"])
    assert await owner.state(run) == "waiting"
    await owner.post(f"/v1/requests/{request}/secret", {"stored": True})
    await owner.until(run, "completed")
    assert place.script.effects == [MARKER, MARKER]
    kept = (await owner.get("/v1/vault"))["secrets"]
    assert isinstance(kept, list)
    assert MARKER not in str(kept)
    one = kept[0]
    assert isinstance(one, dict)
    assert (await owner.http.delete(f"/v1/vault/{one['id']}")).status_code == 204
    assert (await owner.get("/v1/vault"))["secrets"] == []


async def test_a_vault_whose_key_is_gone_is_said_at_the_start(place: Place, owner: User, tmp_path: Path) -> None:
    """Nobody gives a secret that nobody could open, and the key is not made anew behind one's back."""
    _, _, request = await asked(owner)
    await owner.post(f"/v1/requests/{request}/secret", {"values": {"secret": MARKER}})
    (tmp_path / "vault.key").unlink()
    with pytest.raises(CannotStart, match="vault"):
        async with wiring.opened(place.settings):
            pass
    assert not (tmp_path / "vault.key").exists()


def test_a_vault_key_that_is_none_is_refused_without_being_repeated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SAYSO_DATA_DIR", str(tmp_path))
    monkeypatch.setenv("SAYSO_VAULT_KEY", MARKER)
    with pytest.raises(SettingsError, match="vault key 1") as refused:
        load()
    assert MARKER not in str(refused.value)
