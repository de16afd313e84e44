"""Whatever is asked fits what the platform declares, is readable character for character, and hides nothing."""

from __future__ import annotations

import re
from pathlib import Path

from core.agent import Run
from core.life.check import normal
from core.life.decision import Refusal
from core.question import ConfirmField, Option, Question, Subject
from tests.contract.bench import ANN, HOME, Bench, bench, wide
from tests.proves import proves
from tests.waiting import wait_until

GREETING = "مرحبا \u200f\u05e9\u05dc\u05d5\u05dd"
MARKUP = 'rm -rf `build_*` && echo "[a](b)" <b> & _x_ *y* ~z~ > # + - = | { } . ! \\'


def plain(text: str) -> str:
    """A text without the places where it may be cut."""
    return "".join(text.split())


async def asked(made: Bench, **how: object) -> None:
    """Let an agent ask for one approval."""

    async def ask(run: Run, message: str) -> str:
        await run.confirm("May I?", tool="shell", arguments={"command": str(how["command"])})
        return "Ran."

    made.hire(ask)
    await made.write("please")


@proves("C49", "kit", "telegram")
async def test_payloads_are_short_whatever_the_names_are(made: Bench) -> None:
    """The fake platform notes every payload over 64 bytes; the full value comes back."""
    long = "🦜 " * 100 + "Ж" * 60

    async def ask(run: Run, message: str) -> str:
        return f"Took {len(await run.choose('Ж' * 200, [long, long + '2'], message=long))}."

    made.hire(ask)
    await made.write("please")
    card = await made.card("ЖЖЖ")
    assert all(len((button.payload or "").encode()) <= 64 for button in card.view.buttons)
    await made.press(card, "2.")
    await made.says(f"Took {len(long) + 1}.")


@proves("C50", "kit", "page", "telegram")
async def test_markup_is_readable_character_for_character(made: Bench) -> None:
    await asked(made, command=MARKUP)
    card = await made.card("May I?")
    assert MARKUP in card.text
    await made.press(card, "Approve")
    await made.says("Ran.")


@proves("C50", "kit")
async def test_what_is_refused_as_markup_goes_out_plain(made: Bench) -> None:
    made.chats[0].no_markup = True
    await asked(made, command=MARKUP)
    await wait_until(lambda: len([one for one in made.chats[0].cards(HOME) if MARKUP in one.text]) == 1)
    assert made.chats[0].cards(HOME)[-1].view.plain


@proves("C51", "kit", "telegram")
async def test_an_edit_to_the_same_is_as_good_as_done(made: Bench) -> None:
    await asked(made, command="ls")
    card = await made.card("May I?")
    await made.press(card, "Approve")
    await made.final(card, "Approved")
    await made.says("Ran.")
    await made.settled()
    shown = list(card.shown)
    await made.restart()
    request = (await made.broker.cards.target(HOME, card.id)).of  # pyright: ignore[reportOptionalMemberAccess] it was shown
    for one in await made.cards_of(request):
        await made.surfaces[0].relay.repair(one.id)
    assert card.shown == shown


@proves("C52", "kit", "page", "telegram")
async def test_long_questions_are_shown_whole_with_the_buttons_last(made: Bench) -> None:
    """Counted in the platform's own unit; in parts, or with the whole text as a file."""
    for number, message in enumerate(["word " * 300, "!." * 800, "🦜" * 700, "x" * 9_000]):

        async def ask(run: Run, said: str, number: int = number, message: str = message) -> str:
            await run.choose(f"Question {number}?", ["yes"], message=message)
            return f"Done {number}."

        made.hire(ask)
        await made.write("go")
        card = await made.card("q0")

        def whole(message: str = message) -> bool:
            files = b"".join(one.file or b"" for one in made.chats[0].at(HOME)).decode()
            shown = "".join(one.text for one in made.chats[0].at(HOME))
            return plain(message) in plain(shown) or message.strip() in files

        await wait_until(whole)
        await wait_until(lambda card=card: "yes" in card.labels)
        await made.press(card, "yes")
        await made.says(f"Done {number}.")
        for one in list(made.chats[0].messages.values()):
            one.gone = True


@proves("C55", "kit", "telegram")
async def test_long_options_are_listed_in_full_and_numbered(made: Bench) -> None:
    start = "The same long beginning of every option " * 3
    options = [f"{start}{end}" for end in ("one", "two", "three", "four")]

    async def ask(run: Run, message: str) -> str:
        return f"…{(await run.choose('Which?', options))[-5:]}"

    made.hire(ask)
    await made.write("please")
    card = await made.card("q0")
    said = "".join(one.text for one in made.chats[0].at(HOME))
    assert all(f"{number}. {option.strip()}" in said for number, option in enumerate(options, 1))
    assert [label[:2] for label in card.labels[:4]] == ["1.", "2.", "3.", "4."]
    await made.press(card, "3.")
    await made.says("…three")


async def test_many_options_are_turned_page_by_page_and_none_is_missing(made: Bench) -> None:
    async def ask(run: Run, message: str) -> str:
        return f"Took {await run.choose('Which?', [f'option {n}' for n in range(1, 21)])}."

    made.hire(ask)
    await made.write("please")
    card = await made.card("Which?")
    seen: set[str] = set()
    for _ in range(4):
        seen |= {label.split(". ")[1] for label in card.labels if ". option" in label}
        turn = next((label for label in card.labels if "→" in label), None)
        if turn is None:
            break
        before = card.text
        await made.press(card, turn)
        await wait_until(lambda before=before: card.text != before)
    assert seen == {f"option {n}" for n in range(1, 21)}
    await made.press(card, "option 20")
    await made.says("Took option 20.")


@proves("C56", "kit", "telegram")
async def test_blank_options_are_left_out_and_equal_ones_stay_two(made: Bench) -> None:
    async def ask(run: Run, message: str) -> str:
        options = [
            Option(id="1", label="Yes"),
            Option(id="2", label="Yes"),
            Option(id="3", label=" \n"),
            Option(id="4", label="Seven", description="the number"),
        ]
        return f"Took {await run.choose('Which?', options)}."

    made.hire(ask)
    await made.write("please")
    card = await made.card("Which?")
    assert len([label for label in card.labels if "Yes" in label]) == 2
    assert "3. Seven — the number" in card.text
    second = [button.payload for button in card.view.buttons if "Yes" in button.label][1]
    await made.late(card, second)
    await made.says("Took 2.")


@proves("C58", "kit", "page", "telegram")
async def test_the_whole_subject_is_shown_or_there_is_no_approve(made: Bench) -> None:
    command = "echo " + "x" * 1_250 + " && rm -rf / --no-preserve-root --please"
    await asked(made, command=command)
    card = await made.card("q0")
    shown = "".join(one.text for one in made.chats[0].at(HOME))
    assert command[-40:] in shown
    assert "Approve" in card.labels


@proves("C58", "kit", "telegram")
async def test_what_cannot_be_shown_whole_cannot_be_approved(made: Bench) -> None:
    """A command of ten messages and more: a file where there are files, else the dashboard; Deny stays.

    What no button says, no words say either: they are told where it stands as a whole.
    """
    await asked(made, command="x" * max(100_000, 10 * made.chats[0].limits.text_max))
    card = await made.card("May I?")
    files = [one for one in made.chats[0].at(HOME) if one.file is not None]
    assert bool(files) is ("Approve" in card.labels)
    assert "Deny" in card.labels
    request = (await made.pending())[0].id
    if files:
        assert (files[0].file or b"").decode().count("x") >= 100_000
        await made.write(f"/approve {request}")
        await made.says("Ran.")
        return
    assert "dashboard" in card.text
    for words in ("yes", f"/approve {request}", f"/answer {request} approve"):
        answer = await made.write(words)
        assert answer is not None
        assert "cannot be approved here" in answer.text
        assert "dashboard" in answer.text
        await made.restart()
    assert "cannot be approved here" in await made.late(card, f"v1:{request}:o0")
    await made.write(f"/deny {request}")
    await made.final(card, "Denied by Ann")


@proves("C58", "kit")
def test_an_approval_of_nothing_is_refused_at_its_creation() -> None:
    assert isinstance(normal(Question(fields=(ConfirmField(),), subject=Subject(tool=" "))), Refusal)


@proves("C59", "kit", "page", "telegram")
async def test_what_deceives_the_eye_is_written_out(made: Bench) -> None:
    hidden = "ls \u202e\u200b\U000e0041\r\x1b[2K" + "\u2003" * 500
    trick = hidden + "&& rm -rf /" + " " * 40 + f"# {GREETING[:6]}{GREETING[7:]}"
    ran: list[str] = []

    async def ask(run: Run, message: str) -> str:
        approval = await run.confirm("May I?", tool="shell", arguments={"command": trick})
        assert isinstance(approval.arguments, dict)
        ran.append(str(approval.arguments["command"]))
        return GREETING

    made.hire(ask)
    await made.write("please")
    card = await made.card("May I?")
    for name in ("⟨U+202E⟩", "⟨U+200B⟩", "⟨U+E0041⟩", "⟨CR⟩", "⟨ESC⟩", "⟨U+2003 x500⟩", "⟨40 spaces⟩", trick[-10:]):
        assert name in card.text
    await made.press(card, "Approve")
    await made.says(GREETING)
    assert ran == [trick]


@proves("C118", "kit", "telegram")
async def test_a_long_reply_comes_whole_and_the_question_after_it_is_not_stuck(made: Bench) -> None:
    short = "".join(f"Line {n} of the shorter reply.\n" for n in range(1_000))
    code = "".join(f"print({n})\n" for n in range(16_000))
    long = f"```python\n{code}```\n"

    async def ask(run: Run, message: str) -> str:
        await run.say(short)
        await run.say(long)
        return f"To {await run.choose('Next?', ['on'])}."

    made.hire(ask)
    await made.write("please")
    await made.card("Next?")
    await made.settled()
    shown = "\n".join(made.chats[0].texts(HOME))
    files = [one.file for one in made.chats[0].at(HOME) if one.file is not None]
    numbers = [int(n) for n in re.findall(r"Line (\d+) of the shorter", shown)]
    printed = [int(n) for n in re.findall(r"print\((\d+)\)", shown)]
    if made.chats[0].limits.file_max:
        assert files[-1] == long.encode()
        assert numbers == list(range(1_000)) or files[0] == short.encode()
        assert printed == list(range(len(printed)))
    else:
        assert (numbers, printed) == (list(range(1_000)), list(range(16_000)))
    places = [one.text for one in made.chats[0].at(HOME)]
    assert max(n for n, text in enumerate(places) if "print(" in text) < next(
        n for n, text in enumerate(places) if "Next?" in text
    )


async def test_a_question_of_a_kind_that_cannot_be_answered_there_is_not_shown(redis_url: str, tmp_path: Path) -> None:
    """It stands on the dashboard and says that no surface shows it; other kinds are shown as ever."""
    chats = wide()
    chats.limits = chats.limits.changed(accept=("confirm", "choice"))

    async def ask(run: Run, message: str) -> str:
        return await run.ask("What is it?") if message == "words" else await run.choose("Which?", ["this", "that"])

    async with bench(redis_url, tmp_path, [chats]) as made:

        async def waits() -> bool:
            return bool((await made.broker.pending(ANN)).requests)

        made.hire(ask)
        await made.write("words")
        await wait_until(waits)
        await made.settled()
        (request,) = (await made.broker.pending(ANN)).requests
        assert not request.surface
        assert not [text for text in chats.texts(HOME) if "What is it?" in text]
        await made.write(f"/cancel {request.run}")
        await made.write("pick")
        await made.card("Which?")
