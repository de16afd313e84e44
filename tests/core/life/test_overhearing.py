"""What people say among themselves: a few lines, for a while, handed over once with the next word to us. Pure."""

from __future__ import annotations

from core.life.event import Delete
from core.life.overhearing import Overhear, overhear
from core.model import Entry
from core.overheard import FRESH_MS, LONGEST, MOST, Line, heard_in
from tests.core.life.play import ANN, Play

PLACE = "tg-7"


def hears(play: Play, text: str, by: str = "Ben", key: str | None = None) -> None:
    """Somebody says something that is not for the agent."""
    play.step(overhear, Overhear(PLACE, by, text, key or text))


def said(play: Play, text: str) -> list[Entry]:
    """Ann speaks to the agent in the group; returns the history."""
    return play.history(play.run(play.said(text, ANN, PLACE)).conversation)


def test_lines_are_handed_over_once_with_their_names_oldest_first() -> None:
    play = Play()
    hears(play, "the build is red")
    hears(play, "again?", by="Cat")
    history = said(play, "look into it")
    assert [(one.by, one.text) for one in heard_in(history)] == [("Ben", "the build is red"), ("Cat", "again?")]
    assert [entry.text for entry in history] == ["look into it"]
    assert len(heard_in(said(play, "quickly"))) == 2


def test_what_is_said_while_the_agent_works_comes_with_the_next_word_to_it() -> None:
    play = Play()
    said(play, "look into it")
    hears(play, "it is the network")
    assert [one.text for one in heard_in(said(play, "and hurry"))] == ["it is the network"]


def test_a_line_that_comes_again_is_kept_once() -> None:
    play = Play()
    for _ in range(3):
        hears(play, "hello", key="4242.1001")
    assert len(heard_in(said(play, "go"))) == 1


def test_only_the_newest_lines_of_the_last_hour_are_kept_and_none_is_long() -> None:
    play = Play()
    hears(play, "of before")
    play.later(FRESH_MS)
    for number in range(MOST + 5):
        hears(play, f"{number} " + "x" * 2 * LONGEST)
    lines = heard_in(said(play, "go"))
    assert [one.text.split()[0] for one in lines] == [str(number) for number in range(5, MOST + 5)]
    assert all(len(one.text) == LONGEST for one in lines)


def test_what_was_said_where_a_place_grew_from_comes_first_and_stays_there() -> None:
    """Also in the next place that grows; what is too old comes along nowhere."""
    play = Play()
    around = tuple(Line(by="Cat", text=text, at=at) for text, at in (("old", play.now - FRESH_MS), ("new", play.now)))
    for place in ("tg-7.1", "tg-7.2"):
        play.later(1)
        play.step(overhear, Overhear(place, "Ben", "here", "k"))
        run = play.run(play.said("go", ANN, place, heard=around))
        assert [one.text for one in heard_in(play.history(run.conversation))] == ["new", "here"]


def test_lines_start_nothing_and_go_with_the_conversation() -> None:
    play = Play()
    conversation = play.run(play.said("go", ANN, PLACE)).conversation
    hears(play, "approve")
    assert len(play.index("ready")) == 1
    assert [entry.text for entry in play.history(conversation)] == ["go"]
    play.act(Delete(conversation, ANN))
    assert heard_in(said(play, "anew")) == []
