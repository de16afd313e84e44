"""What code waits for, come what may: a cancellation of who waits goes on only when it is done.

This file must not know what is waited for.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Coroutine
from contextvars import ContextVar
from typing import TypeVar

T = TypeVar("T")
waited_for: ContextVar[bool] = ContextVar("waited_for", default=False)
"""Whether this is such work: it is nothing that a stopped turn leaves behind."""


def waited(work: Coroutine[object, None, T], name: str) -> asyncio.Task[T]:
    """Begin something that the code waits for, come what may: it is not what a stopped turn leaves behind."""
    mark = waited_for.set(True)
    try:
        return asyncio.create_task(work, name=name)
    finally:
        waited_for.reset(mark)


async def unbroken(work: Awaitable[T]) -> T:
    """Wait until the work is done even when this is cancelled meanwhile; the cancellation goes on afterwards."""
    mark = waited_for.set(True)
    task = asyncio.ensure_future(work)
    waited_for.reset(mark)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        while not task.done():
            try:
                await asyncio.wait([task])
            except asyncio.CancelledError:
                continue
        if not task.cancelled():
            task.exception()
        raise
