"""Requests: asked, answered once, withdrawn, expired, approved for exactly what was shown."""

from __future__ import annotations

import pytest

from core.life.decision import Refusal
from core.life.event import Ask, Deadline, Extend, Park, Resume, Revert, Withdraw
from core.life.result import Answered, Asked, Delivered, Extended, Kept
from core.listening import Serves
from core.model import Json, digest
from core.question import Accepted, Declined, Option
from tests.core.life.play import ANN, BEN, CAT, CHOICE, DAN, FORM, MULTI, NUMBER, SURE, TEXT, Play, call
from tests.core.life.test_stopping import refused

RM_A = digest("rm", {"path": "a"})
RM_B = digest("rm", {"path": "b"})
SCHEMA: dict[str, Json] = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}


def test_the_first_answer_wins_and_the_second_person_learns_which() -> None:
    """C02: both decided on the same open question; one commit lands, the other one is told."""
    play = Play()
    run, asked = play.waiting(SURE, ANN, "tg-7")
    look = play.look()
    play.answered(asked, "once", ANN)
    event = refused(play.step_old(asked, Declined(), CAT, look), "already_answered")
    assert event.standing["by"] == "Ann"
    assert event.standing["outcome"] == "accepted"
    assert play.run(run).answered == (asked,)


def test_the_same_answer_by_the_same_person_is_success() -> None:
    """C01: three presses of one button are one answer."""
    play = Play()
    _, asked = play.waiting(CHOICE)
    play.answered(asked, "a")
    assert play.answered(asked, "a").repeat
    refused(play.reply(asked, "b"), "already_answered")


def test_a_form_sent_twice_is_success() -> None:
    """The second press of Submit carries only what stood on the page."""
    play = Play()
    _, asked = play.waiting(FORM)
    play.answered(asked, Accepted(values={"name": "Rex"}), submit=False)
    play.answered(asked, Accepted(values={"size": "a"}))
    assert play.answered(asked, Accepted(values={"size": "a"})).repeat


@pytest.mark.parametrize("value", [None, "", "maybe", 1, ["once"], True, {"other": "yes"}], ids=repr)
def test_only_an_explicit_yes_is_a_yes(value: Json) -> None:
    """C14: anything else is refused with field and rule, and the question stays open."""
    play = Play()
    _, asked = play.waiting(call("a"))
    told = refused(play.reply(asked, value), "invalid")
    assert told.standing["field"] == "confirm"
    refused(play.reply(asked, Accepted()), "invalid")
    assert play.request(asked).state == "open"


def test_a_deny_option_is_stored_as_declined() -> None:
    """There is one encoding of no."""
    play = Play()
    _, asked = play.waiting(call("a"))
    play.answered(asked, "deny")
    assert isinstance(play.request(asked).answer, Declined)


def test_a_turn_goes_on_when_all_its_questions_are_answered() -> None:
    """C31: in any order; each answer is recorded at its own place."""
    play = Play()
    turn = play.at_work()
    one, two = play.asked(turn, TEXT, "ask#0"), play.asked(turn, CHOICE, "ask#1")
    play.answered(two, "b")
    refused(play.take(turn), "waiting")
    play.answered(one, "Rex")
    assert isinstance(play.take(turn), Delivered)
    answers = {step.key: step.data["request"] for step in play.steps(turn.run) if step.kind == "answered"}
    assert answers == {"ask#0": one, "ask#1": two}


def test_an_answer_to_a_parked_run_is_ready_at_once_and_to_a_held_one_a_little_later() -> None:
    """Its holder takes it first; whoever finds it there later starts a new turn."""
    play = Play()
    run, asked = play.waiting(TEXT)
    play.answered(asked, "Rex")
    assert play.index("ready") == {run: play.now}
    held = Play()
    turn = held.at_work()
    asked = held.asked(turn, TEXT)
    held.answered(asked, "Rex")
    assert held.index("ready") == {turn.run: held.now + held.spans.held_grace_ms}
    refused(held.act(Park(turn.run, turn.fence)), "answered")


def test_a_held_turn_that_lost_its_run_takes_nothing() -> None:
    """An answer is delivered to one turn: the one with the newest fence."""
    play = Play()
    turn = play.at_work()
    asked = play.asked(turn, TEXT)
    play.answered(asked, "Rex")
    assert play.claimed(turn.run, "w2").answered == (asked,)
    refused(play.take(turn), "fenced")


def test_an_answered_run_waits_behind_the_one_at_work() -> None:
    """A waiting run does not occupy the conversation; answered, it is queued."""
    play = Play()
    first = play.at_work("first", ANN, "tg-7")
    asked = play.asked(first, CHOICE)
    second = play.at_work("second", ANN, "tg-7")
    play.answered(asked, "a")
    refused(play.take(first), "busy")
    play.finished(second)
    assert isinstance(play.take(first), Delivered)


def test_strangers_learn_nothing_and_change_nothing() -> None:
    """C07, C12: in a private place a foreign id looks like an unknown one; in a group it is not theirs."""
    play = Play()
    _, private = play.waiting(CHOICE)
    foreign = refused(play.reply(private, "a", BEN), "unknown")
    play.docs.pop(("request", private))
    assert play.reply(private, Accepted(values={"choice": "a"}), BEN) == foreign
    _, group = play.waiting(CHOICE, ANN, "tg-7")
    refused(play.reply(group, "a", BEN), "not_allowed")
    refused(play.reply(group, "a", DAN), "unknown")
    assert isinstance(play.reply(group, "a", CAT), Answered)


def test_values_of_a_form_belong_to_who_gave_them() -> None:
    """They may be changed by who gave them until submit, also by the submit itself."""
    play = Play()
    _, asked = play.waiting(FORM, ANN, "tg-7")
    play.answered(asked, Accepted(values={"name": "Rex"}), ANN, submit=False)
    refused(play.reply(asked, Accepted(values={"name": "Max"}), CAT, submit=False), "not_allowed")
    refused(play.reply(asked, Accepted(values={"name": "Max", "size": "a"}), CAT), "not_allowed")
    play.answered(asked, Accepted(values={"size": "b"}), CAT)
    answer = play.request(asked).answer
    assert isinstance(answer, Accepted)
    assert answer.values == {"name": "Rex", "size": "b"}


def test_a_late_answer_is_expired_before_the_sweeper_came() -> None:
    """C16: the deadline is checked in the commit of the answer, by its clock; a slow clock does not help."""
    play = Play()
    _, asked = play.waiting(call("a", timeout_ms=60))
    look, before = play.look(), play.now
    play.now += 60
    refused(play.reply(asked, "once"), "expired")
    assert play.request(asked).state == "open"
    refused(play.step_old(asked, Accepted(values={"confirm": "once"}), ANN, look, before), "expired")


def test_nobody_answered_pauses_the_run_and_resume_asks_anew() -> None:
    """C17: expired is final and recorded as such; the same step asks again with a new id."""
    play = Play()
    run, asked = play.waiting(call("a", timeout_ms=60))
    play.later(60)
    assert (play.run(run).state, play.run(run).cause) == ("paused", "deadline")
    refused(play.reply(asked, "once"), "expired")
    play.resumed(run)
    turn = play.claimed(run)
    again = play.asked(turn, call("a", timeout_ms=60), "ask#0", replaces=asked)
    assert play.request(again).digest == play.request(asked).digest
    assert play.request(again).replaces == asked
    assert play.request(asked).state == "settled"


def test_a_deadline_takes_the_siblings_away_but_keeps_their_answers() -> None:
    """What was answered before is not asked again."""
    play = Play()
    turn = play.at_work()
    one = play.asked(turn, CHOICE.model_copy(update={"timeout_ms": 60}), "ask#0")
    two, three = play.asked(turn, TEXT, "ask#1"), play.asked(turn, NUMBER, "ask#2")
    play.answered(two, "Rex")
    play.parked(turn)
    play.later(60)
    assert play.request(one).state == "settled"
    assert play.request(three).state == "withdrawn"
    assert play.run(turn.run).answered == (two,)
    play.resumed(turn.run)
    play.answered(three, "7")
    assert play.claimed(turn.run).answered == (two, three)


def test_it_does_not_expire_early() -> None:
    """A sweeper with a fast clock changes nothing."""
    play = Play()
    _, asked = play.waiting(call("a", timeout_ms=60))
    play.now += 59
    assert isinstance(play.act(Deadline(asked)), Refusal)
    assert play.request(asked).state == "open"


def test_more_time_is_never_less() -> None:
    """`extend` moves a deadline, counted from now; it does not shorten it, and does not invent one."""
    play = Play()
    _, asked = play.waiting(call("a", timeout_ms=60))
    told = play.act(Extend(asked, ANN, 10))
    assert isinstance(told, Extended)
    assert told.deadline_ms == play.now + 60
    play.act(Extend(asked, ANN, 500))
    play.later(100)
    assert play.request(asked).state == "open"
    other = Play()
    _, asked = other.waiting(CHOICE)
    refused(other.act(Extend(asked, ANN, 10)), "invalid")


def test_a_paused_run_withdraws_its_questions_and_resume_opens_them_with_the_full_time() -> None:
    """C77: paused, resume first; nothing is decided meanwhile, deadlines stand still."""
    play = Play()
    run, asked = play.waiting(call("a", timeout_ms=60))
    play.later(50)
    play.stopped(run, "user_aborted")
    refused(play.reply(asked, "once"), "paused")
    play.later(1_000)
    told = play.resumed(run)
    assert (told.state, told.reopened) == ("waiting", (asked,))
    assert play.request(asked).deadline_ms == play.now + 60
    assert not play.index("ready")


def test_answer_and_resume_together_start_one_turn() -> None:
    """C80: the answer that lost to the pause is told so; after Resume it counts."""
    play = Play()
    run, asked = play.waiting(CHOICE)
    look = play.look()
    play.stopped(run, "user_paused")
    refused(play.step_old(asked, Accepted(values={"choice": "a"}), ANN, look), "paused")
    play.resumed(run)
    play.answered(asked, "a")
    refused(play.act(Resume(run, ANN)), "conflict")
    assert list(play.index("ready")) == [run]


def test_without_a_listener_it_is_undeliverable_if_the_asker_says_so() -> None:
    """Never "go ahead": the run is paused and can be resumed."""
    play = Play()
    turn = play.at_work()
    told = play.ask(turn, call("a", on_no_listener="undeliverable"))
    assert isinstance(told, Asked)
    assert told.undeliverable
    assert play.run(turn.run).cause == "undeliverable"


def test_without_a_listener_it_is_parked_and_says_so() -> None:
    """The default: no surface is a fact on an open request, not its end."""
    play = Play()
    turn = play.at_work()
    asked = play.asked(turn, CHOICE)
    assert play.request(asked).surface is False


def test_the_gate_is_checked_in_the_commit() -> None:
    """A listener that left between the look and the commit does not count; one that came does."""
    play = Play()
    play.beat("web", "chat-", span=100)
    turn = play.at_work()
    look = play.look()
    play.now += 101
    event = Ask(turn.run, turn.fence, "ask#0", call("a", on_no_listener="undeliverable"), play.length(turn.run))
    told = play.act(event, look, play.now - 50)
    assert isinstance(told, Asked)
    assert told.undeliverable


@pytest.mark.parametrize(
    ("serves", "shown"),
    [
        (Serves(prefix=""), True),
        (Serves(prefix="chat-", accept=("confirm",)), False),
        (Serves(prefix="chat-", accept=("confirm", "choice")), True),
        (Serves(prefix="", match="*-2"), False),
        (Serves(prefix="chat-", match="chat-*"), True),
    ],
)
def test_a_listener_counts_only_for_what_it_can_show(serves: Serves, shown: bool) -> None:
    """One that cannot show this kind of question, or serves other places, is nobody who could be asked."""
    play = Play()
    play.beat("front", serves)
    turn = play.at_work()
    assert play.request(play.asked(turn, CHOICE)).surface is shown


def test_an_approval_is_used_once_and_only_for_what_was_shown() -> None:
    """What is shown is what runs; a different call, or the same one again, asks anew."""
    play = Play()
    turn = play.at_work()
    refused(play.begin(turn, digest=RM_A), "not_approved")
    play.answered(play.asked(turn, call("a")), "once")
    play.take(turn)
    refused(play.begin(turn, digest=RM_B), "not_approved")
    assert isinstance(play.begin(turn, digest=RM_A), Kept)
    refused(play.begin(turn, "step#1", digest=RM_A), "not_approved")


def test_changed_arguments_are_what_is_approved() -> None:
    """Only the changed call runs, and only where changing was offered."""
    play = Play()
    turn = play.at_work()
    asked = play.asked(turn, call("a", edit_schema=SCHEMA))
    refused(play.reply(asked, Accepted(values={"confirm": "once"}, arguments={"path": 7})), "invalid")
    play.answered(asked, Accepted(values={"confirm": "once"}, arguments={"path": "b"}))
    play.take(turn)
    refused(play.begin(turn, digest=RM_A), "not_approved")
    assert isinstance(play.begin(turn, digest=RM_B), Kept)


def test_a_long_call_is_approved_like_a_short_one() -> None:
    """Its text stands beside the document; its approval must not be lost with that."""
    play = Play()
    turn = play.at_work()
    asked = play.asked(turn, call("x" * 9_000))
    assert play.request(asked).body
    play.answered(asked, "once")
    play.take(turn)
    assert isinstance(play.begin(turn, digest=digest("rm", {"path": "x" * 9_000})), Kept)


def test_for_this_task_lasts_until_the_run_ends() -> None:
    """`allow_run` covers exactly this call, over all turns of this run and no other."""
    play = Play()
    turn = play.at_work()
    play.answered(play.asked(turn, call("a")), "run")
    play.take(turn)
    assert play.ask(turn, call("b"), "ask#9") != play.ask(turn, call("a"), "ask#1")
    play.stopped(turn.run, "user_canceled")
    play.later(play.spans.free_ms)
    other = play.at_work("another")
    told = play.ask(other, call("a"))
    assert isinstance(told, Asked)
    assert told.granted is None


def test_always_is_exactly_this_call_for_this_person_in_this_conversation_until_withdrawn() -> None:
    """C131: the remembered thing is what was shown; it can be taken back."""
    play = Play()
    turn = play.at_work("one", ANN, "tg-7")
    play.answered(play.asked(turn, call("a")), "always")
    play.take(turn)
    play.finished(turn)
    second = play.at_work("two", ANN, "tg-7")
    granted = play.ask(second, call("a"))
    assert isinstance(granted, Asked)
    assert granted.granted == RM_A
    assert isinstance(play.begin(second, digest=RM_A), Kept)
    play.finished(second)
    bens = play.at_work("three", BEN, "tg-7")
    assert play.request(play.asked(bens, call("a"))).state == "open"
    play.parked(bens)
    elsewhere = play.at_work("four", ANN, "chat-1")
    assert play.request(play.asked(elsewhere, call("a"))).state == "open"
    play.act(Withdraw(play.run(second.run).conversation, ANN, RM_A))
    last = play.at_work("five", ANN, "tg-7")
    assert play.request(play.asked(last, call("a"))).state == "open"


def test_restricted_needs_a_proof_and_is_never_remembered() -> None:
    """A press alone is not enough, and no button offers more than this once."""
    play = Play()
    turn = play.at_work()
    asked = play.asked(turn, call("a", restricted=True))
    refused(play.reply(asked, "once"), "not_allowed")
    refused(play.reply(asked, "always", proof=True), "invalid")
    play.answered(asked, "once", proof=True)
    play.take(turn)
    again = play.asked(turn, call("a", restricted=True), "ask#1")
    play.answered(again, "deny")


def test_a_question_that_nobody_could_answer_is_refused_to_its_asker() -> None:
    """C56, C58: nothing to approve, nothing to pick, two fields of one name."""
    play = Play()
    turn = play.at_work()
    refused(play.ask(turn, SURE.model_copy(update={"title": ""})), "invalid")
    refused(play.ask(turn, CHOICE.model_copy(update={"fields": ()})), "invalid")
    refused(play.ask(turn, CHOICE.model_copy(update={"fields": (*CHOICE.fields, *CHOICE.fields)})), "invalid")
    blank = CHOICE.fields[0].model_copy(update={"options": (Option(id="a", label=" "),)})
    refused(play.ask(turn, CHOICE.model_copy(update={"fields": (blank,)})), "invalid")


def test_several_picks_keep_their_limits() -> None:
    """A list of distinct options, at least as many as asked for."""
    play = Play()
    _, asked = play.waiting(MULTI)
    wrongs: tuple[Json, ...] = ([], ["a", "a"], "a", ["c"])
    for wrong in wrongs:
        refused(play.reply(asked, wrong), "invalid")
    play.answered(asked, ["b", "a"])


def test_a_batch_has_a_result_each() -> None:
    """One answer that is refused does not take the others with it."""
    play = Play()
    turn = play.at_work()
    one, two = play.asked(turn, TEXT, "ask#0"), play.asked(turn, NUMBER, "ask#1")
    told = [play.reply(one, "Rex"), play.reply(two, "many"), play.reply(two, "7")]
    assert [isinstance(one, Answered) for one in told] == [True, False, True]


def test_revert_asks_the_last_question_again() -> None:
    """What came after the last parked point is marked as dropped; its approvals are void."""
    play = Play()
    turn = play.at_work()
    play.answered(play.asked(turn, call("a")), "once")
    play.take(turn)
    play.stopped(turn.run, "user_paused")
    play.later(play.spans.free_ms)
    refused(play.act(Revert(turn.run, ANN, 1, play.length(turn.run))), "conflict")
    play.sweep("w1")
    assert play.run(turn.run).state == "paused"
    assert not isinstance(play.act(Revert(turn.run, ANN, 1, play.length(turn.run))), Refusal)
    assert play.steps(turn.run)[-1].kind == "dropped"
    again = play.claimed(turn.run, "w2")
    refused(play.begin(again, digest=RM_A), "not_approved")
