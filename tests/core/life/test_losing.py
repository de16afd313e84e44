"""Lost workers, leases, deletes, journals: what goes on, what is set aside, what is gone."""

from __future__ import annotations

import pytest

from core.life import place
from core.life.event import Append, Begin, Broke, Claim, Delete, Ended, Lost, Resume, ShrinkDue
from core.life.leak import member
from core.life.living import Beat, Hold, Leave
from core.life.place import ghost
from core.life.result import Deleted, Delivered, Kept
from core.listening import Listeners, matches
from core.model import Incarnation, Step
from core.question import Accepted
from tests.core.life import checks
from tests.core.life.play import ANN, BEN, CAT, CHOICE, TEXT, Play, call
from tests.core.life.test_stopping import refused


def test_a_waiting_run_goes_on_waiting_when_its_worker_is_lost() -> None:
    """It needs no worker; its answer starts a new turn at once."""
    play = Play()
    turn = play.at_work()
    asked = play.asked(turn, TEXT)
    play.sweep("w1")
    assert play.run(turn.run).state == "waiting"
    play.answered(asked, "Rex")
    assert play.claimed(turn.run, "w2").answered == (asked,)


def test_a_run_that_can_be_replayed_goes_on_by_itself_before_the_others() -> None:
    """C90: fence +1; its new turn comes before what was said meanwhile."""
    play = Play()
    turn = play.at_work("one", ANN, "tg-7")
    play.said("two", BEN, "tg-7")
    play.sweep("w1")
    assert play.run(turn.run).state == "queued"
    assert list(play.index("ready")) == [turn.run]
    assert play.claimed(turn.run, "w2").fence > turn.fence


def test_a_run_that_cannot_be_replayed_waits_for_a_person() -> None:
    """Neither journal nor snapshot: `on_lost` of its agent says pause."""
    play = Play()
    turn = play.at_work()
    play.sweep("w1", again=False)
    assert (play.run(turn.run).state, play.run(turn.run).cause) == ("paused", "worker_lost")
    assert play.resumed(turn.run).state == "queued"


def test_a_run_that_kills_its_worker_three_times_is_set_aside() -> None:
    """With its reason; a restart of Sayso is not its fault and does not count."""
    play = Play()
    run = play.said("go")
    for number in range(3):
        play.claimed(run, f"s{number}")
        play.sweep(f"s{number}", cause="shutdown")
    assert play.run(run).state == "queued"
    for number in range(3):
        assert play.run(run).state == "queued"
        play.claimed(run, f"k{number}")
        play.sweep(f"k{number}")
    assert play.run(run).state == "paused"
    assert "3 times" in (play.run(run).error or "")


def test_each_pause_before_a_run_is_tried_again_is_longer_than_the_one_before() -> None:
    """Nobody takes it earlier; a person who resumes it begins anew, and a restart of Sayso lets nobody wait."""
    play = Play()
    run, pauses = play.said("go"), list[int]()
    for number in range(play.spans.losses - 1):
        play.claimed(run, f"k{number}")
        play.sweep(f"k{number}")
        lost = play.run(run)
        assert lost.retry_ms is not None
        assert play.index("ready") == {run: lost.retry_ms}
        play.beat("early")
        refused(play.act(Claim(run, "early")), "early")
        pauses.append(lost.retry_ms - play.now)
    assert 0 < pauses[0] < pauses[1]
    assert play.claimed(run, "last").run == run
    assert play.run(run).retry_ms is None
    play.sweep("last", cause="shutdown")
    assert play.index("ready") == {run: play.now}


def test_an_answer_survives_the_loss_of_the_worker_that_held_its_run() -> None:
    """C82: accepted, not yet taken; it is kept until a turn has recorded it."""
    play = Play()
    turn = play.at_work()
    asked = play.asked(turn, TEXT)
    play.answered(asked, "Rex")
    play.sweep("w1")
    assert play.index("ready") == {turn.run: play.now}
    again = play.claimed(turn.run, "w2")
    assert again.answered == (asked,)
    play.sweep("w2")
    play.claimed(turn.run, "w3")
    assert sum(step.kind == "answered" for step in play.steps(turn.run)) == 1


def test_a_zombie_meets_its_fence() -> None:
    """Whatever it sends after it was given up is refused."""
    play = Play()
    turn = play.at_work()
    play.sweep("w1", gone=False)
    run = play.run(turn.run)
    step = Step(kind="done", key="step#0", at=play.now)
    refused(play.act(Append(run.id, run.root, run.conversation, turn.fence, steps=(step,))), "fenced")
    refused(play.act(Broke(run.id, turn.fence, "late")), "fenced")
    assert [old.fence for old in play.run(turn.run).unproved] == [turn.fence]


def test_a_worker_without_a_lease_claims_nothing() -> None:
    """A waking zombie meets nothing where its lease was, and takes a new incarnation."""
    play = Play()
    run = play.said("go")
    refused(play.act(Claim(run, "w1")), "fenced")
    play.beat("w1", span=100)
    look = play.look()
    play.sweep("w1")
    refused(play.act(Claim(run, "w1"), look), "fenced")
    refused(play.act(Beat(Incarnation(id="w1", kind="worker", until_ms=9_999))), "gone")


def test_a_lease_that_was_renewed_in_time_does_not_lapse() -> None:
    """The sweeper's look was old."""
    play = Play()
    play.beat("w1", span=100)
    look = play.look()
    play.now += 100
    play.beat("w1", span=100)
    refused(play.act(Leave("w1", lapsed=True), look), "conflict")
    assert ("incarnation", "w1") in play.docs


def test_a_listener_that_comes_back_after_its_time_is_a_change() -> None:
    """What was decided without it is decided again; a mere renewal disturbs nobody."""
    play = Play()
    play.beat("web", "chat-", span=100)
    seen = play.docs[("listeners", "")]
    play.beat("web", "chat-", span=200)
    renewed = play.docs[("listeners", "")]
    play.now += 201
    play.beat("web", "chat-", span=100)
    back = play.docs[("listeners", "")]
    assert isinstance(seen, Listeners)
    assert isinstance(renewed, Listeners)
    assert isinstance(back, Listeners)
    assert seen.fence == renewed.fence < back.fence


@pytest.mark.parametrize(
    ("prefix", "origin", "fits"),
    [
        ("", "tg-4", True),
        ("tg-4", "tg-42", False),
        ("tg-4", "tg-4.7", True),
        ("tg-", "tg-42", True),
        ("tg", "tg-4", True),
    ],
)
def test_a_prefix_matches_whole_segments(prefix: str, origin: str, fits: bool) -> None:
    """`tg-4` is another chat than `tg-42`."""
    assert matches(prefix, origin) is fits


@pytest.mark.parametrize("state", ["queued", "working", "held", "waiting", "answered", "paused", "stopping", "freed"])
def test_delete_takes_a_conversation_away_in_every_state(state: str) -> None:
    """One commit; what is not proved to have stopped is told, later writes find nothing, nothing stays owed."""
    play = Play()
    run = play.said("go")
    place = play.run(run).conversation
    if state != "queued":
        turn = play.claimed(run)
        if state in ("held", "waiting", "answered"):
            asked = play.asked(turn, CHOICE)
            if state != "held":
                play.parked(turn)
            if state == "answered":
                play.answered(asked, "a")
        if state == "paused":
            play.act(Broke(run, turn.fence, "boom"))
        if state in ("stopping", "freed"):
            play.stopped(run, "user_canceled")
        if state == "freed":
            play.later(play.spans.free_ms)
    told = play.act(Delete(place, ANN))
    assert isinstance(told, Deleted)
    assert bool(told.unproved) == (state in ("working", "held", "stopping", "freed"))
    assert ("run", run) not in play.docs
    assert not play.lists
    refused(play.act(Begin(run, 1, 0, "step#0", 0)), "gone")
    play.act(Ended(run, 1, "cooperative", worker="w1"))
    checks.check(play)
    checks.settled(play)


def test_a_new_conversation_at_the_same_place_is_another_one() -> None:
    """The old id stays gone."""
    play = Play()
    place = play.run(play.said("one")).conversation
    play.act(Delete(place, ANN))
    assert play.run(play.said("two")).conversation != place
    refused(play.say("three", conversation=place), "gone")
    refused(play.act(Delete(place, ANN)), "gone")


def test_delete_keeps_what_was_answered_first() -> None:
    """An answer is set once; a late press hears the truth from its stub."""
    play = Play()
    run, asked = play.waiting(call("a"))
    play.answered(asked, "always")
    place = play.run(run).conversation
    play.act(Delete(place, ANN))
    assert play.request(asked).answer == Accepted()
    assert play.request(asked).question.title == ""
    assert ("grants", place) not in play.docs


def test_who_may_delete_a_groups_conversation() -> None:
    """Who began it, and approvers: it takes everybody's runs away."""
    play = Play()
    place = play.run(play.said("go", ANN, "tg-7")).conversation
    refused(play.act(Delete(place, BEN)), "not_allowed")
    assert isinstance(play.act(Delete(place, CAT)), Deleted)


def test_a_journal_is_cut_to_its_end_when_nothing_works() -> None:
    """Its numbers go on; while a run works it stays whole."""
    play = Play()
    turn = play.at_work()
    place = play.run(turn.run).conversation
    refused(play.act(ShrinkDue(place)), "busy")
    play.finished(turn)
    last = play.lists[("journal", place)][-1][0]
    play.later(play.spans.journal_keep_ms)
    assert [number for number, _ in play.lists[("journal", place)]] == [last]
    play.said("more")
    assert [number for number, _ in play.lists[("journal", place)]] == [last, last + 1]


def test_the_loss_of_a_worker_reaches_a_run_that_moved() -> None:
    """It was claimed under another id; its old turn is proved all the same."""
    play = Play()
    turn = play.at_work()
    play.stopped(turn.run, "user_paused")
    play.later(play.spans.free_ms)
    play.said("newer")
    moved = play.resumed(turn.run).run
    play.sweep("w1")
    assert play.run(moved).unproved == ()
    refused(play.act(Resume(turn.run, ANN)), "conflict")


def test_a_claim_and_the_loss_of_its_worker_cannot_pass_each_other() -> None:
    """Either the claim is settled with the worker, or it never landed."""
    play = Play()
    run = play.said("go")
    play.beat("w1", span=50)
    play.beat("w2")
    look = play.look()
    play.sweep("w1")
    refused(play.act(Claim(run, "w1"), look), "fenced")
    assert isinstance(play.act(Claim(run, "w2")), Delivered)
    assert isinstance(play.act(Lost(run, "w1", gone=True)), Kept)
    assert play.run(run).state == "working"


@pytest.mark.parametrize("freed", [False, True], ids=["loss", "free"])
def test_a_run_that_stops_is_canceled_as_soon_as_its_lost_worker_is_known_to_be_gone(freed: bool) -> None:
    """Nobody could tell when the lease lapsed; who it was is remembered, and its proof is looked for again."""
    play = Play()
    turn = play.at_work()
    play.stopped(turn.run, "user_canceled")
    if freed:
        play.later(play.spans.free_ms)
    play.sweep("w1", gone=False)
    assert play.run(turn.run).shown == "canceling"
    assert list(play.index("claims", "w1")) == [turn.run]
    assert play.index("leases")["w1"] == play.now + play.spans.proof_ms
    checks.check(play)
    play.sweep("w1")
    assert (play.run(turn.run).state, play.run(turn.run).ended_by) == ("canceled", "process gone")
    assert "w1" not in play.index("leases")
    assert ("incarnation", ghost("w1")) not in play.docs
    checks.settled(play)


def test_a_run_that_moved_after_its_worker_was_lost_hears_that_the_worker_is_gone() -> None:
    """Its new id is held in the name of the old worker too."""
    play = Play()
    turn = play.at_work()
    play.stopped(turn.run, "user_paused")
    play.sweep("w1", gone=False)
    play.said("newer")
    moved = play.resumed(turn.run).run
    assert moved != turn.run
    assert list(play.index("claims", "w1")) == [moved]
    play.sweep("w1")
    assert play.run(moved).unproved == ()


def test_a_lost_worker_is_remembered_until_its_end_is_seen_whatever_became_of_its_runs() -> None:
    """One run went on elsewhere and is done, one was deleted; both may still have something at work."""
    play = Play()
    turn = play.at_work()
    other = play.at_work("go", BEN, "tg-7")
    play.sweep("w1", gone=False)
    play.finished(play.claimed(turn.run, "w2"))
    play.act(Delete(play.run(other.run).conversation, BEN))
    play.sweep("w1", gone=False)
    assert ("incarnation", ghost("w1")) in play.docs
    assert set(play.index("unproved")) == {member(turn.run, "w1"), member(other.run, "w1")}
    play.sweep("w1")
    assert "w1" not in play.index("leases")
    assert ("incarnation", ghost("w1")) not in play.docs
    assert not play.index("claims", "w1")
    assert not play.index("unproved")


def test_what_only_one_may_hold_is_nobody_elses_while_its_lease_lives() -> None:
    play = Play()

    def hold(who: str) -> object:
        return play.step(place.hold, Hold("bot:tg", Incarnation(id=who, kind="bot", until_ms=play.now + 1_000)))

    assert hold("b1") == Kept()
    refused(hold("b2"), "busy")
    play.later(600)
    assert hold("b1") == Kept()
    play.later(600)
    refused(hold("b2"), "busy")
    play.later(500)
    assert hold("b2") == Kept()
    refused(hold("b1"), "busy")


@pytest.mark.parametrize("away", [30_000, 3 * 3_600_000], ids=["half a minute", "three hours"])
def test_a_question_waits_for_as_long_as_its_page_is_away(away: int) -> None:
    """C85: the lease of its web lapses meanwhile, nothing is decided; the page that comes back can answer."""
    play = Play()
    play.beat("web1", "chat-")
    run, asked = play.waiting(TEXT)
    play.later(away)
    play.act(Leave("web1", lapsed=True))
    play.sweep("web1")
    assert (play.request(asked).state, play.run(run).state) == ("open", "waiting")
    play.beat("web2", "chat-")
    play.answered(asked, "Rex")
    assert play.claimed(run, "w2").run == run
