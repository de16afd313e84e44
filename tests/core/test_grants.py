"""Remembered approvals and the choice of an agent, on a real server."""

from collections.abc import AsyncGenerator

import pytest

from core.agent import Denied, Run
from core.broker import open_broker
from core.life.decision import Refusal
from core.life.event import Said
from core.life.result import Sent, Stopped, Told
from core.model import Json, Person
from tests.proves import proves
from tests.workshop import ANN, PATIENT, Gate, Workshop

COMMAND = "git status && rm -rf ./tmp"


@pytest.fixture
async def shop(redis_url: str) -> AsyncGenerator[Workshop]:
    async with open_broker(redis_url, block=0.2) as broker:
        yield Workshop(broker)


async def grant_always(shop: Workshop, origin: str = "chat-1") -> str:
    """Let Ann press Always for the command; returns the conversation."""
    run = await shop.say(COMMAND, origin=origin)
    await shop.answer(await shop.question(), "always")
    await shop.until(run, "completed")
    return (await shop.record(run)).conversation


def hire_shell(shop: Workshop, ran: list[str]) -> None:
    async def shell(run: Run, message: str) -> str:
        try:
            async with run.tool("shell", command=message):
                await run.step("run", ran.append, message)
        except Denied:
            return "denied"
        return "done"

    shop.hire("it", shell, guarded=("shell",))


@proves("C131", "broker")
@pytest.mark.parametrize(
    ("command", "origin"),
    [
        ("rm -rf /", "chat-1"),
        ("git push --force", "chat-1"),
        ("git status && rm -rf ./tmp ", "chat-1"),
        (COMMAND, "chat-2"),
    ],
)
async def test_always_covers_exactly_what_was_shown(shop: Workshop, command: str, origin: str) -> None:
    ran: list[str] = []
    hire_shell(shop, ran)
    async with shop.worker():
        await grant_always(shop)
        other = await shop.say(command, origin=origin)
        await shop.deny(await shop.question())
        await shop.until(other, "completed")
        assert ran == [COMMAND]
        same = await shop.say(COMMAND)
        await shop.until(same, "completed")
    assert ran == [COMMAND, COMMAND]


@proves("C131", "broker")
async def test_in_a_group_always_is_for_who_asked_for_it_and_another_is_asked_anew(shop: Workshop) -> None:
    ran: list[str] = []
    hire_shell(shop, ran)
    bob = Person(id="tg:2", name="Bob", role="owner")
    async with shop.worker():
        for person in (ANN, bob):
            said = Said("tg-7", COMMAND, person, "it", private=False, people=(ANN.id, bob.id))
            sent = await shop.broker.said(said)
            assert isinstance(sent, Sent), sent
            question = await shop.question()
            if person is ANN:
                await shop.answer(question, "always")
            else:
                assert ran == [COMMAND]
                stopped = await shop.broker.cancel(sent.run, bob)
                assert isinstance(stopped, Stopped), stopped
            await shop.until(sent.run, "completed", "canceled")
    assert ran == [COMMAND]


@proves("C131", "broker")
async def test_a_grant_is_listed_with_its_scope_and_last_use_and_withdrawn(shop: Workshop) -> None:
    ran: list[str] = []
    hire_shell(shop, ran)
    async with shop.worker():
        place = await grant_always(shop)
        (grant,) = await shop.broker.grants(place, ANN) or []
        assert (grant.tool, grant.arguments, grant.person, grant.used_ms) == (
            "shell",
            {"command": COMMAND},
            ANN.id,
            None,
        )
        await shop.until(await shop.say(COMMAND), "completed")
        (grant,) = await shop.broker.grants(place, ANN) or []
        assert grant.used_ms is not None
        assert not isinstance(await shop.broker.withdraw_grant(place, ANN, grant.digest), Refusal)
        assert await shop.broker.grants(place, ANN) == []
        run = await shop.say(COMMAND)
        await shop.deny(await shop.question())
        await shop.until(run, "completed")
    assert len(ran) == 2


@proves("C131", "broker")
async def test_a_grant_withdrawn_while_a_run_works_stops_its_next_call(shop: Workshop) -> None:
    """The run was granted the call already and stands right before it acts: the last check finds nothing and asks."""
    ran: list[str] = []
    gate = Gate()

    async def shell(run: Run, message: str) -> str:
        arguments: dict[str, Json] = {"command": message}
        await run.confirm("Run it?", tool="shell", arguments=arguments)
        if message == COMMAND and ran:
            await gate()
        async with run.tool("shell", **arguments):
            await run.step("run", ran.append, message)
        return "done"

    shop.hire("it", shell)
    async with shop.worker(PATIENT):
        place = await grant_always(shop)
        run = await shop.say(COMMAND)
        await gate.reached.wait()
        (grant,) = await shop.broker.grants(place, ANN) or []
        await shop.broker.withdraw_grant(place, ANN, grant.digest)
        gate.opened.set()
        await shop.deny(await shop.question())
        await shop.until(run, "completed")
    assert ran == [COMMAND]


async def test_for_this_task_is_withdrawn_at_once_too(shop: Workshop) -> None:
    ran: list[int] = []
    gate = Gate()

    async def shell(run: Run, message: str) -> str:
        for number in range(2):
            async with run.tool("shell", command="ls"):
                await run.step("run", ran.append, number)
            if number == 0:
                await gate()
        return "done"

    shop.hire("it", shell, guarded=("shell",))
    async with shop.worker(PATIENT):
        run = await shop.say()
        await shop.answer(await shop.question(), "run")
        await gate.reached.wait()
        place = (await shop.record(run)).conversation
        (grant,) = await shop.broker.grants(place, ANN) or []
        await shop.broker.withdraw_grant(place, ANN, grant.digest)
        gate.opened.set()
        await shop.deny(await shop.question())
        await shop.until(run, "completed")
    assert ran == [0]


# ── agents ───────────────────────────────────────────────────────────────────────────────────────────────────────────


async def test_the_chosen_agent_takes_the_next_run_of_its_place_and_stays_after_new(shop: Workshop) -> None:
    async def said(text: str) -> Sent | Told | Refusal:
        event = Said("tg-1", text, ANN, "demo", agents=("demo", "Coder"))
        result = await shop.broker.said(event)
        assert isinstance(result, Sent | Told | Refusal) or result.kind == "opened"
        return result if isinstance(result, Sent | Told | Refusal) else Told(command="new")

    unknown = await said("/agent nobody")
    assert isinstance(unknown, Refusal)
    assert "demo, Coder" in unknown.text
    told = await said("/agent coder")
    assert isinstance(told, Told)
    assert told.argument == "Coder"
    sent = await said("hello")
    assert isinstance(sent, Sent)
    assert (await shop.record(sent.run)).agent == "Coder"
    await said("/new")
    again = await said("hello")
    assert isinstance(again, Sent)
    assert again.conversation != sent.conversation
    assert (await shop.record(again.run)).agent == "Coder"
