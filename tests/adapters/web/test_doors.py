"""Who comes in: tokens, cookies, other people, other pages; and what never stands in an address or a log."""

import logging

import httpx
import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from core.accounts import SCOPES, Scope
from core.model import Json
from tests.adapters.web.place import Place, User, heard, plain
from tests.proves import proves
from tests.waiting import wait_until

ELSEWHERE = "http://127.0.0.1:1"


@proves("C12", "api")
async def test_what_is_somebody_elses_looks_like_what_is_not_there(place: Place, owner: User) -> None:
    """Lists hold only the caller's own; every other call gives the very same answer as for an id that is none."""
    other = await place.user("bob")
    said = await owner.send("delete build")
    (card,) = await owner.asked(said.conversation)
    for path in ("/v1/conversations", "/v1/requests?state=open", "/v1/pending"):
        assert not any((await other.get(path)).values())
    yes: dict[str, Json] = {"outcome": "accepted", "values": {"confirm": "once"}}
    calls: list[tuple[str, str, dict[str, Json] | None]] = [
        ("GET", "/v1/conversations/{c}", None),
        ("GET", "/v1/conversations/{c}?before=9", None),
        ("GET", "/v1/conversations/{c}/events", None),
        ("GET", "/v1/conversations/{c}/pending", None),
        ("GET", "/v1/session/{c}/task", None),
        ("GET", "/v1/conversations/{c}/grants", None),
        ("DELETE", "/v1/conversations/{c}", None),
        ("DELETE", "/v1/conversations/{c}/grants/x", None),
        ("POST", "/v1/send", {"text": "hello", "conversation": "{c}"}),
        ("POST", "/v1/send", {"text": "", "pending_task": "{r}"}),
        ("POST", "/v1/send", {"text": "yes", "reply_to": "{q}"}),
        ("POST", "/v1/send", {"text": "/approve {q}"}),
        ("POST", "/v1/send", {"text": "/cancel {r}"}),
        ("GET", "/v1/runs/{r}", None),
        ("POST", "/v1/runs/{r}/cancel", None),
        ("POST", "/v1/runs/{r}/pause", None),
        ("POST", "/v1/runs/{r}/resume", None),
        ("POST", "/v1/runs/{r}/revert", None),
        ("GET", "/v1/requests/{q}", None),
        ("POST", "/v1/requests/{q}/answer", yes),
        ("POST", "/v1/requests/{q}/extend", {"seconds": 9}),
        ("POST", "/v1/requests/{q}/abort", None),
    ]
    theirs = {"{c}": said.conversation, "{r}": said.run, "{q}": str(card["request"])}
    nobodys = {"{c}": "c0" + "0" * 14, "{r}": "r0" + "0" * 14, "{q}": "q0" + "0" * 14}
    for method, path, body in calls:
        got = [await _call(other, method, path, body, ids) for ids in (theirs, nobodys)]
        assert got[0].status_code == 404, (method, path, got[0].text)
        assert got[0].content == got[1].content, (method, path)
    async with other.live() as page:
        await page.send(f'{{"follow": "{said.conversation}", "after": 0}}')
        assert (await heard(page, "error"))["status"] == 404
    assert (await owner.get(f"/v1/requests/{card['request']}"))["state"] == "open"
    assert await owner.state(said.run) == "waiting"
    assert place.script.effects == []


async def _call(
    user: User, method: str, path: str, body: dict[str, Json] | None, ids: dict[str, str]
) -> httpx.Response:
    for name, id in ids.items():
        path = path.replace(name, id)
        body = {
            key: value.replace(name, id) if isinstance(value, str) else value for key, value in (body or {}).items()
        }
    return await user.http.request(method, path, json=body or None)


@proves("C136", "api")
async def test_a_page_of_another_origin_reads_and_changes_nothing(place: Place, owner: User) -> None:
    """Also one of another port of this host, whatever it sends; our own page works."""
    browser = await place.browser()
    said = await owner.send("delete build")
    (card,) = await owner.asked(said.conversation)
    answer = f"/v1/requests/{card['request']}/answer"
    form = "outcome=accepted"
    yes = '{"outcome": "accepted", "values": {"confirm": "once"}}'
    types = ("application/x-www-form-urlencoded", "text/plain", "application/json")
    foreign: list[dict[str, str]] = [
        {"Origin": ELSEWHERE},
        {"Origin": "null"},
        {"Origin": "https://evil.example"},
        {"Origin": "", "Sec-Fetch-Site": "same-site"},
        {"Origin": "", "Sec-Fetch-Site": "cross-site"},
        {"Origin": ""},
    ]
    for headers in foreign:
        for body, kind in zip((form, yes, yes), types, strict=True):
            refused = await _bare(browser, "POST", answer, {**headers, "Content-Type": kind}, body)
            assert refused.status_code == 403, (headers, kind, refused.text)
        assert (await _bare(browser, "POST", f"/v1/runs/{said.run}/cancel", headers)).status_code == 403
        assert (await _bare(browser, "DELETE", f"/v1/conversations/{said.conversation}", headers)).status_code == 403
        if headers != {"Origin": ""}:
            for path in (f"/v1/conversations/{said.conversation}/events", "/v1/conversations", "/v1/me"):
                assert (await _bare(browser, "GET", path, headers)).status_code == 403
        with pytest.raises(InvalidStatus):
            await _socket(browser, headers)
    assert await owner.state(said.run) == "waiting"
    own = {"Origin": place.url, "Content-Type": "application/json"}
    assert (await _bare(browser, "POST", answer, own, yes)).status_code == 200
    async with await _socket(browser, {"Origin": place.url}) as page:
        await page.send('{"ping": 1}')
        await heard(page, "pong")


async def _bare(
    browser: httpx.AsyncClient, method: str, path: str, headers: dict[str, str], body: str | None = None
) -> httpx.Response:
    """A call with this browser's cookie, and no header that it was not told."""
    request = browser.build_request(method, path, content=body, headers=headers)
    if not headers.get("Origin"):
        del request.headers["Origin"]
    return await browser.send(request)


async def _socket(browser: httpx.AsyncClient, headers: dict[str, str]) -> connect:
    cookie = "; ".join(f"{name}={value}" for name, value in browser.cookies.items())
    own = {name: value for name, value in headers.items() if value}
    host = browser.base_url.netloc.decode()
    socket = connect(f"ws://{host}/v1/ws", additional_headers={"Cookie": cookie, **own})
    await socket
    return socket


async def test_a_name_that_is_not_ours_gets_nothing(bare: Place, owner: User) -> None:
    """A foreign name that resolves to this machine (DNS rebinding) reads nothing, not even with a token."""
    for host in (
        "evil.example",
        "127.0.0.1.evil.example",
        "",
        "localhost.evil.example:80",
        "[::1",
        "a:b:c",
        "localhost:x",
    ):
        refused = await owner.http.get("/v1/me", headers={"Host": host})
        assert refused.status_code in (400, 421)
        assert "owner" not in refused.text


@proves("C136", "api")
async def test_state_never_changes_on_get(place: Place, owner: User) -> None:
    """Every path that changes something knows no GET."""
    said = await owner.send("delete build")
    (card,) = await owner.asked(said.conversation)
    paths = [f"/v1/runs/{said.run}/{verb}" for verb in ("cancel", "pause", "resume", "revert")]
    paths += [f"/v1/requests/{card['request']}/{verb}" for verb in ("answer", "extend", "abort")]
    for path in [*paths, "/v1/send", "/v1/login", "/v1/logout"]:
        refused = await owner.http.get(path)
        assert refused.status_code == 405, path
        assert refused.headers["allow"] == "POST"
    assert await owner.state(said.run) == "waiting"


@proves("C138", "api")
async def test_no_token_is_taken_from_an_address_and_no_query_stands_in_the_log(
    bare: Place, owner: User, caplog: pytest.LogCaptureFixture
) -> None:
    """Cookie or header only; a used login code is refused; pages send no address on."""
    caplog.set_level(logging.INFO, logger="sayso.access")
    code = await bare.accounts.link()
    async with httpx.AsyncClient(base_url=bare.url, headers={"Origin": bare.url}) as stranger:
        for name in ("token", "access_token", "key", "code"):
            plain(await stranger.get("/v1/me", params={name: owner.token}), 401)
        assert (await stranger.post("/v1/login", json={"code": code})).status_code == 204
        again = plain(await stranger.post("/v1/login", json={"code": code}), 403)
        assert again["code"] == "used"
        cookie = stranger.cookies.jar
        assert all(one.has_nonstandard_attr("HttpOnly") for one in cookie)
        assert (await stranger.get("/v1/me")).headers["referrer-policy"] == "no-referrer"
    lines = [record.getMessage() for record in caplog.records if record.name == "sayso.access"]
    assert any("/v1/me" in line for line in lines)
    assert not any("?" in line or owner.token in line or code in line for line in lines)


async def test_a_login_link_lets_one_browser_in_once(bare: Place) -> None:
    """Unknown, used and old codes are told apart in words; guessing is slowed down."""
    browser = await bare.browser()
    assert (await browser.get("/v1/me")).json()["person"]["role"] == "owner"
    unknown = plain(await browser.post("/v1/login", json={"code": "guess"}), 403)
    assert unknown["code"] == "unknown"
    guesses = [(await browser.post("/v1/login", json={"code": f"guess {n}"})).status_code for n in range(12)]
    assert guesses[-1] == 429


async def test_signing_out_everywhere_ends_every_browser(bare: Place) -> None:
    """Each of them, at once or within five seconds; the page is closed too."""
    one, other = await bare.browser(), await bare.browser()
    third = await bare.browser(url=await bare.web())
    async with await _socket(other, {"Origin": bare.url}) as page:
        assert (await one.post("/v1/logout", json={"everywhere": True})).status_code == 204
        with pytest.raises(Exception, match="4401"):
            await heard(page, "nothing")
    assert (await one.get("/v1/me")).status_code == 401
    assert (await other.get("/v1/me")).status_code == 401
    gone: list[int] = []

    async def out() -> bool:
        gone[:] = [(await third.get("/v1/me")).status_code]
        return gone == [401]

    await wait_until(out, timeout=5)


async def test_the_page_is_for_those_who_are_signed_in(bare: Place) -> None:
    """Others are led to the login; every answer has a strict content policy."""
    async with httpx.AsyncClient(base_url=bare.url) as stranger:
        led = await stranger.get("/")
        assert (led.status_code, led.headers["location"]) == (303, "/login#")
        assert (await stranger.get("/login")).status_code == 200
        assert (await stranger.get("/page/../app.py")).status_code == 404
        assert (await stranger.get("/page/%2e%2e%2fapp.py")).status_code == 404
        for path in ("/login", "/", "/health", "/v1/me", "/nowhere", "/openapi.json"):
            headers = (await stranger.get(path)).headers
            assert "default-src 'none'" in headers["content-security-policy"], path
            assert "unsafe" not in headers["content-security-policy"]
            assert headers["x-content-type-options"] == "nosniff"
            assert headers["x-frame-options"] == "DENY"
    browser = await bare.browser()
    page = await browser.get("/")
    assert page.status_code == 200
    again = await browser.get("/", headers={"If-None-Match": page.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert page.headers["content-type"].startswith("text/html")


async def test_an_address_that_people_type_leads_to_the_page(bare: Place) -> None:
    """A place of the page, typed as a path, is found; a mistyped one leads back in words; programs get problems."""
    person = {"Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"}
    async with httpx.AsyncClient(base_url=bare.url, headers=person) as browser:
        for name in ("pending", "new", "c0zk55ffz0a5svqz"):
            led = await browser.get(f"/{name}")
            assert (led.status_code, led.headers["location"]) == (303, f"/#{name}")
            program = await browser.get(f"/{name}", headers={"Accept": "*/*"})
            assert "one that /openapi.json lists" in str(plain(program, 404)["errors"])
        lost = await browser.get("/pnding")
        assert (lost.status_code, '<a class="button primary" href="/">' in lost.text) == (404, True)
        assert "script-src 'self'" in lost.headers["content-security-policy"]
        for path in ("/v1/nothing", "/page/nothing.js"):
            plain(await browser.get(path), 404)
        plain(await browser.post("/pending"), 404)


async def test_a_token_may_do_what_its_scopes_say_and_nothing_else(bare: Place) -> None:
    """403 names the scope that is missing."""
    ids = {"{q}": "q0" + "0" * 14, "{r}": "r0" + "0" * 14}
    calls: dict[Scope, tuple[str, str, dict[str, Json]]] = {
        "read": ("GET", "/v1/conversations", {}),
        "send": ("POST", "/v1/send", {"text": "hello"}),
        "answer": ("POST", "/v1/requests/{q}/answer", {"outcome": "declined"}),
        "run": ("POST", "/v1/runs/{r}/cancel", {}),
        "admin": ("GET", "/v1/tokens", {}),
    }
    for scope in SCOPES:
        user = await bare.user(scopes=(scope,))
        for needed, (method, path, body) in calls.items():
            got = await _call(user, method, path, dict(body), ids)
            assert (got.status_code != 403) == (needed == scope), (scope, path, got.text)


async def test_a_new_token_may_do_no_more_than_its_maker(bare: Place) -> None:
    """And it is listed without its text."""
    user = await bare.user(scopes=("admin", "read"))
    await user.post("/v1/tokens", {"name": "x", "scopes": ["run"]}, 422)
    made = await user.post("/v1/tokens", {"name": "x", "scopes": ["read"]}, 201)
    listed = (await user.get("/v1/tokens"))["tokens"]
    assert isinstance(listed, list)
    assert str(made["token"]) not in str(listed)
    assert made["id"] in [one["id"] for one in listed if isinstance(one, dict)]
