"""Frozen, nothing begins; what people decide still counts. Pure."""

from __future__ import annotations

from core.life.decision import Refusal
from core.life.emergency import Freeze, Thaw
from core.life.event import Begin, Claim, Delete, Park, Resume
from core.life.result import Changed, Delivered, Kept
from tests.core.life.play import ANN, BEN, CHOICE, OWNER, TEXT, Play


def code(told: object) -> str:
    """Why something was refused."""
    assert isinstance(told, Refusal), told
    return told.code


def test_only_an_owner_freezes_and_thaws() -> None:
    """BEN may talk to the agent; he keeps nobody else from it."""
    play = Play()
    assert code(play.act(Freeze(BEN))) == "not_allowed"
    assert play.act(Freeze(OWNER)) == Kept()
    assert code(play.act(Thaw(BEN))) == "not_allowed"
    assert play.act(Freeze(OWNER)) == Kept(note="already")
    assert play.act(Thaw(OWNER)) == Kept()


def test_nothing_is_claimed_while_frozen_and_all_of_it_after() -> None:
    """What was said is kept in the queue."""
    play = Play()
    run = play.said("go")
    play.beat("w1")
    play.act(Freeze(OWNER, "fire"))
    told = play.act(Claim(run, "w1"))
    assert isinstance(told, Refusal)
    assert (told.code, "fire" in told.text) == ("frozen", True)
    play.act(Thaw(OWNER))
    assert isinstance(play.act(Claim(run, "w1")), Delivered)


def test_a_step_does_not_begin_while_frozen_also_by_a_worker_that_has_not_heard_of_it() -> None:
    """The freeze is a guard of the commit: documents of before do not help."""
    play = Play()
    turn = play.at_work()
    look, length = play.look(), play.length(play.run(turn.run).root)
    play.act(Freeze(OWNER))
    late = Begin(turn.run, turn.fence, turn.halt, "step#0", length)
    assert code(play.begin(turn)) == "frozen"
    assert code(play.act(late, look)) == "frozen"
    play.act(Thaw(OWNER))
    assert isinstance(play.begin(turn), Kept)


def test_an_answer_counts_while_frozen_and_its_run_goes_on_after() -> None:
    """Held or parked: recorded now, taken after the thaw; a held turn may let go meanwhile."""
    play = Play()
    turn = play.at_work()
    asked = play.asked(turn, TEXT)
    play.act(Freeze(OWNER))
    play.answered(asked, "Rex")
    assert code(play.take(turn)) == "frozen"
    assert play.act(Park(turn.run, turn.fence)) == Changed(run=turn.run, state="queued")
    assert code(play.act(Claim(turn.run, "w1"))) == "frozen"
    play.act(Thaw(OWNER))
    taken = play.act(Claim(turn.run, "w1"))
    assert isinstance(taken, Delivered)
    assert taken.answered == (asked,)


def test_cancel_pause_resume_and_delete_work_while_frozen() -> None:
    """A freeze closes new work, never an end."""
    play = Play()
    run, _ = play.waiting(CHOICE)
    play.act(Freeze(OWNER))
    assert play.stopped(run, "user_paused").state == "paused"
    assert not isinstance(play.act(Resume(run, ANN)), Refusal)
    assert play.stopped(run, "user_canceled").state == "canceled"
    assert not isinstance(play.act(Delete(play.run(run).conversation, ANN)), Refusal)
