"""What an agent may ask and call, what it gets back, and how an agent is found by its name."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from adapters.agents import SHIPPED
from core.agent import (
    CallFailed,
    Failed,
    FunctionAgent,
    NoAgent,
    NotAskable,
    NotYet,
    Run,
    agent,
    choice_field,
    confirm_field,
    load,
    text_field,
)
from core.broker import open_broker
from core.errors import SaysoError
from core.life.result import Answered
from core.model import Json
from tests.workshop import ANN, PATIENT, Gate, Workshop, options, store


@pytest.fixture
async def shop(redis_url: str, tmp_path: Path) -> AsyncGenerator[Workshop]:
    async with open_broker(redis_url, block=0.2) as broker, store(tmp_path) as files:
        yield Workshop(broker, files=files)


ODD: list[str | int | dict[str, Json] | None] = [
    "Yes",
    "Yes",
    "",
    None,
    "\n",
    7,
    {"label": "Object", "description": "with words"},
    {"id": "named", "label": "Named"},
]


@pytest.mark.parametrize(
    ("place", "said"), [(0, "Yes"), (1, "Yes"), (2, "7"), (3, "Object"), (4, "named")], ids=lambda value: str(value)
)
async def test_odd_options_stay_apart_and_come_back_whole(shop: Workshop, place: int, said: str) -> None:
    """Blank ones are left out, equal ones are two choices, objects show their label. Source: C56."""

    async def body(run: Run, message: str) -> str:
        return await run.choose("Which?", ODD)

    shop.hire("it", body)
    async with shop.worker():
        run = await shop.say()
        question = await shop.question()
        shown = options(question.question.fields[0])
        assert [option.label for option in shown] == ["Yes", "Yes", "7", "Object", "Named"]
        assert len({option.id for option in shown}) == 5
        await shop.answer(question, shown[place].id)
        await shop.until(run, "completed")
    assert await shop.said_by_agent(run) == [said]


async def test_without_a_usable_option_the_agent_hears_why_or_gets_a_text(shop: Workshop) -> None:
    async def body(run: Run, message: str) -> str:
        with pytest.raises(NotAskable, match="at least one option"):
            await run.choose("Which?", ["", None])
        return await run.choose("Which?", [" "], allow_other=True)

    shop.hire("it", body)
    async with shop.worker():
        run = await shop.say()
        question = await shop.question()
        assert question.question.fields[0].kind == "text"
        await shop.answer(question, "my own")
        await shop.until(run, "completed")
    assert await shop.said_by_agent(run) == ["my own"]


async def test_long_options_come_back_as_their_whole_text(shop: Workshop) -> None:
    long = [f"{'the same words again and again, ' * 8}{number}" for number in range(4)]

    async def body(run: Run, message: str) -> str:
        return await run.choose("Which?", long)

    shop.hire("it", body)
    async with shop.worker():
        run = await shop.say()
        question = await shop.question()
        await shop.answer(question, options(question.question.fields[0])[3].id)
        await shop.until(run, "completed")
    assert await shop.said_by_agent(run) == [long[3]]


async def test_numbers_come_as_numbers_and_the_rest_as_text(shop: Workshop) -> None:
    kinds: list[object] = []

    async def body(run: Run, message: str) -> None:
        whole = await run.ask("Whole?", format="integer")
        part = await run.ask("Part?", format="number")
        mail = await run.ask("Mail?", format="email")
        kinds.extend([whole, part, mail])

    shop.hire("it", body)
    async with shop.worker(PATIENT):
        run = await shop.say()
        for value in ("42", "2.5", "ann@example.org"):
            assert isinstance(await shop.answer(await shop.question(), value), Answered)
        await shop.until(run, "completed")
    assert kinds == [42, 2.5, "ann@example.org"]


async def test_a_form_gives_plain_values(shop: Workshop) -> None:
    forms: list[dict[str, Json]] = []

    async def body(run: Run, message: str) -> None:
        forms.append(
            await run.form(
                "All of it",
                text_field("name", "Name"),
                choice_field("pick", "Pick", ["a", "b"], multiple=True),
                confirm_field("sure", "Sure?"),
                text_field("note", "Note", required=False),
            )
        )

    shop.hire("it", body)
    async with shop.worker():
        run = await shop.say()
        question = await shop.question()
        ids = [option.id for option in options(question.question.fields[1])]
        await shop.answer(question, name="Ann", pick=[*ids], sure="yes")
        await shop.until(run, "completed")
    assert forms == [{"name": "Ann", "pick": ["a", "b"], "sure": True, "note": None}]


async def test_changed_arguments_are_what_the_agent_gets_and_what_may_run(shop: Workshop) -> None:
    ran: list[Json] = []

    async def send(amount: Json) -> None:
        ran.append(amount)

    async def body(run: Run, message: str) -> None:
        schema: dict[str, Json] = {"type": "object", "properties": {"amount": {"type": "integer"}}}
        approved = await run.confirm("Send?", tool="send", arguments={"amount": 10}, edit_schema=schema)
        async with run.tool("send", **approved.arguments):
            await run.step("send", send, approved.arguments["amount"])

    shop.hire("it", body)
    async with shop.worker():
        run = await shop.say()
        await shop.change(await shop.question(), {"amount": 7})
        await shop.until(run, "completed")
    assert ran == [7]


async def test_an_uncaught_no_ends_the_run_with_a_word_on_it(shop: Workshop) -> None:
    async def body(run: Run, message: str) -> str:
        await run.confirm("Delete everything?")
        return "deleted"

    shop.hire("it", body)
    async with shop.worker():
        run = await shop.say()
        await shop.deny(await shop.question(), "no way")
        await shop.until(run, "completed")
    assert await shop.said_by_agent(run) == ["Not done: 'Delete everything?' was denied: no way."]


async def test_an_agent_that_gives_up_fails_for_good(shop: Workshop) -> None:
    class Quitter:
        name = "it"

        async def turn(self, run: Run) -> Failed:
            return Failed("there is nothing to do")

    shop.agents["it"] = Quitter()
    async with shop.worker():
        run = await shop.say()
        failed = await shop.until(run, "failed")
    assert failed.error == "there is nothing to do"


async def test_a_called_agent_works_inside_the_run(shop: Workshop) -> None:
    """Its questions go to the same person, its result is recorded, and it is not called again."""
    calls: list[str] = []

    async def helper(run: Run, message: str) -> str:
        calls.append(message)
        name = await run.ask("Name?")
        return f"{message} {name}"

    async def body(run: Run, message: str) -> str:
        first = await run.call("other", "hello")
        await run.ask("Go on?")
        return f"{first}!"

    shop.hire("other", helper)
    shop.hire("it", body)
    async with shop.worker():
        run = await shop.say()
        question = await shop.question()
        assert question.step == "call:other#0/ask:ask#0"
        await shop.parked(run)
        await shop.answer(question, "Bob")
        again = await shop.question()
        await shop.parked(run)
        await shop.answer(again, "yes")
        await shop.until(run, "completed")
    assert calls == ["hello", "hello"]
    assert await shop.said_by_agent(run) == ["hello Bob!"]


async def test_a_called_agent_that_gives_up_is_an_error_of_the_caller(shop: Workshop) -> None:
    class Quitter:
        name = "other"

        async def turn(self, run: Run) -> Failed:
            return Failed("no")

    async def body(run: Run, message: str) -> str:
        try:
            await run.call(Quitter(), "hello")
        except CallFailed as failed:
            return str(failed)
        return "?"

    shop.hire("it", body)
    async with shop.worker():
        run = await shop.say()
        await shop.until(run, "completed")
    assert await shop.said_by_agent(run) == ["agent 'other' gave up: no"]


async def test_cancel_reaches_a_called_agent(shop: Workshop) -> None:
    gate = Gate()
    seen: list[str | None] = []

    async def helper(run: Run, message: str) -> None:
        try:
            await gate()
        finally:
            seen.append(run.cause)

    async def body(run: Run, message: str) -> None:
        await run.call("other", "hello")

    shop.hire("other", helper)
    shop.hire("it", body)
    async with shop.worker():
        run = await shop.say()
        await gate.reached.wait()
        await shop.broker.cancel(run, ANN)
        await shop.until(run, "canceled")
    assert seen == ["user_canceled"]


async def test_the_code_of_a_step_cannot_ask(shop: Workshop) -> None:
    async def body(run: Run, message: str) -> str:
        return await run.step("ask", run.say, "from inside") or "?"

    shop.hire("it", body)
    async with shop.worker():
        run = await shop.say()
        paused = await shop.until(run, "paused")
    assert paused.error is not None
    assert "outside of" in paused.error


async def test_background_jobs_say_that_they_come_later(shop: Workshop) -> None:
    async def body(run: Run, message: str) -> str:
        try:
            await run.background()
        except NotYet as not_yet:
            return str(not_yet)
        return "?"

    shop.hire("it", body)
    async with shop.worker():
        run = await shop.say()
        await shop.until(run, "completed")
    assert await shop.said_by_agent(run) == ["background jobs come with a later release"]


async def test_a_finally_that_speaks_while_the_turn_is_parked_says_nothing(shop: Workshop) -> None:
    async def body(run: Run, message: str) -> str:
        try:
            return await run.ask("Name?")
        finally:
            await run.say("cleaned up")

    shop.hire("it", body)
    async with shop.worker():
        run = await shop.say()
        await shop.parked(run)
        assert await shop.said_by_agent(run) == []
        await shop.answer(await shop.question(), "Bob")
        await shop.until(run, "completed")
    assert await shop.said_by_agent(run) == ["cleaned up", "Bob"]


async def test_history_and_attachments_are_there_for_the_agent(shop: Workshop) -> None:
    assert shop.files is not None
    file = await shop.files.put(b"words", "notes.txt", owner="chat-1")
    roles: list[str] = []

    async def body(run: Run, message: str) -> str:
        roles.extend(entry.role for entry in await run.history(10))
        return (await run.content(run.attachments[0])).decode()

    shop.hire("it", body)
    async with shop.worker():
        run = await shop.say(attachments=(file.id,))
        await shop.until(run, "completed")
    assert roles == ["person"]
    assert await shop.said_by_agent(run) == ["words"]


# ── finding an agent ─────────────────────────────────────────────────────────────────────────────────────────────────


@agent("known", description="for the tests")
async def known(run: Run, message: str) -> None:
    """Do nothing."""


def test_an_agent_is_found_by_its_name_or_place() -> None:
    assert load("demo", SHIPPED).name == "demo"
    found = load("tests.core.test_agent:known")
    assert isinstance(found, FunctionAgent)
    assert (found.name, found.description) == ("known", "for the tests")


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("dmeo", "known names: demo"),
        ("no.such.module:x", "cannot import 'no.such.module'"),
        ("tests.core.test_agent:nothing", "has no 'nothing'"),
        ("tests.core.test_agent:ODD", "is no agent (its type is list)"),
        ("tests.core.broken_agent:x", "fails when it is imported: ZeroDivisionError"),
    ],
)
def test_an_agent_that_cannot_be_found_is_refused_in_words(spec: str, words: str) -> None:
    with pytest.raises(NoAgent) as refused:
        load(spec, SHIPPED)
    assert words in str(refused.value)
    assert isinstance(refused.value, SaysoError)
