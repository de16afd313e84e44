"""Being let in: who the bot is, its commands, its webhook; and each way in which that fails, in one sentence.

Only what differs is changed: commands that are the same are not set again. It must not know the kit.
Source: C40, C104.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Final

from telegram import BotCommand, User, WebhookInfo
from telegram.error import InvalidToken, TelegramError

from adapters.platform import Finding, NotLetIn
from adapters.telegram.connection import KINDS, Wire
from adapters.telegram.polling import WRONG
from adapters.telegram.settings import HOOK, Settings

_log = logging.getLogger(__name__)
LOOK: Final = 30.0
"""seconds between two looks at the webhook"""
COMMANDS: Final = (
    ("status", "What works now"),
    ("pending", "What waits for you"),
    ("cancel", "End a task"),
    ("pause", "Keep a task for later"),
    ("resume", "Go on with a paused task"),
    ("stop", "Cancel every task: /stop all"),
    ("new", "Begin a new conversation"),
    ("agent", "Choose another agent"),
    ("approve", "Say yes: /approve ID"),
    ("deny", "Say no: /deny ID reason"),
    ("answer", "Answer a question: /answer ID text"),
    ("abort", "Pause the task of a question: /abort ID"),
    ("jobs", "Background jobs"),
    ("grants", "Remembered approvals"),
    ("help", "What you can do here"),
)


async def let_in(bot: Wire, settings: Settings) -> User:
    """Find out who the bot is and make sure that updates come. Raises: `NotLetIn`."""
    try:
        me = await bot.get_me()
        await _commands(bot)
        info = await bot.get_webhook_info()
        await _hook(bot, settings, info)
    except InvalidToken:
        raise NotLetIn(WRONG) from None
    except TelegramError as error:
        raise NotLetIn(f"Telegram does not let us in: {error.message}; it is tried again.") from None
    _log.info("this is @%s on Telegram", me.username)
    return me


async def _commands(bot: Wire) -> None:
    wanted = [BotCommand(name, words) for name, words in COMMANDS]
    if list(await bot.get_my_commands()) != wanted:
        await bot.set_my_commands(wanted)


async def _hook(bot: Wire, settings: Settings, info: WebhookInfo) -> None:
    if settings.hook_url is not None:
        await bot.set_webhook(settings.hook_url, secret_token=settings.hook_secret, allowed_updates=list(KINDS))
    elif info.url and info.url.endswith(HOOK):
        await bot.delete_webhook(drop_pending_updates=False)
    elif info.url:
        raise NotLetIn(_foreign(info.url))


def _foreign(url: str) -> str:
    return (
        f"This bot has a webhook at {url}, which is not ours: remove it (deleteWebhook), use another bot, or set "
        "TELEGRAM_WEBHOOK_URL."
    )


async def watch_hook(bot: Wire, settings: Settings, say: Callable[[str | None], None]) -> None:
    """Look now and then whether Telegram still calls us, and say what is wrong."""
    while True:
        try:
            say(_hooked(settings, await bot.get_webhook_info()))
        except TelegramError as error:
            say(f"Telegram cannot be asked about the webhook: {error.message}.")
        await asyncio.sleep(LOOK)


def _hooked(settings: Settings, info: WebhookInfo) -> str | None:
    if info.url != settings.hook_url:
        other = f"now at {info.url}" if info.url else "gone"
        return f"The webhook is {other}: another program uses this bot's token; start Sayso again to take it back."
    if info.last_error_message and info.pending_update_count:
        return (
            f"Telegram cannot deliver to {info.url} ({info.last_error_message}): {info.pending_update_count} updates "
            "wait; look at the address, the certificate and the proxy."
        )
    return None


async def checked(bot: Wire, settings: Settings) -> tuple[Finding, ...]:
    """Look at everything that can be looked at without changing it."""
    try:
        me = await bot.get_me()
        info = await bot.get_webhook_info()
    except InvalidToken:
        return (Finding(False, WRONG),)
    except TelegramError as error:
        return (Finding(False, f"Telegram cannot be reached at {settings.api_url}: {error.message}."),)
    found = [Finding(True, f"the bot is @{me.username}: https://t.me/{me.username}")]
    if settings.hook_url is None and info.url and not info.url.endswith(HOOK):
        found.append(Finding(False, _foreign(info.url)))
    elif settings.hook_url is not None:
        wrong = _hooked(settings, info) if info.url else None
        found.append(Finding(wrong is None, wrong or f"Telegram calls {settings.hook_url}"))
    if not me.can_join_groups:
        found.append(Finding(True, "it cannot be added to groups (BotFather, /setjoingroups)"))
    hears = "every message" if me.can_read_all_group_messages else "mentions of it, replies to it and commands"
    found.append(Finding(True, f"in groups it hears {hears} (BotFather, /setprivacy)"))
    return tuple(found)
