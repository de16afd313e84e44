"""A yes counts only where all of what it is a yes to can be read: the card at the place says whether it is."""

from __future__ import annotations

import pytest

from core.life import card
from core.life.card import Adopt, Edited, Ledger, Show
from core.life.decision import Refusal
from core.life.pressed import Pressed, pressed
from core.life.result import Answered, Showing
from core.press import Press
from core.question import Accepted, ChoiceField, ConfirmField, Declined, Option, Question, TextField
from tests.core.life.play import ANN, SURE, Play, call

HOME = "dc-1"
OTHER = "dc-2"
YES = ("yes", "1", "Approve", "/approve {id}", "/answer {id} yes", "/answer {id} always approve exactly this")
FORM = Question(title="Sure, and why?", message="long", fields=(ConfirmField(), TextField()))


@pytest.fixture
def world() -> Play:
    return Play()


def shown(world: Play, request: str, whole: bool | None, place: str = HOME, instead: str | None = None) -> str:
    """Show a request at a place, and put it on the ledger; returns the card's id."""
    begun = world.step(card.show, Show(request, "request", place, whole=whole))
    assert isinstance(begun, Showing)
    assert begun.card is not None
    world.step(card.ledger, Ledger(begun.card, "m1", world.request(request).rev, instead=instead))
    return begun.card


def refused(told: object) -> str:
    assert isinstance(told, Refusal), told
    assert told.code == "not_whole", told
    return told.text


@pytest.mark.parametrize("text", YES)
def test_words_approve_where_all_of_it_was_shown(world: Play, text: str) -> None:
    _, asked = world.waiting(call("a"), origin=HOME)
    shown(world, asked, True)
    assert isinstance(world.say(text.format(id=asked), origin=HOME), Answered)


@pytest.mark.parametrize("text", YES)
def test_no_words_approve_what_was_cut(world: Play, text: str) -> None:
    """The card there has no Approve, so words are none either: they say where it stands whole, and nothing changes."""
    _, asked = world.waiting(call("a"), origin=HOME)
    shown(world, asked, False)
    before = world.commits
    for to in (None, asked):
        words = refused(world.say(text.format(id=asked), origin=HOME, reply_to=to))
        assert "as a whole" in words
        assert "dashboard" in words
    assert (world.commits, world.request(asked).state) == (before, "open")


@pytest.mark.parametrize("text", ["/approve {id}", "/answer {id} 1"])
def test_no_words_approve_from_where_it_was_never_shown(world: Play, text: str) -> None:
    _, asked = world.waiting(call("a"), origin=HOME)
    shown(world, asked, True)
    words = refused(world.say(text.format(id=asked), origin=OTHER))
    assert "not shown here" in words
    assert "`/pending`" in words


@pytest.mark.parametrize("text", ["no", "deny", "2", "/deny {id} not now", "/answer {id} no"])
def test_a_no_is_taken_wherever_it_is_said(world: Play, text: str) -> None:
    question = call("a", fields=(ConfirmField(options=(Option(id="y", label="Go", effect="allow_once"),)),))
    _, asked = world.waiting(question, origin=HOME)
    shown(world, asked, False)
    told = world.say(text.format(id=asked), origin=OTHER if "{id}" in text else HOME)
    assert isinstance(told, Answered), told
    assert isinstance(told.answer, Declined)


def test_the_dashboard_shows_everything_itself(world: Play) -> None:
    """Also in a conversation of another platform that is open there; that is where the answer came from, too."""
    _, asked = world.waiting(call("a"), origin=HOME)
    shown(world, asked, False)
    told = world.say(f"/approve {asked}", origin=HOME, conversation=world.request(asked).conversation)
    assert isinstance(told, Answered), told
    assert told.via == "chat"
    _, other = world.waiting(call("b"), origin=OTHER)
    shown(world, other, False, OTHER)
    assert isinstance(world.say(f"/approve {other}", origin="chat-9"), Answered)


def test_a_button_that_the_card_does_not_have_approves_nothing(world: Play) -> None:
    """A payload is untrusted: what is pressed is looked at like what is written."""
    _, asked = world.waiting(call("a"), origin=HOME)
    shown(world, asked, False)
    for number in range(3):
        refused(world.step(pressed, Pressed(Press(asked, "option", number=number), ANN, HOME, "dc")))
    assert isinstance(world.step(pressed, Pressed(Press(asked, "deny"), ANN, HOME, "dc")), Answered)


def test_a_button_approves_on_a_card_of_which_nothing_is_known(world: Play) -> None:
    """One that an older release showed, or that the ledger learns of by this press: it was drawn with the button."""
    _, asked = world.waiting(call("a"), origin=HOME)
    id = shown(world, asked, None)
    world.step(card.adopt, Adopt(asked, OTHER, "m7"))
    refused(world.say("yes", origin=HOME))
    refused(world.say(f"/approve {asked}", origin=OTHER))
    world.step(card.edited, Edited(id, 0, whole=False))
    refused(world.step(pressed, Pressed(Press(asked, "option"), ANN, HOME, "dc")))
    assert isinstance(world.step(pressed, Pressed(Press(asked, "option"), ANN, OTHER, "dc")), Answered)


def test_what_is_shown_anew_counts_as_it_is_shown_then(world: Play) -> None:
    _, asked = world.waiting(call("a"), origin=HOME)
    id = shown(world, asked, True)
    world.step(card.edited, Edited(id, 0, whole=False))
    refused(world.say("yes", origin=HOME))
    world.step(card.edited, Edited(id, 0))
    refused(world.say("yes", origin=HOME))
    world.step(card.reshow, card.Reshow(asked, HOME))
    shown(world, asked, True)
    assert isinstance(world.say("yes", origin=HOME), Answered)


def test_a_card_that_the_platform_put_elsewhere_counts_there(world: Play) -> None:
    """In the private chat of who is asked, because the channel refused it."""
    _, asked = world.waiting(call("a"), origin=HOME)
    shown(world, asked, False, instead=OTHER)
    refused(world.say(f"/approve {asked}", origin=OTHER))
    world.step(card.reshow, card.Reshow(asked, HOME))
    shown(world, asked, True, instead=OTHER)
    assert isinstance(world.say("yes", origin=OTHER, reply_to=asked), Answered)


def test_a_form_with_a_yes_in_it_has_to_be_whole_as_well(world: Play) -> None:
    _, asked = world.waiting(FORM, origin=HOME)
    shown(world, asked, False)
    refused(world.say("yes", origin=HOME))
    refused(world.step(pressed, Pressed(Press(asked, "option"), ANN, HOME, "dc")))
    assert not world.request(asked).given
    assert isinstance(world.say("no", origin=HOME), Answered)
    assert isinstance(world.say("because", origin=HOME), Answered)


def test_a_call_is_repeated_only_where_it_can_be_read(world: Play) -> None:
    """Sayso's own question, whether something that may have happened is to happen again, approves it once more."""
    options = (Option(id="repeat", label="Repeat it"), Option(id="cancel", label="Cancel the task"))
    for subject, whole, counts in (
        (call("a").subject, False, False),
        (call("a").subject, True, True),
        (None, None, True),
    ):
        turn = world.at_work("go", ANN, HOME)
        question = Question(title="rm", fields=(ChoiceField(options=options),), subject=subject)
        asked = world.asked(turn, question, ours="unknown_step")
        world.parked(turn)
        shown(world, asked, whole)
        told = world.say(f"/answer {asked} 1", origin=HOME)
        assert isinstance(told, Answered) is counts, told
        assert isinstance(world.say(f"/answer {asked} 2", origin=HOME), Answered) is not counts


def test_other_answers_need_no_card(world: Play) -> None:
    """They say what is typed; only a yes says something that has to be read first."""
    _, asked = world.waiting(Question(title="Name?", fields=(TextField(),)), origin=HOME)
    told = world.say(f"/answer {asked} Rex", origin=OTHER)
    assert isinstance(told, Answered), told
    assert told.answer == Accepted(values={"text": "Rex"})


def test_a_confirmation_without_a_call_has_to_be_read_as_well(world: Play) -> None:
    world.waiting(SURE, origin=HOME)
    refused(world.say("yes", origin=HOME))
