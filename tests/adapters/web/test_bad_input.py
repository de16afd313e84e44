"""What is wrong with a call is said with the field and the rule, and changes nothing."""

import asyncio
import signal

from core.model import Json
from tests.adapters.web.place import Place, User, plain
from tests.redis_server import RedisServer
from tests.waiting import wait_until

MESSAGES = [
    ("{", "application/json", 400),
    ("", "application/json", 422),
    ("null", "application/json", 422),
    ("[]", "application/json", 422),
    ('"text"', "application/json", 422),
    ('{"text": 7}', "application/json", 422),
    ('{"text": null}', "application/json", 422),
    ('{"text": ""}', "application/json", 422),
    ('{"text": "  \\n "}', "application/json", 422),
    ('{"text": "\\ud800"}', "application/json", 422),
    ('{"text": "hello", "surprise": 1}', "application/json", 422),
    ('{"text": "hello", "agent": "nobody"}', "application/json", 422),
    ('{"text": "hello", "attachments": "x"}', "application/json", 422),
    ('{"text": "hello", "attachments": ["f00"]}', "application/json", 422),
    ('{"text": "hello", "key": "two words"}', "application/json", 422),
    ('{"text": "hello", "conversation": "nope"}', "application/json", 404),
    ('{"text": "hello", "pending_task": "r0"}', "application/json", 404),
    ("text=hello", "application/x-www-form-urlencoded", 415),
    ('{"text": "hello"}', "text/plain", 415),
    ('{"text": "hello"}', "", 415),
    ("[" * 100_000, "application/json", 400),
    ('{"text": "' + "x" * 300_000 + '"}', "application/json", 422),
    ('{"text": "' + "x" * 1_100_000 + '"}', "application/json", 413),
]


async def test_a_bad_message_is_refused_with_field_and_rule(bare: Place, owner: User) -> None:
    """And no conversation begins."""
    for content, kind, status in MESSAGES:
        headers = {"Content-Type": kind} if kind else {}
        response = await owner.http.post("/v1/send", content=content, headers=headers)
        assert response.status_code == status, (content[:80], kind, response.text)
        _says_what_is_wrong(plain(response, status))
    assert (await owner.get("/v1/conversations"))["conversations"] == []


async def test_a_body_that_hides_its_length_is_cut_off(bare: Place, owner: User) -> None:
    """The answer comes while the caller still has more to send."""
    host, port = bare.url.removeprefix("http://").split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    head = f"POST /v1/send HTTP/1.1\r\nHost: {host}:{port}\r\nAuthorization: Bearer {owner.token}\r\n"
    writer.write(f"{head}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n".encode())
    for _ in range(17):
        writer.write(b"10000\r\n" + b" " * 65_536 + b"\r\n")
    async with asyncio.timeout(10):
        answer = await reader.readuntil(b"\r\n")
    assert b" 413 " in answer
    writer.close()


async def test_a_bad_key_is_refused(bare: Place, owner: User) -> None:
    """A key is one word of visible characters."""
    for key in ("", "x" * 129, "two words", "tab\tkey", "schlüssel"):
        headers = {b"Idempotency-Key": key.encode("latin-1")}
        response = await owner.http.post("/v1/send", json={"text": "hello"}, headers=headers)
        assert "Idempotency-Key" in str(plain(response, 422)["errors"]), key


async def test_bad_queries_are_refused(bare: Place, owner: User) -> None:
    """With the name of the parameter."""
    for path in (
        "/v1/conversations?limit=0",
        "/v1/conversations?limit=many",
        "/v1/requests?state=closed",
        "/v1/conversations/c000000000000000?before=-1",
        "/v1/conversations/c000000000000000/events?after=-1",
    ):
        _says_what_is_wrong(await owner.get(path, 422))


async def test_a_refusal_names_what_the_caller_sent(place: Place, owner: User) -> None:
    """A field of the body, a header, or the id in the path; and every 409 has one too."""
    done, nobody = await owner.send("hello"), "0" * 14
    await owner.until(done.run, "completed")
    for field, id in (("conversation", "c0"), ("session", "c0"), ("pending_task", "r0"), ("reply_to", "q0")):
        for wrong in (id, id + nobody):
            body: dict[str, Json] = {"text": "hello", "conversation": done.conversation, field: wrong}
            body = {"text": "hello", field: wrong} if field == "session" else body
            _names(await owner.post("/v1/send", body, 404), field)
    told = await owner.post(f"/v1/runs/{done.run}/revert", status=409)
    assert (told["code"], told["state"]) == ("ended", "completed")
    _names(told, "id")
    said = await owner.send("restricted")
    (card,) = await owner.asked(said.conversation)
    answer = f"/v1/requests/{card['request']}/answer"
    yes: dict[str, Json] = {"outcome": "accepted", "values": {"confirm": "once"}}
    _names(await owner.post(answer, yes, 403), "code")
    (of_batch,) = _results(await owner.post("/v1/requests/answers", {"answers": [{"request": "q0" + nobody, **yes}]}))
    _names(of_batch, "request")
    await owner.post(answer, {"outcome": "declined"}, key="k-1")
    _names(await owner.accept(card["request"], "once", 409), "id")
    _names(await owner.post(answer, yes, 409, key="k-1"), "Idempotency-Key")
    reader = await place.user(scopes=("read", "send"))
    _names(await reader.post("/v1/send", {"text": f"/cancel {said.run}"}, 403), "Authorization")


def _results(told: dict[str, Json]) -> list[dict[str, Json]]:
    results = told["results"]
    assert isinstance(results, list)
    found = [one["problem"] for one in results if isinstance(one, dict)]
    return [one for one in found if isinstance(one, dict)]


def _names(problem: dict[str, Json], field: str) -> None:
    errors = problem.get("errors")
    assert isinstance(errors, list), problem
    assert [one["field"] for one in errors if isinstance(one, dict)] == [field], problem


async def test_an_unknown_path_is_a_problem_too(bare: Place, owner: User) -> None:
    """As every error is."""
    for path in ("/v1/nothing", "/v1/runs", "/V1/me", "/v1/runs/r0/../../me2", "/docs", "/redoc"):
        found = await owner.get(path, 404)
        assert found["code"] in ("not_found", "unknown")
        _says_what_is_wrong(found)
    assert (await owner.post("/v1/me", {}, 405))["code"] == "method_not_allowed"
    broken = {"Content-Type": "multipart/form-data"}
    assert plain(await owner.http.post("/v1/files", content=b"x", headers=broken), 400)["code"] == "broken_form"


async def test_an_id_that_is_none_is_just_unknown(bare: Place, owner: User) -> None:
    """Whatever it looks like."""
    for id in ("x", "r0", "R" * 400, "..%2f..", "%00", "r0000000000000000", "🦊", "r0 drop keys *"):
        for path in (f"/v1/runs/{id}", f"/v1/requests/{id}", f"/v1/conversations/{id}", f"/v1/files/{id}"):
            _says_what_is_wrong(await owner.get(path, 404))
        _says_what_is_wrong(await owner.post(f"/v1/requests/{id}/answer", {"outcome": "declined"}, 404))


async def test_the_description_of_the_api_is_complete(bare: Place, owner: User) -> None:
    """OpenAPI 3.1 with every call, and its errors as problems."""
    described = await owner.get("/openapi.json")
    assert str(described["openapi"]).startswith("3.1")
    paths = described["paths"]
    assert isinstance(paths, dict)
    for path in (
        "/v1/send",
        "/v1/conversations",
        "/v1/conversations/{id}",
        "/v1/conversations/{id}/events",
        "/v1/conversations/{id}/pending",
        "/v1/session/{id}/task",
        "/v1/runs/{id}",
        "/v1/runs/{id}/cancel",
        "/v1/requests/{id}/answer",
        "/v1/requests/answers",
        "/health",
        "/ready",
        "/metrics",
    ):
        assert path in paths, path
    assert "application/problem+json" in str(paths["/v1/send"])
    assert "idempotency-key" in str(paths["/v1/send"])
    assert described["security"] == [{"token": []}, {"browser": []}]


async def test_health_says_in_words_what_is_missing(bare: Place, owner: User, redis: RedisServer) -> None:
    """Without a worker it is degraded but ready; with one it is well."""
    degraded = (await owner.http.get("/health")).json()
    assert degraded["status"] == "degraded"
    (worker,) = [check for check in degraded["checks"] if check["what"] == "worker"]
    assert "sayso worker" in worker["words"]
    assert (await owner.http.get("/ready")).status_code == 200
    await bare.worker()

    async def well() -> bool:
        return (await owner.http.get("/health")).status_code == 200

    await wait_until(well)
    figures = await owner.http.get("/metrics")
    assert "sayso_http_requests_total" in figures.text


async def test_without_redis_nothing_is_called_stored(bare: Place, owner: User, redis: RedisServer) -> None:
    """`not stored, try again`, or `outcome unknown`; never a word of success; and it works again afterwards."""
    said = await owner.send("delete build")
    redis.process.send_signal(signal.SIGSTOP)
    try:
        cancel = await owner.http.post(f"/v1/runs/{said.run}/cancel", headers={"Idempotency-Key": "c-1"})
    finally:
        redis.process.send_signal(signal.SIGCONT)
    problem = plain(cancel, 503)
    assert problem["code"] in ("not_stored", "outcome_unknown")
    assert "again" in str(problem["detail"]) or "repeat" in str(problem["detail"])

    async def back() -> bool:
        found = await owner.http.post(f"/v1/runs/{said.run}/cancel", headers={"Idempotency-Key": "c-1"})
        return found.status_code == 200

    async with asyncio.timeout(20):
        await wait_until(back, timeout=15)
    assert await owner.state(said.run) == "canceled"


async def test_a_full_redis_refuses_new_work_in_words_and_still_takes_answers(
    place: Place, owner: User, redis: RedisServer
) -> None:
    """507 for new work; what is under way can be settled."""
    said = await owner.send("delete build")
    (card,) = await owner.asked(said.conversation)
    redis.say("CONFIG", "SET", "maxmemory", 1)
    try:
        problem = await owner.post("/v1/send", {"text": "hello"}, 507)
        assert problem["code"] == "full"
        await owner.accept(card["request"], "once")
    finally:
        redis.say("CONFIG", "SET", "maxmemory", 0)
    await owner.until(said.run, "completed")


def _says_what_is_wrong(problem: dict[str, Json]) -> None:
    assert {"type", "title", "status", "detail", "code"} <= set(problem)
    errors = problem["errors"]
    assert isinstance(errors, list)
    assert errors
    for error in errors:
        assert isinstance(error, dict)
        assert error["field"]
        assert error["rule"]
