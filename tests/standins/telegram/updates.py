"""The queue of updates and its two ways out: one poller that waits, or a webhook. Source: PLATFORMS 2.9.

Ids rise; an update is gone when a poll asks for a higher one, or when the webhook took it. A later poll ends an earlier
one; setting a webhook ends any.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

from tests.standins.telegram.wire import Json, Object, Refusal

LEFT_OUT = {"chat_member", "message_reaction", "message_reaction_count"}
"""Kinds that come only when they are asked for."""
OTHER_POLL = "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running"
WEBHOOK_SET = "Conflict: terminated by setWebhook request"
WEBHOOK_ACTIVE = (
    "Conflict: can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first"
)


@dataclass(frozen=True, eq=False)
class Update:
    """One update. lane: the chat or user within which the webhook keeps the order."""

    id: int
    kind: str
    body: Object
    lane: int

    @property
    def json(self) -> Object:
        return {"update_id": self.id, self.kind: self.body}


@dataclass(eq=False)
class Poll:
    """A poll that waits. Both are touched in the server's loop only."""

    woken: asyncio.Event = field(default_factory=asyncio.Event)
    conflict: Refusal | None = None


@dataclass
class Webhook:
    """Where updates are sent. error: what went wrong last."""

    url: str
    secret: str | None = None
    connections: int = 40
    error: str | None = None
    error_at: int = 0


@dataclass(eq=False)
class Updates:
    """What waits for the bot. changed: called, from any thread, when there is something new."""

    changed: Callable[[], None]
    waiting: list[Update] = field(default_factory=list[Update])
    log: list[Update] = field(default_factory=list[Update])
    allowed: list[str] | None = None
    webhook: Webhook | None = None
    poll: Poll | None = None
    next_id: int = 1000

    def push(self, kind: str, body: Object, lane: int = 0) -> Update | None:
        """Queue an update, unless the bot did not ask for its kind."""
        if not self._wanted(kind):
            return None
        return self.put(Update(self._number(), kind, body, lane))

    def put(self, update: Update) -> Update:
        """Queue this very update, whatever the bot asked for; one of before comes again under its old id."""
        self.waiting.append(update)
        self.waiting.sort(key=lambda one: one.id)
        if update not in self.log:
            self.log.append(update)
        self.changed()
        return update

    def raw(self, kind: str, body: Object, lane: int = 0) -> Update:
        """Queue an update of any kind and shape."""
        return self.put(Update(self._number(), kind, body, lane))

    def take(self, offset: int, limit: int) -> list[Json]:
        """Forget what is confirmed and return what comes next; a negative offset keeps only the last so many."""
        if offset < 0:
            del self.waiting[:offset]
        elif offset > 0:
            self.waiting = [one for one in self.waiting if one.id >= offset]
        return [one.json for one in self.waiting[: max(1, min(limit, 100))]]

    def taken(self, update: Update) -> None:
        """The webhook took it."""
        self.waiting = [one for one in self.waiting if one is not update]

    def end_poll(self, words: str) -> None:
        """Let the poll that waits hear that it is no longer wanted."""
        if self.poll is not None:
            self.poll.conflict = Refusal(409, words)
            self.poll.woken.set()
            self.poll = None

    def _wanted(self, kind: str) -> bool:
        return kind in self.allowed if self.allowed else kind not in LEFT_OUT

    def _number(self) -> int:
        self.next_id += 1
        return self.next_id
