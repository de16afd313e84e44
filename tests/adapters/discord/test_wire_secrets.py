"""Secrets and files over the wire."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from core.agent import Run
from tests.adapters.discord.wire import plain, wired
from tests.contract.test_secrets import everything
from tests.proves import proves
from tests.redis_server import RedisServer
from tests.waiting import wait_until

MARKER = "S3cr3t-MARKER-42"
NAMES = ("../../AGENT.md", "..\\..\\x", "n" * 200, "CON", ".env", "same.txt", "same.txt")


async def token(run: Run, message: str) -> str:
    """Ask for a secret, and use it."""
    secret = await run.secret("token", "The token?")
    return f"Got {len(secret.reveal())} characters."


@proves("C126", "discord")
async def test_a_secret_given_by_a_form_is_found_nowhere(
    redis: RedisServer, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    async with wired(redis.url, tmp_path) as wire:
        wire.hire(token)
        wire.ann.says(wire.ann.dm, "please")
        card = await wire.card("The token?")
        wire.ann.presses(card, "Enter it here")
        await wait_until(lambda: wire.ann.modals)
        wire.ann.submits(wire.ann.modals[-1], {wire.ann.modals[-1].fields[0]: MARKER})
        await wire.final(card, "Received by Ann")
        await wire.says(f"Got {len(MARKER)} characters.")
        assert not [one for one in wire.there.messages(wire.ann.dm) if MARKER in "".join(one.shown)]
        assert not [call for call in wire.there.calls("send") if MARKER in str(call.body)]
    assert MARKER not in everything(redis)
    assert MARKER not in caplog.text
    assert wire.there.token not in caplog.text


@proves("C127", "discord")
async def test_a_secret_is_never_asked_for_in_a_server_and_a_typed_one_is_not_kept(
    redis: RedisServer, tmp_path: Path
) -> None:
    """The bot may not delete what people write to it: they are told to."""
    async with wired(redis.url, tmp_path, served=False) as wire:
        wire.public = True
        await wire.front()
        wire.hire(token)
        thread = await wire.thread(wire.room())
        card = await wire.says("never asked for in a group", thread)
        assert not [one for one in card.buttons if one.url or "Enter" in one.label]
        wire.ann.says(wire.ann.dm, "please")
        card = await wire.card("The token?")
        assert [one.url for one in card.buttons if one.url] != []
        wire.ann.says(wire.ann.dm, MARKER)
        await wire.says("change the secret")
        assert not [one for one in wire.there.ours(wire.ann.dm) if MARKER in plain(one)]
        assert card.live
    assert MARKER not in everything(redis)


@proves("C123", "discord")
async def test_files_are_kept_under_safe_names_and_none_overwrites_another(redis_url: str, tmp_path: Path) -> None:
    got: list[bytes] = []

    async def take(run: Run, message: str) -> str:
        got.extend([await run.content(file) for file in run.attachments])
        assert all("/" not in file.name and "\\" not in file.name for file in run.attachments)
        return f"Took {len(run.attachments)}."

    async with wired(redis_url, tmp_path / "files") as wire:
        wire.hire(take)
        wire.ann.says(wire.ann.dm, "here", files=[(name, str(n).encode()) for n, name in enumerate(NAMES)])
        await wire.says(f"Took {len(NAMES)}.")
        assert sorted(got) == [str(n).encode() for n in range(len(NAMES))]
        assert {path.parent.name for path in _below(tmp_path)} == {"files"}


async def test_a_file_that_lies_elsewhere_than_at_discord_is_not_fetched(redis_url: str, tmp_path: Path) -> None:
    """An address in an event is no reason to call it: it could be one of an inner network."""

    async def take(run: Run, message: str) -> str:
        return f"Took {[file.name for file in run.attachments]}."

    async with wired(redis_url, tmp_path) as wire:
        wire.hire(take)
        wire.there.world.cdn = wire.there.world.address.replace("127.0.0.1", "localhost")
        wire.ann.says(wire.ann.dm, "here", files=[(f"{n}.txt", b"what nobody may read") for n in range(2)])
        for n in range(2):
            await wire.says(f"I did not take the file '{n}.txt': it does not come from Discord.")
        await wire.says("Took [].")
        wire.there.world.cdn = ""
        wire.ann.says(wire.ann.dm, "and here", files=[("outer.txt", b"for everybody")])
        await wire.says("Took ['outer.txt'].")
        assert wire.there.server.loaded == ["outer.txt"]


def _below(folder: Path) -> list[Path]:
    """Everything that stands directly in the folder of files, which is all there is."""
    return [path for one in folder.iterdir() for path in one.iterdir()]
