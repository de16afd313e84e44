"""An Idempotency-Key stands for one thing: meant for another one it is refused, and nothing is done."""

from core.model import Json
from tests.adapters.web.place import Place, User

YES: dict[str, Json] = {"outcome": "accepted", "values": {"confirm": "once"}}
NO: dict[str, Json] = {"outcome": "declined"}


async def test_a_key_that_stopped_one_run_stops_no_other(bare: Place, owner: User) -> None:
    """Never a word of success for a run that goes on: the call is refused, and the same with a new key works."""
    one, other = await owner.send("hello one"), await owner.send("hello other")
    paused = await owner.post(f"/v1/runs/{one.run}/pause", key="k-1")
    assert await owner.post(f"/v1/runs/{one.run}/pause", key="k-1") == paused
    for run, verb in ((one.run, "cancel"), (other.run, "pause"), (other.run, "cancel")):
        _refused(await owner.post(f"/v1/runs/{run}/{verb}", status=409, key="k-1"))
    _refused(await owner.post(f"/v1/runs/{one.run}/pause", {"urgent": True}, 409, key="k-1"))
    assert (await owner.state(one.run), await owner.state(other.run)) == ("paused", "queued")
    canceled = await owner.post(f"/v1/runs/{other.run}/cancel", key="k-2")
    assert (canceled["run"], canceled["state"]) == (other.run, "canceled")


async def test_a_key_that_resumed_one_run_resumes_no_other(bare: Place, owner: User) -> None:
    """And stays good for the run that it resumed, also after that one moved to a new id."""
    one, other = await owner.send("hello one"), await owner.send("hello other")
    for said in (one, other):
        await owner.post(f"/v1/runs/{said.run}/pause")
    await owner.send("newer", one.conversation)
    resumed = await owner.post(f"/v1/runs/{one.run}/resume", key="k-1")
    assert resumed["run"] != one.run
    for same in (one.run, resumed["run"]):
        assert await owner.post(f"/v1/runs/{same}/resume", key="k-1") == resumed
    _refused(await owner.post(f"/v1/runs/{other.run}/resume", status=409, key="k-1"))
    _refused(await owner.post(f"/v1/runs/{one.run}/revert", status=409, key="k-1"))
    assert await owner.state(other.run) == "paused"


async def test_a_key_that_deleted_one_conversation_deletes_no_other(bare: Place, owner: User) -> None:
    """It is still there afterwards."""
    one, other = await owner.send("hello one"), await owner.send("hello other")
    headers = {"Idempotency-Key": "k-1"}
    for _ in range(2):
        gone = await owner.http.delete(f"/v1/conversations/{one.conversation}", headers=headers)
        assert gone.json()["conversation"] == one.conversation
    kept = await owner.http.delete(f"/v1/conversations/{other.conversation}", headers=headers)
    assert (kept.status_code, kept.json()["code"]) == (409, "conflict")
    assert await owner.state(other.run) == "queued"


async def test_a_key_of_one_question_does_nothing_to_another(place: Place, owner: User) -> None:
    """More time, further places, an abort and an answer are each for the question that they were first for."""
    asked = [await owner.send("delete one"), await owner.send("delete other")]
    one, other = [f"/v1/requests/{(await owner.asked(said.conversation))[0]['request']}" for said in asked]
    calls: list[tuple[str, dict[str, Json], dict[str, Json]]] = [
        ("extend", {"seconds": 7_200}, {"seconds": 7_201}),
        ("copies", {"origins": ["tg-1", "tg-2"]}, {"origins": ["tg-1"]}),
        ("answer", YES, NO),
    ]
    before = await owner.get(other)
    for verb, body, changed in calls:
        first = await owner.post(f"{one}/{verb}", body, key="k-1")
        assert await owner.post(f"{one}/{verb}", body, key="k-1") == first
        _refused(await owner.post(f"{one}/{verb}", changed, 409, key="k-1"))
        _refused(await owner.post(f"{other}/{verb}", body, 409, key="k-1"))
    assert await owner.get(other) == before
    await owner.until(asked[0].run, "completed")
    aborted = await owner.post(f"{other}/abort", key="k-1")
    assert await owner.post(f"{other}/abort", key="k-1") == aborted
    _refused(await owner.post(f"/v1/runs/{asked[1].run}/cancel", status=409, key="k-1"))
    assert place.script.effects == ["one"]


async def test_a_no_is_never_taken_for_the_yes_that_its_key_is_sent_with(place: Place, owner: User) -> None:
    """Whoever sends another answer with the key of the first one hears that nothing was done."""
    said = await owner.send("delete build")
    (card,) = await owner.asked(said.conversation)
    path = f"/v1/requests/{card['request']}/answer"
    declined = await owner.post(path, {**NO, "reason": "no"}, key="k-1")
    assert await owner.post(path, {**NO, "reason": "no"}, key="k-1") == declined
    for other in (YES, NO, {**NO, "reason": "never"}, {**YES, "submit": False}):
        _refused(await owner.post(path, other, 409, key="k-1"))
    await owner.until(said.run, "completed")
    assert place.script.effects == []


async def test_a_key_of_one_message_says_no_other(bare: Place, owner: User) -> None:
    """Another text, another agent or other files are another message."""
    stored = await owner.http.post("/v1/files", files={"file": ("a.txt", b"a")})
    body: dict[str, Json] = {"text": "hello", "agent": "scripted", "attachments": [stored.json()["id"]]}
    first = await owner.post("/v1/send", body, key="k-1")
    assert await owner.post("/v1/send", body, key="k-1") == first
    others: list[dict[str, Json]] = [{"text": "bye"}, {"attachments": []}, {"agent": None}]
    for changed in others:
        _refused(await owner.post("/v1/send", {**body, **changed}, 409, key="k-1"))
    (only,) = await owner.history(str(first["conversation"]))
    assert only["text"] == "hello"


async def test_a_secret_given_again_with_its_key_is_no_other_one(place: Place, owner: User) -> None:
    """It is sealed anew with every try, and that is not what its key names."""
    said = await owner.send("secret")
    (card,) = await owner.asked(said.conversation)
    path = f"/v1/requests/{card['request']}/secret"
    body: dict[str, Json] = {"values": {"secret": "hunter2"}}
    first = await owner.post(path, body, key="k-1")
    assert await owner.post(path, body, key="k-1") == first
    await owner.until(said.run, "completed")
    assert place.script.effects == ["hunter2"]


async def test_an_approval_with_a_code_given_again_with_its_key_needs_no_second_code(place: Place, owner: User) -> None:
    """The program lost the reply; its code is used up, and what came of it is still true."""
    said = await owner.send("restricted")
    (card,) = await owner.asked(said.conversation)
    path = f"/v1/requests/{card['request']}/answer"
    body: dict[str, Json] = {**YES, "code": await place.accounts.code()}
    first = await owner.post(path, body, key="k-1")
    assert await owner.post(path, body, key="k-1") == first
    await owner.until(said.run, "completed")
    assert await owner.post(path, body, key="k-1") == first
    assert (await owner.post(path, {**body, "outcome": "declined", "values": {}}, 409))["code"] == "already_answered"
    assert place.script.effects == ["wiped"]


def _refused(problem: dict[str, Json]) -> None:
    assert problem["code"] == "conflict", problem
    assert "this key" in str(problem["detail"]), problem
