"""A secret is asked for by a link to its page; what somebody writes into the chat instead is never kept."""

from __future__ import annotations

import logging

import pytest

from adapters.platform import Refused
from core.agent import Run
from tests.contract.bench import GROUP, HOME, LINK, Bench
from tests.proves import proves
from tests.redis_server import RedisServer
from tests.waiting import wait_until

MARKER = "S3cr3t-MARKER-42"


async def ask(run: Run, message: str) -> str:
    """Ask for a secret."""
    await run.secret("token", "The token?")
    return "Got it."


def everything(server: RedisServer) -> str:
    """All that Redis holds."""
    out: list[str] = []
    keys = server.say("KEYS", "*")
    for key in keys if isinstance(keys, list) else []:
        kind = server.say("TYPE", str(key))
        reads = {
            "string": ("GET",),
            "list": ("LRANGE", 0, -1),
            "zset": ("ZRANGE", 0, -1),
            "stream": ("XRANGE", "-", "+"),
        }
        read = reads.get(str(kind), ("EXISTS",))
        out.append(str(server.say(read[0], str(key), *read[1:])))
    return "\n".join(out)


@proves("C126", "kit", "page", "telegram")
@proves("C127", "kit", "page", "telegram")
@proves("C128", "kit", "page", "telegram")
@pytest.mark.parametrize("words", [MARKER, f"the token is {MARKER}", f"/canel {MARKER}", f"/answer q0 {MARKER}"])
async def test_what_is_written_instead_of_a_secret_is_kept_nowhere(
    made: Bench, words: str, redis: RedisServer, caplog: pytest.LogCaptureFixture
) -> None:
    """Masked by the kind of the question, not by guessing words: deleted from the chat, in no store, log or reply."""
    caplog.set_level(logging.DEBUG)
    made.hire(ask)
    await made.write("please")
    card = await made.says("The token?")
    request = (await made.pending())[0]
    for reply in (None, card):
        answer = await made.write(words.replace("q0", request.id), reply_to=reply)
        assert answer is not None
        assert "not kept" in answer.text
    await made.says("not kept")
    await wait_until(lambda: not [text for text in made.chats[0].texts(HOME) if MARKER in text])
    assert MARKER not in everything(redis)
    assert MARKER not in caplog.text
    assert (await made.request(request.id)).state == "open"


@proves("C127", "kit", "telegram")
async def test_a_message_that_cannot_be_deleted_is_said_to_be_so(made: Bench) -> None:
    made.hire(ask)
    await made.write("please")
    await made.says("The token?")
    made.chats[0].fail("remove", Refused("final", "message can't be deleted"))
    await made.write(MARKER)
    await made.says("change the secret")


@proves("C127", "kit", "telegram")
async def test_a_secret_is_asked_for_by_a_link_in_private_and_never_in_a_group(made: Bench) -> None:
    made.hire(ask)
    await made.write("please", place=GROUP)
    card = await made.says("The token?", place=GROUP)
    assert "never asked for in a group" in card.text
    assert not [button for button in card.view.buttons if button.url is not None]
    await made.write("please")
    card = await made.says("The token?")
    links = [button.url for button in card.view.buttons if button.url is not None]
    if made.chats[0].limits.links:
        assert [link.startswith(LINK) for link in links] == [True]
    else:
        assert not links
        assert "on the dashboard" in card.text


async def test_no_list_asks_for_a_secret_to_be_written(made: Bench) -> None:
    """What a group's card says works: a private chat lists the secret, and shows its card there."""
    made.hire(ask)
    await made.write("please", place=GROUP)
    assert "privately (/pending)" in (await made.says("The token?", place=GROUP)).text
    listed = await made.write("/pending")
    assert listed is not None
    assert "The token?" in listed.text
    assert "/answer" not in listed.text
    await made.press(await made.card("The token?"), "? The token?")
    await made.says("Give the secret")


async def test_without_a_public_address_there_is_no_link(made: Bench) -> None:
    made.link = False
    await made.restart()
    made.hire(ask)
    await made.write("please")
    card = await made.says("The token?")
    assert not [button for button in card.view.buttons if button.url is not None]
    if made.chats[0].limits.form_max:
        assert "Enter it here…" in card.labels
    else:
        assert "on the dashboard" in card.text
