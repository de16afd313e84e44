"""A Telegram front end to be killed: `python -m tests.adapters.telegram.doomed REDIS_URL FOLDER SERVER TOKEN PORT`.

PORT: where Telegram calls it, 0 when it asks for updates. It says a line "ready" when it serves. The worker is
elsewhere.
"""

import asyncio
import sys
from contextlib import AsyncExitStack
from pathlib import Path

from adapters import telegram
from core.files import FileStore
from tests.adapters.telegram.called import called
from tests.adapters.telegram.ground import opened, settings, surface, way


async def serve(url: str, folder: Path, server: str, token: str, port: int) -> None:
    """Serve until killed."""
    files = FileStore(folder, file_max=1_000_000, quota=10_000_000, keep=3600)
    platform = telegram.create(settings(server, token, **way(port)))
    async with AsyncExitStack() as stack:
        broker = await stack.enter_async_context(opened(url))
        if port:
            await stack.enter_async_context(called(broker, platform, port))
        front = await stack.enter_async_context(surface(broker, platform, files))
        await front.serving.wait()
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(serve(sys.argv[1], Path(sys.argv[2]), sys.argv[3], sys.argv[4], int(sys.argv[5])))
