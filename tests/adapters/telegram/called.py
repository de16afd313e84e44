"""Our web server as far as Telegram calls it: the real route, on a port that outlives who listens there."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import uvicorn
from starlette.applications import Starlette

from adapters.platform import Platform
from adapters.web.hooks import Called
from core.broker import Broker
from core.inbox import Inbox


@asynccontextmanager
async def called(broker: Broker, platform: Platform, port: int) -> AsyncGenerator[None]:
    """Take what Telegram brings, for as long as the context lasts."""
    hook = platform.hook()
    assert hook is not None
    route = Called("Telegram", hook.path, hook.genuine, Inbox(broker, platform.prefix).keep).route()
    app = Starlette(routes=[route])
    listening = socket.create_server(("127.0.0.1", port))
    config = uvicorn.Config(app, lifespan="off", log_config=None, access_log=False, ws="none")
    server = uvicorn.Server(config)
    task = asyncio.create_task(server._serve([listening]))  # pyright: ignore[reportPrivateUsage] `serve` takes signals
    try:
        yield
    finally:
        server.should_exit = server.force_exit = True
        await task
