"""Every example of an agent that the pages print works as it is printed."""

import platform
import secrets
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable
from pathlib import Path
from types import ModuleType

import pytest
from pydantic import SecretStr

from core.agent import Agent, load
from core.broker import open_broker
from core.files import FileStore, told_of
from core.life.event import Reply
from core.life.result import Answered
from core.model import Json
from core.question import Accepted
from core.safe import Gift
from core.vault import Vault
from tests.house.pages import blocks
from tests.workshop import ANN, Workshop

PAGE = "docs/writing-an-agent.md"
# agent → the answers that a person gives, question by question, and what the agent says at last
TALKS: dict[str, tuple[list[Json], list[str]]] = {
    "greet": (["option 1"], ["Good day, Ann."]),
    "story": ([], ["A whole message.", "piece by piece", "And a file."]),
    "ask": ([{"other": "green"}, ["option 1", "option 3"], "Ada", 3, "once"], ["Painted."]),
    "trip": ([{"where": "Rome", "people": 2, "book": "no"}], ["2 to Rome, booked: False"]),
    "release": (["once"], ["Released."]),
    "pay": (["once"], ["receipt for 5 euros"]),
    "deploy": (["option 2", "once"], ["Deployed: pushed to production"]),
    "careful": (["once"], ["pushed to production"]),
    "listen": ([], ["first 'go', then []"]),
    "chief": (["option 1", "once"], ["deploy said: Deployed: pushed to staging"]),
    "parrot": ([], ["go"]),
    "version": ([], [f"Python {platform.python_version()}"]),
    "heavy": ([], ["worked on 'go' in a process of its own"]),
    "tidy": ([], ["'go' may take half a minute to clean up before it is terminated"]),
}
OTHERWISE = {"tables", "wait", "strict", "dice", "shop"}
"""Agents of the page with a test of their own below."""


@pytest.fixture(scope="module")
def page() -> ModuleType:
    """The page's examples as one module."""
    module = ModuleType("the_page")
    sys.modules["the_page"] = module
    for code in blocks(PAGE, "python"):
        exec(compile(code, PAGE, "exec"), module.__dict__)
    return module


def agents_of(page: ModuleType) -> dict[str, Agent]:
    found: dict[str, Agent] = {}
    for attribute, value in vars(page).items():
        if attribute in ("Agent", "FunctionAgent", "Completed", "Failed"):
            continue
        if callable(getattr(value, "turn", None)) and isinstance(getattr(value, "name", None), str):
            made = load(f"the_page:{attribute}")
            found[made.name] = made
    return found


@pytest.fixture
async def shop(redis_url: str, page: ModuleType, tmp_path: Path) -> AsyncGenerator[Workshop]:
    files = FileStore(tmp_path, file_max=1_000_000, quota=1_000_000, keep=3_600)
    async with open_broker(redis_url, block=0.2) as broker:
        yield Workshop(broker, agents_of(page), files)


def test_every_example_has_a_talk_here(page: ModuleType) -> None:
    assert set(agents_of(page)) == set(TALKS) | OTHERWISE


@pytest.mark.parametrize("name", TALKS)
async def test_an_example_says_what_its_page_makes_of_it(shop: Workshop, name: str) -> None:
    answers, said = TALKS[name]
    async with shop.worker():
        run = await shop.say(to=name)
        for answer in answers:
            question = await shop.question()
            await (
                shop.answer(question, **answer)
                if name == "trip" and isinstance(answer, dict)
                else shop.answer(question, answer)
            )
        await shop.until(run, "completed")
    assert await shop.said_by_agent(run) == said


async def test_the_example_that_waits_can_be_cancelled(shop: Workshop) -> None:
    async with shop.worker():
        run = await shop.say(to="wait")
        await shop.until(run, "working")
        await shop.broker.cancel(run, (await shop.record(run)).starter)
        await shop.until(run, "canceled")


async def test_the_example_that_gives_up_has_failed(shop: Workshop) -> None:
    async with shop.worker():
        run = await shop.say(to="strict")
        failed = await shop.until(run, "failed")
    assert failed.error == "you did not say please"


async def test_the_example_with_a_clock_has_the_same_day_after_a_park(shop: Workshop) -> None:
    async with shop.worker():
        run = await shop.say(to="dice")
        question = await shop.question()
        await shop.parked(run)
        await shop.answer(question, "once")
        await shop.until(run, "completed")
    assert question.question.title == f"Is {(await shop.said_by_agent(run))[0]} a good day?"


async def test_the_example_with_a_secret_uses_it(shop: Workshop) -> None:
    shop.broker.safe.vault = Vault([secrets.token_bytes(32)])
    async with shop.worker():
        run = await shop.say(to="shop")
        question = await shop.question()
        await shop.broker.safe.give(Gift(question.id, ANN, "chat", {"secret": SecretStr("a-token")}))
        await shop.until(run, "completed")
    assert await shop.said_by_agent(run) == ["logged in with 7 characters"]


async def test_the_example_with_files_reads_them(shop: Workshop) -> None:
    assert shop.files is not None
    file = told_of(await shop.files.put(b"a,b\n1,2\n", "one.csv", owner=ANN.id))
    sent: tuple[dict[str, Json], ...] = ({"file": [file.id]}, {"more": [file.id], "name": "Rex"})
    async with shop.worker():
        run = await shop.say(to="tables")
        for values in sent:
            question = await shop.question()
            reply = Reply(question.id, Accepted(values=values), ANN, "chat", files={file.id: file})
            assert isinstance(await shop.broker.answer(reply), Answered)
            await shop.until(run, "waiting", "completed")
        await shop.until(run, "completed")
    assert await shop.said_by_agent(run) == ["Rex: one.csv with 2 rows, and 1 more"]


async def test_the_test_that_the_page_prints_passes(page: ModuleType, redis_url: str) -> None:
    printed: Callable[[str], Awaitable[None]] = page.test_it_deploys_where_the_person_says
    await printed(redis_url)


# ── the smallest agent of the first page ─────────────────────────────────────────────────────────────────────────────


async def test_the_smallest_agent_works_as_printed(
    redis_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = blocks("README.md", "python")[0]
    assert len(code.strip().splitlines()) <= 10
    (tmp_path / "mine.py").write_text(code, "utf-8")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    hello = load("mine:hello")
    async with open_broker(redis_url, block=0.2) as broker:
        shop = Workshop(broker, {"hello": hello})
        async with shop.worker():
            run = await shop.say(to="hello")
            await shop.answer(await shop.question(), "option 2")
            await shop.until(run, "waiting")
            await shop.answer(await shop.question(), "Bob")
            await shop.until(run, "completed")
        assert await shop.said_by_agent(run) == ["Hi Bob!"]
