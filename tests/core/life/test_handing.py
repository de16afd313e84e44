"""Questions for files: which files are an answer, which are refused and why, and how a chat gives them."""

from __future__ import annotations

import pytest

from core.life.check import normal
from core.life.decision import Refusal
from core.life.result import Answered
from core.model import Json
from core.question import Accepted, Declined, FileField, Handed, Question, TextField
from tests.core.life.memory import FILES
from tests.core.life.play import ANN, BEN, CHOICE, TEXT, Play

TABLE = Question(title="Which table?", fields=(FileField(types=(".csv",), max_bytes=1_000),))
TWO = Question(title="Which tables?", fields=(FileField(max_files=2),))
MAYBE = Question(title="A picture, perhaps?", fields=(FileField(types=("image/*",), required=False),))
FORM = Question(title="Import", fields=(FileField(id="table"), TextField(id="name")))
F1: Json = {"id": "f1", "name": "f1.csv", "type": "text/plain", "size": 9}


def refused(told: object, code: str) -> Refusal:
    assert isinstance(told, Refusal), told
    assert told.code == code, told
    return told


def sent(*ids: str) -> list[Json]:
    return [*ids]


def files_of(told: object) -> list[dict[str, Json]]:
    found = value(told)
    assert isinstance(found, list)
    return [one for one in found if isinstance(one, dict)]


def noted(words: str) -> Json:
    """The first file, with what was said with it."""
    return {"id": "f1", "name": "f1.csv", "type": "text/plain", "size": 9, "note": words}


def value(told: object, name: str = "file") -> Json:
    assert isinstance(told, Answered), told
    assert isinstance(told.answer, Accepted), told
    return told.answer.values[name]


def test_an_answer_with_the_id_of_a_file_tells_its_name_kind_and_size() -> None:
    """So that a card can name it, and the agent knows it, without looking anywhere."""
    play = Play()
    _, asked = play.waiting(TABLE)
    assert value(play.answered(asked, sent("f1"), files=FILES)) == [F1]


@pytest.mark.parametrize(
    ("question", "sent", "words"),
    [
        (TABLE, ["f0"], "there is no file 'f0' of yours: upload it first"),
        (TABLE, ["f3"], "'f3.csv' is too large: it has 1001 bytes, and at most 1000 are taken"),
        (TABLE, ["f4"], "'f4.exe' is not of a kind that is wanted: send .csv"),
        (TABLE, ["f1", "f2"], "at most 1 file is taken, not 2"),
        (TWO, ["f1", "f2", "f3"], "at most 2 files are taken, not 3"),
        (TWO, ["f1", "f1"], "each file counts once"),
        (TABLE, [], "a file is required"),
        (TABLE, "f1", "must be a list of ids of files"),
        (TABLE, [None], "there is no file None of yours"),
        (TABLE, [{"id": "f0", "name": "mine.csv", "type": "text/csv", "size": 1}], "there is no file 'f0' of yours"),
        (MAYBE, ["f1"], "send image/*"),
    ],
)
def test_what_is_no_answer_is_refused_with_what_to_do(question: Question, sent: Json, words: str) -> None:
    """And the question stays open: an invented file, or one that only claims to be there, is none."""
    play = Play()
    _, asked = play.waiting(question)
    assert words in refused(play.reply(asked, sent, files=FILES), "invalid").text
    assert play.request(asked).state == "open"


def test_a_description_that_comes_with_the_id_counts_for_nothing() -> None:
    """What is stored of the file says what it is, not who sends its id."""
    play = Play()
    _, asked = play.waiting(TABLE)
    claimed: Json = [{"id": "f4", "name": "f4.csv", "type": "text/csv", "size": 1}]
    assert "f4.exe" in refused(play.reply(asked, claimed, files=FILES), "invalid").text


def test_a_kind_may_be_a_media_type_with_parameters_and_an_ending_in_any_case() -> None:
    picture = Handed(id="p", name="A.PNG", type="image/png; q=1", size=1)
    play = Play()
    _, asked = play.waiting(MAYBE)
    assert isinstance(play.answered(asked, sent("p"), files={"p": picture}), Answered)
    made = normal(Question(title="?", fields=(FileField(types=(" PNG ", "", ".Csv")),)))
    assert not isinstance(made, Refusal)
    assert made.fields == (FileField(types=(".png", ".csv")),)


@pytest.mark.parametrize("field", [FileField(max_files=0), FileField(max_files=11), FileField(max_bytes=0)])
def test_a_question_that_no_file_could_answer_is_not_asked(field: FileField) -> None:
    assert isinstance(normal(Question(title="?", fields=(field,))), Refusal)


def test_a_file_that_was_optional_may_be_none() -> None:
    play = Play()
    _, asked = play.waiting(MAYBE)
    assert value(play.answered(asked, [])) == []


def test_the_same_file_again_by_the_same_person_is_the_same_answer() -> None:
    """C01: with the id or with the description; another file is not."""
    play = Play()
    _, asked = play.waiting(TABLE)
    play.answered(asked, sent("f1"), files=FILES)
    for again in (sent("f1"), [F1]):
        told = play.reply(asked, again, files=FILES)
        assert isinstance(told, Answered)
        assert told.repeat
    refused(play.reply(asked, sent("f2"), files=FILES), "already_answered")


# ── in a chat ────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_next_message_with_a_file_answers_the_only_question_for_one() -> None:
    """C34, as a text does for a question for a text; what is said with it goes with it."""
    play = Play()
    _, asked = play.waiting(TABLE)
    told = play.say(" here it is", attachments=("f1",), files=FILES)
    assert files_of(told) == [noted("here it is")]
    assert play.request(asked).state == "settled"


def test_what_is_said_with_several_files_stands_with_the_first_and_stays_in_a_form() -> None:
    play = Play()
    _, asked = play.waiting(TWO)
    first, second = files_of(play.say("both", attachments=("f1", "f2"), files=FILES))
    assert (first["note"], "note" in second) == ("both", False)
    _, asked = play.waiting(FORM)
    play.answered(asked, Accepted(values={"table": [{"id": "f1", "note": "mine"}]}), submit=False, files=FILES)
    told = play.answered(asked, Accepted(values={"table": ["f1"], "name": "Rex"}))
    assert value(told, "table") == [noted("mine")]


def test_beside_a_question_for_a_text_a_file_answers_the_one_for_a_file() -> None:
    play = Play()
    turn = play.at_work()
    name, table = play.asked(turn, TEXT, "ask#0"), play.asked(turn, TABLE, "ask#1")
    assert value(play.say("", attachments=("f1",), files=FILES)) == [F1]
    assert (play.request(name).state, play.request(table).state) == ("open", "settled")
    assert isinstance(play.say("Rex"), Answered)


def test_with_two_questions_for_files_the_person_is_asked_which() -> None:
    play = Play()
    turn = play.at_work()
    one, two = play.asked(turn, TABLE, "ask#0"), play.asked(turn, TWO, "ask#1")
    refused(play.say("", attachments=("f1",), files=FILES), "choose")
    assert value(play.say("", reply_to=two, attachments=("f1",), files=FILES)) == [F1]
    assert play.request(one).state == "open"


def test_a_text_is_no_file() -> None:
    """C09: the person is told what is wanted, and nothing is consumed; steering would hide that the task waits."""
    play = Play()
    _, asked = play.waiting(TABLE)
    before = play.commits
    for words in ("f1", "yes", "skip"):
        told = refused(play.say(words), "choose")
        assert "a file (.csv) is wanted: send it as an attachment, or /cancel" in told.text
    assert play.commits == before
    assert play.request(asked).state == "open"


@pytest.mark.parametrize("word", ["skip", "Skip.", "none"])
def test_a_word_skips_what_is_optional(word: str) -> None:
    play = Play()
    play.waiting(MAYBE)
    assert value(play.say(word)) == []


def test_in_a_group_only_a_reply_to_the_card_gives_the_file() -> None:
    """C11: somebody's next picture is not the answer."""
    play = Play()
    _, asked = play.waiting(TABLE, ANN, "tg-7")
    assert not isinstance(play.say("look", BEN, "tg-7", attachments=("f1",), files=FILES), Answered)
    assert play.request(asked).state == "open"
    assert value(play.say("", ANN, "tg-7", reply_to=asked, attachments=("f1",), files=FILES)) == [F1]


@pytest.mark.parametrize(("question", "words"), [(CHOICE, ""), (CHOICE, "1"), (TEXT, "see")])
def test_a_file_to_another_kind_of_question_is_no_answer(question: Question, words: str) -> None:
    """Nor is the text that came with it: half of what somebody says is not taken in silence."""
    play = Play()
    _, asked = play.waiting(question)
    for to in (None, asked):
        told = refused(play.say(words, reply_to=to, attachments=("f1",), files=FILES), "choose")
        assert "no file is asked for" in told.text
    assert play.request(asked).state == "open"


def test_a_command_gives_the_file_to_the_question_that_it_names() -> None:
    play = Play()
    turn = play.at_work()
    play.asked(turn, TABLE, "ask#0")
    two = play.asked(turn, TWO, "ask#1")
    assert value(play.say(f"/answer {two}", attachments=("f1",), files=FILES)) == [F1]


def test_a_form_keeps_a_file_until_it_is_submitted() -> None:
    """The submit names the id or nothing at all; the file stays the one that was given."""
    play = Play()
    _, asked = play.waiting(FORM)
    play.answered(asked, Accepted(values={"table": ["f1"]}), submit=False, files=FILES)
    assert play.request(asked).given["table"].value == [F1]
    told = play.answered(asked, Accepted(values={"table": ["f1"], "name": "Rex"}))
    assert value(told, "table") == [F1]


def test_somebody_elses_file_in_a_form_stays_theirs() -> None:
    play = Play()
    _, asked = play.waiting(FORM.model_copy(update={"responders": (ANN.id, BEN.id)}))
    play.answered(asked, Accepted(values={"table": ["f1"]}), submit=False, files=FILES)
    refused(play.reply(asked, Accepted(values={"table": ["f2"]}), BEN, submit=False, files=FILES), "not_allowed")
    told = play.answered(asked, Accepted(values={"table": ["f1"], "name": "Rex"}), BEN)
    assert value(told, "table") == [F1]


def test_the_audit_knows_that_somebody_answered_and_no_name_of_a_file() -> None:
    play = Play()
    _, asked = play.waiting(TABLE)
    play.answered(asked, sent("f1"), files=FILES)
    assert [one.outcome for one in play.deeds] == ["accepted"]
    assert "f1" not in play.deeds[0].model_dump_json()


def test_a_no_is_an_answer_as_everywhere() -> None:
    play = Play()
    _, asked = play.waiting(TABLE)
    assert play.answered(asked, Declined()).answer == Declined()
