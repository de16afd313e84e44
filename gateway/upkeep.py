"""What a process does now and then beside its work: files whose time is over go."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress

from core.errors import SaysoError
from core.files import FileStore

_log = logging.getLogger(__name__)
EVERY = 3_600.0


@asynccontextmanager
async def files_kept(files: FileStore, *, every: float = EVERY) -> AsyncGenerator[None]:
    """Let files whose time is over go, now and every so many seconds, for as long as the context lasts."""
    keeper = asyncio.create_task(_keep(files, every), name="upkeep of files")
    try:
        yield
    finally:
        keeper.cancel()
        with suppress(asyncio.CancelledError):
            await keeper


async def _keep(files: FileStore, every: float) -> None:
    while True:
        try:
            await files.sweep()
        except (OSError, SaysoError) as trouble:
            _log.warning("files whose time is over could not go: %s", trouble)
        await asyncio.sleep(every)
