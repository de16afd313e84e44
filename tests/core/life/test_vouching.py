"""Accept as stopped, force delete from every state, and the list of what may still be at work. Pure."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from core.life.decision import Refusal
from core.life.event import Begin, Delete, Ended
from core.life.leak import Vouch, member
from core.life.result import Changed, Deleted
from core.life.vouched import vouch
from tests.core.life.play import ANN, BEN, CHOICE, OWNER, TEXT, Play


def unconfirmed(play: Play, cause: str = "user_canceled") -> str:
    """A run whose stop nobody saw: its conversation went on after the 15 seconds."""
    turn = play.at_work()
    play.stopped(turn.run, "user_canceled" if cause == "user_canceled" else "user_paused")
    play.later(play.spans.free_ms)
    return turn.run


def test_a_person_accepts_a_run_as_stopped_and_that_is_on_record() -> None:
    """Where no proof can come, somebody takes it upon themselves, by name."""
    play = Play()
    run = unconfirmed(play)
    assert play.run(run).shown == "canceling"
    assert set(play.index("unproved")) == {member(run, "w1")}
    assert play.step(vouch, Vouch(run, ANN)) == Changed(run=run, state="canceled")
    record = play.run(run)
    assert (record.state, record.unproved, record.effects) == ("canceled", (), "unknown")
    assert record.ended_by == "accepted as stopped by Ann"
    assert "Ann" in play.history(record.conversation)[-2].text
    for index in ("unproved", "stopping"):
        assert not play.index(index)
    assert not play.index("claims", "w1")
    assert not play.index("stop", "w1")


def test_a_pause_that_is_accepted_as_stopped_can_be_resumed() -> None:
    """The cause decides what is left, not how the end became known."""
    play = Play()
    run = unconfirmed(play, "user_paused")
    assert play.step(vouch, Vouch(run, OWNER)) == Changed(run=run, state="paused")
    assert play.resumed(run).state == "queued"


def test_what_an_accepted_turn_still_sends_is_refused() -> None:
    """It may live after all; it has no part in anything any more."""
    play = Play()
    turn = play.at_work()
    play.stopped(turn.run, "user_canceled")
    play.later(play.spans.free_ms)
    play.step(vouch, Vouch(turn.run, ANN))
    assert isinstance(play.act(Begin(turn.run, turn.fence, turn.halt, "step#0", 0)), Refusal)
    assert isinstance(play.finish(turn), Refusal)
    assert play.act(Ended(turn.run, turn.fence, "cooperative", worker="w1")) == Changed(run=turn.run, state="canceled")


def test_nobody_accepts_what_may_still_be_seen_to_end_nor_what_was() -> None:
    """Not before the 15 seconds are over, not a run at work, not one that is over, and no stranger ever."""
    play = Play()
    turn = play.at_work()

    def code(person: object = ANN) -> str:
        told = play.step(vouch, Vouch(turn.run, BEN if person is BEN else ANN))
        assert isinstance(told, Refusal)
        return told.code

    assert code() == "ended"
    play.stopped(turn.run, "user_canceled")
    assert (code(), code(BEN)) == ("busy", "unknown")
    play.act(Ended(turn.run, turn.fence, "cooperative", "none"))
    assert code() == "ended"


def test_only_an_owner_accepts_what_a_deleted_run_left_at_work() -> None:
    """The run is gone; what it left is listed until proof or an owner's word."""
    play = Play()
    turn = play.at_work()
    play.act(Delete(play.run(turn.run).conversation, ANN))
    assert set(play.index("unproved")) == {member(turn.run, "w1")}
    assert isinstance(play.step(vouch, Vouch(turn.run, ANN, ("w1",))), Refusal)
    assert not isinstance(play.step(vouch, Vouch(turn.run, OWNER, ("w1",))), Refusal)
    assert not play.index("unproved")
    assert not play.index("claims", "w1")


def test_a_deleted_run_whose_work_is_seen_to_end_is_listed_no_more() -> None:
    """The worker says so itself, although nothing is left of the run."""
    play = Play()
    turn = play.at_work()
    play.act(Delete(play.run(turn.run).conversation, ANN))
    play.act(Ended(turn.run, turn.fence, "cooperative", worker="w1"))
    assert not play.index("unproved")


def queued(play: Play) -> str:
    return play.said("go")


def working(play: Play) -> str:
    return play.at_work().run


def held(play: Play) -> str:
    turn = play.at_work()
    play.asked(turn, CHOICE)
    return turn.run


def parked(play: Play) -> str:
    return play.waiting(TEXT)[0]


def answered(play: Play) -> str:
    run, asked = play.waiting(TEXT)
    play.answered(asked, "Rex")
    return run


def paused(play: Play) -> str:
    run, _ = play.waiting(CHOICE)
    play.stopped(run, "user_paused")
    return run


def stopping(play: Play) -> str:
    turn = play.at_work()
    play.stopped(turn.run, "user_paused")
    return turn.run


def resumed_beside_the_old(play: Play) -> str:
    run = unconfirmed(play, "user_paused")
    play.resumed(run)
    return run


def lost(play: Play) -> str:
    run = play.at_work().run
    play.sweep("w1", gone=False)
    return run


def over(play: Play) -> str:
    turn = play.at_work()
    play.finished(turn)
    return turn.run


STATES = (queued, working, held, parked, answered, paused, stopping, unconfirmed, resumed_beside_the_old, lost, over)


@pytest.mark.parametrize("state", STATES, ids=[state.__name__ for state in STATES])
def test_a_conversation_is_deleted_by_one_commit_from_every_state(state: Callable[[Play], str]) -> None:
    """Nobody is asked, nothing is waited for; what may still be at work is told, listed, and nothing else is owed."""
    play = Play()
    run = state(play)
    conversation = play.run(run).conversation
    record = play.run(run)
    turns = [turn for turn in (*record.unproved, record.turn) if turn is not None]
    before = play.commits
    told = play.act(Delete(conversation, ANN))
    assert isinstance(told, Deleted)
    assert play.commits == before + 1
    assert list(told.unproved) == turns
    assert play.find(run) is None
    assert set(play.index("unproved")) == {member(record.id, turn.worker) for turn in turns}
    for index in ("ready", "stopping", "timers"):
        assert not play.index(index), index
    assert not play.index("pending", ANN.id)
    assert not play.journal(conversation)
    again = play.act(Delete(conversation, ANN))
    assert isinstance(again, Refusal)
    assert again.code == "gone"
