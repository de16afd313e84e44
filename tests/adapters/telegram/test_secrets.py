"""Without a page that people can open, a secret is written in the private chat: sealed, deleted, kept nowhere."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from core.agent import Run
from core.secret import Secret
from tests.adapters.telegram.bench import Office, office
from tests.contract.test_secrets import everything
from tests.proves import proves
from tests.redis_server import RedisServer
from tests.standins.telegram import Message, Person, TelegramServer, refusing
from tests.standins.telegram.wire import bad
from tests.waiting import wait_until

MARKER = "S3cr3t-MARKER-42"
CARD = "Write the secret"


async def fits(token: Secret) -> str:
    """Use a secret."""
    return "It fits." if token.reveal() == MARKER else "It does not fit."


async def ask(run: Run, message: str) -> str:
    """Ask for a secret, and use it."""
    return await run.step("use", fits, await run.secret("token", "The token?"))


@pytest.fixture
async def made(redis_url: str, tmp_path: Path, server: TelegramServer) -> AsyncGenerator[Office]:
    """Everything at work, with no public address."""
    async with office(redis_url, tmp_path, server, link=False) as one:
        one.hire(ask)
        yield one


async def deleted(message: Message) -> None:
    """Wait until a message is gone from the chat."""
    await wait_until(lambda: message.deleted)


@proves("C126", "telegram")
@proves("C127", "telegram")
@pytest.mark.parametrize("reply", [False, True], ids=["as the next message", "as a reply"])
async def test_a_secret_that_is_written_is_given_deleted_and_in_no_store_and_no_log(
    made: Office, ann: Person, redis: RedisServer, server: TelegramServer, caplog: pytest.LogCaptureFixture, reply: bool
) -> None:
    caplog.set_level(logging.DEBUG)
    ann.says("please")
    card = await made.ask(ann, CARD)
    written = ann.says(MARKER, reply_to=card if reply else None)
    await made.sees(ann, "It fits.")
    await deleted(written)
    await made.sees(ann, "Received, and sealed.")
    await made.ends(card, "Received")
    await made.taken()
    assert MARKER not in everything(redis)
    assert MARKER not in caplog.text
    assert not [one for one in server.messages(ann) if MARKER in "".join(one.shown)]


@proves("C127", "telegram")
async def test_who_is_left_with_a_secret_in_the_chat_is_told_so(
    made: Office, ann: Person, server: TelegramServer
) -> None:
    ann.says("please")
    await made.ask(ann, CARD)
    server.fail_next("deleteMessage", refusing(bad("message can't be deleted")))
    written = ann.says(MARKER)
    await made.sees(ann, "please delete it, and change the secret")
    await made.sees(ann, "It fits.")
    assert not written.deleted


@proves("C128", "telegram")
async def test_the_second_half_of_a_secret_is_deleted_and_kept_nowhere(
    made: Office, ann: Person, redis: RedisServer, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    ann.says("please")
    await made.ask(ann, CARD)
    written = ann.says(MARKER)
    await made.sees(ann, "It fits.")
    rest = ann.says("and-the-rest-42")
    await deleted(written)
    await deleted(rest)
    await made.sees(ann, "right after a secret")
    await made.taken()
    assert "and-the-rest-42" not in everything(redis)
    assert "and-the-rest-42" not in caplog.text


async def test_a_secret_that_comes_again_after_a_restart_is_deleted_and_no_message_to_the_agent(
    made: Office, ann: Person, redis: RedisServer, server: TelegramServer
) -> None:
    """Killed between taking and deleting: the same update comes again, when nothing asks for a secret any more."""
    ann.says("please")
    await made.ask(ann, CARD)
    written = ann.says(MARKER)
    update = server.updates[-1]
    await made.sees(ann, "It fits.")
    await deleted(written)
    await made.settled("tg")
    await made.down()
    written.deleted = False
    server.repeat(update)
    await made.up()
    await deleted(written)
    await made.taken()
    assert (await made.run_of(ann)).state == "completed"
    assert MARKER not in everything(redis)


async def test_what_asks_for_more_than_one_thing_takes_a_secret_only_as_a_reply(
    made: Office, ann: Person, redis: RedisServer
) -> None:
    """Nobody knows what a text is meant for while something else is asked, too: it goes, and nothing is taken."""

    async def both(run: Run, message: str) -> str:
        token, name = await asyncio.gather(run.secret("token", "The token?"), run.ask("What is it?"))
        return f"{name}: {await run.step('use', fits, token)}"

    made.hire(both)
    ann.says("please")
    card = await made.ask(ann, CARD)
    question = await made.ask(ann, "What is it?")
    written = ann.says(MARKER)
    await made.sees(ann, "not kept")
    await deleted(written)
    assert MARKER not in everything(redis)
    written = ann.says(MARKER, reply_to=card)
    await deleted(written)
    ann.says("a parrot", reply_to=question)
    await made.sees(ann, "a parrot: It fits.")
    assert MARKER not in everything(redis)


@proves("C128", "telegram")
async def test_in_a_group_no_secret_is_taken(
    made: Office, ann: Person, server: TelegramServer, redis: RedisServer
) -> None:
    ops = server.group("Ops", [ann])
    made.doors.set((f"tg:{ann.id}",))
    ann.says("@sayso_bot please", ops)
    card = await made.ask(ops, "never asked for in a group")
    ann.says(MARKER, ops, reply_to=card)
    await made.sees(ops, "not kept")
    await made.taken()
    assert MARKER not in everything(redis)
    assert (await made.run_of(ann, ops)).state == "waiting"


async def test_where_there_is_a_page_no_secret_is_taken_from_the_chat(
    redis_url: str, tmp_path: Path, server: TelegramServer, ann: Person, redis: RedisServer
) -> None:
    async with office(redis_url, tmp_path, server) as made:
        made.hire(ask)
        ann.says("please")
        await made.ask(ann, "on its one-time page")
        written = ann.says(MARKER)
        await made.sees(ann, "not kept")
        await deleted(written)
        assert (await made.run_of(ann)).state == "waiting"
        assert MARKER not in everything(redis)
