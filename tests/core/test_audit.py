"""The audit on a real Redis: written with the decision, filtered, whole or not, and never a word of what was typed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

import pytest

from core.accounts import SCOPES, Accounts
from core.agent import Run
from core.audit import Audit, Filter
from core.broker import open_broker
from core.deed import Deed
from core.emergency import Emergency
from core.keys import Keys
from core.life.decision import Refusal
from core.life.result import Answered
from core.model import Person
from core.people import People
from core.question import TextField
from tests.redis_server import RedisServer
from tests.workshop import ANN, Workshop

OWNER = Person(id="web:owner", name="owner", role="owner")
ALL = Filter()


@pytest.fixture
async def shop(redis_url: str) -> AsyncGenerator[Workshop]:
    async with open_broker(redis_url, block=0.2) as broker:
        yield Workshop(broker)


async def approved(shop: Workshop) -> str:
    """A run that asked whether it may, and was allowed to."""

    async def body(run: Run, message: str) -> str:
        await run.confirm("Remove?", tool="rm", arguments={"path": "/secret/place"})
        return "done"

    shop.hire("it", body)
    async with shop.worker():
        run = await shop.say()
        asked = await shop.question()
        assert isinstance(await shop.answer(asked, "once"), Answered)
        await shop.until(run, "completed")
    return run


def kinds(deeds: list[Deed]) -> list[str]:
    return [deed.kind for deed in deeds]


async def test_an_approval_stands_on_record_with_its_digest_place_and_time(shop: Workshop) -> None:
    """Who allowed exactly which call, where, after how long; not what the call would touch."""
    run = await approved(shop)
    (deed,) = await Audit(shop.broker).lines(Filter(run=run, kind="answer"))
    assert (deed.by, deed.where, deed.tool, deed.outcome, deed.picked) == (ANN.id, "chat", "rm", "accepted", ("once",))
    assert deed.digest is not None
    assert deed.after_ms is not None
    assert "place" not in deed.model_dump_json()


async def test_a_refused_or_repeated_decision_leaves_no_second_line(shop: Workshop) -> None:
    """The line is written by the commit of the decision: no commit, no line."""

    async def body(run: Run, message: str) -> str:
        return await run.choose("Which?", ["a", "b"])

    shop.hire("it", body)
    async with shop.worker():
        run = await shop.say()
        asked = await shop.question()
        told = await asyncio.gather(*(shop.answer(asked, f"option {1 + at % 2}") for at in range(20)))
        assert sum(isinstance(one, Refusal) or one.repeat for one in told) == 19
        await shop.until(run, "completed")
    assert isinstance(await shop.broker.cancel(run, ANN), Refusal)
    assert kinds(await Audit(shop.broker).lines(ALL)) == ["answer"]


async def test_what_somebody_typed_is_nowhere_in_the_audit(shop: Workshop, redis: RedisServer) -> None:
    """Neither a text nor a reason nor a title; a choice stands by its id."""

    async def body(run: Run, message: str) -> str:
        answer = await run.form("Shibboleth?", TextField(id="name"), TextField(id="more"))
        return str(len(str(answer)))

    shop.hire("it", body)
    async with shop.worker():
        run = await shop.say()
        asked = await shop.question()
        assert isinstance(await shop.answer(asked, name="hunter2", more="hunter2"), Answered)
        await shop.until(run, "completed")
        await shop.say("go", origin="chat-2")
        assert isinstance(await shop.deny(await shop.question(), "because hunter2"), Answered)
    told = str(redis.say("LRANGE", Keys("0").deeds, "0", "-1"))
    assert "answer" in told
    assert "hunter2" not in told
    assert "Shibboleth" not in told


async def test_decisions_about_people_and_tokens_stand_on_record(shop: Workshop) -> None:
    """Who invited, promoted and removed whom, and which token may do what; never a code, never a token."""
    people = People(shop.broker).by(OWNER, "cli")
    made = await people.invite("Ben", "member", OWNER.id)
    assert not isinstance(made, Refusal)
    ben = await people.accept(made[0])
    assert not isinstance(ben, Refusal)
    await people.change_role(ben.id, "approver")
    accounts = Accounts(shop.broker.shelf, login_link=60, login=60)
    text, token = await accounts.token(ben, SCOPES[:1], "bot")
    assert await accounts.revoke(ben, token.id)
    await people.remove(ben.id)
    audit = Audit(shop.broker)
    found = await audit.lines(ALL)
    assert kinds(found) == ["invite", "join", "role", "token", "revoke", "remove"]
    assert (found[2].by, found[2].where, found[2].whom, found[2].role) == (OWNER.id, "cli", ben.id, "approver")
    whole = "".join(deed.model_dump_json() for deed in found)
    assert made[0] not in whole
    assert text not in whole
    assert [chain.faults for chain in await audit.verify()] == [(), ()]


async def test_decisions_side_by_side_make_one_whole_chain(shop: Workshop) -> None:
    """The hash is made by the script as it appends, so nobody's line is chained to an older one."""
    runs = [await shop.say("go", origin=f"chat-{at}") for at in range(30)]
    await asyncio.gather(*(shop.broker.cancel(run, ANN, via="api") for run in runs))
    audit = Audit(shop.broker)
    chain, _ = await audit.verify()
    assert (chain.lines, chain.faults) == (30, ())
    assert {deed.where for deed in await audit.lines(ALL)} == {"api"}


async def test_a_chain_that_grows_while_it_is_looked_at_is_whole(shop: Workshop) -> None:
    """A line may be written between the look at the lines and the look at the head."""
    audit = Audit(shop.broker)
    runs = [await shop.say("go", origin=f"chat-{at}") for at in range(40)]
    writing = asyncio.create_task(_cancel_all(shop, runs))
    faults: list[str] = []
    while not writing.done():
        for chain in await audit.verify():
            faults += chain.faults
    await writing
    assert not faults


async def _cancel_all(shop: Workshop, runs: list[str]) -> None:
    for run in runs:
        await shop.broker.cancel(run, ANN, via="api")


@pytest.mark.parametrize("how", ["changed", "removed", "first removed", "last removed", "all removed"])
async def test_a_line_that_was_tampered_with_is_noticed(shop: Workshop, redis: RedisServer, how: str) -> None:
    """In the middle, at either end, or all of them."""
    emergency, audit = Emergency(shop.broker), Audit(shop.broker)
    for _ in range(3):
        await emergency.freeze(OWNER, "one")
        await emergency.thaw(OWNER)
    key = Keys("0").deeds
    middle = redis.say("LINDEX", key, "2")
    assert isinstance(middle, str)
    match how:
        case "changed":
            redis.say("LSET", key, "2", middle.replace("web:owner", "web:other"))
        case "removed":
            redis.say("LREM", key, "1", middle)
        case "first removed":
            redis.say("LPOP", key)
        case "last removed":
            redis.say("RPOP", key)
        case _:
            redis.say("DEL", key)
    chain, _ = await audit.verify()
    assert chain.faults


async def test_a_noted_head_finds_what_was_computed_anew(shop: Workshop, redis: RedisServer) -> None:
    """Whoever can write to Redis can make a chain that agrees with itself, but not with a head that is elsewhere."""
    emergency, audit = Emergency(shop.broker), Audit(shop.broker)
    await emergency.freeze(OWNER, "one")
    noted = (await audit.verify())[0].head
    redis.say("DEL", Keys("0").deeds, Keys("0").deeds_head)
    await emergency.thaw(OWNER)
    assert (await audit.verify())[0].faults == ()
    assert (await audit.verify(noted))[0].faults


async def test_old_lines_go_and_that_they_went_is_a_line(shop: Workshop) -> None:
    """By age and by number; what is left is whole, and so is its beginning."""
    emergency, audit = Emergency(shop.broker), Audit(shop.broker)
    for _ in range(10):
        await emergency.freeze(OWNER)
        await emergency.thaw(OWNER)
    assert await audit.trim(before_ms=0, keep=100) == 0
    assert await audit.trim(before_ms=0, keep=5) == 15
    left = await audit.lines(ALL)
    assert (len(left), left[-1].kind, left[-1].upto) == (6, "trimmed", 15)
    assert (await audit.verify())[0].faults == ()
    assert await audit.trim(before_ms=shop.broker.store.now() + 1, keep=100) == 6
    assert kinds(await audit.lines(ALL)) == ["trimmed"]
    assert (await audit.verify())[0].faults == ()
