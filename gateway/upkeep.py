"""What a process does now and then beside its work: files whose time is over go."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress

from core.audit import Audit
from core.errors import SaysoError
from core.files import FileStore
from gateway.settings import DAY, Settings

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


async def keep_audit(audit: Audit, settings: Settings, *, every: float = EVERY) -> None:
    """Let old lines of the audit go, look whether all others are whole, and note its heads in the log; for ever."""
    while True:
        try:
            before = time.time() - settings.audit_days * DAY
            await audit.trim(before_ms=int(before * 1_000), keep=settings.audit_cap)
            for chain in await audit.verify():
                for fault in chain.faults:
                    _log.error("the audit was changed: %s: %s", chain.name, fault)
                _log.info("audit head %s", chain.head)
        except SaysoError as trouble:
            _log.warning("the audit could not be looked at: %s", trouble)
        await asyncio.sleep(every)
