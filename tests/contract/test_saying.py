"""What people write goes where the table says: commands first, replies, answers, and only then tasks."""

from __future__ import annotations

from core.agent import Run
from core.question import Option
from tests.contract.agents import DID, approved, both, deploy, what, where
from tests.contract.bench import ANN, BOB, EVE, GROUP, HOME, Bench
from tests.proves import proves
from tests.waiting import wait_until


@proves("C07", "kit", "telegram")
async def test_another_member_presses_and_nothing_changes(made: Bench) -> None:
    """The owner's run in a group: somebody else who is no approver is refused, and she can still answer."""
    made.doors.set((ANN.id, EVE.id))
    made.hire(deploy)
    await made.write("please", place=GROUP)
    card = await made.card("Deploy?", place=GROUP)
    before = (card.text, card.rows)
    for label in ("Approve", "Deny", "Always"):
        answer = await made.press(card, label, person=EVE)
        assert (answer.text, answer.private) == ("This is not yours to answer.", True)
    await made.settled()
    assert (card.text, card.rows) == before
    assert (await made.press(card, "Approve")).text == "Accepted."


@proves("C08", "kit", "telegram")
async def test_an_empty_list_of_people_means_nobody_in_a_group(made: Bench) -> None:
    made.doors.set(())
    made.hire(deploy)
    await made.write("please", place=GROUP)
    await made.write("please")
    await made.card("Deploy?")
    assert not made.chats[0].cards(GROUP)
    assert not await made.runs(GROUP)


@proves("C09", "kit", "telegram")
async def test_small_talk_in_a_group_is_not_consent(made: Bench) -> None:
    made.hire(deploy)
    await made.write("please", place=GROUP)
    card = await made.card("Deploy?", place=GROUP)
    for word in ("ok", "yes"):
        await made.write(word, place=GROUP)
    request = (await made.pending())[0]
    assert request.state == "open"
    await made.write("yes", place=GROUP, reply_to=card)
    await made.final(card, "Approved by Ann")


async def test_in_a_private_chat_a_bare_yes_approves_the_only_question(made: Bench) -> None:
    made.hire(deploy)
    await made.write("please")
    card = await made.card("Deploy?")
    await made.write("Yes")
    await made.final(card, "Approved by Ann")


@proves("C11", "kit", "telegram")
async def test_what_others_write_in_a_group_is_not_the_answer(made: Bench) -> None:
    made.hire(what)
    await made.write("please", place=GROUP)
    card = await made.says("What is it?", place=GROUP)
    assert "as a reply" in card.text
    await made.write("lunch?", person=BOB, place=GROUP)
    await made.write("a parrot", place=GROUP, reply_to=card)
    await made.says("You said: a parrot.", place=GROUP)


@proves("C14", "kit", "page", "telegram")
async def test_only_an_explicit_yes_is_a_yes(made: Bench) -> None:
    """Nothing, something else, a list, what another question would take: each is refused with what could be picked."""
    DID.clear()
    made.hire(deploy)
    await made.write("please")
    card = await made.card("Deploy?")
    request = (await made.pending())[0]
    words = ("maybe", "null", "1.5", "[1]", "1, 2", "once", "true", "yes please do not", "staging", "2026-11-30")
    for number, word in enumerate(("", *words)):
        answer = await made.write(f"/answer {request.id} {word}" if number % 2 == 0 else word, reply_to=card)
        assert answer is not None, word
        assert "Pick one" in answer.text, word
    assert [(one.id, one.state, one.given) for one in await made.pending()] == [(request.id, "open", {})]
    assert DID == []
    await made.write("YES", reply_to=card)
    await made.says("Deployed.")
    assert DID == ["please"]


@proves("C14", "kit", "telegram")
async def test_a_press_that_says_no_yes_approves_nothing(made: Bench) -> None:
    """A payload is untrusted: submits without a value, no options, lists, forms, buttons of other questions."""
    DID.clear()
    made.hire(deploy)
    await made.write("please")
    card = await made.card("Deploy?")
    request, desk = (await made.pending())[0].id, made.platform.desk
    assert desk is not None
    for word in (
        "done",
        "o4",
        "o999",
        "f1o0",
        "f9o0",
        "m0",
        "f1m0",
        "text",
        "g0",
        "give",
        "skip",
        "back",
        "p1",
        "page",
    ):
        assert not made.accepted(await made.platform.send(ANN, card, f"v1:{request}:{word}")), word
    picks, indexes, words = {"": ["0", "1"]}, {"0": ["0"]}, {"0": ["yes"]}
    for word, values in (("m0", picks), ("text", indexes), ("g0", indexes), ("give", words)):
        told = await desk.fill(HOME, card.id, f"v1:{request}:{word}", values, ANN, key=made.platform.key())
        assert not made.accepted(told), (word, told)
        assert told.text
    assert [(one.id, one.state, one.given) for one in await made.pending()] == [(request, "open", {})]
    assert DID == []
    assert made.accepted(await made.press(card, "Approve"))
    await made.says("Deployed.")
    assert DID == ["please"]


@proves("C21", "kit", "page", "telegram")
async def test_the_id_on_the_card_is_the_id_that_commands_take(made: Bench) -> None:
    made.hire(deploy)
    await made.write("please")
    card = await made.card("Deploy?")
    request = (await made.pending())[0]
    assert request.id in card.text
    await made.write(f"/approve   {request.id.upper()}  ")
    await made.final(card, "Approved by Ann")


@proves("C26", "kit", "telegram")
async def test_a_bare_yes_to_two_questions_asks_which_one(made: Bench) -> None:
    made.hire(both)
    await made.write("please")
    await made.card("List?")
    await made.card("Delete?")
    answer = await made.write("yes")
    assert answer is not None
    assert "which one?" in answer.text
    listed = await made.card("which one?")
    assert len(listed.labels) == 2
    assert len(await made.pending()) == 2
    await made.press(listed, "Delete?")
    await wait_until(lambda: len([one for one in made.chats[0].cards(HOME) if "Delete?" in one.text]) >= 3)


async def test_what_waits_elsewhere_is_not_read_out_to_a_group(made: Bench) -> None:
    """A list of what waits names questions and tasks in full: where others read it, it is only of the place."""
    made.hire(where)
    await made.write("please")
    await made.card("Where to?")
    listed = await made.write("/pending", place=GROUP)
    assert listed is not None
    told = await made.says(listed.text, place=GROUP)
    if made.chats[0].limits.whispers:
        assert told.only == ANN.id
        assert "Where to?" in told.text
        return
    assert told.text == "Nothing waits for you here. 1 more elsewhere: /pending in a private chat lists all."
    made.hire(what)
    await made.write("please", place=GROUP)
    await made.card("What is it?", place=GROUP)
    listed = await made.write("/pending", place=GROUP)
    assert listed is not None
    assert "What is it?" in listed.text
    assert listed.text.endswith("\n1 more elsewhere: /pending in a private chat lists all.")
    assert not [one for one in made.chats[0].at(GROUP) if "Where to?" in one.text]
    everything = await made.write("/pending")
    assert everything is not None
    assert "Where to?" in everything.text
    assert "What is it?" in everything.text


async def test_the_list_of_a_group_names_no_paused_task_of_elsewhere(made: Bench) -> None:
    made.hire(where)
    await made.write("please, but tell nobody")
    await made.card("Where to?")
    await made.write("/pause")
    listed = await made.write("/cancel", place=GROUP)
    assert listed is not None
    assert made.chats[0].limits.whispers or "tell nobody" not in listed.text


async def test_a_command_that_is_named_to_a_person_stands_without_marks(made: Bench) -> None:
    answer = await made.write("/answer q0ajgqjthv31mc3f yes")
    assert answer is not None
    assert answer.text == "There is no such request; /pending lists those that are open"


@proves("C28", "kit", "page", "telegram")
async def test_a_reply_to_a_closed_card_hears_what_stands_and_touches_nothing_else(made: Bench) -> None:
    async def twice(run: Run, message: str) -> str:
        await approved(run, "first")
        await approved(run, "second")
        return "Done."

    made.hire(twice)
    await made.write("please")
    first = await made.card("First?")
    await made.press(first, "Deny")
    await made.card("Second?")
    answer = await made.write("y", reply_to=first)
    assert answer is not None
    assert answer.text.startswith("Already answered by Ann")
    assert [one.question.title for one in await made.pending()] == ["Second?"]


@proves("C33", "kit", "page", "telegram")
@proves("C35", "kit", "page", "telegram")
async def test_text_that_fits_no_option_is_answered_with_the_options(made: Bench) -> None:
    made.hire(where)
    await made.write("please")
    card = await made.card("Where to?")
    for word in ("the second one, but without tests", "hello?", "status"):
        answer = await made.write(word)
        assert answer is not None
        assert "1. staging" in answer.text
    assert len(await made.pending()) == 1
    await made.write("PRODUCTION", reply_to=card)
    await made.says("To production.")


async def test_an_option_is_picked_by_its_number(made: Bench) -> None:
    made.hire(where)
    await made.write("please")
    await made.card("Where to?")
    await made.write("2")
    await made.says("To production.")


async def test_own_words_count_where_they_are_offered(made: Bench) -> None:
    async def ask(run: Run, message: str) -> str:
        return f"Taken: {await run.choose('Which?', [Option(id='a', label='one')], allow_other=True)}"

    made.hire(ask)
    await made.write("please")
    await made.card("Which?")
    await made.write("something else")
    await made.says("Taken: something else")


@proves("C36", "kit", "telegram")
async def test_commands_act_as_commands_while_a_text_is_asked(made: Bench) -> None:
    made.hire(what)
    await made.write("please")
    await made.says("What is it?")
    for command, words in (("/status", "Waiting for you"), ("/help", "/cancel"), ("/pending", "What is it?")):
        answer = await made.write(command)
        assert answer is not None
        assert words in answer.text
    await made.write("/unknown is my answer")
    await made.says("You said: /unknown is my answer.")


@proves("C38", "kit", "telegram")
async def test_an_edit_changes_nothing_and_says_so(made: Bench) -> None:
    made.hire(what)
    await made.write("please")
    await made.says("What is it?")
    runs = await made.runs()
    assert made.platform.desk is not None
    for number in range(2):
        answer = await made.platform.desk.edit(HOME, "p1", "/cancel", ANN, key=f"edit{number}")
        assert answer is not None
        assert "first stands" in answer.text
    assert [run.state for run in await made.runs()] == [run.state for run in runs] == ["waiting"]


async def test_an_update_that_comes_again_changes_nothing_and_is_not_answered_again(made: Bench) -> None:
    made.hire(where)
    await made.write("please", key="u-1")
    card = await made.card("Where to?")
    await made.write("what?", key="u-2")
    await made.says("Pick one by number")
    for _ in range(3):
        await made.write("please", key="u-1")
        await made.write("what?", key="u-2")
    await made.press(card, "staging", key="u-3")
    await made.says("To staging.")
    await made.settled()
    assert len([text for text in made.chats[0].texts(HOME) if "Pick one by number" in text]) == 1
    assert len(await made.runs()) == 1


async def test_another_agent_is_chosen_by_a_command(made: Bench) -> None:
    made.hire(where)
    made.hire(what, name="curious")
    await made.down()
    await made.up()
    answer = await made.write("/agent")
    assert answer is not None
    assert "• it (now)" in answer.text
    await made.write("/agent CURIOUS")
    await made.says("curious answers here from now on.")
    await made.write("please")
    await made.says("What is it?")
