"""A Telegram front end to be killed: `python -m tests.adapters.telegram.doomed REDIS_URL FOLDER SERVER TOKEN`.

It says a line "ready" when it serves. The worker is elsewhere.
"""

import asyncio
import sys
from pathlib import Path

from adapters import telegram
from core.broker import open_broker
from core.files import FileStore
from tests.adapters.telegram.ground import settings, surface


async def serve(url: str, folder: Path, server: str, token: str) -> None:
    """Serve until killed."""
    files = FileStore(folder, file_max=1_000_000, quota=10_000_000, keep=3600)
    async with (
        open_broker(url, block=0.2) as broker,
        surface(broker, telegram.create(settings(server, token)), files) as front,
    ):
        await front.serving.wait()
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(serve(sys.argv[1], Path(sys.argv[2]), sys.argv[3], sys.argv[4]))
