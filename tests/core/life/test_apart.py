"""Turns in processes of their own are on record before they begin; turns that do not yield are fenced."""

from __future__ import annotations

import pytest

from core.life.apart import Commanded, Placed, Unyielding, commanded, placed, unyielding
from core.life.event import Broke, Delete, Ended, Lost
from core.life.result import Changed, Kept
from core.model import Cause
from tests.core.life.play import ANN, Play
from tests.core.life.test_stopping import refused


def test_where_a_turn_runs_is_on_record_before_it_begins() -> None:
    play = Play()
    turn = play.at_work()
    assert isinstance(play.step(placed, Placed(turn.run, turn.fence, "code")), Kept)
    at = play.run(turn.run).turn
    assert at is not None
    assert at.code == "code"


def test_which_processes_its_commands_are_is_on_record_until_they_have_ended() -> None:
    """Said again after a broken connection, a command stands there once; none begins after a stop."""
    play = Play()
    turn = play.at_work()
    for code, over in (("first", ()), ("second", ()), ("second", ()), ("third", ("first",))):
        assert isinstance(play.step(commanded, Commanded(turn.run, turn.fence, code, over)), Kept)
    at = play.run(turn.run).turn
    assert at is not None
    assert at.commands == ("second", "third")
    play.stopped(turn.run, "user_canceled")
    refused(play.step(commanded, Commanded(turn.run, turn.fence, "fourth")), "halted")


def test_a_turn_that_need_not_begin_any_more_is_told_so() -> None:
    """It was stopped, fenced or deleted between the claim and its process."""
    play = Play()
    stopping, gone = play.at_work(), play.at_work(origin="chat-2")
    refused(play.step(placed, Placed(stopping.run, stopping.fence + 1, "code")), "fenced")
    play.stopped(stopping.run, "user_canceled")
    refused(play.step(placed, Placed(stopping.run, stopping.fence, "code")), "halted")
    play.act(Delete(play.run(gone.run).conversation, ANN))
    refused(play.step(placed, Placed(gone.run, gone.fence, "code")), "gone")


def test_a_turn_that_does_not_yield_is_fenced_and_its_conversation_goes_on() -> None:
    """What it still records is refused; its run is canceled when its end is seen, and not before."""
    play = Play()
    turn = play.at_work()
    refused(play.step(unyielding, Unyielding(turn.run, turn.fence)), "ended")
    play.stopped(turn.run, "user_canceled")
    assert isinstance(play.step(unyielding, Unyielding(turn.run, turn.fence)), Changed)
    refused(play.step(unyielding, Unyielding(turn.run, turn.fence)), "ended")
    run = play.run(turn.run)
    assert (run.shown, run.turn, [one.fence for one in run.unproved]) == ("canceling", None, [turn.fence])
    refused(play.finish(turn), "fenced")
    assert play.claimed(play.said("next")).run != turn.run
    play.act(Ended(turn.run, turn.fence, "process gone", "none"))
    assert play.run(turn.run).state == "canceled"


@pytest.mark.parametrize(("cause", "state"), [("user_canceled", "canceled"), ("user_paused", "paused")])
def test_a_turn_apart_that_broke_while_it_was_stopping_has_not_ended_by_its_own_word(cause: Cause, state: str) -> None:
    """What it started may live on; only who saw that nothing lives any more says that it ended."""
    play = Play()
    turn = play.at_work()
    play.step(placed, Placed(turn.run, turn.fence, "code"))
    play.stopped(turn.run, cause)
    refused(play.act(Broke(turn.run, turn.fence, "boom")), "halted")
    assert (play.run(turn.run).state, play.run(turn.run).turn is None) == ("stopping", False)
    play.act(Ended(turn.run, turn.fence, "killed", "none"))
    assert (play.run(turn.run).state, play.run(turn.run).ended_by) == (state, "killed")


def test_a_turn_apart_that_returned_while_it_was_canceling_has_not_ended_by_its_own_word() -> None:
    """Never `canceled` while something that it started may live."""
    play = Play()
    turn = play.at_work()
    play.step(placed, Placed(turn.run, turn.fence, "code"))
    play.stopped(turn.run, "user_canceled")
    refused(play.finish(turn), "halted")
    assert (play.run(turn.run).state, play.run(turn.run).turn is None) == ("stopping", False)
    assert turn.run in play.index("stopping")
    play.act(Ended(turn.run, turn.fence, "cooperative", "done"))
    assert (play.run(turn.run).state, play.run(turn.run).ended_by) == ("canceled", "cooperative")


def test_what_a_turn_did_is_known_although_its_worker_is_gone() -> None:
    """Whoever saw the worker gone looked at the steps; the three facts of the stop are told apart."""
    play = Play()
    turn = play.at_work()
    play.stopped(turn.run, "user_canceled")
    play.act(Lost(turn.run, "w1", gone=True, effects="unknown"))
    run = play.run(turn.run)
    assert (run.state, run.ended_by, run.effects) == ("canceled", "process gone", "unknown")
