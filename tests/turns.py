"""Letting the event loop go round a number of times, to meet code at each point where it can be interrupted."""

import asyncio


async def turns(count: int) -> None:
    """Return after the loop has gone round `count` times."""
    for _ in range(count):
        gone_round = asyncio.Event()
        asyncio.get_running_loop().call_soon(gone_round.set)
        await gone_round.wait()
