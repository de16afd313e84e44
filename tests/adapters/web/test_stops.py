"""Cancel, pause, resume and delete over HTTP: answered at once, in every state, with what is true."""

import asyncio
from contextlib import AsyncExitStack

from core.life.apart import Unyielding
from core.life.event import Ended, Lost
from core.life.living import Beat
from core.life.result import Delivered
from core.model import Incarnation, Json
from tests.adapters.web.place import Place, User, heard
from tests.proves import proves

ROUNDS = 25


@proves("C64", "api")
async def test_cancel_of_a_parked_run_takes_its_question_away(place: Place, owner: User) -> None:
    """A second cancel says so; what is left of the question is a stub without text."""
    said = await owner.send("delete build")
    (card,) = await owner.asked(said.conversation)
    assert (await owner.post(f"/v1/runs/{said.run}/cancel"))["state"] in ("canceled", "canceling")
    await owner.until(said.run, "canceled")
    again = await owner.post(f"/v1/runs/{said.run}/cancel", status=409)
    assert (again["code"], again["detail"]) == ("ended", "already canceled")
    assert await owner.asked(said.conversation, 0) == []
    left = await owner.get(f"/v1/requests/{card['request']}")
    assert (left["state"], left["outcome"], left["title"]) == ("settled", "cancelled", "")
    assert "subject" not in left
    assert place.script.effects == []


@proves("C65", "api")
async def test_of_cancel_and_approve_together_one_wins(place: Place, owner: User) -> None:
    """Where Cancel won, nothing ran and the approver hears it; never both."""
    other = await place.user(url=await place.web())
    for round in range(ROUNDS):
        said = await owner.send(f"delete {round}")
        (card,) = await owner.asked(said.conversation)
        calls = [
            owner.http.post(f"/v1/runs/{said.run}/cancel"),
            other.http.post(
                f"/v1/requests/{card['request']}/answer", json={"outcome": "accepted", "values": {"confirm": "once"}}
            ),
        ]
        cancel, approve = await asyncio.gather(*calls) if round % 2 else (await asyncio.gather(*calls[::-1]))[::-1]
        state = await owner.until(said.run, "canceled", "completed")
        if approve.status_code != 200:
            assert (approve.status_code, approve.json()["code"], state) == (409, "ended", "canceled")
            assert approve.json()["state"] in ("canceled", "canceling")
            assert str(round) not in place.script.effects
        if state == "completed":
            assert cancel.status_code == 409
            assert str(round) in place.script.effects
        late = await owner.http.post(
            f"/v1/requests/{card['request']}/answer", json={"outcome": "accepted", "values": {"confirm": "once"}}
        )
        told = "already_answered" if approve.status_code == 200 else "ended"
        assert late.json().get("repeat") or late.json()["code"] == told
    assert len(place.script.effects) == len(set(place.script.effects))


@proves("C67", "api")
async def test_nothing_offers_the_question_of_a_run_that_is_gone(place: Place, owner: User) -> None:
    """Canceled or deleted: no list has it; a paused run is listed apart, as one that can be resumed."""
    ended, gone, kept = [await owner.send("delete build") for _ in range(3)]
    cards = [(await owner.asked(one.conversation))[0]["request"] for one in (ended, gone, kept)]
    await owner.post(f"/v1/runs/{ended.run}/cancel")
    assert (await owner.http.delete(f"/v1/conversations/{gone.conversation}")).status_code == 200
    await owner.post(f"/v1/requests/{cards[2]}/abort")
    await owner.until(ended.run, "canceled")
    await owner.until(kept.run, "paused")
    waiting = await owner.get("/v1/pending")
    runs = waiting["runs"]
    assert isinstance(runs, list)
    assert waiting["requests"] == []
    assert [run["run"] for run in runs if isinstance(run, dict)] == [kept.run]
    assert (await owner.accept(cards[0], "once", 409))["code"] == "ended"
    assert (await owner.http.get(f"/v1/conversations/{gone.conversation}")).status_code == 410
    assert (await owner.http.get(f"/v1/runs/{gone.run}")).status_code == 404
    await owner.post(f"/v1/requests/{cards[1]}/answer", {"outcome": "declined"}, status=404)
    assert place.script.effects == []


@proves("C72", "api")
async def test_a_queued_run_that_is_canceled_never_starts(bare: Place, owner: User) -> None:
    """It stays canceled when a worker comes; unknown and finished runs are told apart in words."""
    said = await owner.send("delete build")
    assert await owner.state(said.run) == "queued"
    assert (await owner.post(f"/v1/runs/{said.run}/cancel"))["state"] == "canceled"
    await bare.worker()
    other = await owner.send("hello")
    await owner.until(other.run, "completed")
    assert await owner.state(said.run) == "canceled"
    assert bare.script.turns == [other.run]
    assert (await owner.post(f"/v1/runs/{other.run}/cancel", status=409))["detail"] == "already finished"
    await owner.post(f"/v1/runs/r0{'0' * 14}/cancel", status=404)


async def test_a_cancel_may_come_before_its_start(bare: Place, owner: User) -> None:
    """The client lost the reply and gave up: the start that arrives later is canceled."""
    assert (await owner.post("/v1/runs/cancel-start", {"key": "k-1"}))["kind"] == "forestalled"
    sent = await owner.post("/v1/send", {"text": "delete build"}, key="k-1")
    await bare.worker()
    await owner.until(str(sent["run"]), "canceled")
    assert bare.script.turns == []


@proves("C73", "api")
async def test_the_list_says_stopping_from_the_cancel_until_the_end_of_the_work_is_seen(
    bare: Place, owner: User
) -> None:
    """Also when the conversation goes on without it; what is said then is taken at once."""

    async def listed() -> Json:
        all = (await owner.get("/v1/conversations"))["conversations"]
        assert isinstance(all, list)
        (found,) = (one for one in all if isinstance(one, dict))
        return found["state"]

    said = await owner.send("hello")
    until = bare.broker.store.now() + 60_000
    await bare.broker.beat(Beat(Incarnation(id="w9", kind="worker", until_ms=until), first=True), 0)
    taken = await bare.broker.claim(said.run, "w9")
    assert isinstance(taken, Delivered)
    assert await listed() == "working"
    assert (await owner.post(f"/v1/runs/{said.run}/cancel"))["state"] == "canceling"
    assert await listed() == "stopping"
    await bare.broker.stops.unyielding(Unyielding(said.run, taken.fence))
    assert await listed() == "stopping"
    following = await owner.send("and this?", said.conversation)
    assert following.run != said.run
    await owner.post(f"/v1/runs/{following.run}/cancel")
    assert await listed() == "stopping"
    await bare.broker.ended(Ended(said.run, taken.fence, "killed"))
    assert await listed() == "idle"
    assert await owner.state(said.run) == "canceled"


@proves("C75", "api")
async def test_cancel_just_after_the_answer(bare: Place, owner: User) -> None:
    """Queued: the turn never starts. Running: it is stopped. Finished: said so."""
    async with AsyncExitStack() as first:
        await bare.worker(first)
        queued = await owner.send("delete queued")
        (card,) = await owner.asked(queued.conversation)
    await owner.accept(card["request"], "once")
    assert (await owner.post(f"/v1/runs/{queued.run}/cancel"))["state"] == "canceled"
    await bare.worker()
    running = await owner.send("then running")
    (card,) = await owner.asked(running.conversation)
    await owner.accept(card["request"], "once")
    await bare.script.at("running").wait()
    await owner.post(f"/v1/runs/{running.run}/cancel")
    await owner.until(running.run, "canceled")
    finished = await owner.send("delete finished")
    (card,) = await owner.asked(finished.conversation)
    await owner.accept(card["request"], "once")
    await owner.until(finished.run, "completed")
    assert (await owner.post(f"/v1/runs/{finished.run}/cancel", status=409))["detail"] == "already finished"
    assert bare.script.effects == ["finished"]
    assert await owner.asked(running.conversation, 0) == []
    roles = [entry["role"] for entry in await owner.history(running.conversation)]
    assert roles.index("request") < roles.index("note")


@proves("C77", "api")
async def test_an_answer_to_a_paused_run_says_resume_first(place: Place, owner: User) -> None:
    """The guarded action never runs while it is paused, and once after."""
    said = await owner.send("delete build")
    (card,) = await owner.asked(said.conversation)
    await owner.post(f"/v1/requests/{card['request']}/abort")
    await owner.until(said.run, "paused")
    refused = await owner.accept(card["request"], "once", 409)
    assert (refused["code"], refused["run"]) == ("paused", said.run)
    assert place.script.effects == []
    assert (await owner.post(f"/v1/runs/{said.run}/resume"))["reopened"] == [card["request"]]
    await owner.accept(card["request"], "once")
    await owner.until(said.run, "completed")
    assert place.script.effects == ["build"]


@proves("C80", "api")
async def test_of_two_resumes_one_starts_a_turn(place: Place, owner: User) -> None:
    """The other is told that the run goes on already."""
    other = await place.user(url=await place.web())
    said = await owner.send("wait x")
    await place.script.at("x").wait()
    run = said.run
    for _ in range(ROUNDS):
        place.script.at("x").clear()
        await owner.post(f"/v1/runs/{run}/pause")
        await owner.until(run, "paused")
        before = len(place.script.turns)
        one, two = await asyncio.gather(
            owner.http.post(f"/v1/runs/{run}/resume"), other.http.post(f"/v1/runs/{run}/resume")
        )
        assert sorted((one.status_code, two.status_code)) == [200, 409], (one.text, two.text)
        assert "conflict" in {one.json().get("code"), two.json().get("code")}
        run = str((one if one.status_code == 200 else two).json()["run"])
        await place.script.at("x").wait()
        assert len(place.script.turns) == before + 1
    place.script.gate("x").set()
    await owner.until(run, "completed")


async def test_a_stop_tells_its_three_facts(place: Place, owner: User) -> None:
    """That it was asked for, that the work was seen to end, and what it did to the world."""
    said = await owner.send("wait x")
    await place.script.at("x").wait()
    await owner.post(f"/v1/runs/{said.run}/cancel", {"urgent": True})
    await owner.until(said.run, "canceled")
    run = await owner.get(f"/v1/runs/{said.run}")
    assert run["cause"] == "user_canceled"
    assert isinstance(run["stop_requested"], int)
    assert isinstance(run["ended"], int)
    assert isinstance(run["ended_by"], str)
    assert run["effects"] == "none"


async def test_a_resume_by_send_goes_on_in_a_paused_run(place: Place, owner: User) -> None:
    """`pending_task` names the run that is meant."""
    said = await owner.send("wait x")
    await place.script.at("x").wait()
    await owner.post(f"/v1/runs/{said.run}/pause")
    await owner.until(said.run, "paused")
    task: dict[str, Json] = {"text": "", "conversation": said.conversation, "pending_task": said.run}
    place.script.gate("x").set()
    went_on = await owner.post("/v1/send", task)
    await owner.until(str(went_on["run"]), "completed")
    listed = await owner.get(f"/v1/session/{said.conversation}/task")
    assert listed["runs"] == []


async def test_a_deleted_conversation_is_gone_for_all_pages(place: Place, owner: User) -> None:
    """Pages that follow it are told, and so are those that only list it."""
    said = await owner.send("delete build")
    await owner.asked(said.conversation)
    async with owner.live() as following, owner.live() as listing:
        await following.send(f'{{"follow": "{said.conversation}", "after": 0}}')
        await heard(following, "request.opened")
        await owner.post(f"/v1/runs/{said.run}/pause")
        await heard(listing, "conversation.changed")
        assert (await owner.http.delete(f"/v1/conversations/{said.conversation}")).status_code == 200
        for socket in (following, listing):
            assert (await heard(socket, "conversation.deleted"))["conversation"] == said.conversation
    await owner.post("/v1/send", {"text": "hello", "conversation": said.conversation}, 410)
    assert (await owner.get("/v1/conversations"))["conversations"] == []


async def test_a_run_whose_worker_was_lost_says_when_it_is_tried_again(bare: Place, owner: User) -> None:
    """No worker may take it before; the figure goes with the turn that does."""
    said = await owner.send("hello")
    before = bare.broker.store.now()
    await bare.broker.beat(Beat(Incarnation(id="w9", kind="worker", until_ms=before + 60_000), first=True), 0)
    await bare.broker.claim(said.run, "w9")
    await bare.broker.lost(Lost(said.run, "w9", gone=True))
    run = await owner.get(f"/v1/runs/{said.run}")
    assert run["state"] == "queued"
    assert isinstance(run["retry"], int)
    assert run["retry"] > before
    await bare.worker()
    await owner.until(said.run, "completed")
    assert "retry" not in await owner.get(f"/v1/runs/{said.run}")
