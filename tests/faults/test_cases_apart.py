"""The cases of stopping, resuming and delivering, with real processes: two webs, a worker, a process for each turn."""

import asyncio
import random
import signal
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
import pytest_asyncio

from core.model import Json
from core.people import OWNER
from tests.adapters.web.place import heard
from tests.adapters.web.sse import stream
from tests.contract.bench import wide
from tests.core.test_conversations import texts
from tests.faults.acted import ASKS
from tests.faults.fronts import front
from tests.faults.roles import breathe
from tests.faults.web_server import Process
from tests.faults.world import LIMIT, Case, World, world
from tests.proves import proves
from tests.redis_server import say
from tests.waiting import wait_until

pytestmark = pytest.mark.asyncio(loop_scope="module")
YES: dict[str, Json] = {"outcome": "accepted", "values": {"confirm": "once"}}
DAY_MS = 86_400_000
RACES = 6
"""how often two things are done at the same moment, in either order; by the hundred in `tests/core`"""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def it() -> AsyncGenerator[World]:
    """Everything, once for all of these tests."""
    async with world() as made:
        yield made


# ── cancel and abort ─────────────────────────────────────────────────────────────────────────────────────────────────


@proves("C64", "process")
async def test_cancel_of_a_parked_run_takes_its_question_away_at_both_webs(it: World) -> None:
    case, request = await it.waits("act")
    assert (await case.press("cancel"))["state"] == "canceled"
    again = await case.press("cancel", 409, by=it.two)
    assert again["detail"] == "already canceled"
    left = await it.two.get(f"/v1/requests/{request}")
    assert (left["state"], left["outcome"], left["title"]) == ("settled", "cancelled", "")
    assert not case.target
    assert (await it.two.history(case.conversation))[-1]["text"] == "[Canceled]"
    kept = {key for key, text in (await texts(it.broker)).items() if request in key or request in text}
    assert {key.split("}:")[1][:2] for key in kept} <= {"q:", "j:"}, "its stub, and the conversation's events"
    span = await it.broker.store.link.call("PTTL", it.broker.store.keys[0].doc(("request", request)))
    assert isinstance(span, int)
    assert 0 < span <= DAY_MS


@proves("C65", "process")
async def test_of_cancel_and_approve_at_two_webs_one_wins(it: World) -> None:
    """Where Cancel won, nothing ran and the approver hears it; an approval that comes later hears it, too."""
    cases = [await it.say("act") for _ in range(RACES)]
    for number, case in enumerate(cases):
        (request,) = await case.parked()
        calls = [
            it.one.http.post(f"/v1/runs/{case.run}/cancel"),
            it.two.http.post(f"/v1/requests/{request}/answer", json=YES),
        ]
        cancel, approve = await asyncio.gather(*calls) if number % 2 else (await asyncio.gather(*calls[::-1]))[::-1]
        state = (await case.until("canceled", "completed"))["state"]
        outcome = (await it.two.get(f"/v1/requests/{request}"))["outcome"]
        assert outcome == ("accepted" if approve.status_code == 200 else "cancelled"), "never both"
        if approve.status_code != 200:
            assert (approve.json()["code"], state, case.target) == ("ended", "canceled", [])
        if state == "completed":
            assert (cancel.status_code, len(case.target)) == (409, 1)
        else:
            assert (cancel.status_code, len(case.target) <= 1, case.alive()) == (200, True, set())
        late = (await it.one.http.post(f"/v1/requests/{request}/answer", json=YES)).json()
        assert late.get("repeat") or late["code"] == ("already_answered" if approve.status_code == 200 else "ended")


@proves("C67", "process")
async def test_nothing_waits_for_a_run_that_is_over_however_it_ended(it: World) -> None:
    cases = {how: (await it.waits("up" if how == "failed" else "act")) for how in ("canceled", "failed", "gone", "new")}
    kept, question = await it.waits("act")
    await it.one.post(f"/v1/requests/{question}/abort")
    await cases["canceled"][0].press("cancel")
    await it.two.post(f"/v1/requests/{cases['failed'][1]}/answer", YES)
    assert (await it.one.http.delete(f"/v1/conversations/{cases['gone'][0].conversation}")).status_code == 200
    await it.one.post("/v1/send", {"text": "/new", "conversation": cases["new"][0].conversation})
    await cases["failed"][0].until("failed")
    await kept.until("paused")

    async def offered() -> set[str]:
        listed = (await it.two.get("/v1/requests?state=open"))["requests"]
        assert isinstance(listed, list)
        return {str(one["request"]) for one in listed if isinstance(one, dict)}

    over = {request for _, request in cases.values()} | {question}
    assert not over & await offered()
    for how, (_, request) in cases.items():
        late = await it.two.http.post(f"/v1/requests/{request}/answer", json=YES)
        match how:
            case "gone":
                assert late.status_code == 404, late.text
            case "failed":
                assert late.json().get("repeat"), "it was answered before"
            case _:
                assert late.status_code == 409, late.text
                assert str(late.json()["detail"]).startswith("this run has ended"), late.text
    waiting = (await it.one.get("/v1/pending"))["runs"]
    assert isinstance(waiting, list)
    assert kept.run in {str(one["run"]) for one in waiting if isinstance(one, dict)}
    assert not any(case.target for case, _ in cases.values())


@proves("C70", "process")
async def test_after_an_abort_or_a_kill_in_a_call_the_next_message_and_the_resume_work(it: World) -> None:
    """Each call in the history has exactly one result, the unfinished one as interrupted."""
    aborted, killed = await it.say("two"), await it.say("two")
    for case in (aborted, killed):
        await case.came()
    await aborted.press("pause")
    await aborted.until("paused")
    assert not aborted.alive()
    await it.worker.again()
    await killed.came(2)
    assert await aborted.calls() == [("look", "done"), ("second", "interrupted")]
    following = await it.one.post("/v1/send", {"text": "hello", "conversation": aborted.conversation})
    await it.one.until(str(following["run"]), "completed")
    for case in (aborted, killed):
        case.open()
    aborted.run = str((await aborted.press("resume"))["run"])
    for case in (aborted, killed):
        await case.until("completed")
        assert case.target == ["first", "second"]
        calls = await case.calls()
        assert calls == [("look", "done"), ("second", "interrupted"), ("second", "done")], calls
    assert (await aborted.answers())[-1] == "both"


@proves("C71", "process")
async def test_of_two_calls_side_by_side_one_is_denied_and_the_other_is_done(it: World) -> None:
    denied, canceled = await it.waits("pair"), await it.waits("pair")
    await it.one.post(f"/v1/requests/{denied[1]}/answer", {"outcome": "declined"})
    await canceled[0].press("cancel")
    await denied[0].until("completed")
    await canceled[0].until("canceled")
    for case, _ in (denied, canceled):
        assert case.target == ["list"]
    assert sorted(await denied[0].calls()) == [("act", "denied"), ("look", "done")]
    assert (await denied[0].answers())[-1] == "list done, delete denied"
    assert await canceled[0].calls() == [("look", "done")], "the other call was never begun"
    assert (await it.two.history(canceled[0].conversation))[-1]["text"] == "[Canceled]"


@proves("C72", "process")
async def test_a_run_canceled_while_it_is_queued_never_starts(it: World) -> None:
    """It stays canceled when a worker comes; unknown and finished runs are told apart in words."""
    await it.worker.kill()
    queued, other = await it.say("act"), await it.say("wait")
    other.open()
    assert (await queued.press("cancel"))["state"] == "canceled"
    await it.worker.start()
    await other.until("completed")
    assert (await queued.until("canceled"), queued.turns)[1] == 0
    assert (await other.press("cancel", 409))["detail"] == "already finished"
    await it.one.post(f"/v1/runs/r0{'0' * 14}/cancel", status=404)


@proves("C75", "process")
async def test_cancel_just_after_the_answer_ends_what_there_is(it: World) -> None:
    """Running: it is stopped. Finished: said so. The answered question does not come back."""
    running, request = await it.waits("then")
    await it.one.post(f"/v1/requests/{request}/answer", YES)
    await running.came()
    await running.press("cancel")
    ended = await running.until("canceled")
    assert (ended["effects"], running.alive(), running.target) == ("done", set(), [running.folder.name])
    assert await running.asked(0) == []
    told = [(entry["role"], entry["text"]) for entry in await it.two.history(running.conversation)]
    assert [role for role, _ in told if role in ("request", "note")] == ["request", "note"], "both facts, in order"
    assert told[-1][1] == "[Canceled]"
    finished, request = await it.waits("act")
    await it.one.post(f"/v1/requests/{request}/answer", YES)
    await finished.until("completed")
    assert (await finished.press("cancel", 409))["detail"] == "already finished"


@proves("C77", "process")
async def test_an_answer_to_a_paused_run_says_resume_first_at_either_web(it: World) -> None:
    case, request = await it.waits("act")
    await it.one.post(f"/v1/requests/{request}/abort")
    await case.until("paused")
    refused = await it.two.post(f"/v1/requests/{request}/answer", YES, 409)
    assert (refused["code"], refused["run"], case.target) == ("paused", case.run, [])
    assert (await case.press("resume"))["reopened"] == [request]
    await it.two.post(f"/v1/requests/{request}/answer", YES)
    await case.until("completed")
    assert case.target == [case.folder.name]


@proves("C77", "process")
@proves("C80", "process")
async def test_an_answer_before_with_or_after_the_resume_of_a_paused_run_acts_once(it: World) -> None:
    """With it: the answer counts, or hears "resume first"; either way one turn starts. After it: the card is live."""
    for number in range(ASKS):
        case, request = await it.waits("act")
        await it.one.post(f"/v1/requests/{request}/abort")
        await case.until("paused")
        path = f"/v1/requests/{request}/answer"
        if number:
            acts = [it.one.http.post(f"/v1/runs/{case.run}/resume"), it.two.http.post(path, json=YES)]
            resume, answer = await asyncio.gather(*acts) if number % 2 else (await asyncio.gather(*acts[::-1]))[::-1]
            assert resume.status_code == 200, resume.text
            assert answer.status_code == 200 or answer.json()["code"] == "paused", answer.text
        else:
            await case.press("resume")
            answer = None
        assert not case.target or (answer is not None and answer.status_code == 200)
        if answer is None or answer.status_code != 200:
            await it.two.post(path, YES)
        await case.until("completed")
        assert (case.target, case.turns) == ([case.folder.name], 2)


# ── resume and restart ───────────────────────────────────────────────────────────────────────────────────────────────


@proves("C78", "process")
async def test_after_abort_and_resume_each_approved_call_runs_once(it: World) -> None:
    case = await it.say("three")
    for request in await case.parked(3):
        await it.two.post(f"/v1/requests/{request}/answer", YES)
    await case.came()
    await case.press("pause")
    await case.until("paused")
    assert case.target == ["ticket"]
    case.open()
    await case.press("resume")
    await case.until("completed")
    assert case.target == ["ticket", "mail", "tag"]


@proves("C79", "process")
async def test_an_approval_covers_what_was_shown_and_no_replay_changes_that(it: World) -> None:
    other, shown = await it.waits("other")
    await it.one.post(f"/v1/requests/{shown}/answer", YES)
    (asked,) = await other.asked()
    subject = (await it.one.get(f"/v1/requests/{asked}"))["subject"]
    assert isinstance(subject, dict)
    assert (asked != shown, subject["arguments"], other.target) == (True, {"what": "1000 to B"}, [])
    await it.one.post(f"/v1/requests/{asked}/answer", {"outcome": "declined"})
    await other.until("completed")
    changed, request = await it.waits("changed")
    await it.one.post(f"/v1/requests/{request}/answer", YES)
    paused = await changed.until("paused")
    assert "asks something else" in str(paused["error"])
    assert not other.target + changed.target


@proves("C80", "process")
async def test_of_two_resumes_at_two_webs_one_starts_a_turn(it: World) -> None:
    case = await it.say("wait")
    for number in range(1, RACES + 1):
        await case.came(number)
        await case.press("pause")
        await case.until("paused")
        told = await asyncio.gather(*(user.http.post(f"/v1/runs/{case.run}/resume") for user in (it.one, it.two)))
        assert sorted(one.status_code for one in told) == [200, 409], [one.text for one in told]
        assert "conflict" in {one.json().get("code") for one in told}
    await case.came(RACES + 1)
    case.open()
    await case.until("completed")
    assert case.turns == RACES + 1


@proves("C82", "process")
async def test_an_answer_is_kept_when_the_start_after_it_fails_before_or_after_the_act(it: World) -> None:
    """The worker dies, the configuration is broken, the model does not answer: at last the act happened once."""
    case, request = await it.waits("retry")
    it.worker.send(signal.SIGSTOP)
    await it.one.post(f"/v1/requests/{request}/answer", YES)
    await it.worker.again()
    assert str((await case.until("paused"))["error"]).endswith("no configuration")
    again = await it.two.http.post(f"/v1/requests/{request}/answer", json=YES)
    assert again.json().get("repeat"), again.text
    assert not case.target
    case.open("mended")
    await case.press("resume")
    assert str((await case.until("paused"))["error"]).endswith("model not reachable")
    case.open()
    await case.press("resume")
    await case.until("completed")
    assert case.target == ["act"]


@proves("C83", "process")
async def test_a_decision_from_elsewhere_is_enough_and_an_error_reaches_the_person(it: World) -> None:
    night, broken = await it.waits("night"), await it.waits("night")
    broken[0].open("broken")
    for _, request in (night, broken):
        await it.two.post(f"/v1/requests/{request}/answer", YES)
    await night[0].until("completed")
    assert night[0].target == ["rotated after night"]
    paused = await broken[0].until("paused")
    assert str(paused["error"]).endswith("no logs")
    assert not broken[0].target


@proves("C85", "process")
async def test_a_question_waits_while_the_page_and_its_web_are_away(it: World) -> None:
    case, request = await it.waits("act")
    async with it.two.live() as page:
        await page.send(f'{{"follow": "{case.conversation}", "after": 0}}')
        assert (await heard(page, "request.opened"))["request"] == request
        await it.roles["two"].kill()
    await it.roles["two"].start()
    assert (await it.two.get(f"/v1/requests/{request}"))["state"] == "open"
    async with it.two.live() as page:
        await page.send(f'{{"follow": "{case.conversation}", "after": 0}}')
        assert (await heard(page, "request.opened"))["request"] == request
        await it.two.post(f"/v1/requests/{request}/answer", YES)
        assert (await heard(page, "run.completed"))["run"] == case.run
    assert case.target == [case.folder.name]


@proves("C86", "process")
async def test_closing_the_page_stops_nothing_and_leaves_nothing_behind(it: World) -> None:
    case, (asks, request) = await it.say("stream"), await it.waits("act")
    before = _sockets(it.roles["one"].pid)
    async with it.one.live() as page, stream(it.one, case.conversation) as program:
        await page.send(f'{{"follow": "{case.conversation}", "after": 0}}')
        await heard(page, "message.delta")
        await program.until("message.delta")
        assert _sockets(it.roles["one"].pid) > before
        await page.send(f'{{"follow": "{asks.conversation}", "after": 0}}')
        await heard(page, "request.opened")
    await wait_until(lambda: _sockets(it.roles["one"].pid) <= before, LIMIT)
    assert (await it.two.get(f"/v1/requests/{request}"))["state"] == "open"
    assert (await it.two.get(f"/v1/runs/{case.run}"))["state"] == "working"
    await it.two.post(f"/v1/requests/{request}/answer", YES)
    await asks.until("completed")
    case.open()
    await case.until("completed")
    assert await case.answers() == ["one two", "streamed"]


def _sockets(pid: int) -> int:
    """How many sockets a process has open."""
    return sum(str(one.readlink()).startswith("socket:") for one in Path(f"/proc/{pid}/fd").iterdir())


@proves("C88", "process")
@proves("C90", "process")
async def test_after_a_crash_runs_go_on_questions_wait_and_messages_are_handled(it: World) -> None:
    """Killed in the middle: the run is taken up again, a message beside it joins it, Stop works, one reply each."""
    working, stopped, queued = await it.say("wait"), await it.say("wait"), await it.say("wait")
    for case in (working, stopped, queued):
        await case.came()
    waiting, request = await it.waits("act")
    await it.worker.kill()
    steer = await it.two.post("/v1/send", {"text": "while it is down", "conversation": queued.conversation})
    assert steer["run"] == queued.run
    await stopped.press("cancel")
    fresh = await it.say("wait")
    fresh.open()
    await it.worker.start()
    await stopped.until("canceled")
    await fresh.until("completed")
    await working.came(2)
    joined = await it.two.post("/v1/send", {"text": "and you?", "conversation": working.conversation})
    assert (joined["run"], joined["steer"]) == (working.run, True)
    for case, words in ((working, "and you?"), (queued, "while it is down")):
        case.open()
        await case.until("completed")

        async def both(case: Case = case, words: str = words) -> bool:
            return await case.answers() == ["waited", f"you said {words}"]

        await wait_until(both, LIMIT)
    await it.one.post(f"/v1/requests/{request}/answer", YES)
    await waiting.until("completed")
    assert waiting.target == [waiting.folder.name]


# ── the way of an answer ─────────────────────────────────────────────────────────────────────────────────────────────


@proves("C92", "process")
async def test_reads_that_are_given_up_leave_the_others_their_own_replies(it: World) -> None:
    """In a turn's process and in a web, over a slow line: what is read is never what somebody else asked for."""
    it.proxy.delay = 0.005
    try:
        case, others = await it.say("reads"), [await it.say("act") for _ in range(3)]
        for number in range(60):
            other = others[number % 3]
            dropped = [asyncio.create_task(it.two.http.get(f"/v1/runs/{one.run}")) for one in others]
            await asyncio.wait(dropped, timeout=0.002 * (number % 8))
            for task in dropped:
                task.cancel()
            await asyncio.gather(*dropped, return_exceptions=True)
            assert (await it.two.get(f"/v1/runs/{other.run}"))["run"] == other.run
        await case.until("completed")
        assert case.target == ["read"]
    finally:
        it.proxy.delay = 0.0


@proves("C93", "process")
async def test_answers_at_the_moment_of_letting_go_are_each_taken_once(it: World) -> None:
    """The turn's process lets go of its question after 50 ms; answers come before, at and after that moment."""
    dice = random.Random(93)
    case = await it.say("names")
    for number in range(ASKS):
        (request,) = await case.asked()
        await breathe(dice.uniform(0.0, 0.1))
        if number == ASKS // 2:
            it.worker.send(signal.SIGTERM)  # a shutdown while it waits
            await it.worker.again(hard=False)
        await it.one.post(
            f"/v1/requests/{request}/answer", {"outcome": "accepted", "values": {"text": f"name {number}"}}
        )
    await case.until("completed")
    assert case.target == [f"{number} name {number}" for number in range(ASKS)]


@proves("C94", "process")
async def test_answers_before_while_and_after_redis_is_away_are_handled_once(it: World) -> None:
    """Killed, standing still, cut off: what was accepted runs once, what was not stored was refused in words."""
    cases = [await it.waits("act") for _ in range(3)]
    refusals: list[str] = []
    for number, (_, request) in enumerate(cases):
        path, key = f"/v1/requests/{request}/answer", {"Idempotency-Key": f"c94-{request}"}
        if number == 0:
            it.store.kill()
            refused = await it.one.http.post(path, json=YES, headers=key)
            assert refused.status_code == 503
            refusals.append(refused.json()["detail"])
            health = await it.one.http.get("/health")
            assert health.json()["status"] != "ok"
            it.store.start()
        if number == 1:
            it.store.process.send_signal(signal.SIGSTOP)
            asyncio.get_running_loop().call_later(0.5, it.store.process.send_signal, signal.SIGCONT)
        if number == 2:
            say(it.store.socket, "CLIENT", "KILL", "TYPE", "normal")

        async def taken(path: str = path, key: dict[str, str] = key) -> bool:
            return (await it.one.http.post(path, json=YES, headers=key)).status_code == 200

        await wait_until(taken, LIMIT)
    for case, _ in cases:
        await case.until("completed")
        assert case.target == [case.folder.name]
    assert len(refusals) == 1


@proves("C95", "process")
async def test_a_cancel_reaches_a_worker_whose_subscription_died_in_silence(it: World) -> None:
    """No more hints come to it, and nothing breaks; the intent is stored, and the worker looks."""
    case = await it.say("wait")
    await case.came()
    with it.proxy.deaf(b"XREAD"):
        await case.press("cancel")
        ended = await case.until("canceled")
    assert ended["ended_by"] == "cooperative"
    assert not case.alive()


@proves("C96", "process")
async def test_what_was_told_while_worker_and_web_were_cut_off_takes_effect(it: World) -> None:
    """An answer, a cancel and an event come in the gap; all three are found after it."""
    (asks, request), works = await it.waits("act"), await it.say("wait")
    await works.came()
    async with it.two.live() as page:
        await page.send(f'{{"follow": "{asks.conversation}", "after": 0}}')
        await heard(page, "request.opened")
        it.proxy.welcome = False
        it.proxy.cut()
        try:
            await it.one.post(f"/v1/requests/{request}/answer", YES)
            await works.press("cancel")
        finally:
            it.proxy.welcome = True
        assert (await heard(page, "request.closed"))["outcome"] == "accepted"
        assert (await heard(page, "run.completed"))["run"] == asks.run
    await works.until("canceled")
    assert asks.target == [asks.folder.name]


@proves("C82", "process")
@proves("C97", "process")
async def test_a_worker_killed_with_an_answer_in_its_hands_loses_and_doubles_nothing(it: World) -> None:
    """Its claim ends by itself, the next worker takes the run over; an entry that nobody can read stops nobody.

    Whoever would take its claims back is killed with it; that lease ends by itself, too.
    """
    case, request = await it.waits("then")
    for broken in ("r-no-such-thing", "r0" + "z" * 14):
        await it.broker.store.link.call("ZADD", it.broker.store.keys[0].index("ready"), "0", broken)
    it.worker.send(signal.SIGSTOP)
    await it.one.post(f"/v1/requests/{request}/answer", YES)
    it.worker.send(signal.SIGCONT)
    await case.came()
    sweeping = await it.sweeping()
    await asyncio.gather(sweeping.kill(), it.worker.again())
    await case.came(2)
    await sweeping.start()
    assert await it.sweeping() is not sweeping
    case.open()
    await case.until("completed")
    assert case.target == [case.folder.name]

    async def aside() -> bool:
        return not await it.broker.store.due(0, "ready")

    await wait_until(aside, LIMIT)


@proves("C101", "process")
async def test_an_answer_at_either_web_resumes_the_run_and_every_page_sees_it(it: World) -> None:
    for answering in (it.one, it.two):
        case, request = await it.waits("act")
        async with it.one.live() as one, it.two.live() as two:
            for page in (one, two):
                await page.send(f'{{"follow": "{case.conversation}", "after": 0}}')
                await heard(page, "request.opened")
            await answering.post(f"/v1/requests/{request}/answer", YES)
            for page in (one, two):
                assert (await heard(page, "request.closed"))["outcome"] == "accepted"
                assert (await heard(page, "run.completed"))["run"] == case.run
        assert case.target == [case.folder.name]


# ── a new release ────────────────────────────────────────────────────────────────────────────────────────────────────


@proves("C101", "process")
async def test_a_rolling_restart_of_every_role_loses_and_doubles_nothing(it: World, tmp_path: Path) -> None:
    """Two webs, two workers, a front end: one after the other ends in order and starts, under runs of every kind."""
    second = Process(("gateway", "worker"), it.roles["one"].env)
    chats = wide()
    async with front(chats, f"unix://{it.store.socket}", tmp_path) as shown:
        try:
            await second.start()
            working = [await it.say("wait") for _ in range(2)]
            acted = [await it.waits("then") for _ in range(2)]
            parked = [await it.waits("act") for _ in range(6)]
            (tmp_path / "chat").mkdir()
            there = Case(it, tmp_path / "chat")
            await shown.say(OWNER, "fa-7", f"act {there.folder}")
            await wait_until(lambda: chats.cards("fa-7"), LIMIT)
            for case in working:
                await case.came()
            for case, request in acted:
                await it.one.post(f"/v1/requests/{request}/answer", YES)
                await case.came()
            roles = [it.worker, it.roles["one"], second, it.roles["two"]]
            for number, role in enumerate(roles):
                web = it.two if role is it.roles["one"] else it.one
                role.send(signal.SIGTERM)
                await web.post(f"/v1/requests/{parked[number][1]}/answer", YES)  # while it ends
                new = await it.say("wait", by=web)
                new.open()
                working.append(new)
                await role.again(hard=False)
            pressing = chats.cards("fa-7")[-1]
            await shown.kill(hard=False)
            await shown.start()
            async with it.one.live() as one, it.two.live() as two:
                for page in (one, two):
                    await page.send(f'{{"follow": "{await it.place("fa-7")}", "after": 0}}')
                    await heard(page, "request.opened")
                assert (await shown.press(OWNER, pressing, "Approve")).text == "Accepted."
                for page in (one, two):
                    assert (await heard(page, "request.closed"))["outcome"] == "accepted"
                    await heard(page, "run.completed")
            for _, request in parked[len(roles) :]:
                await it.two.post(f"/v1/requests/{request}/answer", YES)
            for case in (*working, *(case for case, _ in acted)):
                case.open()
            for case in (*working, *(case for case, _ in acted), *(case for case, _ in parked)):
                await case.until("completed")
            for case, _ in (*acted, *parked):
                assert case.target == [case.folder.name]
            for case in working:
                assert await case.answers() == ["waited"]
            await wait_until(lambda: there.target == ["chat"] and not chats.cards("fa-7"), LIMIT)
            await wait_until(lambda: chats.texts("fa-7").count("chat done") == 1, LIMIT)
        finally:
            await second.kill()
