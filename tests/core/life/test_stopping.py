"""Cancel, pause and abort in every state, with and without proof that the work ended."""

from __future__ import annotations

import pytest

from core.life.decision import Refusal
from core.life.event import (
    Abort,
    Append,
    Begin,
    Broke,
    Claim,
    Delete,
    Ended,
    Extend,
    Finish,
    Free,
    Lost,
    Resume,
    Revert,
)
from core.life.result import Changed, Delivered, Resumed, Stopped
from core.life.run import PRESSES
from core.model import Cause, Step
from core.question import Accepted, Declined
from tests.core.life.play import ANN, CHOICE, SURE, TEXT, Play


def refused(told: object, code: str) -> Refusal:
    """The event was refused, with this code."""
    assert isinstance(told, Refusal), told
    assert told.code == code, told
    return told


def test_a_queued_run_is_canceled_at_once_and_never_starts() -> None:
    """Nothing works yet, so there is nothing to wait for; a worker that comes late finds nothing to do."""
    play = Play()
    run = play.said("go")
    assert play.stopped(run, "user_canceled").state == "canceled"
    play.beat("w1")
    refused(play.act(Claim(run, "w1")), "conflict")
    assert play.run(run).state == "canceled"
    assert not play.index("ready")


def test_an_answered_run_in_the_queue_is_canceled_at_once_and_its_answer_does_not_come_back() -> None:
    """C75: cancel just after the answer; the record shows both, in order."""
    play = Play()
    run, asked = play.waiting(TEXT)
    play.answered(asked, "Rex")
    assert play.stopped(run, "user_canceled").state == "canceled"
    assert play.request(asked).answer is not None
    assert [entry.role for entry in play.history(play.run(run).conversation)] == ["person", "request", "note"]


def test_a_waiting_run_is_canceled_at_once_with_its_questions() -> None:
    """C64: no worker holds it; its card says canceled, and only a stub without text is left of the question."""
    play = Play()
    run, asked = play.waiting(CHOICE)
    assert play.stopped(run, "user_canceled").state == "canceled"
    request = play.request(asked)
    assert request.answer is not None
    assert request.answer.outcome == "cancelled"
    assert request.question.title == ""
    refused(play.reply(asked, Accepted(values={"choice": "a"})), "ended")


def test_an_approval_minutes_after_the_cancel_hears_that_it_was_canceled() -> None:
    """C65: nothing of the request is forgotten before its stub is, a day later."""
    play = Play()
    run, asked = play.waiting(SURE)
    play.stopped(run, "user_canceled")
    play.later(300_000)
    told = refused(play.reply(asked, Accepted(values={"confirm": "once"})), "ended")
    assert (told.standing["outcome"], told.standing["state"]) == ("cancelled", "canceled")
    assert play.run(run).state == "canceled"
    assert not play.index("ready")


def test_a_paused_run_is_canceled_at_once() -> None:
    """Pause kept its record, Cancel discards it."""
    play = Play()
    run, _ = play.waiting(CHOICE)
    play.stopped(run, "user_paused")
    assert play.stopped(run, "user_canceled").state == "canceled"
    refused(play.act(Resume(run, ANN)), "ended")


def test_a_working_run_stops_and_is_canceled_when_its_end_is_seen() -> None:
    """`canceled` is written only with proof; until then it is shown as canceling, and its worker is told."""
    play = Play()
    turn = play.at_work()
    assert play.stopped(turn.run, "user_canceled").state == "canceling"
    assert turn.run in play.index("stop", "w1")
    play.act(Ended(turn.run, turn.fence, "cooperative", "done"))
    run = play.run(turn.run)
    assert (run.state, run.ended_by, run.effects) == ("canceled", "cooperative", "done")
    assert not play.index("stop", "w1")


def test_a_held_run_stops_like_a_working_one() -> None:
    """Its code is alive, although it only waits."""
    play = Play()
    turn = play.at_work()
    play.asked(turn, CHOICE)
    assert play.stopped(turn.run, "user_canceled").state == "canceling"
    assert play.conversation(play.run(turn.run).conversation).live is None


def test_a_second_cancel_joins_the_first() -> None:
    """Two people press Cancel: both hear that it is stopping, nothing happens twice."""
    play = Play()
    turn = play.at_work()
    play.stopped(turn.run, "user_canceled")
    halt = play.run(turn.run).halt
    assert play.stopped(turn.run, "user_canceled").joined
    assert play.run(turn.run).halt == halt
    assert not play.run(turn.run).urgent


def test_stop_now_skips_to_the_next_step() -> None:
    """The button of a run that stops already says *Stop now*."""
    play = Play()
    turn = play.at_work()
    play.stopped(turn.run, "user_canceled")
    play.stopped(turn.run, "user_canceled", urgent=True)
    assert play.run(turn.run).urgent == 1
    play.say(f"/cancel {turn.run}")
    assert play.run(turn.run).urgent == 2


def test_presses_beyond_the_last_step_change_nothing() -> None:
    """The ladder has no more steps; whoever goes on pressing is told the same, and writes nothing."""
    play = Play()
    turn = play.at_work()
    play.stopped(turn.run, "user_canceled")
    for _ in range(PRESSES):
        play.stopped(turn.run, "user_canceled", urgent=True)
    before = play.docs["run", turn.run]
    assert play.stopped(turn.run, "user_canceled", urgent=True).joined
    assert play.docs["run", turn.run] == before
    assert play.run(turn.run).urgent == PRESSES


@pytest.mark.parametrize(
    ("outcome", "words"), [("completed", "already finished"), ("failed", "already failed")], ids=["done", "failed"]
)
def test_cancel_of_a_finished_run_says_so(outcome: str, words: str) -> None:
    """Terminal states absorb."""
    play = Play()
    turn = play.at_work()
    play.finished(turn, outcome=outcome)
    assert refused(play.stop(turn.run, "user_canceled"), "ended").text == words
    assert play.run(turn.run).state == outcome


def test_cancel_replaces_pause_and_pause_does_not_replace_cancel() -> None:
    """A stronger cause replaces a weaker one while stopping."""
    play = Play()
    turn = play.at_work()
    play.stopped(turn.run, "user_paused")
    assert play.stopped(turn.run, "user_canceled").state == "canceling"
    assert play.stopped(turn.run, "user_paused").state == "canceling"
    play.act(Ended(turn.run, turn.fence, "cooperative"))
    assert play.run(turn.run).state == "canceled"


def test_the_conversation_goes_on_after_fifteen_seconds_whatever_the_worker_does() -> None:
    """C73: the old turn is fenced, the next run can start, and the old one is still listed as stopping."""
    play = Play()
    turn = play.at_work()
    play.stopped(turn.run, "user_canceled")
    second = play.said("something else")
    play.beat("w2")
    refused(play.act(Claim(second, "w2")), "busy")
    play.later(play.spans.free_ms)
    assert isinstance(play.act(Claim(second, "w2")), Delivered)
    assert play.run(turn.run).shown == "canceling"
    assert turn.run in play.index("stopping")


def test_it_is_not_freed_a_moment_too_early() -> None:
    """The interval of the decision, not the sweeper's patience, says when."""
    play = Play()
    turn = play.at_work()
    play.stopped(turn.run, "user_paused")
    play.now += play.spans.free_ms - 1
    assert isinstance(play.act(Free(turn.run)), Refusal)
    play.now += 1
    assert isinstance(play.act(Free(turn.run)), Changed)


def test_what_a_fenced_turn_still_sends_is_dropped() -> None:
    """C73: when the old tool ends at last, its result changes nothing."""
    play = Play()
    turn = play.at_work()
    play.stopped(turn.run, "user_canceled")
    play.later(play.spans.free_ms)
    step = Step(kind="done", key="step#0", at=play.now)
    run = play.run(turn.run)
    late = Append(run.id, run.root, run.conversation, turn.fence, steps=(step,))
    refused(play.act(late), "fenced")
    refused(play.act(Finish(run.id, turn.fence, "completed", "late")), "fenced")
    assert play.run(turn.run).state == "stopping"


def test_nothing_begins_after_an_accepted_cancel() -> None:
    """C65: the last check before a step acts sees the cancel, although the fence is the same."""
    play = Play()
    turn = play.at_work()
    look = play.look()
    play.stopped(turn.run, "user_canceled")
    event = Begin(turn.run, turn.fence, turn.halt, "step#0", play.length(turn.run))
    refused(play.act(event, look), "halted")


def test_a_paused_run_can_go_on_while_its_old_turn_is_unproved() -> None:
    """After the 15 s fence a Resume may start a new turn; the old one stays in the list until its end is seen."""
    play = Play()
    turn = play.at_work()
    play.stopped(turn.run, "user_paused")
    refused(play.act(Resume(turn.run, ANN)), "conflict")
    play.later(play.spans.free_ms)
    assert play.resumed(turn.run).state == "queued"
    again = play.claimed(turn.run, "w2")
    assert [old.fence for old in play.run(turn.run).unproved] == [turn.fence]
    play.act(Ended(turn.run, turn.fence, "killed"))
    assert play.run(turn.run).unproved == ()
    assert play.run(turn.run).turn is not None
    play.finished(again)


def test_a_cancel_with_an_unproved_turn_waits_for_the_proof() -> None:
    """Cancel of a run with a non-empty list goes through stopping, although nothing of it is at work."""
    play = Play()
    turn = play.at_work()
    play.stopped(turn.run, "user_paused")
    play.later(play.spans.free_ms)
    play.resumed(turn.run)
    assert play.stopped(turn.run, "user_canceled").state == "canceling"
    play.act(Ended(turn.run, turn.fence, "asserted by Ann"))
    assert play.run(turn.run).state == "canceled"


def two_turns(worker: str) -> tuple[Play, Delivered, Delivered]:
    """A run whose first turn was not proved to have ended when it was resumed, and a second one, by this worker."""
    play = Play()
    first = play.at_work()
    play.stopped(first.run, "user_paused")
    play.later(play.spans.free_ms)
    play.resumed(first.run)
    return play, first, play.claimed(first.run, worker)


def test_a_stop_whose_newest_turn_ends_first_frees_the_conversation() -> None:
    """It waits only for the proof of the older turn, and that must not hold up the next run."""
    play, first, second = two_turns("w2")
    play.stopped(first.run, "user_canceled")
    play.act(Ended(first.run, second.fence, "cooperative"))
    conversation = play.conversation(play.run(first.run).conversation)
    assert conversation.live is None
    assert conversation.stopping == (first.run,)
    play.act(Ended(first.run, first.fence, "killed"))
    assert play.run(first.run).state == "canceled"


def test_a_worker_that_holds_two_turns_of_a_run_is_still_known_to_hold_it_when_one_ends() -> None:
    """Otherwise nobody would settle the run when the worker is lost."""
    play, first, _ = two_turns("w1")
    play.act(Ended(first.run, first.fence, "killed"))
    assert first.run in play.index("claims", "w1")


def test_a_worker_that_holds_two_turns_of_a_run_is_still_to_stop_the_newer_one_when_the_older_ends() -> None:
    """The intent is owed until the last of them ended: a hint that was lost must not leave the newer one at work."""
    play, first, second = two_turns("w1")
    play.stopped(first.run, "user_canceled")
    play.act(Ended(first.run, first.fence, "killed"))
    assert first.run in play.index("stop", "w1")
    assert first.run in play.index("claims", "w1")
    play.act(Ended(first.run, second.fence, "cooperative"))
    assert play.run(first.run).state == "canceled"
    assert not play.index("stop", "w1")
    assert not play.index("claims", "w1")


def test_proof_under_an_old_id_reaches_the_moved_run() -> None:
    """The worker knows the id that it claimed; the run has another one since."""
    play = Play()
    turn = play.at_work()
    play.stopped(turn.run, "user_paused")
    play.later(play.spans.free_ms)
    play.said("something newer")
    moved = play.resumed(turn.run).run
    assert moved != turn.run
    play.act(Ended(turn.run, turn.fence, "killed"))
    assert play.run(moved).unproved == ()
    assert not play.index("claims", "w1")
    assert not play.index("stop", "w1")


@pytest.mark.parametrize(("cause", "state"), [("user_paused", "paused"), ("user_canceled", "canceled")])
def test_a_turn_that_breaks_while_it_stops_has_ended(cause: Cause, state: str) -> None:
    """The cause decides what is left, not how the turn came to its end."""
    play = Play()
    turn = play.at_work()
    play.stopped(turn.run, cause)
    play.act(Broke(turn.run, turn.fence, "boom"))
    assert play.run(turn.run).state == state
    assert play.run(turn.run).error == "boom"


def test_what_the_agent_returned_while_it_was_pausing_counts() -> None:
    """`completed` is what the agent returned; a pause that came too late changes nothing."""
    play = Play()
    turn = play.at_work()
    play.stopped(turn.run, "user_paused")
    play.finished(turn)
    assert play.run(turn.run).state == "completed"
    assert not play.index("stopping")


def test_an_agent_that_returns_while_it_is_canceling_is_canceled() -> None:
    """Never "canceled" and a result together."""
    play = Play()
    turn = play.at_work()
    play.stopped(turn.run, "user_canceled")
    assert play.finished(turn).state == "canceled"


def test_the_history_says_canceled_with_the_last_error() -> None:
    """The person sees why they canceled."""
    play = Play()
    turn = play.at_work()
    play.act(Broke(turn.run, turn.fence, "model unreachable"))
    play.stopped(turn.run, "user_canceled")
    assert "model unreachable" in play.history(play.run(turn.run).conversation)[-1].text


def test_a_repeated_keyed_stop_is_told_the_same_and_stops_nothing_new() -> None:
    """A client sends Pause again after its connection broke; meanwhile the run was resumed."""
    play = Play()
    turn = play.at_work()
    play.stopped(turn.run, "user_canceled", key="a")
    first = play.stopped(turn.run, "user_paused", key="b")
    play.act(Ended(turn.run, turn.fence, "cooperative"))
    assert play.stop(turn.run, "user_paused", key="b") == first
    run, _ = play.waiting(CHOICE)
    told = play.stopped(run, "user_paused", key="c")
    play.resumed(run)
    assert play.stop(run, "user_paused", key="c") == told
    assert play.run(run).state == "waiting"


def test_abort_on_a_settled_question_stops_nothing() -> None:
    """The card may be old: what its run does now has nothing to do with it."""
    play = Play()
    turn = play.at_work()
    asked = play.asked(turn, TEXT)
    play.answered(asked, "Rex")
    play.take(turn)
    refused(play.act(Abort(asked, ANN)), "ended")
    assert play.run(turn.run).shown == "working"


def test_a_paused_question_has_no_deadline_and_gets_its_full_time_again() -> None:
    play = Play()
    run, asked = play.waiting(TEXT.changed(timeout_ms=60))
    play.later(40)
    play.stopped(run, "user_paused")
    assert play.request(asked).deadline_ms is None
    play.later(40)
    play.resumed(run)
    assert play.request(asked).deadline_ms == play.now + 60


def test_a_cancel_while_it_pauses_closes_its_questions_at_once() -> None:
    """Nobody may answer what will never go on, however long the proof of the end takes."""
    play = Play()
    turn = play.at_work()
    asked = play.asked(turn, TEXT)
    play.stopped(turn.run, "user_paused")
    assert play.request(asked).state == "withdrawn"
    play.stopped(turn.run, "user_canceled")
    assert play.run(turn.run).shown == "canceling"
    assert play.request(asked).state == "settled"


def test_a_key_that_named_something_else_is_refused_and_nothing_is_done() -> None:
    """It must never look as if a cancel had been taken, or a delete."""
    play = Play()
    one, two = play.at_work().run, play.at_work(origin="chat-2").run
    first = play.stopped(one, "user_paused", key="a")
    refused(play.stop(one, "user_canceled", key="a"), "conflict")
    refused(play.stop(two, "user_paused", key="a"), "conflict")
    refused(play.stop(one, "user_paused", key="a", urgent=True), "conflict")
    assert play.stop(one, "user_paused", key="a") == first
    assert (play.run(one).shown, play.run(two).shown) == ("pausing", "working")


def test_a_key_of_another_resume_revert_extend_abort_or_delete_is_refused() -> None:
    play = Play()
    asks = TEXT.changed(timeout_ms=60_000)
    (run, first), (other, second) = play.waiting(asks), play.waiting(asks, origin="chat-2")
    play.act(Extend(first, ANN, 90_000, "e"))
    play.act(Abort(second, ANN, "a"))
    play.resumed(other, key="r")
    play.act(Delete(play.run(other).conversation, ANN, "d"))
    refused(play.act(Extend(first, ANN, 90_001, "e")), "conflict")
    refused(play.act(Abort(first, ANN, "a")), "conflict")
    play.stopped(run, "user_paused")
    refused(play.act(Resume(run, ANN, "r")), "conflict")
    refused(play.act(Revert(run, ANN, 1, 1, "r")), "conflict")
    home = play.run(run).conversation
    refused(play.act(Delete(home, ANN, "d")), "conflict")
    assert play.run(run).shown == "paused"
    assert not play.conversation(home).deleted


def test_a_key_of_another_answer_is_refused_and_the_question_stays_open() -> None:
    """Declined with a key, then accepted with it: a program that is told 200 would think that it was accepted."""
    play = Play()
    (_, one), (_, two) = play.waiting(TEXT), play.waiting(TEXT, origin="chat-2")
    said = play.answered(one, "Rex", key="k")
    assert play.reply(one, "Rex", key="k") == said
    refused(play.reply(one, Declined(), key="k"), "conflict")
    refused(play.reply(two, "Rex", key="k"), "conflict")
    assert play.request(two).state == "open"


def test_a_lost_worker_that_is_gone_proves_the_end_of_what_it_was_stopping() -> None:
    """The process identity is gone: that is proof."""
    play = Play()
    turn = play.at_work()
    play.stopped(turn.run, "user_canceled")
    play.sweep("w1", gone=True)
    assert play.run(turn.run).state == "canceled"


def test_a_lost_worker_that_may_live_proves_nothing() -> None:
    """Without proof the run stays stopping and is listed; the conversation goes on at once."""
    play = Play()
    turn = play.at_work()
    play.stopped(turn.run, "user_canceled")
    play.sweep("w1", gone=False)
    assert play.run(turn.run).shown == "canceling"
    assert play.conversation(play.run(turn.run).conversation).live is None
    play.act(Lost(turn.run, "w1", gone=True))
    assert play.run(turn.run).state == "canceled"


def test_the_loss_of_one_worker_does_not_fence_the_turn_of_another() -> None:
    """An older turn's worker is lost while the newer one climbs its ladder: its 15 s are its own."""
    play, first, second = two_turns("w2")
    play.stopped(first.run, "user_canceled")
    play.sweep("w1", gone=False)
    run = play.run(first.run)
    assert run.turn is not None
    assert run.fence == second.fence


def test_effects_seen_before_are_not_forgotten_by_a_later_cancel() -> None:
    """Three facts are told apart; what was done stays done."""
    play = Play()
    turn = play.at_work()
    play.stopped(turn.run, "user_paused")
    play.act(Ended(turn.run, turn.fence, "cooperative", "done"))
    told = play.stopped(turn.run, "user_canceled")
    assert isinstance(told, Stopped)
    assert play.run(turn.run).effects == "done"


def test_a_turn_that_has_ended_can_send_nothing_more() -> None:
    """Terminal states absorb: the fence rises with the end."""
    play = Play()
    turn = play.at_work()
    play.finished(turn)
    run = play.run(turn.run)
    late = Append(run.id, run.root, run.conversation, turn.fence, steps=(Step(kind="done", key="x", at=play.now),))
    refused(play.act(late), "fenced")


def test_two_resumes_start_one_turn() -> None:
    """C80: the other one hears that it goes on already."""
    play = Play()
    turn = play.at_work()
    play.act(Broke(turn.run, turn.fence, "boom"))
    look = play.look()
    assert isinstance(play.act(Resume(turn.run, ANN)), Resumed)
    refused(play.act(Resume(turn.run, ANN), look), "conflict")
    assert list(play.index("ready")) == [turn.run]
