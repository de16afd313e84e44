"""What was never there, what is somebody else's and what was deleted look the same to who has no part in it.

Over every route that names a conversation, a run or a request, and every command that does.
"""

from __future__ import annotations

import json
from typing import Final

import pytest

from core.model import Json
from tests.adapters.web.place import Place, User, heard

CALLS: Final[dict[str, dict[str, Json] | None]] = {
    "GET /v1/conversations/{c}": None,
    "GET /v1/conversations/{c}?before=5": None,
    "DELETE /v1/conversations/{c}": None,
    "GET /v1/session/{c}/task": None,
    "GET /v1/conversations/{c}/pending": None,
    "GET /v1/conversations/{c}/grants": None,
    "DELETE /v1/conversations/{c}/grants/0123": None,
    "GET /v1/conversations/{c}/events": None,
    "GET /v1/requests?conversation={c}": None,
    "POST /v1/send to": {"text": "hello", "conversation": "{c}"},
    "POST /v1/send on": {"text": "go on", "pending_task": "{r}"},
    "POST /v1/send reply": {"text": "yes", "reply_to": "{q}"},
    "GET /v1/runs/{r}": None,
    "POST /v1/runs/{r}/cancel": {},
    "POST /v1/runs/{r}/pause": {},
    "POST /v1/runs/{r}/pause?urgent=true": {},
    "POST /v1/runs/{r}/accept-stopped": {},
    "POST /v1/runs/{r}/resume": {},
    "POST /v1/runs/{r}/revert": {},
    "GET /v1/requests/{q}": None,
    "POST /v1/requests/{q}/answer": {"outcome": "accepted", "values": {"confirm": "once"}},
    "POST /v1/requests/{q}/answer no": {"outcome": "declined"},
    "POST /v1/requests/{q}/extend": {"seconds": 5},
    "POST /v1/requests/{q}/copies": {"origins": ["tg-1"]},
    "POST /v1/requests/{q}/show": {},
    "POST /v1/requests/{q}/abort": {},
    "POST /v1/requests/{q}/secret/look": {},
    "POST /v1/requests/{q}/secret": {"values": {"value": "x"}},
    "POST /v1/requests/answers": {"answers": [{"request": "{q}", "outcome": "declined"}]},
    "GET /v1/files/{c}": None,
    **{
        f"POST /v1/send {text}": {"text": text}
        for text in (
            *("/approve {q}", "/deny {q} no", "/answer {q} yes", "/abort {q}"),
            *("/cancel {r}", "/pause {r}", "/resume {r}"),
        )
    },
}
"""calls, with words after the path that only tell them apart"""
UNKNOWN: Final = {"c": "c0" + "0" * 14, "r": "r0" + "0" * 14, "q": "q0" + "0" * 14}


async def theirs(user: User) -> dict[str, str]:
    """Something of somebody: a conversation, its run, and the question that waits in it."""
    said = await user.send("delete build")
    (card,) = await user.asked(said.conversation)
    return {"c": said.conversation, "r": said.run, "q": str(card["request"])}


async def told(user: User, ids: dict[str, str]) -> dict[str, tuple[int, str]]:
    """What every call answers, without the ids it was asked with."""
    found: dict[str, tuple[int, str]] = {}
    for call, body in CALLS.items():
        method, path, *_ = call.split(" ")
        sent = None if body is None else json.loads(_with(json.dumps(body), ids))
        response = await user.http.request(method, _with(path, ids), json=sent)
        text = response.text
        for name, id in ids.items():
            text = text.replace(id, f"<{name}>")
        found[call] = (response.status_code, text)
    return found


def _with(text: str, ids: dict[str, str]) -> str:
    for name, id in ids.items():
        text = text.replace(f"{{{name}}}", id)
    return text


@pytest.mark.parametrize("role", ["member", "owner"])
async def test_unknown_foreign_and_deleted_look_the_same(place: Place, owner: User, role: str) -> None:
    """Also to an owner, who has no part in what others talk about; and nothing happens to it."""
    ann, ben = await place.user("Ann"), await place.user("Ben")
    if role == "owner":
        found = await place.people.find("Ben")
        assert found is not None
        await place.people.change_role(found.id, "owner")
    foreign, deleted = await theirs(ann), await theirs(ann)
    await ann.http.delete(f"/v1/conversations/{deleted['c']}")
    unknown = await told(ben, UNKNOWN)
    for ids in (foreign, deleted):
        seen = await told(ben, ids)
        different = {call: (unknown[call], seen[call]) for call in CALLS if seen[call] != unknown[call]}
        assert not different, different
    statuses = {call: status for call, (status, _) in unknown.items()}
    assert {call for call, status in statuses.items() if status < 400} == {
        "GET /v1/requests?conversation={c}",
        "POST /v1/requests/answers",
    }
    assert (await ann.get(f"/v1/requests/{foreign['q']}"))["state"] == "open"
    assert await ann.state(foreign["r"]) == "waiting"


async def test_every_route_that_names_something_of_people_is_in_the_list(place: Place, owner: User) -> None:
    """So that a new one is not forgotten."""
    described = json.loads((await owner.http.get("/openapi.json")).text)
    kinds = {"conversations": "{c}", "session": "{c}", "runs": "{r}", "requests": "{q}"}
    missing: list[str] = []
    for path, operations in described["paths"].items():
        kind = kinds.get(path.split("/")[2] if path.startswith("/v1/") else "")
        if kind is None or "{id}" not in path:
            continue
        wanted = path.replace("{id}", kind).replace("{digest}", "0123")
        known = {tuple(call.split(" ")[:2]) for call in CALLS}
        missing += [f"{method} {path}" for method in operations if (method.upper(), wanted) not in known]
    assert not missing


async def test_a_page_is_told_the_same_of_all_of_them(place: Place) -> None:
    ann, ben = await place.user("Ann"), await place.user("Ben")
    foreign, deleted = await theirs(ann), await theirs(ann)
    await ann.http.delete(f"/v1/conversations/{deleted['c']}")
    async with ben.live() as page:
        answers: list[dict[str, Json]] = []
        for ids in (UNKNOWN, foreign, deleted):
            await page.send(json.dumps({"follow": ids["c"], "after": 0}))
            answer = await heard(page, "error", "conversation.deleted", "followed")
            answers.append({name: value for name, value in answer.items() if name != "conversation"})
    assert answers[0]["type"] == "error"
    assert answers[0] == answers[1] == answers[2]
