"""JSON that nobody means, sent to every call there is: refused with the field and the rule, never an error of ours."""

import re

import httpx

from core.model import Json
from tests.adapters.web.place import OBJECT, Place, User, plain

HUGE = "1" + "0" * 400
VALUES = [
    HUGE,
    f"-{HUGE}",
    "1" + "0" * 5_000,
    "1e400",
    "-1e400",
    "NaN",
    "-Infinity",
    '"\\ud800"',
    '"\\u0000"',
    "[" * 300 + "]" * 300,
    '{"a":' * 900 + "1" + "}" * 900,
    "[" * 20_000,
    "true",
    "null",
    '""',
    "[]",
    "{}",
    "[null]",
    '[{"other": {}}]',
]
ONE = ("/v1/send", "text"), ("/v1/requests/answers", "answers"), ("/v1/groups", "people"), ("/v1/tokens", "scopes")
QUERIES = (f"-{HUGE}", HUGE, "9" * 18, "-1", "1e9", "%00", "%ff", "%ED%A0%80", "%F0%9F%A6%8A", "")


async def test_no_body_makes_an_error_of_ours(bare: Place, owner: User) -> None:
    """Every call with a body that none takes, and some with every odd value in a field."""
    bodies = [f'{{"\\ud800": {HUGE}}}', '{"values": ' + VALUES[9] + "}", '{"text": 1e400}', "7"]
    sent = [(method, path, body) for method, path, _ in await _calls(owner) for body in bodies]
    sent += [("POST", path, f'{{"{field}": {value}}}') for path, field in ONE for value in VALUES]
    for method, path, body in sent:
        if method != "GET" and path != "/v1/files":
            headers = {"Content-Type": "application/json"}
            response = await owner.http.request(method, path, content=body, headers=headers)
            _refused_or_done(response, f"{method} {path} {body[:90]}")


async def test_an_odd_value_of_a_field_is_refused_with_its_name(place: Place, owner: User) -> None:
    """And the question stays open; the words are the same whatever the value was."""
    said = await owner.send("number")
    (card,) = await owner.asked(said.conversation)
    path = f"/v1/requests/{card['request']}/answer"
    for value in [*VALUES, "1e300", "1" + "0" * 18, "7.5", '{"other": "7"}']:
        body = f'{{"outcome": "accepted", "values": {{"people": {value}}}}}'
        response = await owner.http.post(path, content=body, headers={"Content-Type": "application/json"})
        assert response.status_code in (400, 422), (value[:50], response.text)
        (error,) = _says_what_is_wrong(OBJECT.validate_json(response.content), value[:50])
        assert error["field"].startswith(("values.people", "people", "body")), (value[:50], error)
    told = await owner.accept(card["request"], 10**18 - 1, field="people")
    assert told["settled"]
    await owner.until(said.run, "completed")


async def test_a_text_of_ones_own_has_a_bound(place: Place, owner: User) -> None:
    """As every text has: said with the field, and nothing is taken."""
    said = await owner.send("other")
    (card,) = await owner.asked(said.conversation)
    refused = await owner.accept(card["request"], {"other": "x" * 16_385}, 422, field="choice")
    assert "16384 characters" in str(refused["errors"])
    await owner.accept(card["request"], {"other": "x" * 16_384}, field="choice")
    await owner.until(said.run, "completed")


async def test_no_query_makes_an_error_of_ours(bare: Place, owner: User) -> None:
    """Every parameter of every call."""
    for method, path, names in await _calls(owner):
        for name in names:
            for value in QUERIES:
                if "/events" in path and value in ("9" * 18, ""):
                    continue  # a stream that begins
                sent = owner.http.request(method, f"{path}?{name}={value}")
                _refused_or_done(await sent, f"{method} {path}?{name}={value[:40]}")


async def test_a_body_that_is_no_text_is_refused(bare: Place, owner: User) -> None:
    """Bytes that are no UTF-8, and other encodings of JSON."""
    for body in (
        b"\xff\xfe",
        b'{"text": "\xed\xa0\x80"}',
        '{"text": "hello"}'.encode("utf-16"),
        b'{"text": "\xc3\x28"}',
    ):
        response = await owner.http.post("/v1/send", content=body, headers={"Content-Type": "application/json"})
        assert plain(response, 400)["code"] == "broken_json", body


async def _calls(owner: User) -> list[tuple[str, str, list[str]]]:
    """Each call of the description, with an id that is one, and the names of its parameters."""
    paths = (await owner.get("/openapi.json"))["paths"]
    assert isinstance(paths, dict)
    said = await owner.send("hello")
    ids = {"c": said.conversation, "r": said.run}
    found: list[tuple[str, str, list[str]]] = []
    for path, calls in paths.items():
        assert isinstance(calls, dict)
        kind = "c" if "conversation" in path or "session" in path else "r" if "/runs/" in path else "q"
        place = re.sub(r"\{[a-z]+\}", ids.get(kind, "q0" + "0" * 14), path)
        for method, call in calls.items():
            if method == "delete" or path in ("/v1/logout", "/v1/freeze"):
                continue
            parameters = call.get("parameters") if isinstance(call, dict) else None
            known = [one for one in parameters if isinstance(one, dict)] if isinstance(parameters, list) else []
            names = [str(one["name"]) for one in known if one["in"] == "query"]
            found.append((method.upper(), place, names))
    return found


def _refused_or_done(response: httpx.Response, sent: str) -> None:
    assert response.status_code < 500, (sent, response.status_code, response.text)
    if response.status_code >= 400:
        _says_what_is_wrong(OBJECT.validate_json(response.content), sent)


def _says_what_is_wrong(problem: dict[str, Json], sent: str) -> list[dict[str, str]]:
    errors = problem["errors"]
    assert isinstance(errors, list), (sent, problem)
    assert errors, (sent, problem)
    found = [{name: str(value) for name, value in error.items()} for error in errors if isinstance(error, dict)]
    for error in found:
        assert error["field"], (sent, problem)
        assert error["rule"], (sent, problem)
        for word in ("Input", "Value", "String should", "dictionary", "should"):
            assert word not in error["rule"], (sent, problem)
    return found
