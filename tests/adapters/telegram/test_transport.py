"""What the adapter makes of a Telegram that cannot be reached: nothing was sent, and no error shows the token."""

from __future__ import annotations

import socket
import traceback

import pytest
from telegram.error import TelegramError

from adapters.platform import Refused
from adapters.telegram.connection import open_bot
from adapters.telegram.outcome import refused
from adapters.telegram.settings import Settings
from tests.proves import proves

KEY = "AAF-nobody-may-see-this"


def _unused() -> str:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{one.getsockname()[1]}"


@proves("C108", "telegram")
@pytest.mark.parametrize("address", [None, "http://127.0.0.1:99999", "http://nowhere.invalid"])
async def test_an_error_of_the_network_means_unsent_and_does_not_show_the_token(address: str | None) -> None:
    address = address or _unused()
    bot = open_bot(Settings.model_validate({"bot_token": f"42:{KEY}", "api_url": address}))
    try:
        with pytest.raises(TelegramError) as found:
            await bot.get_me()
    finally:
        await bot.close_lines()
    outcome = refused(found.value)
    assert isinstance(outcome, Refused)
    assert outcome.kind == "later"
    error: BaseException | None = found.value
    while error is not None:
        assert KEY not in repr(error) + str(error)
        error = error.__cause__ or error.__context__
    assert KEY not in "".join(traceback.format_exception(found.value))


@proves("C108", "telegram")
async def test_the_library_itself_is_never_given_the_token() -> None:
    """What it logs, raises or shows of itself cannot tell what it does not know."""
    bot = open_bot(Settings.model_validate({"bot_token": f"42:{KEY}", "api_url": "http://127.0.0.1:9"}))
    assert KEY not in f"{bot.token} {bot.base_url} {bot.base_file_url} {bot!r}"
    await bot.close_lines()


async def test_closed_lines_ask_nothing_any_more() -> None:
    bot = open_bot(Settings.model_validate({"bot_token": f"42:{KEY}", "api_url": _unused()}))
    await bot.close_lines()
    with pytest.raises(TelegramError, match="closed"):
        await bot.get_me()
