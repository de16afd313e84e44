"""People over HTTP: invited, given roles, removed; chat accounts paired; groups bound; foreign things not there."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import httpx

from core.life.event import Said
from core.life.result import Sent
from core.model import Json
from core.question import Cancelled, Request
from tests.adapters.web.place import OBJECT, Place, User, plain
from tests.proves import proves
from tests.waiting import wait_until


@asynccontextmanager
async def joined(place: Place, owner: User, name: str, role: str = "member") -> AsyncGenerator[httpx.AsyncClient]:
    """A browser of somebody who came in by an invitation."""
    made = await owner.post("/v1/invitations", {"name": name, "role": role}, 201)
    link = str(made["link"])
    assert link.startswith(f"{place.url}/invite#")
    async with httpx.AsyncClient(base_url=place.url, headers={"Origin": place.url}) as http:
        assert (await http.get("/invite")).status_code == 200
        accepted = await http.post("/v1/invitations/accept", json={"code": link.partition("#")[2]})
        assert accepted.status_code == 204, accepted.text
        yield http


async def me(http: httpx.AsyncClient) -> dict[str, Json]:
    person = plain(await http.get("/v1/me"), 200)["person"]
    assert isinstance(person, dict)
    return person


@proves("C12", "api")
async def test_two_invited_people_see_nothing_of_each_other(place: Place, owner: User) -> None:
    """What is somebody else's looks exactly like what is not there, whatever is tried; and nothing of it changes."""
    async with joined(place, owner, "Ann") as ann, joined(place, owner, "Ben") as ben:
        sent = plain(await ann.post("/v1/send", json={"text": "delete x"}), 200)
        conversation, run = sent["conversation"], sent["run"]

        async def cards(http: httpx.AsyncClient) -> list[Json]:
            found = plain(await http.get("/v1/requests"), 200)["requests"]
            assert isinstance(found, list)
            return found

        async def asked() -> bool:
            return len(await cards(ann)) == 1

        await wait_until(asked)
        card = (await cards(ann))[0]
        assert isinstance(card, dict)
        request = card["request"]
        assert await cards(ben) == []
        assert plain(await ben.get("/v1/conversations"), 200)["conversations"] == []
        calls: list[tuple[str, str, dict[str, Json] | None]] = [
            ("GET", f"/v1/requests/{request}", None),
            ("POST", f"/v1/requests/{request}/answer", {"outcome": "accepted", "values": {"confirm": "once"}}),
            ("POST", f"/v1/requests/{request}/abort", {}),
            ("POST", f"/v1/requests/{request}/secret/look", {}),
            ("GET", f"/v1/runs/{run}", None),
            ("POST", f"/v1/runs/{run}/cancel", {}),
            ("GET", f"/v1/conversations/{conversation}", None),
            ("GET", f"/v1/conversations/{conversation}/events", None),
            ("GET", f"/v1/conversations/{conversation}/grants", None),
            ("DELETE", f"/v1/conversations/{conversation}", None),
        ]
        for method, path, body in calls:
            nobody = path.replace(str(request), "q0" + "z" * 14).replace(str(run), "r0" + "z" * 14)
            nobody = nobody.replace(str(conversation), "c0" + "z" * 14)
            foreign, unknown = [await ben.request(method, one, json=body) for one in (path, nobody)]
            assert (foreign.status_code, foreign.json()) == (unknown.status_code, unknown.json()), path
            assert foreign.status_code == 404
        assert await cards(ann) == [card]


async def test_whom_a_question_names_sees_it_and_nothing_else_of_its_conversation(place: Place, owner: User) -> None:
    """It is in their list until it is answered; what else is there looks like what is not there."""
    async with joined(place, owner, "Ann") as ann, joined(place, owner, "Ben") as ben:
        name = (await me(ben))["id"]
        sent = plain(await ann.post("/v1/send", json={"text": f"approver {name}"}), 200)

        async def cards(http: httpx.AsyncClient) -> list[Json]:
            found = plain(await http.get("/v1/pending"), 200)
            assert found["runs"] == []
            assert isinstance(found["requests"], list)
            return found["requests"]

        async def asked() -> bool:
            return len(await cards(ben)) == 1

        await wait_until(asked)
        (card,) = await cards(ben)
        assert isinstance(card, dict)
        assert (card["title"], card["foreign"]) == ("Deploy?", True)
        assert [one.get("foreign") for one in await cards(ann) if isinstance(one, dict)] == [None]
        assert plain(await ben.get(f"/v1/requests/{card['request']}"), 200)["title"] == "Deploy?"
        assert plain(await ben.get("/v1/conversations"), 200)["conversations"] == []
        conversation, run, answer = sent["conversation"], sent["run"], f"/v1/requests/{card['request']}/answer"
        for path in (f"conversations/{conversation}", f"conversations/{conversation}/events", f"runs/{run}"):
            assert (await ben.get(f"/v1/{path}")).status_code == 404, path
        assert (await ben.post(f"/v1/runs/{run}/cancel", json={})).status_code == 404
        assert (await ben.post(f"/v1/requests/{card['request']}/abort", json={})).status_code == 404
        yes: dict[str, Json] = {"outcome": "accepted", "values": {"confirm": "once"}}
        assert (await ann.post(answer, json=yes)).status_code == 403
        assert plain(await ben.post(answer, json=yes), 200)["by"] == name
        assert await cards(ben) == []
        again = await ben.post(answer, json=yes)
        assert (again.status_code, again.json()["repeat"]) == (200, True)


async def test_a_question_is_shown_elsewhere_by_who_may_answer_it(place: Place, owner: User) -> None:
    """Only places of chats count, the same key is the same call, and for others the question is not there."""
    async with joined(place, owner, "Ann") as ann, joined(place, owner, "Ben") as ben:
        sent = plain(await ann.post("/v1/send", json={"text": "delete x"}), 200)

        async def asked() -> bool:
            return bool(plain(await ann.get("/v1/requests"), 200)["requests"])

        await wait_until(asked)
        found = plain(await ann.get(f"/v1/conversations/{sent['conversation']}/pending"), 200)["requests"]
        assert isinstance(found, list)
        (card,) = found
        assert isinstance(card, dict)
        path = f"/v1/requests/{card['request']}/copies"
        key = {"Idempotency-Key": "copy-1"}
        assert (await ben.post(path, json={"origins": ["tg-8"]})).status_code == 404
        for wrong in ([], ["chat-1"], ["cli-1"], ["nowhere"], ["tg-8 9"], [f"tg-{n}" for n in range(21)]):
            refused = await ann.post(path, json={"origins": wrong})
            assert (refused.status_code, refused.json()["errors"][0]["field"]) == (422, "origins"), wrong
        told = plain(await ann.post(path, json={"origins": ["tg-8", "tg-8"]}, headers=key), 200)
        assert (told["copies"], told["unserved"]) == (["tg-8"], ["tg-8"])
        assert plain(await ann.post(path, json={"origins": ["tg-8"]}, headers=key), 200) == told
        assert (await ann.post(path, json={"origins": ["tg-9"]}, headers=key)).status_code == 409
        assert plain(await ann.get(f"/v1/requests/{card['request']}"), 200)["copies"] == ["tg-8"]
        no = plain(await ann.post(f"/v1/requests/{card['request']}/answer", json={"outcome": "declined"}), 200)
        assert no["settled"]
        assert (await ann.post(path, json={"origins": ["tg-9"]})).status_code == 409


async def test_an_invitation_works_once_and_only_an_owner_makes_one(place: Place, owner: User) -> None:
    made = await owner.post("/v1/invitations", {"name": "Ann", "role": "approver"}, 201)
    code = str(made["link"]).partition("#")[2]
    async with httpx.AsyncClient(base_url=place.url, headers={"Origin": place.url}) as ann:
        assert (await ann.post("/v1/invitations/accept", json={"code": code})).status_code == 204
        assert (await me(ann))["role"] == "approver"
        for method, path in (("GET", "/v1/people"), ("POST", "/v1/invitations"), ("POST", "/v1/pairings")):
            body = {"name": "Eve"} if path.endswith("s") else {}
            refused = await ann.request(method, path, json=body if method == "POST" else None)
            assert refused.status_code in (403, 422), path
            if refused.status_code == 403:
                assert refused.json()["code"] == "role"
    async with httpx.AsyncClient(base_url=place.url) as late:
        again = await late.post("/v1/invitations/accept", json={"code": code})
        assert (again.status_code, again.json()["code"]) == (403, "used")


async def test_a_removed_person_is_out_of_every_door(place: Place, owner: User) -> None:
    async with joined(place, owner, "Ann") as ann:
        person = await me(ann)
        token = plain(await ann.post("/v1/tokens", json={"scopes": ["read"]}), 201)["token"]
        gone = plain(await owner.http.delete(f"/v1/people/{person['id']}"), 200)
        assert gone == {"sessions": 1}

        async def out() -> bool:
            return (await ann.get("/v1/me")).status_code == 401

        await wait_until(out)
        headers = {"Authorization": f"Bearer {token}"}
        async with httpx.AsyncClient(base_url=place.url) as program:
            assert (await program.get("/v1/me", headers=headers)).status_code == 401


async def test_what_a_removed_person_had_running_ends(place: Place, owner: User) -> None:
    """At work and waiting alike, with a cause of its own; what others run goes on, and the question is closed."""
    async with joined(place, owner, "Ann") as ann:
        runs = [str(plain(await ann.post("/v1/send", json={"text": t}), 200)["run"]) for t in ("wait x", "delete y")]
        mine = await owner.send("wait mine")
        await place.script.at("x").wait()
        await place.script.at("mine").wait()

        async def states(*ids: str) -> list[tuple[str, str | None]]:
            found = [await place.broker.peek(id) for id in ids]
            return [(one.shown, one.cause) for one in found if one is not None]

        async def asked() -> bool:
            return (await states(runs[1]))[0][0] == "waiting"

        await wait_until(asked)
        waiting = await place.broker.peek(runs[1])
        assert waiting is not None
        person = await me(ann)
        plain(await owner.http.delete(f"/v1/people/{person['id']}"), 200)

        async def ended() -> bool:
            return await states(*runs) == [("canceled", "owner_removed")] * 2

        await wait_until(ended)
        at = place.broker.store.partition(runs[1])
        assert at is not None
        ref = ("request", waiting.requests[0])
        request = (await place.broker.store.read(at, [ref]))[ref].model
        assert isinstance(request, Request)
        assert request.answer == Cancelled(cause="owner_removed")
        assert await states(mine.run) == [("working", None)]
        place.script.gate("mine").set()
        await owner.until(mine.run, "completed")


async def test_another_role_counts_soon_and_the_first_owner_keeps_theirs(place: Place, owner: User) -> None:
    async with joined(place, owner, "Ann") as ann:
        person = await me(ann)
        changed = await owner.http.patch(f"/v1/people/{person['id']}", json={"role": "owner", "name": "Anna"})
        assert plain(changed, 200)["role"] == "owner"

        async def promoted() -> bool:
            return (await me(ann))["role"] == "owner"

        await wait_until(promoted)
        assert (await ann.get("/v1/people")).status_code == 200
        refused = await ann.patch("/v1/people/web:owner", json={"role": "member"})
        assert refused.status_code == 403
        assert await owner.post(f"/v1/people/{person['id']}/sign-out") == {"sessions": 1}


async def test_a_chat_account_is_paired_on_the_page(place: Place, owner: User) -> None:
    code = await place.people.pairing("tg:42", "Ann", "tg-42")
    assert isinstance(code, str)
    everybody = await owner.get("/v1/people")
    assert "tg:42" in str(everybody["waiting"])
    assert code not in str(everybody)
    wrong = await owner.post("/v1/pairings", {"code": "AAAAAAAA", "person": "web:owner"}, 403)
    assert "4 more tries" in str(wrong["errors"])
    await owner.post("/v1/pairings", {"code": code.lower(), "person": "web:owner"})
    who = await place.people.who("tg:42", "Ann")
    assert who is not None
    assert who.id == "web:owner"
    assert (await owner.http.delete("/v1/identities/tg:42")).status_code == 204
    assert await place.people.who("tg:42", "Ann") is None


@proves("C08", "api")
@proves("C07", "api")
async def test_a_group_is_bound_to_people_and_only_the_starter_and_approvers_answer(place: Place, owner: User) -> None:
    """Ann's run asks in a group; Ben, a member, changes nothing and learns that it is not his; Ann still can."""
    async with joined(place, owner, "Ann") as ann, joined(place, owner, "Ben") as ben:
        a, b = str((await me(ann))["id"]), str((await me(ben))["id"])
        group: dict[str, Json] = {"place": "tg-99", "people": []}
        assert plain(await owner.http.put("/v1/groups", json=group), 200)["people"] == []
        assert (await owner.get("/v1/people"))["warnings"]
        person = await place.people.person(a)
        assert person is not None
        listed = await place.people.group("tg-99")
        nobody = await place.broker.said(Said("tg-99", "delete x", person, "scripted", private=False, people=listed))
        assert not isinstance(nobody, Sent)
        plain(await owner.http.put("/v1/groups", json={"place": "tg-99", "people": [a, b]}), 200)
        listed = await place.people.group("tg-99")
        sent = await place.broker.said(Said("tg-99", "delete x", person, "scripted", private=False, people=listed))
        assert isinstance(sent, Sent)

        async def asked() -> bool:
            run = await place.broker.peek(sent.run)
            return run is not None and bool(run.requests)

        await wait_until(asked)
        run = await place.broker.peek(sent.run)
        assert run is not None
        (request,) = run.requests
        path = f"/v1/requests/{request}/answer"
        for value in ("once", "deny", "always"):
            refused = await ben.post(path, json={"outcome": "accepted", "values": {"confirm": value}})
            assert (refused.status_code, refused.json()["code"]) == (403, "not_allowed")
        assert OBJECT.validate_json((await ann.get(f"/v1/requests/{request}")).content)["state"] == "open"
        taken = await ann.post(path, json={"outcome": "accepted", "values": {"confirm": "once"}})
        assert taken.status_code == 200, taken.text


@proves("C131", "api")
async def test_a_permission_is_listed_with_its_use_and_taken_back_at_once(place: Place, owner: User) -> None:
    """It covers one call in one conversation; after it is taken back, the same call asks."""
    said = await owner.send("delete x")
    (card,) = await owner.asked(said.conversation)
    await owner.accept(card["request"], "always")
    await owner.until(said.run, "completed")
    again = await owner.send("delete x", said.conversation)
    await owner.until(again.run, "completed")
    for text, conversation in (("delete y", said.conversation), ("delete x", None)):
        other = await owner.send(text, conversation)
        assert await owner.until(other.run, "waiting") == "waiting"
        await owner.post(f"/v1/runs/{other.run}/cancel", {})
    grants = (await owner.get(f"/v1/conversations/{said.conversation}/grants"))["grants"]
    assert isinstance(grants, list)
    grant = grants[0]
    assert isinstance(grant, dict)
    assert (grant["tool"], grant["arguments"], grant["by"]) == ("delete", {"what": "x"}, "web:owner")
    assert grant["used"]
    path = f"/v1/conversations/{said.conversation}/grants/{grant['digest']}"
    assert (await owner.http.delete(path)).status_code == 204
    asks = await owner.send("delete x", said.conversation)
    assert await owner.until(asks.run, "waiting") == "waiting"
