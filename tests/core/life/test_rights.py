"""What is said may do no more than who says it: foreign questions look unknown, tokens keep to their scopes."""

import pytest

from core.life.decision import Refusal
from core.life.event import Said
from core.life.result import Answered, Sent
from core.model import Person
from core.question import Accepted
from tests.core.life.play import ANN, CHOICE, SURE, TEXT, Play

EVE = Person(id="web:eve", name="Eve", role="owner")
UNKNOWN = "q0" + "0" * 14


@pytest.mark.parametrize("text", ["blah", "1", "yes", "/approve {id}", "/answer {id} x", "/deny {id}", "/abort {id}"])
def test_a_foreign_question_looks_like_an_unknown_one(text: str) -> None:
    """C12: neither a word nor a command of a stranger tells that the question exists, nor what it offers."""
    told: list[object] = []
    for asks in (True, False):
        play = Play()
        _, asked = play.waiting(CHOICE)
        id = asked if asks else UNKNOWN
        reply_to = None if text.startswith("/") else id
        told.append(play.act(Said("chat-eve", text.format(id=id), EVE, "demo", reply_to=reply_to)))
    assert isinstance(told[0], Refusal), told
    assert told[0] == told[1]


@pytest.mark.parametrize(
    ("text", "lacking"),
    [
        ("yes", "answer"),
        ("1", "answer"),
        ("/approve {id}", "answer"),
        ("/deny {id}", "answer"),
        ("/abort {id}", "run"),
        ("/cancel", "run"),
        ("/pause", "run"),
    ],
)
def test_a_token_that_may_only_send_answers_and_stops_nothing(text: str, lacking: str) -> None:
    """C133: what a program says cannot approve its own call, nor stop what its scopes do not let it stop."""
    play = Play()
    run, asked = play.waiting(SURE)
    before = play.commits
    told = play.act(Said("chat-1", text.format(id=asked), ANN, "demo", rights=frozenset()))
    assert isinstance(told, Refusal), told
    assert (told.code, told.standing["scope"]) == ("scope", lacking)
    assert play.commits == before
    assert play.run(run).state == "waiting"


def test_a_token_that_may_only_send_starts_and_steers() -> None:
    """It is what the scope says: say something."""
    play = Play()
    first = play.act(Said("chat-1", "go", ANN, "demo", rights=frozenset()))
    assert isinstance(first, Sent)
    play.claimed(first.run)
    second = play.act(Said("chat-1", "faster", ANN, "demo", rights=frozenset()))
    assert isinstance(second, Sent)
    assert second.steer


def test_a_key_that_named_another_text_does_nothing() -> None:
    """The new text is not taken for the old one, and not lost in silence."""
    play = Play()
    play.said("go", key="k")
    assert isinstance(play.say("go", key="k"), Sent)
    told = play.say("something else", key="k")
    assert isinstance(told, Refusal)
    assert told.code == "conflict"


def test_a_key_that_named_another_question_does_nothing() -> None:
    """The second question stays open, and its asker is told."""
    play = Play()
    turn = play.at_work()
    one, two = play.asked(turn, TEXT, "ask#0"), play.asked(turn, TEXT, "ask#1")
    field = TEXT.fields[0].id
    assert isinstance(play.reply(one, Accepted(values={field: "x"}), key="k"), Answered)
    told = play.reply(two, Accepted(values={field: "x"}), key="k")
    assert isinstance(told, Refusal)
    assert told.code == "conflict"
    assert play.request(two).state == "open"
