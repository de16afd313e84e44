"""A front end as a whole: one process holds the platform, receives and sends; the others stand by.

While it holds it, it is the listener of the platform's origins (as long as the transport is alive), its relay sends and
its desk receives. When the hold is lost, all of that ends at once. What is wrong with the platform stands beside the
hold, where others read it. It knows no platform. Source: DESIGN section 8.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from types import TracebackType
from typing import Self

from adapters.desk import Desk, Doors
from adapters.outcomes import Clock
from adapters.platform import NotLetIn, Platform
from adapters.proving import Proofs
from adapters.relay import Relay, utc
from adapters.showing import Ticket
from adapters.taking import Taking
from core.broker import Broker
from core.errors import StoreError
from core.files import FileStore
from core.lease import Lease
from core.listening import Serves
from core.sole import Sole
from core.trace import emit

_log = logging.getLogger(__name__)
FIRST_PAUSE = 1.0
LAST_PAUSE = 60.0
"""seconds before a platform that failed is connected again"""


class Surface:
    """One platform's front end in this process, for as long as the context lasts.

    agents: names, the default first. link, ticket: see `Showing`. match: narrows the places whose questions are shown,
    `op-1*`. span: seconds of the hold. lease: seconds of the listener's lease. drain: seconds at the end for what is
    under way, 0 cuts it off. Other spans: `Relay`, `Desk`.
    """

    def __init__(
        self,
        broker: Broker,
        platform: Platform,
        *,
        agents: Sequence[str],
        doors: Doors,
        files: FileStore | None = None,
        link: Callable[[str], str | None] = lambda request: None,
        ticket: Ticket | None = None,
        match: str = "",
        clock: Clock = utc,
        span: float = 3.0,
        lease: float = 30.0,
        look: float = 2.0,
        quiet: float = 1.5,
        patience: float = 0.8,
        drain: float = 0.0,
        proofs: Proofs | None = None,
    ) -> None:
        self._broker = broker
        self._platform = platform
        self._lease = lease
        self._drain = drain
        self._serves = Serves(prefix=f"{platform.prefix}-", match=match, accept=platform.limits.accept)
        self._look = look
        self._failed: str | None = None
        self._served = False
        self._sole = Sole(broker, hold_of(platform.prefix), span=span, note=lambda: self.trouble() or "")
        written = platform.limits.takes_secrets and link("") is None
        self.serving = asyncio.Event()
        self.relay = Relay(
            broker,
            platform,
            files=files,
            link=link,
            ticket=ticket,
            serves=self._serves,
            clock=clock,
            may_send=self._sole.held,
            look=look,
            quiet=quiet,
            written=written,
        )
        self.desk = Desk(
            broker,
            platform,
            self.relay,
            agents=agents,
            doors=doors,
            files=files,
            patience=patience,
            proofs=proofs,
            written=written,
        )

    def trouble(self) -> str | None:
        """Tell what is wrong with the platform, in one sentence; None when all is well, and while another serves it."""
        if not self._sole.held():
            return None
        if self._failed is not None:
            return self._failed
        if not self.serving.is_set():
            return f"{self._platform.name} is not connected yet."
        told = self._platform.trouble()
        return told or (None if self._platform.alive() else f"Nothing is heard from {self._platform.name}.")

    async def __aenter__(self) -> Self:
        self._stack = AsyncExitStack()
        await self._stack.enter_async_context(self._sole)
        self._task = asyncio.create_task(self._serve(), name=f"surface {self._platform.prefix}")
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._drain and self.serving.is_set():
            await self.relay.lanes.drain(self._drain)
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)
        await self._stack.aclose()

    async def _serve(self) -> None:
        """Serve whenever the platform is held, until the task is cancelled."""
        pause = FIRST_PAUSE
        while True:
            await self._sole.until_held()
            try:
                await self._hold()
                pause = FIRST_PAUSE
                continue
            except StoreError as lost:
                _log.warning("%s stands still: %s", self._platform.name, lost)
            except NotLetIn as refused:
                self._failed = str(refused)
                _log.error("%s", refused)
            except Exception as error:  # noqa: BLE001  # the edge of the task: a platform's failure must not end the front end
                self._failed = f"{self._platform.name} failed ({type(error).__name__}); it is connected again."
                _log.exception("%s failed, it is connected again in %g s", self._platform.name, pause)
            if self._served:
                pause = FIRST_PAUSE
            await asyncio.sleep(pause)
            pause = min(LAST_PAUSE, 2 * pause)

    async def _hold(self) -> None:
        """Serve until another process has the platform."""
        self._served = False
        try:
            async with AsyncExitStack() as stack:
                await stack.enter_async_context(self.relay)
                await stack.enter_async_context(self.desk)
                await stack.enter_async_context(self._platform.connect(self.desk))
                if (hook := self._platform.hook()) is not None:
                    taking = Taking(self._broker, self._platform.prefix, hook, look=self._look)
                    await stack.enter_async_context(taking)
                await stack.enter_async_context(
                    Lease(self._broker, "bot", span=self._lease, serves=(self._serves,), alive=self._platform.alive)
                )
                self._failed, self._served = None, True
                self.serving.set()
                emit("surface.held", platform=self._platform.prefix)
                await self._sole.until_taken()
                _log.warning("%s is held by another process now", self._platform.name)
        finally:
            self.serving.clear()


def hold_of(prefix: str) -> str:
    """The name under which a platform is held."""
    return f"bot:{prefix}"
