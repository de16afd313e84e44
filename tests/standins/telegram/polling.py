"""Long polls and webhook settings: who gets the updates, and what the others hear. Source: PLATFORMS 2.9."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Coroutine
from urllib.parse import urlsplit

from tests.standins.telegram.state import State
from tests.standins.telegram.updates import OTHER_POLL, WEBHOOK_ACTIVE, WEBHOOK_SET, Poll, Webhook
from tests.standins.telegram.wire import Fields, Json, Object, Refusal, bad

LONGEST = 50
SECRET = re.compile(r"[A-Za-z0-9_-]{1,256}")


class Polling:
    """The polls of a server; used in its loop only."""

    def __init__(self, state: State) -> None:
        self.state = state

    async def poll(self, call: Fields, gone: Callable[[], Coroutine[None, None, None]], closing: asyncio.Event) -> Json:
        """Confirm what is below the offset, then return what is next, waiting for it so long."""
        offset, limit = call.number("offset") or 0, call.number("limit") or 100
        timeout = max(0, min(call.number("timeout") or 0, LONGEST))
        poll = Poll()
        with self.state.lock:
            updates = self.state.updates
            if updates.webhook is not None:
                raise Refusal(409, WEBHOOK_ACTIVE)
            updates.end_poll(OTHER_POLL)
            if "allowed_updates" in call:
                updates.allowed = [str(one) for one in call.list("allowed_updates")]
            taken = updates.take(offset, limit)
            if taken or not timeout:
                return taken
            updates.poll = poll
        watch = [asyncio.ensure_future(one()) for one in (poll.woken.wait, closing.wait, gone)]
        try:
            await asyncio.wait(watch, timeout=timeout, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for one in watch:
                one.cancel()
            await asyncio.gather(*watch, return_exceptions=True)
            with self.state.lock:
                if updates.poll is poll:
                    updates.poll = None
        if poll.conflict is not None:
            raise poll.conflict
        with self.state.lock:
            return updates.take(max(offset, 0), limit)

    def wake(self) -> None:
        """Something is new; called in the server's loop."""
        poll = self.state.updates.poll
        if poll is not None and self.state.updates.waiting:
            poll.woken.set()


def webhook_method(state: State, name: str, call: Fields) -> Json:
    """What the methods about the webhook do; None for every other method."""
    match name:
        case "setWebhook" if call.text("url"):
            return _set(state, call)
        case "setWebhook" | "deleteWebhook":
            state.updates.webhook = None
            if call.flag("drop_pending_updates"):
                state.updates.waiting.clear()
            return True
        case "getWebhookInfo":
            return _shown(state)
        case _:
            return None


def _set(state: State, call: Fields) -> Json:
    url = urlsplit(call.text("url"))
    local = url.hostname in ("127.0.0.1", "localhost")
    if url.scheme != "https" and not local:
        raise bad("bad webhook: An HTTPS URL must be provided for webhook")
    secret = call.text("secret_token")
    if secret and not SECRET.fullmatch(secret):
        raise bad("secret token contains unallowed characters" if len(secret) <= 256 else "secret token is too long")
    if url.port not in (None, 80, 88, 443, 8443) and not local:
        raise bad("bad webhook: Webhook can be set up only on ports 80, 88, 443 or 8443")
    updates = state.updates
    updates.end_poll(WEBHOOK_SET)
    if "allowed_updates" in call:
        updates.allowed = [str(one) for one in call.list("allowed_updates")]
    if call.flag("drop_pending_updates"):
        updates.waiting.clear()
    updates.webhook = Webhook(call.text("url"), secret or None, call.number("max_connections") or 40)
    updates.changed()
    return True


def _shown(state: State) -> Json:
    hook, updates = state.updates.webhook, state.updates
    shown: Object = {"url": hook.url if hook is not None else "", "has_custom_certificate": False}
    shown["pending_update_count"] = len(updates.waiting)
    if hook is not None:
        shown["max_connections"] = hook.connections
        if hook.error is not None:
            shown |= {"last_error_date": hook.error_at, "last_error_message": hook.error}
    if updates.allowed:
        shown["allowed_updates"] = [*updates.allowed]
    return shown
