"""What front ends owe: nothing is forgotten, nothing is owed twice, and a card ends in step with what it shows."""

from __future__ import annotations

import pytest

from core.card import Card, Posted
from core.life import card, posting
from core.life.card import Adopt, Edited, Ledger, Reshow, Show, Turned, Unshowable
from core.life.decision import Refusal
from core.life.event import Delete, Resume
from core.life.posting import Arrived, Brought, Posting, Unsent
from core.life.pressed import Pressed, pressed
from core.life.result import Answered, Kept, Showing
from core.press import Press
from core.question import Accepted
from tests.core.life.play import ANN, BEN, CHOICE, FORM, MULTI, Play, call

HOME = "dc-1"


@pytest.fixture
def world() -> Play:
    return Play()


def shown(world: Play, request: str, message: str = "m1", place: str = HOME) -> str:
    """Show a request and put it on the ledger; returns the card's id."""
    begun = world.step(card.show, Show(request, "request", place))
    assert isinstance(begun, Showing)
    assert begun.card is not None
    world.step(card.ledger, Ledger(begun.card, message, world.request(request).rev))
    return begun.card


def the(world: Play, id: str) -> Card:
    found = world.docs[("card", id)]
    assert isinstance(found, Card)
    return found


def test_a_question_at_a_platform_is_owed_until_it_is_on_the_ledger(world: Play) -> None:
    _, asked = world.waiting(CHOICE, origin=HOME)
    assert world.index("unshown", "dc") == {f"{asked} {HOME}": world.now}
    begun = world.step(card.show, Show(asked, "request", HOME))
    assert isinstance(begun, Showing)
    assert begun.card is not None
    assert world.index("unshown", "dc")[f"{asked} {HOME}"] > world.now
    world.step(card.ledger, Ledger(begun.card, "m1", 0))
    assert not world.index("unshown", "dc")
    assert begun.card not in world.index("debt", "dc")


def test_a_question_on_the_dashboard_alone_is_owed_to_nobody(world: Play) -> None:
    world.waiting(CHOICE)
    assert not [index for index in world.indexes if index[0] in ("unshown", "debt", "outbox") and world.indexes[index]]


def test_copies_are_owed_to_their_own_platforms(world: Play) -> None:
    _, asked = world.waiting(CHOICE.model_copy(update={"copies": ("dc-9", "tg-4.2")}))
    assert list(world.index("unshown", "dc")) == [f"{asked} dc-9"]
    assert list(world.index("unshown", "tg")) == [f"{asked} tg-4.2"]


def test_a_listener_for_a_copy_is_a_surface_too(world: Play) -> None:
    world.beat("w9", "tg-")
    _, alone = world.waiting(CHOICE, origin=HOME)
    _, copied = world.waiting(CHOICE.model_copy(update={"copies": ("tg-4",)}), origin="dc-2")
    assert (world.request(alone).surface, world.request(copied).surface) == (False, True)


def test_a_send_that_is_unclear_is_made_again_under_the_same_card(world: Play) -> None:
    _, asked = world.waiting(CHOICE, origin=HOME)
    first = world.step(card.show, Show(asked, "request", HOME))
    second = world.step(card.show, Show(asked, "request", HOME))
    assert isinstance(first, Showing)
    assert isinstance(second, Showing)
    assert (first.card, first.attempt, second.attempt) == (second.card, 1, 2)


def test_what_is_shown_already_is_not_shown_again_unless_somebody_wants_it(world: Play) -> None:
    _, asked = world.waiting(CHOICE, origin=HOME)
    id = shown(world, asked)
    assert world.step(card.show, Show(asked, "request", HOME)) == Showing(card=None)
    assert world.step(card.reshow, Reshow(asked, HOME)) == Kept()
    assert world.step(card.show, Show(asked, "request", HOME)) == Showing(card=id, attempt=2)
    before = the(world, id).messages
    world.step(card.ledger, Ledger(id, "m-again", 0))
    assert the(world, id).messages == (*before, "m-again")
    assert id in world.index("debt", "dc"), "the older message may show something older"


def test_an_answer_owes_an_edit_until_the_newest_is_shown(world: Play) -> None:
    _, asked = world.waiting(CHOICE, origin=HOME)
    id = shown(world, asked)
    old = world.request(asked).rev
    world.answered(asked, "a")
    assert id in world.index("debt", "dc")
    world.step(card.edited, Edited(id, old))
    assert id in world.index("debt", "dc")
    world.step(card.edited, Edited(id, world.request(asked).rev))
    assert id not in world.index("debt", "dc")
    assert the(world, id).final


def test_an_answer_that_comes_while_it_is_sent_is_owed_at_once(world: Play) -> None:
    _, asked = world.waiting(CHOICE, origin=HOME)
    begun = world.step(card.show, Show(asked, "request", HOME))
    assert isinstance(begun, Showing)
    assert begun.card is not None
    world.answered(asked, "a")
    world.step(card.ledger, Ledger(begun.card, "m1", 0))
    assert begun.card in world.index("debt", "dc")


def test_a_turn_that_comes_while_a_card_is_edited_is_not_lost(world: Play) -> None:
    _, asked = world.waiting(CHOICE, origin=HOME)
    id = shown(world, asked)
    world.step(card.turned, Turned(id, asking=True))
    assert id in world.index("debt", "dc")
    world.step(card.edited, Edited(id, 0, the(world, id).turned - 1))
    assert id in world.index("debt", "dc")
    world.step(card.edited, Edited(id, 0, the(world, id).turned))
    assert id not in world.index("debt", "dc")


def test_a_message_nobody_remembers_is_taken_in_and_owed_an_edit(world: Play) -> None:
    _, asked = world.waiting(CHOICE, origin=HOME)
    world.step(card.adopt, Adopt(asked, HOME, "m7"))
    id = world.request(asked).cards[HOME]
    assert the(world, id).messages == ("m7",)
    assert not world.index("unshown", "dc")
    assert id in world.index("debt", "dc")


def test_what_cannot_be_shown_is_a_fact_on_an_open_question(world: Play) -> None:
    _, asked = world.waiting(CHOICE, origin=HOME)
    begun = world.step(card.show, Show(asked, "request", HOME))
    assert isinstance(begun, Showing)
    assert begun.card is not None
    world.step(card.unshowable, Unshowable(begun.card, "slow", 5_000))
    assert world.index("unshown", "dc") == {f"{asked} {HOME}": world.now + 5_000}
    world.step(card.unshowable, Unshowable(begun.card, "blocked"))
    assert not world.index("unshown", "dc")
    found = world.request(asked)
    assert (found.state, found.not_shown) == ("open", {HOME: "blocked"})


def test_a_question_that_was_paused_before_it_was_shown_is_owed_again_after_resume(world: Play) -> None:
    run, asked = world.waiting(CHOICE, origin=HOME)
    world.step(card.show, Show(asked, "request", HOME))
    world.stopped(run, "user_paused")
    assert not world.index("unshown", "dc")
    world.act(Resume(run, ANN))
    assert f"{asked} {HOME}" in world.index("unshown", "dc")


def test_deleting_a_conversation_owes_its_cards_their_end(world: Play) -> None:
    run, asked = world.waiting(CHOICE, origin=HOME)
    id = shown(world, asked)
    begun = world.step(card.show, Show(run, "status", HOME))
    assert isinstance(begun, Showing)
    assert begun.card is not None
    world.act(Delete(world.request(asked).conversation, ANN))
    assert {id, begun.card} <= set(world.index("debt", "dc"))
    world.step(card.edited, Edited(begun.card, 9))
    assert begun.card not in world.index("debt", "dc")


def test_a_run_that_ended_before_its_status_was_shown_owes_none(world: Play) -> None:
    turn = world.at_work(origin=HOME)
    assert f"run:{turn.run}" in world.index("debt", "dc")
    world.finished(turn)
    assert f"run:{turn.run}" not in world.index("debt", "dc")
    assert world.step(card.show, Show(turn.run, "status", HOME)) == Showing(card=None)


# ── texts ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_text_is_owed_until_all_was_brought(world: Play) -> None:
    turn = world.at_work(origin=HOME)
    conversation = world.run(turn.run).conversation
    world.finished(turn, "Hello")
    end = len(world.history(conversation))
    assert conversation in world.index("outbox", "dc")
    assert world.step(posting.posting, Posting(conversation, HOME, end)) == Kept()
    world.step(posting.arrived, Arrived(conversation, HOME, end))
    early = world.step(posting.brought, Brought(conversation, HOME, end - 1))
    assert isinstance(early, Refusal)
    assert early.code == "length"
    assert world.step(posting.brought, Brought(conversation, HOME, end)) == Kept()
    assert conversation not in world.index("outbox", "dc")


def test_a_part_that_was_announced_and_has_no_end_is_not_sent_again(world: Play) -> None:
    """Unless it surely did not arrive, or the platform knows a repeat."""
    conversation = world.run(world.said("go", origin=HOME)).conversation
    assert world.step(posting.posting, Posting(conversation, HOME, 1)) == Kept()
    assert isinstance(world.step(posting.posting, Posting(conversation, HOME, 1)), Refusal)
    assert world.step(posting.posting, Posting(conversation, HOME, 1, again=True)) == Kept()
    world.step(posting.unsent, Unsent(conversation, 1))
    assert world.step(posting.posting, Posting(conversation, HOME, 1)) == Kept()
    assert world.step(posting.posting, Posting(conversation, HOME, 1, part=1)) == Kept()
    world.step(posting.arrived, Arrived(conversation, HOME, 1, unclear=True))
    found = world.docs[("posted", conversation)]
    assert isinstance(found, Posted)
    assert (found.seq, found.sending, found.unclear) == (1, None, (1,))
    assert isinstance(world.step(posting.posting, Posting(conversation, HOME, 1)), Refusal)


# ── presses ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def press(world: Play, request: str, verb: str, number: int = 0, field: int = 0, key: str | None = None) -> object:
    made = Press(request, verb, field, number)  # pyright: ignore[reportArgumentType] each test names a verb
    return world.step(pressed, Pressed(made, ANN, HOME, "dc", key, "m1"))


def test_a_press_answers_and_its_repeat_hears_the_same(world: Play) -> None:
    _, asked = world.waiting(CHOICE, origin=HOME)
    first = press(world, asked, "option", 1, key="u1")
    assert isinstance(first, Answered)
    assert first.answer == Accepted(values={"choice": "b"})
    assert press(world, asked, "option", 1, key="u1") == first
    again = press(world, asked, "option", 1)
    assert isinstance(again, Answered)
    assert again.repeat
    other = press(world, asked, "option", 0)
    assert isinstance(other, Refusal)
    assert other.code == "already_answered"


def test_a_toggle_is_taken_back_and_a_repeated_update_toggles_once(world: Play) -> None:
    _, asked = world.waiting(MULTI, origin=HOME)
    once = press(world, asked, "option", 0, key="u1")
    assert isinstance(once, Answered)
    assert press(world, asked, "option", 0, key="u1") == once
    press(world, asked, "option", 1, key="u2")
    assert world.request(asked).given["choice"].value == ["a", "b"]
    press(world, asked, "option", 0, key="u3")
    assert isinstance(press(world, asked, "done"), Answered)
    assert world.request(asked).answer == Accepted(values={"choice": ["b"]})


def test_a_submit_below_the_minimum_is_refused_and_nothing_is_lost(world: Play) -> None:
    _, asked = world.waiting(MULTI, origin=HOME)
    press(world, asked, "option", 0)
    press(world, asked, "option", 0)
    refused = press(world, asked, "done")
    assert isinstance(refused, Refusal)
    assert world.request(asked).state == "open"


def test_a_form_goes_on_to_its_next_field_and_submits(world: Play) -> None:
    _, asked = world.waiting(FORM, origin=HOME)
    id = shown(world, asked)
    world.say("Zoë", origin=HOME)
    assert the(world, id).page == 1
    press(world, asked, "option", 1, field=1)
    assert the(world, id).page == 2
    press(world, asked, "back")
    assert the(world, id).page == 1
    press(world, asked, "option", 0, field=1)
    assert isinstance(press(world, asked, "done"), Answered)
    assert world.request(asked).answer == Accepted(values={"name": "Zoë", "size": "a"})


def test_a_strangers_press_changes_nothing(world: Play) -> None:
    _, asked = world.waiting(call("x"), origin=HOME)
    shown(world, asked)
    before = dict(world.docs)
    told = world.step(pressed, Pressed(Press(asked, "option"), BEN, HOME, "dc", "u1", "m1"))
    assert isinstance(told, Refusal)
    assert told.code == "not_allowed"
    assert world.docs == before


def test_a_press_on_a_paused_question_says_so(world: Play) -> None:
    run, asked = world.waiting(CHOICE, origin=HOME)
    shown(world, asked)
    world.stopped(run, "user_aborted")
    told = press(world, asked, "option", 0)
    assert isinstance(told, Refusal)
    assert told.code == "paused"
