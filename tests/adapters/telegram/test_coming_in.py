"""How updates come in: asked for or called, every kind that is acted on; and what is said when nothing comes."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest
from pydantic import SecretStr

from adapters.platform import NotLetIn
from adapters.telegram import create
from adapters.telegram.adapter import HEADER
from tests.adapters.telegram.bench import Office, office, settings
from tests.contract.agents import where
from tests.proves import proves
from tests.standins.telegram import Person, TelegramServer
from tests.waiting import wait_until


@proves("C40", "telegram")
async def test_presses_are_asked_for_whatever_was_asked_for_before(
    redis_url: str, tmp_path: Path, server: TelegramServer, ann: Person
) -> None:
    """The server remembers the list of kinds; an earlier one lacked presses."""
    async with httpx.AsyncClient() as client:
        await client.post(f"{server.base_url}{server.token}/getUpdates", json={"allowed_updates": ["message"]})
    async with office(redis_url, tmp_path, server) as made:
        made.hire(where)
        ann.says("please")
        card = await made.ask(ann, "Where to?")
        assert await made.presses(ann, card, "staging") == "Accepted."
        await made.sees(ann, "To staging.")


async def test_commands_are_set_once_and_not_again(redis_url: str, tmp_path: Path, server: TelegramServer) -> None:
    for _ in range(2):
        async with office(redis_url, tmp_path, server):
            await wait_until(lambda: server.polling)
    assert len(server.calls("setMyCommands")) == 1
    commands = next(iter(server.state.commands.values()))
    assert {"status", "cancel", "help"} <= {str(one["command"]) for one in commands if isinstance(one, dict)}


async def test_an_edit_changes_nothing_and_says_so(made: Office, ann: Person) -> None:
    made.hire(where)
    first = ann.says("please")
    card = await made.ask(ann, "Where to?")
    ann.edits(first, "/cancel")
    await made.sees(ann, "what you wrote first stands")
    assert card.rows


async def test_start_greets_and_unknown_kinds_are_answered_in_words(
    made: Office, ann: Person, server: TelegramServer
) -> None:
    ann.starts("q_17")
    await made.sees(ann, "I am Sayso")
    sticker = {"file_id": "s", "file_unique_id": "s", "type": "regular", "width": 1, "height": 1}
    body = {"message_id": 99, "date": 1, "chat": ann.chat.json, "from": ann.user.json}
    server.update("message", {**body, "sticker": {**sticker, "is_animated": False, "is_video": False}}, ann.id)
    await made.sees(ann, "not this kind of message")


# ── a webhook ────────────────────────────────────────────────────────────────────────────────────────────────────────


async def test_telegram_calls_us_and_is_believed_only_with_its_secret(
    redis_url: str, tmp_path: Path, server: TelegramServer, ann: Person
) -> None:
    """Each update is taken once the desk has it; the same again has no second effect."""
    async with office(redis_url, tmp_path, server, how={"webhook_url": "http://127.0.0.1:9/"}) as made:
        made.hire(where)
        hook = made.telegram.hook()
        assert hook is not None
        assert server.webhook is not None
        assert (server.webhook.url, hook.path) == ("http://127.0.0.1:9/telegram", "/telegram")
        assert hook.genuine({HEADER: server.webhook.secret or ""})
        assert not hook.genuine({HEADER: "x"})
        assert not hook.genuine({})
        ann.says("please")
        for _ in range(2):
            await hook.take(httpx.Request("POST", "http://x", json=server.updates[-1].json).read())
        card = await made.ask(ann, "Where to?")
        assert len([one for one in server.messages(ann) if "Where to?" in one.text]) == 1
        ann.presses(card, "staging")
        await hook.take(httpx.Request("POST", "http://x", json=server.updates[-1].json).read())
        await made.sees(ann, "To staging.")


async def test_our_own_webhook_is_taken_away_when_updates_are_asked_for_again(
    redis_url: str, tmp_path: Path, server: TelegramServer, ann: Person
) -> None:
    async with office(redis_url, tmp_path, server, how={"webhook_url": "http://127.0.0.1:9/telegram"}):
        pass
    async with office(redis_url, tmp_path, server) as made:
        made.hire(where)
        ann.says("please")
        await made.ask(ann, "Where to?")
    assert server.webhook is None


# ── what is said ─────────────────────────────────────────────────────────────────────────────────────────────────────


async def test_a_wrong_token_is_said_in_one_sentence(made: Office, server: TelegramServer) -> None:
    wrong = create(settings(server, bot_token=SecretStr("4242:wrong")))
    found = await wrong.check()
    assert [(one.ok, one.words.count(". ")) for one in found] == [(False, 0)]
    assert "BotFather" in found[0].words
    with pytest.raises(NotLetIn, match="refuses the bot's token"):
        async with wrong.connect(made.surfaces[0].desk):
            raise AssertionError("let in")


async def test_a_server_that_is_not_there_is_said_in_one_sentence(server: TelegramServer) -> None:
    found = await create(settings(server, api_url="http://127.0.0.1:9")).check()
    assert not found[0].ok
    assert "http://127.0.0.1:9" in found[0].words


async def test_the_doctor_hears_the_bots_name_and_what_it_hears(server: TelegramServer) -> None:
    words = [one.words for one in await create(settings(server)).check()]
    assert words[0] == "the bot is @sayso_bot: https://t.me/sayso_bot"
    assert "mentions of it" in words[-1]
