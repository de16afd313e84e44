"""What only one process may hold: a bot's sending and polling. The others stand by and take over when it lapses.

The holder renews by the loop that does the work, and stops trusting its hold before Redis does. It knows no platform.
Source: DESIGN sections 5 and 8 ("surface lease").
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from types import TracebackType
from typing import Self

from core.broker import Broker
from core.errors import StoreError
from core.lease import identity
from core.life.decision import Refusal
from core.life.living import Hold
from core.model import fresh

_log = logging.getLogger(__name__)
TRUST = 0.8


class Sole:
    """The wish to hold a name, for as long as the context lasts; `held` tells whether it is granted now.

    span: seconds the hold lasts without renewal; it is renewed at a third of it. alive: while it says no nothing is
    renewed, so that another process may do better. note: what the holder says about its work, kept with the hold.
    """

    def __init__(
        self,
        broker: Broker,
        name: str,
        *,
        span: float = 3.0,
        alive: Callable[[], bool] = lambda: True,
        note: Callable[[], str] = lambda: "",
    ) -> None:
        self._alive = alive
        self._note = note
        self.id = fresh("w", 0)
        self._broker = broker
        self._name = name
        self._span = span
        self._partition = broker.store.place(name)
        self._good_until = 0.0
        self._taken = False
        self._changed = asyncio.Event()

    async def __aenter__(self) -> Self:
        await self._round()
        self._keeper = asyncio.create_task(self._keep(), name=f"hold {self._name}")
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._keeper.cancel()
        await asyncio.gather(self._keeper, return_exceptions=True)
        if self._good_until:
            self._good_until = 0.0
            try:
                await self._hold(0)
            except StoreError as lost:
                _log.warning("could not hand over %s, it will lapse: %s", self._name, lost)

    def held(self) -> bool:
        """Whether this process may trust that it alone holds the name."""
        return time.monotonic() < self._good_until

    async def until_held(self) -> None:
        """Wait until the name is held."""
        while not self.held():
            await self._next()

    async def until_taken(self) -> None:
        """Wait until somebody else holds the name; that the store is away is not enough, nobody else has it either."""
        while not self._taken:
            await self._next()

    async def _next(self) -> None:
        self._changed.clear()
        await self._changed.wait()

    async def _keep(self) -> None:
        while True:
            await asyncio.sleep(self._span / 3)
            if not self._alive():
                continue
            try:
                await self._round()
            except StoreError as lost:
                _log.warning("%s could not be renewed: %s", self._name, lost)

    async def _round(self) -> None:
        asked = time.monotonic()
        got = await self._hold(self._span)
        self._good_until = asked + self._span * TRUST if got else 0.0
        self._taken = not got
        self._changed.set()

    async def _hold(self, span: float) -> bool:
        me = identity(self.id, "singleton", self._broker.store.now() + int(span * 1000), self._note())
        return not isinstance(await self._broker.hold(Hold(self._name, me), self._partition), Refusal)
