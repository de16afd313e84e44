"""What a turn in a worker's process leaves behind when its code has ended: threads at work, and tasks of its own.

Jobs of an executor (`asyncio.to_thread`, `loop.run_in_executor` with any pool) are counted: a thread cannot be
cancelled, so the code that waits for it ends before it does; the turn has not. Tasks that the code created are known to
their turn, which ends them when it is stopped. Source: DESIGN section 4 (no executor job of the turn left).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Generator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import Context, ContextVar
from functools import partial
from typing import ParamSpec, TypeVar

from core.turn import Turn
from core.waited import waited_for

T = TypeVar("T")
P = ParamSpec("P")
whose: ContextVar[Turn | None] = ContextVar("whose", default=None)
"""The turn whose code runs here."""


@contextmanager
def noted(loop: asyncio.AbstractEventLoop) -> Generator[None]:
    """Note on a loop, until the end of the context, what turns begin on it. A loop is noted once at a time."""
    plain = loop.run_in_executor

    def run_in_executor(executor: Executor | None, func: Callable[..., T], *args: object) -> asyncio.Future[T]:
        turn = whose.get()
        if executor is None or turn is None:
            return plain(executor, func, *args)
        return asyncio.wrap_future(_counted(loop, turn, partial(executor.submit, func, *args)), loop=loop)

    loop.set_default_executor(Threads(loop))
    loop.set_task_factory(_made)
    setattr(loop, "run_in_executor", run_in_executor)  # noqa: B010  # a loop has no other door to pools of others
    try:
        yield
    finally:
        loop.set_task_factory(None)
        delattr(loop, "run_in_executor")


def _made(
    loop: asyncio.AbstractEventLoop,
    code: Coroutine[object, None, T] | Generator[None, None, T],
    *,
    name: str | None = None,
    context: Context | None = None,
) -> asyncio.Task[T]:
    """Make a task, as a loop does, and note whose it is; not so what the code waits for in any case."""
    task = asyncio.Task(code, loop=loop, name=name, context=context)
    turn = whose.get() if context is None else context.get(whose)
    if turn is not None and not waited_for.get():
        turn.leave(task)
    return task


def _counted(loop: asyncio.AbstractEventLoop, turn: Turn, submit: Callable[[], Future[T]]) -> Future[T]:
    """Have a pool do something for a turn, which acts until it is done."""
    acting = turn.act()
    acting.__enter__()
    try:
        future = submit()
    except BaseException:
        acting.__exit__(None, None, None)
        raise

    def over(_: Future[T]) -> None:
        if not loop.is_closed():
            loop.call_soon_threadsafe(acting.__exit__, None, None, None)

    future.add_done_callback(over)
    return future


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
        return _counted(self._loop, turn, partial(super().submit, fn, *args, **kwargs))
