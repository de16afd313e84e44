"""The front end is killed hard between two steps: the next one goes on, nothing is lost and nothing done twice."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from core.agent import Run
from tests.adapters.telegram.ground import Ground, kill
from tests.contract.agents import what, where
from tests.faults.proxy import Proxy
from tests.proves import proves
from tests.redis_server import RedisServer
from tests.standins.telegram import Message, Person, slow
from tests.standins.telegram.second import free_port
from tests.waiting import wait_until

ROUNDS = 20
KEEPING = re.compile(rb"z:inbox:tg.*zadd", re.DOTALL)
"""The commit that stores what came in."""
DECIDING = re.compile(rb"evalsha.*\}:q:", re.DOTALL | re.IGNORECASE)
"""A commit that changes a question."""


@pytest.fixture(params=["asked for", "called"], autouse=True)
def way(request: pytest.FixtureRequest, ground: Ground) -> str:
    """Each of these tests is run with polling and with a webhook."""
    ground.port = free_port() if request.param == "called" else 0
    return str(request.param)


ARRIVES = pytest.mark.parametrize(
    ("way", "arrives"),
    [("asked for", True), ("called", False)],
    indirect=["way"],
    ids=["asked for, the commit arrives", "called, the commit is lost"],
)
"""Both ways and both outcomes; every pair of them would be four processes more for each test."""


def stopped(proxy: Proxy) -> Callable[[], bool]:
    """Whether the request that the proxy stops at has come."""
    return lambda: not proxy.requests.is_set()


def go_on(proxy: Proxy, arrives: bool) -> None:
    """Let what was stopped arrive, or be lost."""
    proxy.stop_at = None
    if not arrives:
        proxy.cut()
    proxy.requests.set()


async def test_killed_between_send_and_ledger_a_question_may_stand_twice_and_both_cards_work(ground: Ground) -> None:
    ground.hire(where)
    ann = ground.telegram.person("Ann")
    fault = ground.telegram.fail_next("sendMessage", slow(accepted=True))
    async with ground.process() as process:
        ann.says("please")
        await wait_until(fault.reached.is_set, timeout=20)
        await kill(process)
    fault.release()
    (first,) = ground.telegram.messages(ann)
    async with ground.front():
        await wait_until(lambda: len(ground.telegram.messages(ann)) == 2, timeout=20)
        made_again = ground.telegram.messages(ann)[1]
        ann.presses(first, "staging")
        await ground.says(ann, "To staging.")
        for card in (first, made_again):
            await ground.final(card, "staging")
        await ground.settled()
    assert ground.texts(ann).count("To staging.") == 1


async def test_killed_between_send_and_ledger_a_text_is_not_said_twice(ground: Ground) -> None:
    async def speak(run: Run, message: str) -> str:
        return "Only once."

    ground.hire(speak)
    ann = ground.telegram.person("Ann")
    fault = ground.telegram.fail_next("sendMessage", slow(accepted=True))
    async with ground.process() as process:
        ann.says("please")
        await wait_until(fault.reached.is_set, timeout=20)
        await kill(process)
    fault.release()
    async with ground.front():
        await ground.settled()
        ann.says("and now?")
        await wait_until(lambda: ground.texts(ann).count("Only once.") == 2, timeout=20)
        await ground.settled()
    assert ground.texts(ann).count("Only once.") == 2, "one for each message"


async def killed_at(
    point: re.Pattern[bytes], ground: Ground, redis: RedisServer, *, arrives: bool, confirmed: bool = False
) -> None:
    """A process is killed at a commit for a press, the next one answers. confirmed: Telegram does not repeat it."""
    ground.hire(where)
    ann = ground.telegram.person("Ann")
    async with Proxy(redis.socket) as proxy:
        async with ground.process(proxy.url) as process:
            ann.says("please")
            card = await ground.card(ann, "Where to?")
            await ground.settled()
            proxy.stop_at, proxy.stop_after = point, confirmed
            ann.presses(card, "staging")
            await wait_until(lambda: stopped(proxy)() and not (confirmed and ground.telegram.pending), timeout=20)
            await kill(process)
        go_on(proxy, arrives)
        async with ground.front():
            await ground.says(ann, "To staging.")
            await ground.final(card, "staging")
            await ground.settled()
    assert ground.texts(ann).count("To staging.") == 1


@ARRIVES
async def test_killed_between_press_and_commit_the_press_counts_once(
    ground: Ground, redis: RedisServer, arrives: bool
) -> None:
    await killed_at(DECIDING, ground, redis, arrives=arrives)


@proves("C103", "telegram")
@ARRIVES
async def test_killed_between_fetch_and_store_what_was_said_is_heard_once(
    ground: Ground, redis: RedisServer, arrives: bool
) -> None:
    heard: list[str] = []

    async def listen(run: Run, message: str) -> str:
        heard.append(message)
        return await what(run, message)

    ground.hire(listen)
    ann = ground.telegram.person("Ann")
    async with Proxy(redis.socket) as proxy:
        async with ground.process(proxy.url) as process:
            proxy.stop_at = KEEPING
            ann.says("please")
            await wait_until(stopped(proxy), timeout=20)
            await kill(process)
        go_on(proxy, arrives)
        async with ground.process(proxy.url) as process:
            question = await ground.says(ann, "What is it?")
            proxy.stop_at = KEEPING
            ann.says("a pear", reply_to=question)
            await wait_until(stopped(proxy), timeout=20)
            await kill(process)
        go_on(proxy, arrives)
        async with ground.front():
            await ground.says(ann, "You said: a pear.")
            await ground.settled()
    assert set(heard) == {"please"}
    assert ground.texts(ann).count("You said: a pear.") == 1


@ARRIVES
async def test_killed_when_an_update_is_confirmed_but_not_decided_it_is_decided_by_the_next(
    ground: Ground, redis: RedisServer, arrives: bool
) -> None:
    """Telegram has nothing left to bring again: what was kept is all there is."""
    await killed_at(KEEPING, ground, redis, arrives=arrives, confirmed=True)


@proves("C102", "telegram")
async def test_a_batch_that_comes_again_and_again_has_its_effect_once(ground: Ground) -> None:
    """Two messages, a press, a command and an answer; each restart gets all five anew."""
    started: list[str] = []

    async def talk(run: Run, message: str) -> str:
        match message:
            case "choose":
                return await where(run, message)
            case "tell":
                return await what(run, message)
            case _:
                started.append(message)
                return f"Heard {message}."

    ground.hire(talk)
    ann, bob, cleo, dan, eve = (ground.telegram.person(name) for name in ("Ann", "Bob", "Cleo", "Dan", "Eve"))
    async with ground.front():
        cleo.says("choose")
        eve.says("tell")
        card = await ground.card(cleo, "Where to?")
        question = await ground.says(eve, "What is it?")
    first = len(ground.telegram.updates)
    ann.says("one")
    bob.says("two")
    cleo.presses(card, "staging")
    dan.says("/status")
    eve.says("a pear", reply_to=question)
    batch = ground.telegram.updates[first:]
    async with ground.front():
        await all_of(ground, ann, bob, cleo, dan, eve)
    before = seen(ground)
    for _ in range(ROUNDS):
        for update in batch:
            ground.telegram.repeat(update)
        async with ground.front():
            await wait_until(lambda: not ground.telegram.pending, timeout=20)
    await ground.settled()
    assert seen(ground) == before
    assert sorted(started) == ["one", "two"]


async def all_of(ground: Ground, ann: Person, bob: Person, cleo: Person, dan: Person, eve: Person) -> None:
    """Wait for the effect of each update of the batch."""
    await ground.says(ann, "Heard one.")
    await ground.says(bob, "Heard two.")
    await ground.says(cleo, "To staging.")
    await ground.says(dan, "")
    await ground.says(eve, "You said: a pear.")
    await wait_until(lambda: not ground.telegram.pending, timeout=20)
    await ground.settled()


def seen(ground: Ground) -> list[tuple[int, int, str]]:
    """Every message of the bot, with its chat and text."""
    chats = ground.telegram.state.chats.values()
    return [(chat.id, one.id, one.text) for chat in chats for one in ground.telegram.messages(chat)]


async def test_a_press_of_long_ago_works_after_a_kill(ground: Ground) -> None:
    """Nothing about a card is in a process; a message that Telegram no longer shows to bots works too."""
    ground.hire(where)
    ann = ground.telegram.person("Ann")
    async with ground.process() as process:
        ann.says("please")
        card: Message = await ground.card(ann, "Where to?")
        await ground.settled()
        await kill(process)
    ground.telegram.clock.advance(40 * 24 * 3600)
    ann.presses(card, "production", accessible=False)
    async with ground.front():
        await ground.says(ann, "To production.")
        await ground.final(card, "production")
