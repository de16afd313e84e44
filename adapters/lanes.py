"""Lanes: one queue for each chat, in which what matters most goes first, and which alone waits when it is told to.

    0 answers to people    1 final texts and new requests    2 edits of cards    3 what streams

A job with a key replaces the one that waits under the same key (it is drawn when its turn comes); what streams is
dropped while the chat has to wait. A job tells how long the chat must rest before it is tried again. It knows no
platform and no card. Source: DESIGN section 8 ("Priority per chat"), C107.
"""

from __future__ import annotations

import asyncio
import heapq
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from enum import IntEnum
from itertools import count
from types import TracebackType
from typing import Self

_log = logging.getLogger(__name__)
Job = Callable[[], Awaitable[float | None]]
"""Does one thing; returns the seconds after which it wants to be done again, or None when it is through with."""


class Rank(IntEnum):
    """What goes first."""

    ANSWER = 0
    FINAL = 1
    EDIT = 2
    STREAM = 3


class Lanes:
    """The lanes of one front end, for as long as the context lasts.

    may_send: asked before each job; while it says no, nothing is begun and what waits is dropped (others owe it now).
    """

    def __init__(self, may_send: Callable[[], bool]) -> None:
        self.everywhere = 0.0
        self._draining = False
        self._may_send = may_send
        self._lanes: dict[str, _Lane] = {}

    async def __aenter__(self) -> Self:
        self._draining = False
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        tasks = [lane.task for lane in self._lanes.values() if lane.task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._lanes.clear()

    async def drain(self, limit: float) -> None:
        """Finish what is under way and what people are told, begin nothing else; wait at most so many seconds."""
        self._draining = True
        with suppress(TimeoutError):
            async with asyncio.timeout(limit):
                while tasks := [lane.task for lane in self._lanes.values() if lane.task and not lane.task.done()]:
                    await asyncio.wait(tasks)

    def put(self, chat: str, rank: Rank, key: str, job: Job) -> None:
        """Queue a job; one that waits or is under way under the same key makes way for it, or is done once more."""
        self._lane(chat).put(rank, key, job)

    def holds(self, chat: str, key: str) -> bool:
        """Tell whether a job waits or is under way under a key."""
        lane = self._lanes.get(chat)
        return lane is not None and (key in lane.jobs or key == lane.busy)

    def rests(self, chat: str) -> bool:
        """Tell whether a chat has to wait at this moment."""
        lane = self._lanes.get(chat)
        until = max(self.everywhere, lane.rest_until if lane is not None else 0.0)
        return until > asyncio.get_running_loop().time()

    def rest_everywhere(self, seconds: float) -> None:
        """Let all chats wait: the platform said so for the whole bot."""
        self.everywhere = max(self.everywhere, asyncio.get_running_loop().time() + seconds)

    def may_send(self, rank: Rank = Rank.FINAL) -> bool:
        """Tell whether this process may send at all, and such a thing at its end."""
        return self._may_send() and (rank is Rank.ANSWER or not self._draining)

    def leave(self, chat: str) -> None:
        """Forget a lane that is empty."""
        self._lanes.pop(chat, None)

    def _lane(self, chat: str) -> _Lane:
        return self._lanes.setdefault(chat, _Lane(chat, self))


class _Lane:
    """The queue of one chat; its task lives while something waits."""

    def __init__(self, chat: str, lanes: Lanes) -> None:
        self.jobs: dict[str, tuple[int, int, Job]] = {}
        self.busy: str | None = None
        self.rest_until = 0.0
        self.task: asyncio.Task[None] | None = None
        self._chat = chat
        self._lanes = lanes
        self._heap: list[tuple[int, int, str]] = []
        self._count = count()

    def put(self, rank: Rank, key: str, job: Job) -> None:
        if rank is Rank.STREAM and self._lanes.rests(self._chat):
            return
        before = self.jobs.get(key)
        order = before[1] if before is not None and before[0] <= rank else next(self._count)
        place = (min(rank, before[0]) if before is not None else int(rank), order)
        self.jobs[key] = (*place, job)
        heapq.heappush(self._heap, (*place, key))
        if self.task is None or self.task.done():
            self.task = asyncio.create_task(self._work(), name=f"lane {self._chat}")

    async def _work(self) -> None:
        loop = asyncio.get_running_loop()
        while self._heap:
            while (rest := max(self.rest_until, self._lanes.everywhere) - loop.time()) > 0:
                self._drop_streams()
                await asyncio.sleep(rest)
            rank, order, key = heapq.heappop(self._heap)
            found = self.jobs.get(key)
            if found is None or found[:2] != (rank, order):
                continue
            del self.jobs[key]
            if self._lanes.may_send(Rank(rank)):
                await self._one(Rank(rank), order, key, found[2])
            else:
                self.jobs.clear()
                self._heap.clear()
        self.task = None
        if self.rest_until <= loop.time():
            self._lanes.leave(self._chat)

    async def _one(self, rank: Rank, order: int, key: str, job: Job) -> None:
        self.busy = key
        try:
            again = await job()
        except Exception:  # noqa: BLE001  # the edge of a job: one that fails must not end its chat's lane
            _log.exception("a job of the lane %s failed: %s", self._chat, key)
            again = None
        finally:
            self.busy = None
        if again is not None:
            self.rest_until = asyncio.get_running_loop().time() + again
            if rank is not Rank.STREAM and key not in self.jobs:
                self.jobs[key] = (int(rank), order, job)
                heapq.heappush(self._heap, (int(rank), order, key))

    def _drop_streams(self) -> None:
        for key in [key for key, job in self.jobs.items() if job[0] == Rank.STREAM]:
            del self.jobs[key]
