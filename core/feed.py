"""The feed: hints of what changed in a partition, from one blocking reader to everybody in the process who waits.

A hint is a line "<kind> <id>" in an entry of the partition's stream. Hints may be lost, merged or late; that is why
every gap wakes everybody with "*" (look), and why whoever waits also looks in the index. It knows no kind and no rule.
"""

import asyncio
import logging
import time
from collections import deque
from collections.abc import Callable
from types import TracebackType
from typing import Self, TypeAlias

from core.address import Address, pause_before
from core.errors import LinkDown, ServerRefused
from core.links import Links
from core.wire import Reply, Wire, pack

__all__ = ["LOOK", "Feed", "Listening", "Subscription"]

LOOK = "*"
"""The id that says: something may have been missed, look in the index."""

_COUNT = 500
_MOST_PENDING = 1000

_log = logging.getLogger(__name__)
_Watched: TypeAlias = tuple[str, str | None]


class Subscription:
    """The hints of one kind (and one id, if it has one) since they were last taken, for one waiter at a time.

    resets: how often it was told to look because hints may have been missed.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, close: Callable[["Subscription"], None]) -> None:
        self.resets = 0
        self._loop = loop
        self._close = close
        self._pending: set[str] = set()
        self._waiter: asyncio.Future[None] | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    async def wait(self, timeout: float) -> frozenset[str]:
        """Return the ids hinted since the last call, as soon as there is one, or none after `timeout` seconds.

        "*" among them says that more may have happened; a hint without an id is "".
        """
        if not self._pending and timeout > 0:
            self._waiter = self._loop.create_future()
            alarm = self._loop.call_later(timeout, _wake, self._waiter)
            try:
                await self._waiter
            finally:
                alarm.cancel()
                self._waiter = None
        taken = frozenset(self._pending)
        self._pending.clear()
        return taken

    def close(self) -> None:
        """Take no more hints; a second call changes nothing."""
        self._close(self)

    def hint(self, ident: str) -> None:
        """Add an id to what is pending and wake the waiter."""
        if ident == LOOK:
            self.resets += 1
        if len(self._pending) >= _MOST_PENDING:
            self._pending.clear()
            ident = LOOK
        self._pending.add(ident)
        if self._waiter is not None:
            _wake(self._waiter)


class Listening:
    """A callback that is told every hint of a kind until it is closed."""

    def __init__(self, callback: Callable[[str], None], close: Callable[["Listening"], None]) -> None:
        self._callback = callback
        self._close = close

    def close(self) -> None:
        """Tell no more; a second call changes nothing."""
        self._close(self)

    def hint(self, ident: str) -> None:
        """Tell the callback."""
        try:
            self._callback(ident)
        except Exception:  # noqa: BLE001  # a stranger's code, at the edge of the reader
            _log.exception("what listens to hints failed")


class Feed:
    """The process's one reader of a partition's feed, kept up for as long as the context lasts.

    address: of the server that has the stream. key: its name; it must keep at least 500 entries. block: seconds one
    read waits at most. silence: seconds without any reply after which the connection counts as dead. After entering,
    nothing that is added is missed.

    Raises: on entering, LinkDown if there is no Redis within `silence` seconds.
    """

    def __init__(self, address: Address, key: str, link: Links, *, block: float = 2.0, silence: float = 5.0) -> None:
        self.since = time.time()
        self._key = key
        self._address = address
        self._silence = silence
        self._block_ms = int(block * 1000)
        self._position = ""  # the last entry that was read; "" before the first connection
        self._wire: Wire | None = None
        self._owed: deque[Callable[[Reply], None]] = deque()
        self._lost_at = asyncio.Event()
        self._ready = asyncio.Event()
        self._down = "not connected yet"
        self._watchers: dict[_Watched, dict[Subscription | Listening, None]] = {}
        link.on_reconnect(self._look)

    async def __aenter__(self) -> Self:
        self._loop = asyncio.get_running_loop()
        self._keeper = self._loop.create_task(self._keep(), name="feed")
        self._watchdog = self._loop.call_later(self._silence / 4, self._watch)
        try:
            async with asyncio.timeout(self._silence):
                await self._ready.wait()
        except BaseException as error:
            await self.__aexit__(None, None, None)
            if isinstance(error, TimeoutError):
                raise LinkDown(self._down) from error
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._watchdog.cancel()
        self._keeper.cancel()
        await asyncio.gather(self._keeper, return_exceptions=True)
        wire, self._wire = self._wire, None
        if wire is not None:
            wire.close()

    @property
    def healthy(self) -> bool:
        """Whether hints come in at this moment; `since` is the time (seconds since the epoch) of the last change."""
        return self._wire is not None and self._ready.is_set()

    def subscribe(self, kind: str, ident: str | None = None) -> Subscription:
        """Collect the hints of a kind from now on, of one id or of all; look in the index after this, not before."""
        subscription = Subscription(asyncio.get_running_loop(), lambda closed: self._leave((kind, ident), closed))
        self._watchers.setdefault((kind, ident), {})[subscription] = None
        return subscription

    def listen(self, kind: str, callback: Callable[[str], None]) -> Listening:
        """Call back with the id of every hint of a kind, in the turn of the loop in which it came; "*" says look."""
        listening = Listening(callback, lambda closed: self._leave((kind, None), closed))
        self._watchers.setdefault((kind, None), {})[listening] = None
        return listening

    def _leave(self, watched: _Watched, watcher: Subscription | Listening) -> None:
        watchers = self._watchers.get(watched, {})
        if watchers.pop(watcher, watcher) is None and not watchers:
            del self._watchers[watched]

    def _look(self) -> None:
        """Tell everybody that hints may have been missed."""
        for watchers in list(self._watchers.values()):
            for watcher in tuple(watchers):
                watcher.hint(LOOK)

    async def _keep(self) -> None:
        """Connect, read while it lasts, connect again."""
        attempt = 0
        while True:
            await asyncio.sleep(pause_before(attempt))
            wire = Wire(self._replied, self._lost)
            try:
                await wire.open(self._address)
            except LinkDown as down:
                self._down = str(down)
                attempt += 1
                continue
            began = self._loop.time()
            self._lost_at.clear()
            self._wire = wire
            self._owed.clear()
            self._ask(self._tip, "XREVRANGE", self._key, "+", "-", "COUNT", 1)
            await self._lost_at.wait()
            attempt = 0 if self._loop.time() - began > 1.0 else attempt + 1

    def _ask(self, then: Callable[[Reply], None], *command: str | int) -> None:
        if self._wire is not None:
            self._owed.append(then)
            self._wire.write(pack(command))

    def _replied(self, reply: Reply | ServerRefused) -> None:
        then = self._owed.popleft()
        if not isinstance(reply, ServerRefused):
            then(reply)
        elif self._wire is not None:
            self._wire.cut(f"the server refused to be read: {reply}")  # UNBLOCKED, LOADING, MOVED ...

    def _tip(self, reply: Reply) -> None:
        """Begin at the stream's newest entry, or go on where the reader was; a stream may have begun anew since."""
        newest = "0-0"
        match reply:
            case [[bytes(entry), *_]]:
                newest = entry.decode()
            case _:
                pass
        if not self._position or _order(newest) < _order(self._position):
            self._position = newest
        self.since = time.time()
        self._ready.set()
        self._look()
        self._read()

    def _read(self) -> None:
        command = ("XREAD", "COUNT", _COUNT, "BLOCK", self._block_ms, "STREAMS", self._key, self._position)
        self._ask(self._entries, *command)

    def _entries(self, reply: Reply) -> None:
        match reply:
            case [[_, list(entries)]]:
                if len(entries) >= _COUNT:  # far behind: entries may have been trimmed before they were read
                    before = self._position
                    self._ask(lambda oldest: self._oldest(oldest, before), "XRANGE", self._key, "-", "+", "COUNT", 1)
                for entry in entries:
                    match entry:
                        case [bytes(position), [_, bytes(hints)]]:
                            self._position = position.decode()
                            self._tell(hints.decode(errors="replace"))
                        case _:
                            _log.warning("an entry of the feed %r is none of ours: %r", self._key, entry)
                            self._skip(entry)
            case _:
                pass
        self._read()

    def _skip(self, entry: Reply) -> None:
        match entry:
            case [bytes(position), *_]:
                self._position = position.decode()
            case _:
                pass

    def _oldest(self, reply: Reply, before: str) -> None:
        match reply:
            case [[bytes(entry), *_]] if _order(entry.decode()) <= _order(before):
                pass
            case _:
                self._look()

    def _tell(self, hints: str) -> None:
        for line in hints.split("\n"):
            kind, _, ident = line.partition(" ")
            for watched in ((kind, None), (kind, ident)):
                for watcher in tuple(self._watchers.get(watched, ())):
                    watcher.hint(ident)

    def _lost(self, wire: Wire, why: str) -> None:
        if wire is not self._wire:
            return
        _log.warning("the reader of the feed %r lost its connection: %s", self._key, why)
        self._down = why
        self._wire = None
        self._ready.clear()
        self.since = time.time()
        self._lost_at.set()

    def _watch(self) -> None:
        """Cut a connection that has been silent for longer than any read may block."""
        self._watchdog = self._loop.call_later(self._silence / 4, self._watch)
        if self._wire is not None:
            silent = self._loop.time() - self._wire.heard
            if silent > self._silence:
                self._wire.cut(f"no answer for {silent:.1f} s")


def _order(position: str) -> tuple[int, int]:
    milliseconds, _, number = position.partition("-")
    return int(milliseconds), int(number)


def _wake(waiter: asyncio.Future[None]) -> None:
    if not waiter.done():
        waiter.set_result(None)
