"""Secrets on a real server: given once, sealed to their run, used up, kept by name; the value is nowhere else."""

import asyncio
import json
import logging
import secrets
from collections.abc import AsyncGenerator, Awaitable, Callable

import pytest
from pydantic import SecretStr

from core.agent import Run
from core.broker import open_broker
from core.life.decision import Refusal
from core.life.event import Reply, Said
from core.life.result import Answered
from core.model import Json, Person
from core.question import Accepted, Request
from core.safe import Gift
from core.secret import MASK, SecretGone, Veil
from core.vault import Vault
from tests.everything import everything, sealed
from tests.proves import proves
from tests.redis_server import RedisServer
from tests.waiting import wait_until
from tests.workshop import ANN, PATIENT, Workshop

MARKER = "S3cr3t-MARKER-42"
BOB = Person(id="web:bob", name="Bob")


@pytest.fixture
async def shop(redis_url: str) -> AsyncGenerator[Workshop]:
    async with open_broker(redis_url, block=0.2) as broker:
        broker.safe.vault = Vault([secrets.token_bytes(32)])
        yield Workshop(broker)


async def give(shop: Workshop, request: Request, value: str = MARKER) -> Answered | Refusal:
    field = request.question.fields[0].id
    return await shop.broker.safe.give(Gift(request.id, ANN, "chat", {field: SecretStr(value)}))


async def asked_for(shop: Workshop, kind: str) -> Request:
    """Wait until the one open question asks for something of this kind."""
    found: list[Request] = []

    async def there() -> bool:
        found[:] = (await shop.broker.pending(ANN)).requests
        return [one.question.fields[0].kind for one in found] == [kind]

    await wait_until(there)
    return found[0]


@proves("C126", "broker")
@proves("C128", "broker")
async def test_a_secret_reaches_the_step_that_uses_it_and_stands_nowhere_else(
    shop: Workshop, redis: RedisServer, caplog: pytest.LogCaptureFixture
) -> None:
    """The agent repeats the value on purpose, in a result, a message and its last word: it is masked everywhere."""
    caplog.set_level(logging.DEBUG)
    used: list[str] = []

    async def use(run: Run, message: str) -> str:
        token = await run.secret("deploy token")

        def push() -> str:
            used.append(token.reveal())
            return f"pushed with {used[-1]}"

        await run.say(f"{token} {token!r}")
        result = await run.step("push", push)
        await run.say(result)
        return f"done with {used[-1]}"

    shop.hire("it", use)
    async with shop.worker():
        run = await shop.say()
        await shop.parked(run)
        question = await shop.question()
        told = await give(shop, question)
        assert isinstance(told, Answered)
        assert told.settled
        await shop.until(run, "completed")
    assert used == [MARKER]
    assert sealed(redis) == []
    assert MARKER not in everything(redis)
    assert MARKER not in caplog.text
    assert MARKER not in json.dumps([one.model_dump(mode="json") for one in await shop.history(run)])
    assert MARKER not in json.dumps([one.model_dump(mode="json") for one in await shop.events(run)])
    masked = [f"{MASK} Secret('deploy token')", f"pushed with {MASK}", f"done with {MASK}"]
    assert await shop.said_by_agent(run) == masked
    closed = (await shop.events(run, "request.closed"))[0]
    assert closed.data["values"] == {"secret": "received"}


async def test_a_secret_that_is_streamed_in_pieces_is_masked_across_them(shop: Workshop, redis: RedisServer) -> None:
    """What may be the beginning of the value waits until it is known; no piece holds a part of it."""
    on: list[asyncio.Event] = [asyncio.Event() for _ in range(3)]

    async def use(run: Run, message: str) -> None:
        token = (await run.secret("token")).reveal()
        async with run.stream() as out:
            for number, text in enumerate((f"It is {token[:7]}", token[7:12], f"{token[12:]}, yes S3c")):
                await out.write(text)
                await on[number].wait()

    shop.hire("it", use)
    async with shop.worker():
        run = await shop.say()
        await shop.parked(run)
        await give(shop, await shop.question())

        async def told() -> str:
            return "".join(str(event.data["text"]) for event in await shop.events(run, "message.delta"))

        for gate, words in zip(on, ("It is ", "It is ", f"It is {MASK}, yes "), strict=True):
            await wait_until(lambda words=words: _same(told, words))
            gate.set()
        await shop.until(run, "completed")
    assert await shop.said_by_agent(run) == [f"It is {MASK}, yes S3c"]
    assert "S3cr3t" not in everything(redis)


async def _same(told: Callable[[], Awaitable[str]], words: str) -> bool:
    return await told() == words


@pytest.mark.parametrize(
    ("values", "text", "held"),
    [
        (("secret",), "a sec", 3),
        (("secret",), "a secret", 0),
        (("secret",), "a secre t", 0),
        (("aaaa",), "aaaa", 0),
        (("aaaa",), "aaaaa", 1),
        (("abcd", "abcdef"), "x abcd", 4),
        (("abcd", "abcdef"), "x abcdef", 0),
        (('say "it"',), "say ", 4),
        ((), "anything", 0),
    ],
)
def test_only_what_may_become_a_value_is_held_back(values: tuple[str, ...], text: str, held: int) -> None:
    veil = Veil()
    for value in values:
        veil.add(value)
    assert veil.held(text) == held


async def test_a_step_that_fails_keeps_the_secret_for_the_next_try(shop: Workshop, redis: RedisServer) -> None:
    """The error of the step quotes the value; the record does not."""
    tries: list[str] = []

    async def use(run: Run, message: str) -> str:
        token = await run.secret("token")

        def push() -> None:
            tries.append(token.reveal())
            if len(tries) == 1:
                raise ValueError(f"401 for {token.reveal()}")

        await run.step("push", push)
        return "done"

    shop.hire("it", use)
    async with shop.worker():
        run = await shop.say()
        await give(shop, await shop.question())
        broken = await shop.until(run, "paused")
        assert broken.error is not None
        assert MARKER not in broken.error
        assert MASK in broken.error
        assert len(sealed(redis)) == 1
        await shop.broker.resume(run, ANN)
        await shop.answer(await asked_for(shop, "choice"), "repeat")
        await shop.until(run, "completed")
    assert tries == [MARKER, MARKER]
    assert sealed(redis) == []


async def test_after_the_step_that_used_it_a_secret_reveals_nothing(shop: Workshop) -> None:
    """The same in the turn that used it and in a replay, so that code which works once works always."""
    shown: list[str] = []

    async def use(run: Run, message: str) -> str:
        token = await run.secret("token")
        await run.step("push", lambda: len(token.reveal()))
        with pytest.raises(SecretGone):
            token.reveal()
        shown.append("gone")
        await run.ask("Go on?")
        return "done"

    shop.hire("it", use)
    async with shop.worker():
        run = await shop.say()
        await give(shop, await shop.question())
        question = await asked_for(shop, "text")
        await shop.parked(run)
        await shop.answer(question, "yes")
        await shop.until(run, "completed")
    assert shown == ["gone", "gone"]


async def test_a_kept_secret_serves_several_steps_and_later_turns_until_the_run_ends(
    shop: Workshop, redis: RedisServer
) -> None:
    lengths: list[int] = []

    async def use(run: Run, message: str) -> str:
        token = await run.secret("token", keep=True)
        await run.step("one", lambda: len(token.reveal()))
        await run.ask("Go on?")
        lengths.append(await run.step("two", lambda: len(token.reveal())))
        return "done"

    shop.hire("it", use)
    async with shop.worker():
        run = await shop.say()
        await give(shop, await shop.question())
        question = await asked_for(shop, "text")
        await shop.parked(run)
        assert len(sealed(redis)) == 1
        await shop.answer(question, "yes")
        await shop.until(run, "completed")
    assert lengths == [len(MARKER)]
    assert sealed(redis) == []


@pytest.mark.parametrize("end", ["cancel", "delete"])
async def test_the_end_of_a_run_takes_its_secrets_along(shop: Workshop, redis: RedisServer, end: str) -> None:
    async def use(run: Run, message: str) -> str:
        await run.secret("token")
        return await run.ask("Go on?")

    shop.hire("it", use)
    async with shop.worker(PATIENT):
        run = await shop.say()
        await give(shop, await shop.question())
        await asked_for(shop, "text")
        assert len(sealed(redis)) == 1
        if end == "cancel":
            await shop.broker.cancel(run, ANN)
        else:
            await shop.broker.delete((await shop.record(run)).conversation, ANN)
        assert sealed(redis) == []


@proves("C128", "broker")
async def test_no_text_and_no_plain_answer_is_taken_for_a_secret(shop: Workshop, redis: RedisServer) -> None:
    """An ordinary sentence, a slip in a command, a made-up handle and a plain value are refused, and not kept."""

    async def use(run: Run, message: str) -> str:
        await run.secret("token")
        return "got it"

    shop.hire("it", use)
    async with shop.worker():
        run = await shop.say()
        question = await shop.question()
        for text in ("please use the blue one", f"/answr {question.id} {MARKER}", f"/answer {question.id} {MARKER}"):
            refused = await shop.broker.said(Said(origin="chat-1", text=text, person=ANN, agent="it"))
            assert isinstance(refused, Refusal), text
            assert refused.code == "secret"
            assert MARKER not in refused.text
        values: tuple[Json, ...] = (MARKER, {"secret": MARKER}, {"secret": "y000000000000000"})
        for value in values:
            plain = await shop.broker.answer(Reply(question.id, Accepted(values={"secret": value}), ANN, "chat"))
            assert isinstance(plain, Refusal), value
            assert MARKER not in plain.text
        assert MARKER not in everything(redis)
        assert "the blue one" not in everything(redis)
        assert (await shop.record(run)).state == "waiting"
        await give(shop, question)
        await shop.until(run, "completed")


async def test_of_two_that_give_a_secret_one_wins_and_the_other_leaves_nothing(
    shop: Workshop, redis: RedisServer
) -> None:
    async def use(run: Run, message: str) -> str:
        await run.secret("token")
        return await run.ask("Go on?")

    shop.hire("it", use)
    async with shop.worker():
        await shop.say()
        question = await shop.question()
        assert isinstance(await give(shop, question, "first"), Answered)
        late = await give(shop, question, "second one")
        assert isinstance(late, Refusal)
        assert late.code == "already_answered"
        assert len(sealed(redis)) == 1


async def test_strangers_learn_nothing_of_a_secret_request(shop: Workshop) -> None:
    async def use(run: Run, message: str) -> str:
        await run.secret("token")
        return "got it"

    shop.hire("it", use)
    async with shop.worker():
        await shop.say()
        question = await shop.question()
        refused = await shop.broker.safe.give(Gift(question.id, BOB, "chat", {"secret": SecretStr(MARKER)}))
        unknown = await shop.broker.safe.give(Gift("q0" + "0" * 14, BOB, "chat", {"secret": SecretStr(MARKER)}))
        assert isinstance(refused, Refusal)
        assert refused == unknown


async def test_a_stored_secret_is_offered_to_the_same_agent_and_used_by_a_press_only(
    shop: Workshop, redis: RedisServer
) -> None:
    seen: list[str] = []

    async def use(run: Run, message: str) -> str:
        token = await run.secret("token", store=True)
        await run.step("use", lambda: seen.append(token.reveal()))
        return "used"

    shop.hire("it", use)
    shop.hire("other", use)
    safe = shop.broker.safe
    async with shop.worker():
        first = await shop.say()
        await give(shop, await shop.question())
        await shop.until(first, "completed")
        assert MARKER not in everything(redis)
        other = await shop.say(to="other", origin="chat-2")
        assert await safe.offered(await shop.question(), ANN) == []
        await shop.broker.cancel(other, ANN)
        second = await shop.say()
        question = await shop.question()
        assert [offer.kept.name for offer in await safe.offered(question, ANN)] == ["token"]
        assert await safe.offered(question, BOB) == []
        assert isinstance(await safe.give(Gift(question.id, ANN, "chat", stored=True)), Answered)
        await shop.until(second, "completed")
    assert seen == [MARKER, MARKER]
    kept = await safe.kept(ANN)
    assert [(one.agent, one.name, one.used_ms is not None) for one in kept] == [("it", "token", True)]
    assert await safe.kept(BOB) == []
    assert not await safe.forget(BOB, kept[0].id)
    assert await safe.forget(ANN, kept[0].id)
    assert await safe.kept(ANN) == []
