"""What a person says, row by row of the routing table, and what commands do."""

from __future__ import annotations

import pytest

from core.life.card import Show
from core.life.decision import Refusal
from core.life.event import Broke, Ended, Finish, Forestall, Said, Took
from core.life.result import Answered, Changed, Opened, Resumed, Sent, Showing, Stopped, Told
from core.question import Accepted, ChoiceField, Declined, Question, SecretField
from tests.core.life.play import ANN, BEN, CAT, CHOICE, DAN, FORM, GROUP, NUMBER, SURE, TEXT, Play, call
from tests.core.life.test_stopping import refused


def test_the_first_words_start_a_run() -> None:
    """The conversation is laid with it, and the text stands in its history once."""
    play = Play()
    run = play.said("hello")
    assert play.run(run).message == "hello"
    assert [entry.text for entry in play.history(play.run(run).conversation)] == ["hello"]


def test_the_same_message_sent_twice_is_one_run() -> None:
    """`start` is keyed by the client's message id; both hear of the same run, also when they come together."""
    play = Play()
    look = play.look()
    event = Said("chat-1", "hello", ANN, "demo", "k")
    assert play.act(event) == play.act(event, look)
    assert len(play.history(play.run(play.said("x")).conversation)) == 2


def test_a_cancel_that_came_before_the_start_cancels_it() -> None:
    """It is kept for that key; the start that finds it never runs."""
    play = Play()
    play.act(Forestall("chat-1", ANN, "k"))
    sent = play.act(Said("chat-1", "hello", ANN, "demo", "k"))
    assert isinstance(sent, Sent)
    assert play.run(sent.run).state == "canceled"
    assert not play.index("ready")
    assert play.act(Said("chat-1", "hello", ANN, "demo", "k")) == sent


@pytest.mark.parametrize("text", ["/STATUS", "/status@our_bot x", "/help", "/grants"])
def test_a_command_is_a_command_also_while_a_question_is_open(text: str) -> None:
    """C36: the question is untouched."""
    play = Play()
    _, asked = play.waiting(TEXT)
    assert isinstance(play.say(text), Told)
    assert play.request(asked).state == "open"


@pytest.mark.parametrize("text", ["/etc/passwd", "/ cancel", "/"])
def test_other_text_with_a_slash_is_ordinary_text(text: str) -> None:
    """C36: by one documented rule it may be the answer."""
    play = Play()
    _, asked = play.waiting(TEXT)
    assert isinstance(play.say(text), Answered)
    assert play.request(asked).state == "settled"


def test_commands_answer_from_anywhere_with_ids_in_any_case() -> None:
    """C21: the displayed id is exactly the accepted one, with stray spaces, in upper case."""
    play = Play()
    for command, outcome in (("/approve  {} ", "accepted"), ("/DENY\n{} not now", "declined")):
        _, asked = play.waiting(call("a"))
        told = play.say(command.format(asked.upper()), origin="chat-9")
        assert isinstance(told, Answered), told
        assert play.request(asked).answer is not None
        assert told.answer is not None
        assert told.answer.outcome == outcome
    _, asked = play.waiting(TEXT)
    told = play.say(f"/answer {asked} Rex the Great", origin="chat-9")
    assert isinstance(told, Answered)
    assert told.answer == Accepted(values={"text": "Rex the Great"})


def test_an_unknown_id_resolves_nothing() -> None:
    """C25: no falling back to the oldest."""
    play = Play()
    _, asked = play.waiting(call("a"))
    refused(play.say("/approve q000000000000000"), "unknown")
    assert isinstance(play.say("/approve"), Told)
    assert play.request(asked).state == "open"


def test_abort_pauses_the_run_that_asks_but_not_one_that_was_answered() -> None:
    """An old card's Abort must not stop what works now."""
    play = Play()
    run, asked = play.waiting(CHOICE)
    play.answered(asked, "a")
    play.claimed(run)
    assert not isinstance(play.say(f"/abort {asked}"), Stopped)
    assert play.run(run).state == "working"
    other, asked = play.waiting(CHOICE, ANN, "chat-2")
    assert isinstance(play.say(f"/abort {asked}"), Stopped)
    assert (play.run(other).state, play.run(other).cause) == ("paused", "user_aborted")


def test_cancel_and_pause_mean_the_run_at_work() -> None:
    """Without an id; with nothing running the person is offered what there is."""
    play = Play()
    run = play.said("go")
    assert isinstance(play.say("/pause"), Stopped)
    assert isinstance(play.say("/resume"), Resumed)
    assert isinstance(play.say("/cancel"), Stopped)
    assert play.run(run).state == "canceled"
    assert isinstance(play.say("/cancel"), Told)


def test_new_lays_a_new_conversation_and_closes_what_waits_in_the_old_one() -> None:
    """C67: no surface offers it any more, a press hears that the run has ended."""
    play = Play()
    run, asked = play.waiting(CHOICE)
    assert isinstance(play.say("/new"), Opened)
    assert play.run(run).state == "canceled"
    refused(play.reply(asked, Accepted(values={"choice": "a"})), "ended")
    assert play.run(play.said("again")).conversation != play.run(run).conversation


def test_a_reply_to_a_card_answers_that_request_and_no_other() -> None:
    """C24, C28: also when it is closed, then it hears what stands."""
    play = Play()
    turn = play.at_work()
    one, two = play.asked(turn, CHOICE, "ask#0"), play.asked(turn, CHOICE, "ask#1")
    assert isinstance(play.say("1", reply_to=two), Answered)
    assert play.request(one).state == "open"
    refused(play.say("2", reply_to=two), "already_answered")
    refused(play.say("y", reply_to=two), "already_answered")
    assert play.request(one).state == "open"


def test_a_secret_is_never_stored_as_text() -> None:
    """While one is open, nothing typed is kept anywhere."""
    play = Play()
    turn = play.at_work()
    play.asked(turn, CHOICE.model_copy(update={"fields": (SecretField(),)}))
    before = play.commits
    refused(play.say("hunter2"), "secret")
    assert play.commits == before


@pytest.mark.parametrize("other", [TEXT, SURE, CHOICE])
def test_a_secret_is_not_taken_for_the_answer_to_another_question(other: Question) -> None:
    """While a text, a yes or an option is asked for as well, what is typed could be either: it is kept nowhere."""
    play = Play()
    turn = play.at_work()
    play.asked(turn, other, "ask#0")
    play.asked(turn, CHOICE.model_copy(update={"fields": (SecretField(),)}), "ask#1")
    before = play.commits
    for words in ("hunter2", "yes", "1"):
        refused(play.say(words), "secret")
    assert play.commits == before


def test_text_answers_the_one_open_text_question() -> None:
    """C34: and starts nothing besides."""
    play = Play()
    _, asked = play.waiting(TEXT)
    told = play.say("Rex")
    assert isinstance(told, Answered)
    assert told.request == asked


def test_with_several_text_questions_the_person_is_asked_which() -> None:
    """Nothing is consumed."""
    play = Play()
    turn = play.at_work()
    play.asked(turn, TEXT, "ask#0")
    play.asked(turn, NUMBER, "ask#1")
    before = play.commits
    refused(play.say("7"), "choose")
    assert play.commits == before


@pytest.mark.parametrize(("text", "value"), [("1", "a"), ("2.", "b"), ("Beta", "b"), ("ALPHA", "a"), (" beta ", "b")])
def test_an_option_is_picked_by_number_or_label(text: str, value: str) -> None:
    """C35: in any case."""
    play = Play()
    _, _ = play.waiting(CHOICE)
    told = play.say(text)
    assert isinstance(told, Answered)
    assert told.answer == Accepted(values={"choice": value})


@pytest.mark.parametrize("text", ["whatever", "0", "3", "9" * 5_000, "", "Alph"])
def test_anything_else_gets_the_options_again(text: str) -> None:
    """C33, C35: visibly, and the question stays open."""
    play = Play()
    _, asked = play.waiting(CHOICE)
    assert "1. Alpha" in refused(play.say(text), "choose").text
    assert play.request(asked).state == "open"


def test_free_text_counts_where_it_is_offered() -> None:
    """C33: `allow_other`."""
    play = Play()
    field = ChoiceField(options=CHOICE.fields[0].options if isinstance(CHOICE.fields[0], ChoiceField) else ())
    play.waiting(CHOICE.model_copy(update={"fields": (field.model_copy(update={"allow_other": True}),)}))
    told = play.say("the second one, but without tests")
    assert isinstance(told, Answered)
    assert told.answer == Accepted(values={"choice": {"other": "the second one, but without tests"}})


def test_a_bare_yes_counts_for_the_only_confirmation() -> None:
    """C09, C26: with two of them it approves nothing."""
    play = Play()
    turn = play.at_work()
    play.asked(turn, call("a"), "ask#0")
    two = play.asked(turn, call("b"), "ask#1")
    before = play.commits
    refused(play.say("yes"), "choose")
    assert play.commits == before
    play.answered(two, Declined())
    assert isinstance(play.say("Yes."), Answered)


def test_a_form_is_not_filled_in_by_small_talk() -> None:
    """It has a card."""
    play = Play()
    play.waiting(FORM)
    refused(play.say("Rex"), "choose")


def test_small_talk_in_a_group_is_no_consent() -> None:
    """C09, C11: only a reply to the card answers; other words start a run beside the waiting one."""
    play = Play()
    run, asked = play.waiting(SURE, ANN, "tg-7")
    assert play.said("yes", ANN, "tg-7") != run
    assert play.request(asked).state == "open"
    assert isinstance(play.act(Show(asked, "request", "tg-7", whole=True)), Showing)
    refused(play.say("yes", BEN, "tg-7", reply_to=asked), "not_allowed")
    assert isinstance(play.say("yes", ANN, "tg-7", reply_to=asked), Answered)


def test_a_group_without_people_lets_nobody_start() -> None:
    """C08: and a stranger changes nothing in any group."""
    play = Play()
    refused(play.act(Said("tg-8", "hello", ANN, "demo", private=False)), "not_allowed")
    refused(play.say("hello", DAN, "tg-7"), "not_allowed")
    assert not play.docs


def test_words_steer_a_working_run_and_only_those_of_who_may() -> None:
    """In a group another member's words start a run of their own; an approver's steer."""
    play = Play()
    turn = play.at_work("go", ANN, "tg-7")
    assert play.said("faster", ANN, "tg-7") == turn.run
    assert play.said("slower", CAT, "tg-7") == turn.run
    assert play.said("mine", BEN, "tg-7") != turn.run
    assert [step.data["text"] for step in play.steps(turn.run) if step.kind == "steer"] == ["faster", "slower"]


def test_words_steer_a_queued_run() -> None:
    """They are given to it before its first call."""
    play = Play()
    run = play.said("go")
    assert play.said("and quickly") == run


def test_a_steer_that_nobody_took_in_starts_the_next_run() -> None:
    """Nothing said is lost: a turn that ends too early is told, and passes it on."""
    play = Play()
    turn = play.at_work()
    play.said("also this")
    play.said("and that")
    refused(play.finish(turn), "steered")
    play.act(Took(turn.run, turn.fence, 1))
    refused(play.finish(turn), "steered")
    told = play.finished(turn, took=1, untaken=("and that",), attachments=("f1",))
    assert told.next_run is not None
    assert play.run(told.next_run).message == "and that"
    assert play.run(told.next_run).attachments == ("f1",)
    assert [entry.text for entry in play.history(play.run(turn.run).conversation)].count("and that") == 1


def test_a_steer_and_the_end_do_not_miss_each_other() -> None:
    """The turn decided to end before it saw the steer: it loses the race and hears of it."""
    play = Play()
    turn = play.at_work()
    look = play.look()
    play.said("one more")
    refused(play.act(Finish(turn.run, turn.fence, "completed", "done"), look), "steered")


def test_words_to_a_stopping_run_start_the_next_one() -> None:
    """They are kept behind it, and it starts when the conversation is free."""
    play = Play()
    turn = play.at_work()
    play.stopped(turn.run, "user_paused")
    run = play.said("next")
    assert run != turn.run
    assert not play.index("ready")
    play.act(Ended(turn.run, turn.fence, "cooperative"))
    assert list(play.index("ready")) == [run]


def test_words_beside_a_paused_run_start_a_new_one() -> None:
    """The paused one stays to be resumed; resumed later, it moves behind what came since."""
    play = Play()
    turn = play.at_work()
    play.act(Broke(turn.run, turn.fence, "boom"))
    newer = play.said("something else")
    assert play.run(turn.run).state == "paused"
    told = play.resumed(turn.run)
    assert told.run not in (turn.run, newer)
    assert play.conversation(play.run(newer).conversation).queue == (newer, told.run)
    assert play.run(turn.run).id == told.run
    assert play.run(told.run).root == turn.run


def test_the_requests_of_a_moved_run_follow_it() -> None:
    """Its answer starts a turn after what came since; the old id reports the new run."""
    play = Play()
    run, asked = play.waiting(CHOICE, ANN, "tg-7")
    play.said("newer", ANN, "tg-7")
    told = play.answered(asked, "a")
    assert told.run != run
    assert play.request(asked).run == told.run
    assert isinstance(play.stop(run, "user_canceled"), Stopped)
    assert play.run(told.run).state == "canceled"


def test_an_edited_message_changes_nothing() -> None:
    """C38: whatever it says now."""
    play = Play()
    play.waiting(TEXT)
    before = play.commits
    assert isinstance(play.say("/cancel", edited=True), Told)
    assert play.commits == before


def test_a_program_names_the_run_it_means() -> None:
    """`pending_task` steers it while it works and resumes it when it is paused, with what was said."""
    play = Play()
    turn = play.at_work()
    steered = play.say("faster", pending_task=turn.run)
    assert isinstance(steered, Sent)
    assert steered.steer
    refused(play.say("", pending_task=turn.run), "conflict")
    play.act(Broke(turn.run, turn.fence, "boom"))
    resumed = play.say("try again", pending_task=turn.run)
    assert isinstance(resumed, Sent)
    assert resumed.resumed
    assert play.steps(turn.run)[-1].data["text"] == "try again"
    play.stopped(turn.run, "user_canceled")
    refused(play.say("once more", pending_task=turn.run), "ended")


def test_foreign_conversations_look_unknown() -> None:
    """C12: private ones, groups of others, and those that never were."""
    play = Play()
    private, group = play.said("a"), play.said("b", ANN, "tg-7")
    told = [
        play.say("x", DAN, conversation=play.run(private).conversation),
        play.say("x", DAN, "tg-7", conversation=play.run(group).conversation),
        play.say("x", DAN, conversation="c000000000000000"),
    ]
    assert told[0] == told[1] == told[2]
    refused(told[0], "unknown")


def test_a_finished_run_leaves_the_conversation_to_the_next() -> None:
    """One after the other, in the order they were said."""
    play = Play()
    turn = play.at_work("one", ANN, "tg-7")
    second = play.said("two", BEN, "tg-7")
    assert not play.index("ready")
    assert isinstance(play.finish(turn), Changed)
    assert list(play.index("ready")) == [second]


@pytest.mark.parametrize("private", [True, False])
def test_a_sealed_secret_is_taken_in_a_private_place_only(private: bool) -> None:
    """Its text is nowhere; a repeat of the event hears the same, whatever the text was."""
    play = Play()
    question = Question(title="Token?", fields=(SecretField(name="token"),))
    place = "chat-1" if private else "tg-7"
    asked = play.waiting(question, origin=place)[1]
    event = Said(place, "", ANN, "demo", "k", private=private, people=GROUP, secret=asked, sealed={"y0": "sealed"})
    told = play.act(event)
    assert isinstance(told, Answered if private else Refusal)
    assert play.request(asked).state == ("settled" if private else "open")
    if private:
        assert play.act(Said(place, "S3cr3t", ANN, "demo", "k", private=private)) == told


def test_what_follows_a_written_secret_at_once_is_not_kept() -> None:
    """C128: an answer in two messages. A moment later, or when a question is open, it is what it says."""
    play = Play()
    asked = play.waiting(Question(fields=(SecretField(name="token"),)), origin="tg-1")[1]
    assert isinstance(play.act(Said("tg-1", "", ANN, "demo", "k", secret=asked, sealed={"y0": "sealed"})), Answered)
    refused(play.act(Said("tg-1", "and the rest", ANN, "demo", "l")), "secret")
    assert isinstance(play.act(Said("tg-1", "/status", ANN, "demo", "m")), Told)
    play.later(11_000)
    assert isinstance(play.act(Said("tg-1", "thank you", ANN, "demo", "n")), Sent)
