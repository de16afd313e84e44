"""Who sends too much: a pause that a test orders, and, when switched on, the published rates.

A call during a pause is refused again with what is left of it, and noted: nobody who respects `retry_after` makes one.
Source: Bot API FAQ (1 a second and chat with bursts, 20 a minute and group, 30 a second in all); PLATFORMS 2.8.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass, field

from tests.standins.telegram.clock import Clock
from tests.standins.telegram.wire import Refusal, too_many
from tests.standins.telegram.world import Chat

ALL = 0
"""Stands for the whole bot."""
ON_ITS_WAY = 0.5
"""seconds that a call may have been under way when a pause began"""


@dataclass(frozen=True)
class Rates:
    """The published limits. burst: how many a chat takes at once."""

    chat_per_second: float = 1.0
    burst: int = 5
    group_per_minute: int = 20
    all_per_second: int = 30
    penalty: int = 3


@dataclass
class Limiter:
    """Counts what is sent, and holds pauses. rates: None lets everything through but the pauses."""

    clock: Clock
    rates: Rates | None = None
    until: dict[int, float] = field(default_factory=dict[int, float])
    since: dict[int, float] = field(default_factory=dict[int, float])
    sent: dict[int, deque[float]] = field(default_factory=dict[int, deque[float]])
    tokens: dict[int, tuple[float, float]] = field(default_factory=dict[int, tuple[float, float]])

    def pause(self, chat: int, seconds: float) -> None:
        """Let a chat (or `ALL`) take nothing for so long."""
        self.since[chat] = self.clock.now()
        self.until[chat] = self.clock.now() + seconds

    def paused(self, chat: int) -> Refusal | None:
        """What a call during a pause hears."""
        left = max(self.until.get(chat, 0.0), self.until.get(ALL, 0.0)) - self.clock.now()
        return too_many(math.ceil(left)) if left > 0 else None

    def is_known(self, chat: int) -> bool:
        """Whether who calls must have heard of the pause by now; what was on its way when it began is no fault."""
        begun = [self.since[key] for key in (chat, ALL) if self.until.get(key, 0.0) > self.clock.now()]
        return any(at <= self.clock.now() - ON_ITS_WAY for at in begun)

    def count(self, chat: Chat) -> Refusal | None:
        """Count one message or edit; what is too much is refused and starts a pause."""
        rates = self.rates
        if rates is None:
            return None
        fast = self._window(ALL, 1.0) >= rates.all_per_second
        busy = not chat.private and self._window(chat.id, 60.0) >= rates.group_per_minute
        if fast or busy or not self._token(chat.id, rates):
            self.pause(ALL if fast else chat.id, rates.penalty)
            return too_many(rates.penalty)
        for key in (ALL, chat.id):
            self.sent.setdefault(key, deque()).append(self.clock.now())
        return None

    def _window(self, key: int, span: float) -> int:
        times = self.sent.setdefault(key, deque())
        while times and times[0] <= self.clock.now() - 60.0:
            times.popleft()
        return sum(at > self.clock.now() - span for at in times)

    def _token(self, chat: int, rates: Rates) -> bool:
        left, at = self.tokens.get(chat, (float(rates.burst), self.clock.now()))
        left = min(rates.burst, left + (self.clock.now() - at) * rates.chat_per_second)
        self.tokens[chat] = (left - 1 if left >= 1 else left, self.clock.now())
        return left >= 1
