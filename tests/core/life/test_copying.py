"""Requests of several places and of named people: whose lists they are in, where they are shown."""

from __future__ import annotations

from core.life.copying import Copy, copy
from core.life.event import Delete, Stop
from core.life.place import Bind, bind
from core.life.result import Copied
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
    assert f"journal {of}" in play.hints
    for name in ("mine", "pending"):
        assert [of in play.index(name, one.id) for one in (ANN, BEN, CAT, DAN)] == [False, True, False, True]
    play.act(Stop(run, "user_canceled", BEN))
    assert not play.index("pending", DAN.id)
    play.act(Delete(of, BEN))
    assert not play.index("mine", DAN.id)
