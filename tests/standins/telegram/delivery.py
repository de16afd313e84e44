"""The webhook's side of the queue: updates posted with the secret, in order within a lane, again until they are taken.

Telegram waits longer and longer between tries; here the first pause is a setting and a test can cut it short.
Source: PLATFORMS 2.9.
"""

from __future__ import annotations

import asyncio

import httpx

from tests.standins.telegram.state import State
from tests.standins.telegram.updates import Update, Webhook


class Delivery:
    """Sends what waits while a webhook is set. pause: seconds before a try after a failed one, doubled each time."""

    def __init__(self, state: State, *, pause: float = 0.05, longest: float = 60.0, timeout: float = 20.0) -> None:
        self.state = state
        self.pause = pause
        self.longest = longest
        self.timeout = timeout
        self.news = asyncio.Event()
        self.again = asyncio.Event()

    async def run(self) -> None:
        """Deliver until cancelled."""
        lanes: dict[int, asyncio.Task[None]] = {}
        async with httpx.AsyncClient(timeout=self.timeout) as client:
            try:
                while True:
                    self.news.clear()
                    with self.state.lock:
                        hook = self.state.updates.webhook
                        waiting = {one.lane for one in self.state.updates.waiting} if hook is not None else set[int]()
                    for lane in waiting:
                        if lane not in lanes or lanes[lane].done():
                            lanes[lane] = asyncio.ensure_future(self._lane(client, lane))
                    await self.news.wait()
            finally:
                for task in lanes.values():
                    task.cancel()
                await asyncio.gather(*lanes.values(), return_exceptions=True)

    async def _lane(self, client: httpx.AsyncClient, lane: int) -> None:
        pause = self.pause
        while True:
            with self.state.lock:
                hook = self.state.updates.webhook
                update = next((one for one in self.state.updates.waiting if one.lane == lane), None)
            if hook is None or update is None:
                self.news.set()
                return
            if await self._sent(client, hook, update):
                pause = self.pause
                continue
            self.again.clear()
            try:
                async with asyncio.timeout(pause):
                    await self.again.wait()
            except TimeoutError:
                pause = min(2 * pause, self.longest)

    async def _sent(self, client: httpx.AsyncClient, hook: Webhook, update: Update) -> bool:
        headers = {"X-Telegram-Bot-Api-Secret-Token": hook.secret} if hook.secret is not None else {}
        try:
            response = await client.post(hook.url, json=update.json, headers=headers)
        except httpx.HTTPError as error:
            words = f"Connection failed: {type(error).__name__}"
        else:
            if response.is_success:
                with self.state.lock:
                    self.state.updates.taken(update)
                return True
            words = f"Wrong response from the webhook: {response.status_code} {response.reason_phrase}"
        with self.state.lock:
            hook.error, hook.error_at = words, int(self.state.clock.now())
        return False
