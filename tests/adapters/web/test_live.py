"""Live events: the same for every page and program, each once and in order, through any number of cuts."""

import asyncio
import random
import re
from pathlib import Path

import httpx
import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus

from core.model import Json
from tests.adapters.web.place import OBJECT, Place, User, heard
from tests.adapters.web.sse import Stream, stream
from tests.proves import proves
from tests.waiting import wait_until

BASE = {"type", "conversation", "seq", "at"}
FACTS = {"stop_requested", "ended", "ended_by", "effects"}
STOPS = ("run.pausing", "run.canceling", "run.paused", "run.canceled")
DOCS = Path(__file__).parents[3] / "docs" / "api.md"
EVENTS = 500
CUTS = 20


@proves("C111", "api")
async def test_a_stream_cut_twenty_times_tells_each_event_once_and_in_order(place: Place, owner: User) -> None:
    """The program comes back with the last id that it saw, while the run goes on."""
    said = await owner.send(f"count {EVENTS}")
    chance = random.Random(7)
    seen: list[int] = []
    last: str | None = None
    for _ in range(CUTS):
        async with stream(owner, said.conversation, last) as events:
            for _ in range(chance.randint(1, EVENTS // CUTS)):
                told = await events.next()
                seen.append(int(str(told.plain["seq"])))
                last = told.id
                assert told.id == f"{said.conversation}-{told.plain['seq']}"
    async with stream(owner, said.conversation, last) as events:
        seen += [int(str(told.plain["seq"])) for told in await events.until("run.completed")]
    assert seen == list(range(1, len(seen) + 1))
    assert len(seen) > EVENTS


@proves("C111", "api")
async def test_an_id_of_another_place_is_told_to_begin_again(place: Place, owner: User) -> None:
    """Not a wrong place: `reset`, and what happens from now on."""
    one, other = await owner.send("hello"), await owner.send("hello")
    for run in (one.run, other.run):
        await owner.until(run, "completed")
    for last in (f"{other.conversation}-1", f"{one.conversation}-999", "nonsense", f"{one.conversation}-x"):
        async with stream(owner, one.conversation, last) as events:
            reset = await events.next()
            assert reset.type == "reset"
            snapshot = await owner.get(f"/v1/conversations/{one.conversation}")
            assert reset.plain["seq"] == snapshot["seq"]
            assert reset.id == f"{one.conversation}-{snapshot['seq']}"
            assert set(reset.plain) == BASE
            again = await owner.send("hello", one.conversation)
            assert (await events.next()).plain["run"] == again.run
            await owner.until(again.run, "completed")


async def test_every_frame_of_a_socket_says_where_and_when(bare: Place, owner: User) -> None:
    """Also the last word on a journal that does not reach back so far, and on a conversation that is gone."""
    said = await owner.send("hello")
    async with owner.live() as page:
        await page.send(f'{{"follow": "{said.conversation}", "after": 999}}')
        reset = await heard(page, "reset")
        snapshot = await owner.get(f"/v1/conversations/{said.conversation}")
        assert (set(reset), reset["seq"]) == (BASE, snapshot["seq"])
        await page.send(f'{{"follow": "{said.conversation}", "after": {snapshot["seq"]}}}')
        await heard(page, "followed")
        await owner.http.delete(f"/v1/conversations/{said.conversation}")
        gone = await heard(page, "conversation.deleted")
        assert (set(gone), gone["seq"]) == (BASE, int(str(snapshot["seq"])) + 1)
        await page.send(f'{{"follow": "{said.conversation}", "after": {gone["seq"]}}}')
        again = await heard(page, "conversation.deleted")
        assert set(again) == BASE
        assert isinstance(again["at"], int)


async def test_events_say_what_the_page_on_the_api_says(place: Place, owner: User) -> None:
    """Everything beside the fields that all have stands in its table, and what was taken back is named whole."""
    rows = re.findall(r"^\| (`[a-z.`, ]+`) \| [^|]+ \| ([^|]*)\|$", DOCS.read_text(), re.M)
    names = {name: set(re.findall(r"`(\w+)`", cell)) for row, cell in rows for name in re.findall(r"`([a-z.]+)`", row)}
    said = await owner.send("delete build")
    (card,) = await owner.asked(said.conversation)
    await owner.accept(card["request"], "always")
    await owner.until(said.run, "completed")
    grants = (await owner.get(f"/v1/conversations/{said.conversation}/grants"))["grants"]
    assert isinstance(grants, list)
    (grant,) = [one for one in grants if isinstance(one, dict)]
    await owner.http.delete(f"/v1/conversations/{said.conversation}/grants/{grant['digest']}")
    stopped = await owner.send("tool x", said.conversation)
    await place.script.at("x").wait()
    await owner.send("meanwhile", said.conversation)
    await owner.post(f"/v1/runs/{stopped.run}/pause", {"urgent": True})
    await owner.until(stopped.run, "paused")
    await owner.post(f"/v1/runs/{stopped.run}/cancel")
    async with stream(owner, said.conversation) as events:
        told = await events.until("run.canceled")
    unsaid: set[str] = set()
    for one in told:
        facts = FACTS if one.type in STOPS else set[str]()
        more = set(one.plain) - BASE - {"run"} - facts - names[one.type]
        unsaid |= {f"{one.type} {name}" for name in more} if one.type != "request.opened" else set()
        assert set(one.plain) >= BASE, one
        assert "run" in one.plain or one.type == "grant.removed", one
    assert unsaid == set()
    by_type = {one.type: one.plain for one in told}
    assert set(by_type["grant.removed"]) == BASE | names["grant.removed"]
    assert set(by_type["run.paused"]) >= FACTS
    assert {"stop_requested"} <= set(by_type["run.pausing"])


async def test_a_stream_begins_where_the_snapshot_ended(place: Place, owner: User) -> None:
    """Nothing between the two is lost."""
    said = await owner.send("wait x")
    await place.script.at("x").wait()
    seq = (await owner.get(f"/v1/conversations/{said.conversation}"))["seq"]
    async with stream(owner, said.conversation, query=f"?after={seq}") as events:
        place.script.gate("x").set()
        told = await events.until("run.completed")
    assert told[0].plain["seq"] == int(str(seq)) + 1
    (message,) = [one.plain for one in told if one.type == "message.completed"]
    assert message["text"] == "waited for x"
    assert "waited for x" in str(message["html"])


async def test_many_followers_of_one_conversation_hear_the_same(place: Place, owner: User) -> None:
    """Early ones, late ones, and those that come while it goes on."""
    said = await owner.send("count 60")

    async def follow(after: int) -> list[int]:
        async with owner.live() as socket:
            await socket.send(f'{{"follow": "{said.conversation}", "after": {after}}}')
            seen: list[int] = []
            while True:
                told = OBJECT.validate_json(await socket.recv())
                if told["type"] not in ("followed", "conversation.changed"):
                    seen.append(int(str(told["seq"])))
                if told["type"] == "run.completed":
                    return seen

    async with asyncio.timeout(20):
        heard_by = await asyncio.gather(*(follow(0) for _ in range(15)), *(follow(2) for _ in range(5)))
    assert all(one == list(range(1, len(one) + 1)) for one in heard_by[:15])
    assert all(one == heard_by[0][2:] for one in heard_by[15:])


@proves("C101", "api")
async def test_an_answer_posted_to_either_server_resumes_the_run_and_every_page_sees_it(
    place: Place, owner: User
) -> None:
    """No page has to be at the server that the answer comes to."""
    elsewhere = await place.user(url=await place.web())
    for answering, text in ((owner, "delete here"), (elsewhere, "delete there")):
        said = await owner.send(text)
        (card,) = await owner.asked(said.conversation)
        async with owner.live() as one, elsewhere.live() as other:
            for socket in (one, other):
                await socket.send(f'{{"follow": "{said.conversation}", "after": 0}}')
                await heard(socket, "request.opened")
            await answering.accept(card["request"], "once")
            for socket in (one, other):
                assert (await heard(socket, "request.closed"))["outcome"] == "accepted"
                assert (await heard(socket, "run.completed"))["run"] == said.run
    assert place.script.effects == ["here", "there"]


@proves("C114", "api")
async def test_a_stale_tab_hears_what_stands_and_both_see_the_next_question(place: Place, owner: User) -> None:
    """Two tabs, two questions, one turn for each answer."""
    said = await owner.send("twice")
    (first,) = await owner.asked(said.conversation)
    async with owner.live() as one, owner.live() as other:
        for tab in (one, other):
            await tab.send(f'{{"follow": "{said.conversation}", "after": 0}}')
            await heard(tab, "request.opened")
        await owner.accept(first["request"], "Ann", field="text")
        late = await owner.accept(first["request"], "Bob", 409, field="text")
        assert (late["code"], late["values"]) == ("already_answered", {"text": "Ann"})
        opened = [(await heard(tab, "request.opened"))["request"] for tab in (one, other)]
        assert opened[0] == opened[1] != first["request"]
        await owner.accept(opened[0], "Cleo", field="text")
        for tab in (one, other):
            await heard(tab, "run.completed")
    assert (await owner.history(said.conversation))[-1]["text"] == "Ann and Cleo"


@proves("C85", "api")
async def test_a_question_waits_for_a_page_that_was_away(place: Place, owner: User) -> None:
    """Nothing is decided while nobody is connected; a new connection finds it and can answer."""
    said = await owner.send("delete build")
    async with owner.live() as page:
        await page.send(f'{{"follow": "{said.conversation}", "after": 0}}')
        card = await heard(page, "request.opened")
    await wait_until(lambda: not place.script.effects)
    snapshot = await owner.get(f"/v1/conversations/{said.conversation}")
    (shown,) = snapshot["requests"] if isinstance(snapshot["requests"], list) else []
    assert isinstance(shown, dict)
    assert (shown["request"], shown["state"]) == (card["request"], "open")
    async with owner.live() as page:
        await page.send(f'{{"follow": "{said.conversation}", "after": {snapshot["seq"]}}}')
        await owner.accept(card["request"], "once")
        await heard(page, "run.completed")
    assert place.script.effects == ["build"]


async def test_a_snapshot_shows_what_runs_at_that_moment(place: Place, owner: User) -> None:
    """A page that is loaded in the middle of a tool shows it, and the last status; both go when it ends."""
    said = await owner.send("tool x")
    await place.script.at("x").wait()
    path = f"/v1/conversations/{said.conversation}"
    snapshot = await owner.get(path)
    assert isinstance(snapshot["tools"], dict)
    (tool,) = snapshot["tools"].values()
    assert isinstance(tool, dict)
    assert (tool["tool"], tool["arguments"], tool["run"]) == ("saw", {"wood": "x"}, said.run)
    assert snapshot["status"] == {said.run: "about to act"}
    place.script.gate("x").set()
    await owner.until(said.run, "completed")
    after = await owner.get(path)
    assert (after["tools"], after["status"], after["partial"]) == ({}, {}, {})


async def test_streamed_text_is_whole_for_a_page_that_comes_late(place: Place, owner: User) -> None:
    """The snapshot's partial text and the deltas after it, or the completed message, are the text."""
    text = "abcdefghijklmnopqrstuvwxyz"
    said = await owner.send(f"stream {text}")
    async with stream(owner, said.conversation) as events:
        told = await events.until("run.completed")
    pieces = [str(one.plain["text"]) for one in told if one.type == "message.delta"]
    assert "".join(pieces) in (text, "")
    (whole,) = [one for one in told if one.type == "message.completed"]
    assert whole.plain["text"] == text


async def test_the_list_of_a_person_is_told_of_every_change(place: Place, owner: User) -> None:
    """Only to that person's pages."""
    stranger = await place.user("bob")
    async with owner.live() as page, stranger.live() as other:
        said = await owner.send("text me")
        await owner.asked(said.conversation)
        while True:
            item = (await heard(page, "conversation.changed"))["conversation"]
            assert isinstance(item, dict)
            if item["state"] == "waiting":
                break
        assert (item["id"], item["open"]) == (said.conversation, 1)
        own = await stranger.send("hello")
        told = (await heard(other, "conversation.changed"))["conversation"]
        assert isinstance(told, dict)
        assert told["id"] == own.conversation


WRONG = [
    ("{", "frame", "must be JSON"),
    ("[]", "frame", "must be an object"),
    ('"x"', "frame", "must be an object"),
    ("{}", "frame", "must have follow, unfollow or ping"),
    ('{"follow": 1}', "follow", "must be text"),
    ('{"follow": "nope"}', "follow", "must be the id of one of yours"),
    ('{"do": "it"}', "do", "is no field of this call"),
    ('{"after": -1}', "after", "must be at least 0"),
    ('{"follow": "c0", "after": 1' + "0" * 400 + "}", "after", "must be at most 9007199254740992"),
    ('{"ping": 1e400}', "ping", "must be a number or text"),
    ('{"ping": {}}', "ping", "must be a number or text"),
]


async def test_a_socket_answers_pings_and_says_what_is_wrong_with_a_frame(bare: Place, owner: User) -> None:
    """Bad frames change nothing and end nothing."""
    async with owner.live() as page:
        for wrong, field, rule in WRONG:
            await page.send(wrong)
            assert (await heard(page, "error"))["errors"] == [{"field": field, "rule": rule}], wrong
        await page.send('{"ping": 7}')
        assert (await heard(page, "pong"))["ping"] == 7
        await page.send("x" * 70_000)
        with pytest.raises(ConnectionClosed):
            await heard(page, "nothing")


async def test_a_socket_for_a_token_that_may_not_read_is_refused_as_a_call_is(bare: Place, owner: User) -> None:
    """403 with the scope that is missing; without any token 401."""
    sender = await bare.user(scopes=("send",))
    for user, status, code in ((sender, 403, b'"scope"'), (User(bare.url, "sayso_none"), 401, b'"who"')):
        with pytest.raises(InvalidStatus) as refused:
            await user.live()
        assert refused.value.response.status_code == status
        assert code in refused.value.response.body
        await user.http.aclose()


async def test_at_most_fifty_conversations_are_followed(bare: Place, owner: User) -> None:
    """The fifty-first is refused in words."""
    async with owner.live() as page:
        for number in range(51):
            said = await owner.send(f"hello {number}")
            await page.send(f'{{"follow": "{said.conversation}", "after": 0}}')
        told = await heard(page, "error")
        assert told["code"] == "invalid"


async def test_streams_end_when_their_credential_is_taken_back(bare: Place, owner: User) -> None:
    """Within five seconds, at every server."""
    await bare.web()
    said = await owner.send("hello")
    token = await owner.post("/v1/tokens", {"name": "program", "scopes": ["read"]}, 201)
    program = User(bare.urls[1], str(token["token"]))
    async with program.http, program.live() as page, stream(program, said.conversation) as events:
        await events.next()
        assert (await owner.http.delete(f"/v1/tokens/{token['id']}")).status_code == 204
        with pytest.raises(ConnectionClosed) as closed:
            await heard(page, "nothing")
        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code == 4401
        with pytest.raises((EOFError, httpx.RemoteProtocolError)):
            await _exhaust(events)
        with pytest.raises(InvalidStatus):
            await program.live()


async def _exhaust(events: Stream) -> Json:
    async with asyncio.timeout(10):
        while True:
            await events.next()
