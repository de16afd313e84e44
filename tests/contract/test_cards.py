"""Every platform shows what is asked, lets it be answered once, and keeps its cards in step with the state."""

from __future__ import annotations

import pytest

from core.agent import Run
from core.life.event import Reply
from core.question import Accepted, ChoiceField, Option, TextField
from tests.contract.agents import DID, both, deploy, two, what, where
from tests.contract.bench import HOME, Bench
from tests.proves import proves
from tests.waiting import wait_until
from tests.workshop import PATIENT


@proves("C01", "kit", "page", "telegram")
async def test_a_question_is_shown_pressed_and_its_card_says_so(made: Bench) -> None:
    """Three presses of one button are one answer, and each hears the truth."""
    DID.clear()
    made.hire(deploy)
    await made.write("please")
    card = await made.card("Deploy?")
    assert "production" in card.text
    payload = card.rows[0][0].payload
    first = await made.press(card, "Approve")
    again = [await made.late(card, payload) for _ in range(2)]
    assert made.accepted(first)
    assert again == ["Already answered: that is the answer that stands."] * 2
    await made.final(card, f"Approved by Ann on {made.here}")
    await made.says("Deployed.")
    await made.settled()
    assert made.chats[0].texts(HOME).count("Deployed.") == 1
    assert DID == ["please"]


@proves("C04", "kit", "page", "telegram")
async def test_what_is_answered_elsewhere_has_no_live_buttons_here(made: Bench) -> None:
    made.hire(deploy)
    await made.write("please")
    card = await made.card("Deploy?")
    payload = card.rows[0][0].payload
    run = await made.the_run()
    await made.broker.answer(Reply(run.requests[0], Accepted(values={"confirm": "once"}), made.me, "chat"))
    await made.final(card, "Approved by Ann on the dashboard")
    assert (await made.late(card, payload)).startswith("Already answered")


async def test_who_is_late_hears_what_was_picked_by_whom_and_where(made: Bench) -> None:
    """As long as the task goes on; then the card says it."""

    async def ask(run: Run, message: str) -> str:
        await run.confirm("Deploy?", tool="deploy", arguments={})
        await run.ask("Why?")
        return "Deployed."

    made.hire(ask)
    await made.write("please")
    card = await made.card("Deploy?")
    deny = next(button.payload for button in card.view.buttons if button.label == "Deny")
    await made.press(card, "Approve")
    await made.says("Why?")
    late = await made.late(card, deny)
    assert "Already answered by Ann on" in late
    assert "Approve" in late or made.here == "the dashboard"


@proves("C06", "kit", "page", "telegram")
async def test_a_press_hears_the_truth_in_few_characters(made: Bench) -> None:
    """Accepted, already answered, canceled, unknown: each press has one answer, and it is true."""
    made.hire(deploy)
    await made.write("please")
    card = await made.card("Deploy?")
    deny = next(button.payload for button in card.view.buttons if button.label == "Deny")
    assert deny is not None
    assert made.accepted(await made.press(card, "Approve"))
    assert (await made.late(card, deny)).startswith("Already answered")
    gone = deny.replace(card.id.removeprefix("q:") if "{" in deny else deny.split(":")[1], "q0zzzzzzzzzzzzzz")
    assert "no such request" in await made.late(card, gone)


@proves("C24", "kit", "page", "telegram")
async def test_each_of_two_questions_gets_its_own_answer(made: Bench) -> None:
    made.hire(two)
    await made.write("please")
    file, branch = await made.card("Which file?"), await made.card("Which branch?")
    await made.press(file, "A")
    await made.press(branch, "A")
    await made.says("file A, branch A.")


@proves("C25", "kit", "page", "telegram")
async def test_pressing_one_card_decides_that_one(made: Bench) -> None:
    made.hire(both)
    await made.write("please")
    listing, deleting = await made.card("List?"), await made.card("Delete?")
    await made.press(deleting, "Deny")
    await made.press(listing, "Approve")
    await made.says("list True, delete False.")
    await made.final(deleting, "Denied by Ann")


@proves("C31", "kit", "page", "telegram")
async def test_answers_find_their_questions_in_reverse_and_over_a_restart(made: Bench) -> None:
    made.hire(both)
    await made.write("please")
    listing, deleting = await made.card("List?"), await made.card("Delete?")
    await made.press(deleting, "Deny")
    await made.restart()
    await made.press(listing, "Approve")
    await made.says("list True, delete False.")


@proves("C44", "kit", "page", "telegram")
@proves("C46", "kit", "page", "telegram")
async def test_the_first_press_after_a_restart_counts(made: Bench) -> None:
    """Nothing that an adapter remembers decides: the broker does."""
    made.hire(where)
    await made.write("please")
    card = await made.card("Where to?")
    payload = next(button.payload for button in card.view.buttons if "production" in button.label)
    await made.restart()
    assert made.accepted(await made.press(card, "production"))
    assert "Already answered" in await made.late(card, payload)
    await made.says("To production.")


async def test_a_press_on_a_message_nobody_remembers_works_and_is_adopted(made: Bench) -> None:
    """A send whose result was lost left a card; it answers, and gets the final edit as well."""
    made.hire(where)
    await made.write("please")
    card = await made.card("Where to?")
    found = await made.platform.post(HOME, card.view, nonce="another")
    assert found is not None
    stray = made.chats[0].at(HOME)[-1]
    assert stray.id != card.id
    assert (await made.press(stray, "staging")).text == "Accepted."
    await made.final(stray, "staging")
    await made.final(card, "staging")
    await made.says("To staging.")


@proves("C45", "kit", "telegram")
async def test_every_kind_of_control_wakes_the_run(made: Bench) -> None:
    """Buttons, toggles with Done, a form filled in step by step, a written text."""

    async def ask(run: Run, message: str) -> str:
        one = await run.choose("One?", ["red", "green"])
        several = await run.choose("Several?", ["ham", "egg", "jam"], multiple=True, min=2)
        form = await run.form(
            "A form",
            ChoiceField(
                id="size", label="Size", options=(Option(id="s", label="small"), Option(id="l", label="large"))
            ),
            TextField(id="name", label="Name"),
        )
        text = await run.ask("Why?")
        return f"{one} {'+'.join(several)} {form['size']} {form['name']} {text}"

    made.hire(ask)
    await made.write("please")
    await made.press(await made.card("One?"), "green")
    several = await made.card("Several?")
    await made.press(several, "ham")
    await made.press(several, "egg")
    await made.press(several, "jam")
    await wait_until(lambda: "Done (3)" in several.labels)
    await made.press(several, "ham")
    await wait_until(lambda: "Done (2)" in several.labels)
    await made.press(several, "Done")
    form = await made.card("1 of 2: Size")
    await made.press(form, "large")
    await wait_until(lambda: "2 of 2: Name" in form.text)
    await made.write("Zoë", reply_to=form)
    await wait_until(lambda: "Submit" in form.labels)
    assert "Name: Zoë" in form.text
    await made.press(form, "Submit")
    await made.says("Why?")
    await made.write("because")
    await made.says("green egg+jam l Zoë because")


@proves("C34", "kit", "page", "telegram")
@pytest.mark.parametrize("when", ["at once", "after minutes"])
async def test_a_written_answer_is_the_answer_and_resumes_the_run_once(made: Bench, when: str) -> None:
    """While its turn still waits, and when the turn is long gone; nothing else is begun, nothing is said about it."""
    if when == "at once":
        made.pace = PATIENT
        await made.restart()
    made.hire(what)
    await made.write("please")
    await made.says("What is it?")
    before = await made.the_run()

    async def parked() -> bool:
        return (await made.the_run()).turn is None

    if when == "after minutes":
        await wait_until(parked)
        await made.restart()
    await made.settled()
    there = [one.text for one in made.chats[0].at(HOME)]
    assert await made.write("a parrot") is None
    await made.says("You said: a parrot.")
    await made.settled()
    run = await made.the_run()
    assert (run.id, run.state) == (before.id, "completed")
    turns = [step.kind for _, step in await made.broker.steps(run.root)].count("turn")
    assert turns == (1 if when == "at once" else 2)
    came = [one.text for one in made.chats[0].at(HOME) if one.text not in there]
    assert [text for text in came if "parrot" not in text and "What is it?" not in text] == []
    assert [text.strip() for text in came].count("You said: a parrot.") == 1
