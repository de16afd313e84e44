"""Threads of a worker, counted for the turn that started work on them: a cancelled turn is over when they are.

`asyncio.to_thread` and `loop.run_in_executor(None, ...)` come here. A thread cannot be cancelled, so the code that
waits for it ends before it does; the turn has not. Source: DESIGN section 4 (no executor job of the turn left).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import ContextVar
from typing import ParamSpec, TypeVar

from core.turn import Turn

T = TypeVar("T")
P = ParamSpec("P")
whose: ContextVar[Turn | None] = ContextVar("whose", default=None)
"""The turn whose code runs here."""


class Threads(ThreadPoolExecutor):
    """The default executor of a loop on which turns run."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(thread_name_prefix="turn")
        self._loop = loop

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Have a function run on a thread; its turn acts until it is done."""
        turn = whose.get()
        if turn is None:
            return super().submit(fn, *args, **kwargs)
        acting = turn.act()
        acting.__enter__()
        try:
            future = super().submit(fn, *args, **kwargs)
        except BaseException:
            acting.__exit__(None, None, None)
            raise

        def over(_: Future[T]) -> None:
            if not self._loop.is_closed():
                self._loop.call_soon_threadsafe(acting.__exit__, None, None, None)

        future.add_done_callback(over)
        return future
