"""Waiting for an outcome without guessing a time: look, yield, look again, until a limit."""

import asyncio
import inspect
from collections.abc import Awaitable, Callable

PAUSE = 0.01


async def wait_until(predicate: Callable[[], object | Awaitable[object]], timeout: float = 10.0) -> None:
    """Return as soon as `predicate` holds; it may be a coroutine function.

    timeout: seconds, the limit of the wait and never a claim about speed.
    Raises: `AssertionError` naming the predicate when the limit is reached.
    """
    last: object = None
    try:
        async with asyncio.timeout(timeout):
            while True:
                last = predicate()
                if inspect.isawaitable(last):
                    last = await last
                if last:
                    return
                await asyncio.sleep(PAUSE)
    except TimeoutError:
        raise AssertionError(f"not so within {timeout:g} s: {predicate!r} (last: {last!r})") from None
