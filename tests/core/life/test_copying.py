"""Requests of several places and of named people: whose lists they are in, where they are shown."""

from __future__ import annotations

import pytest

from core.life.copying import Copy, copy
from core.life.event import Delete, Stop
from core.life.place import Bind, bind
from core.life.result import Asked, Copied, Delivered
from core.question import Declined
from tests.core.life.play import ANN, BEN, CAT, DAN, SURE, Play
from tests.core.life.test_stopping import refused


def test_a_question_that_names_people_is_in_their_lists_while_it_is_open() -> None:
    """Paused, it is not; when it is closed for good its stub still tells them what came of it."""
    play = Play()
    run, asked = play.waiting(SURE.model_copy(update={"responders": (DAN.id,), "timeout_ms": 60}))
    assert set(play.index("asked", DAN.id)) == {asked}
    play.act(Stop(run, "user_paused", ANN))
    assert not play.index("asked", DAN.id)
    play.resumed(run)
    assert set(play.index("asked", DAN.id)) == {asked}
    play.act(Stop(run, "user_canceled", ANN))
    assert not play.index("asked", DAN.id)
    refused(play.reply(asked, Declined(), DAN), "ended")


def test_a_question_is_shown_at_further_places_by_who_may_answer_it_or_stop_its_run() -> None:
    """A place that shows it already owes no second card; a paused, expired or closed one is shown nowhere else."""
    play = Play()
    run, asked = play.waiting(SURE.model_copy(update={"responders": (DAN.id,), "timeout_ms": 60}))
    for person, place in ((DAN, "tg-1"), (ANN, "tg-2"), (ANN, "tg-1")):
        assert isinstance(play.step(copy, Copy(asked, person, (place,))), Copied)
    assert set(play.index("unshown", "tg")) == {f"{asked} tg-1", f"{asked} tg-2"}
    refused(play.step(copy, Copy(asked, CAT, ("tg-3",))), "unknown")
    refused(play.step(copy, Copy(asked, ANN, ("chat-3",))), "invalid")
    play.act(Stop(run, "user_paused", ANN))
    refused(play.step(copy, Copy(asked, ANN, ("tg-3",))), "paused")
    play.resumed(run)
    play.now += 60
    refused(play.step(copy, Copy(asked, ANN, ("tg-3",))), "expired")
    play.later(60)
    refused(play.step(copy, Copy(asked, ANN, ("tg-3",))), "ended")


def test_a_conversation_of_a_group_is_in_the_lists_of_the_people_of_its_place() -> None:
    """Of those who are on it now: who leaves loses it with what waits there, who comes finds it."""
    play = Play()
    run, _ = play.waiting(SURE, BEN, "tg-7")
    of = play.run(run).conversation
    for person in (ANN, BEN, CAT):
        assert of in play.index("mine", person.id)
        assert of in play.index("pending", person.id)
    assert of not in play.index("mine", DAN.id)
    play.step(bind, Bind("tg-7", (BEN.id, DAN.id)))
    assert {f"journal {of}", *(f"asked {one.id}" for one in (ANN, BEN, CAT, DAN))} <= set(play.hints)
    for name in ("mine", "pending"):
        assert [of in play.index(name, one.id) for one in (ANN, BEN, CAT, DAN)] == [False, True, False, True]
    play.act(Stop(run, "user_canceled", BEN))
    assert not play.index("pending", DAN.id)
    play.act(Delete(of, BEN))
    assert not play.index("mine", DAN.id)


def test_questions_of_a_run_are_shown_where_its_start_wants_them() -> None:
    """There and not at its origin; also those of the run that follows it, and of the one that it moved to."""
    play = Play()
    turn = play.claimed(play.said("go", origin="tg-7", deliver_to="dc-1"))
    asked = play.asked(turn, SURE)
    assert (play.request(asked).origin, set(play.index("unshown", "dc"))) == ("dc-1", {f"{asked} dc-1"})
    assert not play.index("unshown", "tg")
    assert play.conversation(play.run(turn.run).conversation).open == (asked,)
    play.answered(asked, "once")
    told = play.take(turn)
    assert isinstance(told, Delivered)
    play.said("and this", origin="tg-7")
    following = play.finished(turn, untaken=("and this",), took=1).next_run
    assert following is not None
    assert play.request(play.asked(play.claimed(following), SURE)).origin == "dc-1"


@pytest.mark.parametrize("place", ["chat-1", "cli-1", "nowhere", ""])
def test_questions_are_delivered_to_chats_only(place: str) -> None:
    """The dashboard shows them anyway, and a terminal answers only its own."""
    refused(Play().say("go", deliver_to=place), "invalid")


def test_a_question_that_is_to_be_delivered_where_nobody_serves_is_not_shown() -> None:
    """Whether somebody can be asked is decided by the place where it is shown, not by the one where it came from."""
    play = Play()
    play.beat("f1", "tg")
    only_there = SURE.model_copy(update={"on_no_listener": "undeliverable"})
    for place, shown in (("dc-1", False), ("tg-9", True)):
        turn = play.claimed(play.said("go", origin=f"chat-{place}", deliver_to=place))
        told = play.ask(turn, only_there)
        assert isinstance(told, Asked)
        assert told.undeliverable is not shown
