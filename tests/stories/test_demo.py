"""The demo agent and the example, as a person meets them: each word from the message to the last reply."""

import secrets
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
from pydantic import SecretStr

from adapters.agents import SHIPPED
from adapters.agents.demo import HELP, WORDS
from core.agent import load
from core.broker import open_broker
from core.files import told_of
from core.life.decision import Refusal
from core.life.event import Reply
from core.life.result import Answered
from core.question import Accepted
from core.safe import Gift
from core.vault import Vault
from examples.deploy import deploy
from tests.workshop import ANN, PATIENT, Workshop, options, store


@pytest.fixture
async def shop(redis_url: str, tmp_path: Path) -> AsyncGenerator[Workshop]:
    """The demo agent at work, as it is shipped."""
    async with open_broker(redis_url, block=0.2) as broker, store(tmp_path) as files:
        broker.safe.vault = Vault([secrets.token_bytes(32)])
        shop = Workshop(broker, {"it": load("demo", SHIPPED)}, files)
        async with shop.worker():
            yield shop


async def last(shop: Workshop, run: str) -> str:
    """What the agent said last, when the run is over."""
    await shop.until(run, "completed")
    return (await shop.said_by_agent(run))[-1]


async def test_anything_else_is_echoed_with_help(shop: Workshop) -> None:
    said = await last(shop, await shop.say("Hello there"))
    assert said == f"You said: Hello there\n\n{HELP}"
    assert all(f"`{word}`" in HELP for word in WORDS)


async def test_confirm_shows_the_call_and_runs_it_once_approved(shop: Workshop) -> None:
    run = await shop.say("CONFIRM please")
    question = await shop.question()
    subject = question.question.subject
    assert subject is not None
    assert subject.tool == "shell"
    assert [option.id for option in options(question.question.fields[0])] == [
        "once",
        "run",
        "always",
        "deny",
    ]
    assert isinstance(await shop.answer(question, "once"), Answered)
    assert (await last(shop, run)).startswith("Done. Nothing was deleted")
    assert [entry.data["outcome"] for entry in await shop.history(run) if entry.role == "tool"] == ["done"]


async def test_confirm_denied_runs_nothing(shop: Workshop) -> None:
    run = await shop.say("confirm")
    await shop.deny(await shop.question(), "not today")
    assert await last(shop, run) == "Left alone, because: not today."
    assert not [entry for entry in await shop.history(run) if entry.role == "tool"]


async def test_choose_gives_the_text_of_the_option(shop: Workshop) -> None:
    run = await shop.say("choose")
    question = await shop.question()
    await shop.answer(question, options(question.question.fields[0])[1].id)
    assert await last(shop, run) == "You chose: Production"


async def test_multi_takes_several_and_an_own_text(shop: Workshop) -> None:
    run = await shop.say("multi")
    question = await shop.question()
    picks = options(question.question.fields[0])
    refused = await shop.answer(question, [])
    assert isinstance(refused, Refusal)
    assert refused.code == "invalid"
    await shop.answer(question, [picks[0].id, {"other": "Sunday"}])
    assert await last(shop, run) == "Noted: Monday, Sunday"


async def test_text_takes_the_next_message(shop: Workshop) -> None:
    run = await shop.say("text")
    await shop.parked(run)
    question = await shop.question()
    await shop.answer(question, "Grace")
    assert await last(shop, run) == "Nice to meet you, Grace."


async def test_form_has_every_kind_of_field_and_gives_plain_values(shop: Workshop) -> None:
    run = await shop.say("form")
    question = await shop.question()
    fields = question.question.fields
    assert {field.kind for field in fields} == {"text", "choice", "confirm"}
    by = next(field for field in fields if field.id == "by")
    train = options(by)[0].id
    await shop.answer(question, where="Rome", when="2027-01-02", people=3, by=train, book="no")
    said = await last(shop, run)
    assert said.splitlines()[2:] == [
        "- where: Rome",
        "- when: 2027-01-02",
        "- people: 3",
        "- by: Train",
        "- book: False",
    ]


async def test_upload_asks_for_files_and_reads_them(shop: Workshop) -> None:
    assert shop.files is not None
    file = told_of(await shop.files.put(b"words", "notes.txt", owner=ANN.id, type="text/plain"))
    run = await shop.say("upload")
    question = await shop.question()
    given = Accepted(values={"file": [file.id]})
    told = await shop.broker.answer(Reply(question.id, given, ANN, "chat", files={file.id: file}))
    assert isinstance(told, Answered)
    assert (await last(shop, run)).splitlines()[2:] == ["- notes.txt: 5 bytes, text/plain"]


async def test_secret_is_used_once_and_said_nowhere(shop: Workshop) -> None:
    run = await shop.say("secret")
    question = await shop.question()
    gift = Gift(question.id, ANN, "chat", {"secret": SecretStr("MARKER-17")})
    assert isinstance(await shop.broker.safe.give(gift), Answered)
    assert (await last(shop, run)).startswith("I used it: it has 9 characters.")
    assert "MARKER-17" not in repr(await shop.history(run)) + repr(await shop.events(run))


async def test_long_streams_and_ends(shop: Workshop) -> None:
    run = await shop.say("long 0.5")
    assert await last(shop, run) == "I counted to 2."
    streamed, _ = await shop.said_by_agent(run)
    assert streamed.endswith("1 2 ")
    assert [event.type for event in await shop.events(run, "tool.started", "tool.completed")] == [
        "tool.started",
        "tool.completed",
    ]


async def test_long_stops_when_it_is_cancelled(shop: Workshop) -> None:
    run = await shop.say("long")
    await shop.until(run, "working")
    await shop.broker.cancel(run, ANN)
    await shop.until(run, "canceled")


async def test_file_is_handed_over(shop: Workshop) -> None:
    run = await shop.say("file")
    await last(shop, run)
    entry = next(entry for entry in await shop.history(run) if entry.data.get("attachments"))
    ids = entry.data["attachments"]
    assert isinstance(ids, list)
    assert shop.files is not None
    file = await shop.files.get(str(ids[0]))
    assert file is not None
    assert file.name == "hello.txt"
    assert await shop.files.content(file) == b"Hello from the demo agent.\n"


async def test_fail_is_paused_and_a_retry_works(shop: Workshop) -> None:
    run = await shop.say("fail")
    paused = await shop.until(run, "paused")
    assert paused.error is not None
    assert paused.error.startswith("ConnectionError:")
    await shop.broker.resume(run, ANN)
    assert await last(shop, run) == "This time it worked."


async def test_steer_reacts_to_what_is_said_meanwhile(shop: Workshop) -> None:
    run = await shop.say("steer 3")
    await shop.until(run, "working")
    assert await shop.say("faster, please") == run
    said = await last(shop, run)
    assert said == "Finished. I took in: faster, please"
    assert "Understood: faster, please" in await shop.said_by_agent(run)


async def test_the_smallest_agent_of_your_own_works_as_written(redis_url: str) -> None:
    async with open_broker(redis_url, block=0.2) as broker:
        shop = Workshop(broker, {"it": deploy})
        async with shop.worker(PATIENT):
            run = await shop.say("deploy it")
            await shop.answer(await shop.question(), "option 2")
            question = await shop.question()
            assert question.question.subject is not None
            assert question.question.subject.arguments == {"env": "production"}
            await shop.answer(question, "once")
            assert await last(shop, run) == "Deployed to production."
