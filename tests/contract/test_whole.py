"""What an agent asks comes whole or cannot be approved, and every option of it can be told apart and picked."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from adapters.platform import Refused
from core.agent import NotAskable, Run
from core.question import Option, TextField
from tests.contract.bench import ANN, GROUP, HOME, Bench, bench, narrow, wide
from tests.proves import proves
from tests.waiting import wait_until


@proves("C52", "kit")
@pytest.mark.parametrize("pause", [None, 0.2])
async def test_a_part_of_a_long_question_that_failed_is_sent_again_and_not_skipped(
    redis_url: str, tmp_path: Path, pause: float | None
) -> None:
    """Its second part is refused at first: then all of it stands there in order, with its buttons last."""
    words = "".join(f"word{n} " for n in range(400))

    async def ask(run: Run, said: str) -> str:
        return f"Took {await run.choose('Which?', ['yes'], message=words)}."

    async with bench(redis_url, tmp_path, [narrow()]) as made:
        made.hire(ask)
        made.chats[0].fail("post")
        made.chats[0].fail("post", Refused("later", "not now", pause))
        await made.write("please")
        card = await made.card("q0")
        assert not made.chats[0].faults
        shown = re.findall(r"word(\d+) ", " ".join(made.chats[0].texts(HOME)) + " ")
        assert list(dict.fromkeys(shown)) == [str(n) for n in range(400)]
        assert made.chats[0].at(HOME)[-1].id == card.id
        await made.press(card, "yes")
        await made.says("Took yes.")


@proves("C56", "kit")
async def test_options_that_are_no_words_are_words_or_an_error_and_never_a_card_without_an_answer(
    redis_url: str, tmp_path: Path
) -> None:
    given: dict[str, list[object]] = {
        "mixed": ["Yes", "Yes", "", None, "\n", 7, {"label": "Seven", "description": "the number"}],
        "none": ["", None, " \n"],
    }

    async def ask(run: Run, message: str) -> str:
        try:
            return f"Took {await run.choose('Which?', given[message])}."  # pyright: ignore[reportArgumentType] what models bring
        except NotAskable as no:
            return f"Cannot be asked: {no}"

    async with bench(redis_url, tmp_path, [wide()]) as made:
        made.hire(ask)
        await made.write("none")
        await made.says("Cannot be asked")
        await made.write("mixed")
        card = await made.card("Which?")
        offered = [label for label in card.labels if "Cancel" not in label and "Abort" not in label]
        assert len(offered) == 4, offered
        assert "7" in offered[2]
        assert "Seven" in offered[3]
        assert "the number" in card.text


@proves("C58", "kit", "telegram")
async def test_a_confirmation_whose_words_are_not_whole_cannot_be_approved_either(made: Bench) -> None:
    """Also where no call is named: what it is about stands in its words then."""

    async def ask(run: Run, message: str) -> str:
        await run.confirm("May I?", message="x" * 60_000 + "\nand rm -rf /")
        return "Ran."

    made.hire(ask)
    await made.write("please")
    card = await made.card("May I?")
    files = [one for one in made.chats[0].at(HOME) if one.file is not None]
    assert bool(files) is ("Approve" in card.labels)
    assert "Deny" in card.labels
    assert not files or (files[0].file or b"").decode().count("x") >= 60_000


@proves("C58", "kit")
async def test_words_approve_only_where_the_question_was_shown(redis_url: str, tmp_path: Path) -> None:
    """A command in a group cannot say yes to what stands in a private chat; a no is taken, and a shown card counts."""

    async def ask(run: Run, message: str) -> str:
        await run.confirm("May I?", tool="shell", arguments={"command": message})
        return f"Ran {message}."

    async with bench(redis_url, tmp_path, [wide()]) as made:
        made.hire(ask)
        for words, told in (
            ("/approve {}", "not shown here"),
            ("/answer {} yes", "not shown here"),
            ("/deny {}", None),
        ):
            await made.write("please")
            card = await made.card("May I?")
            (request,) = await made.pending()
            answer = await made.write(words.format(request.id), place=GROUP)
            if told is None:
                await made.final(card, "Denied by Ann")
                continue
            assert answer is not None
            assert told in answer.text
            assert "dashboard" in answer.text
            said = await made.says(told, place=GROUP)
            assert said.only == ANN.id
            assert (await made.request(request.id)).state == "open"
            await made.write(words.format(request.id))
            await made.final(card, "Approved by Ann")


@proves("C59", "kit")
async def test_names_that_deceive_are_written_out_in_a_form_and_options_that_look_alike_are_numbered(
    redis_url: str, tmp_path: Path
) -> None:
    async def ask(run: Run, message: str) -> str:
        if message == "form":
            fields = (TextField(id="a", label="To\u202ewhom"), TextField(id="b", label="Why\u200b?"))
            return str(await run.form("A form", *fields))
        return await run.choose("Which?", [Option(id="1", label="Yes"), Option(id="2", label="Yes\u200e")])

    async with bench(redis_url, tmp_path, [wide()]) as made:
        made.hire(ask)
        await made.write("form")
        for words in ("To⟨U+202E⟩whom", "Why⟨U+200B⟩?"):
            await made.write("x", reply_to=await made.card(f"of 2: {words}"))
        card = await made.card("A form")
        await wait_until(lambda: "Submit" in card.labels)
        assert "To⟨U+202E⟩whom: x\nWhy⟨U+200B⟩?: x" in card.text
        await made.press(card, "Submit")
        await made.write("choose")
        which = await made.card("Which?")
        assert "1. Yes\n2. Yes" in which.text
