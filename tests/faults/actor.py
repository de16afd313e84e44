"""One of the processes that act on a real server: takes events on stdin, commits them through a proxy that is cut.

Run as `python -m tests.faults.actor <socket of the server>`.
"""

import asyncio
import importlib
import sys
from collections.abc import Callable
from pathlib import Path

from core.broker import Broker, open_broker
from core.errors import StoreError
from core.life.decision import Refusal
from core.life.draft import Draft
from core.life.result import Result
from tests.core.life.world import SPANS
from tests.faults.orders import Order, get, put
from tests.faults.proxy import Proxy
from tests.turns import turns


async def main(server: Path) -> None:
    """Act until stdin ends."""
    loop = asyncio.get_running_loop()
    async with Proxy(server) as proxy, open_broker(proxy.url, spans=SPANS, block=0.5) as broker:
        put(sys.stdout.buffer, "ready")
        while True:
            order = await loop.run_in_executor(None, get, sys.stdin.buffer)
            if not isinstance(order, Order):
                return
            put(sys.stdout.buffer, await act(broker, proxy, order))


async def act(broker: Broker, proxy: Proxy, order: Order) -> Result | Refusal | str:
    """Carry an event out, perhaps while the connections are cut under it."""
    task = asyncio.create_task(broker.committer.carry(rule(order.rule), order.event, 0))
    if order.cut is not None:
        await turns(order.cut)
        proxy.cut()
    try:
        return await task
    except StoreError as error:
        return f"{type(error).__name__}: {error}"


def rule(name: str) -> Callable[[Draft, object], Result | Refusal]:
    """Find a rule by its module and name."""
    module, _, attribute = name.partition(":")
    found: Callable[[Draft, object], Result | Refusal] = getattr(importlib.import_module(module), attribute)
    return found


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
