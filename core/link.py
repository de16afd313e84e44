"""The link: one full-duplex connection to Redis per process, and the call of the one script over it.

Commands of one turn of the event loop travel in one write; replies come back in order to a queue of futures. A waiter
that is cancelled leaves its place in the queue, so nobody reads a reply that is not theirs. Nothing is sent twice by
itself but reads, and commits, whose own id makes that safe. It knows no key, no document and no rule.
"""

import asyncio
import logging
import random
from collections import deque
from collections.abc import Callable, Sequence
from contextvars import Context
from types import TracebackType
from typing import Self

from core.address import Address, address_of, pause_before
from core.errors import Full, LinkDown, LinkLost, ServerRefused, StoreError, TooOld
from core.repeat import PASSING, READS
from core.script import TWINS, Outcome, Word, outcome, packed_call, packed_repeat
from core.wire import Argument, Reply, Wire, pack

__all__ = ["Argument", "Link", "Outcome", "Reply", "Word"]

_OLDEST_SERVER = 7
_log = logging.getLogger(__name__)


class Link:
    """The process's connection to Redis, kept up for as long as the context lasts.

    url: "redis://", "rediss://" or "unix://", with user, password and database as redis-py reads them, or what
    Sentinels watch (`core/address.py`). name: shown in CLIENT LIST. patience: seconds a command waits for a connection,
    and a silent server is waited for.

    Raises: ValueError for a URL that is none. On entering: LinkDown if there is no Redis within `patience`, TooOld if
    it is older than 7.0.
    """

    def __init__(self, url: str, *, name: str = "sayso", patience: float = 2.0) -> None:
        self.url = url
        self.partitions = 1
        self.commands = 0
        self.batches = 0
        self.reconnects = 0
        self._address = address_of(url, name, patience)
        self._patience = patience
        self._wire: Wire | None = None
        self._batch: list[bytes] = []
        self._unsent: deque[asyncio.Future[Reply]] = deque()  # the batch's
        self._waiting: deque[asyncio.Future[Reply]] = deque()  # sent, reply owed
        self._held: dict[asyncio.Future[Reply], bytes] = {}  # there is no connection
        self._asked = 0.0
        self._lost_at = asyncio.Event()
        self._ready = asyncio.Event()
        self._down = "not connected yet"
        self._callbacks: list[Callable[[], None]] = []
        self._loading: asyncio.Future[list[Reply]] | None = None
        self._closed = False
        self.clustered = False
        """Whether this is a node of a cluster, which has but a part of the keys."""

    async def __aenter__(self) -> Self:
        self._loop = asyncio.get_running_loop()
        self._keeper = self._loop.create_task(self._keep(), name="link")
        self._watchdog = self._loop.call_later(self._patience / 4, self._watch)
        try:
            async with asyncio.timeout(self._patience):
                await self._ready.wait()
            await self._check_server()
        except BaseException as error:
            await self.__aexit__(None, None, None)
            if isinstance(error, TimeoutError):
                raise LinkDown(self._down) from error
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._flush()
        self._closed = True
        self._watchdog.cancel()
        self._keeper.cancel()
        await asyncio.gather(self._keeper, return_exceptions=True)
        if self._wire is not None:
            self._wire.close()
        self._detach("the link was closed")
        for future in self._held:
            _fail(future, LinkDown("the link was closed"))
        self._held.clear()

    @property
    def connected(self) -> bool:
        """Whether there is a connection at this moment."""
        return self._wire is not None

    def on_reconnect(self, callback: Callable[[], None]) -> None:
        """Have something called after every connection but the first; what it sends goes out before what waited."""
        self._callbacks.append(callback)

    def send(self, *args: Argument) -> asyncio.Future[Reply]:
        """Send a command with the others of this turn of the loop; the future is its reply.

        Without a connection it waits for one, at most `patience` seconds. Nothing is sent
        again: the future fails with LinkLost, LinkDown or ServerRefused.
        """
        return self._submit(pack(args))

    async def call(self, *args: Argument) -> Reply:
        """Send a command and return its reply; a read is sent again when the connection breaks under way.

        Raises: ServerRefused, Full, LinkLost (outcome unknown; never for a read), LinkDown (surely nothing stored).
        """
        try:
            return await self._submit(pack(args))
        except (LinkLost, ServerRefused) as trouble:
            return await self._mend(trouble, args)

    async def many(self, commands: Sequence[Sequence[Argument]]) -> list[Reply]:
        """Send commands in one batch and return their replies in order; the first error is raised, all are executed.

        Raises: as `call`.
        """
        futures = [self._submit(pack(tuple(command))) for command in commands]
        replies: list[Reply] = []
        try:
            for command, future in zip(commands, futures, strict=True):
                try:
                    replies.append(await future)
                except (LinkLost, ServerRefused) as trouble:
                    replies.append(await self._mend(trouble, command))
        finally:
            for future in futures[len(replies) :]:
                _forget(future)
        return replies

    async def commit(
        self, keys: Sequence[str], argv: Sequence[Argument], *, oom: bool, repeat: bool = False
    ) -> Outcome:
        """Call the one script (its header in commit.lua describes `argv`); oom: also when Redis is full.

        repeat: it was sent elsewhere before, and what came of that is unknown.

        When the connection breaks under way the same call is sent again: a commit that has taken effect says `OK`.

        Raises: Full, LinkDown (surely not stored), LinkLost (not known after `patience` seconds), ServerRefused.
        """
        deadline = self._loop.time() + self._patience
        packed = packed_repeat(keys, argv) if repeat else packed_call(keys, argv, oom=oom)
        try:
            reply = await self._submit(packed)
        except (LinkLost, ServerRefused) as trouble:
            reply = await self._again(trouble, packed, deadline, lambda: packed_repeat(keys, argv))
        return outcome(reply)

    async def each(self, *args: Argument) -> list[Reply]:
        """Ask every server (here the one), and return their replies."""
        return [await self.call(*args)]

    def address(self, key: str, name: str) -> Address:
        """Return where the server of a key is, for a connection of its own."""
        return address_of(self.url, name, self._patience)

    async def _mend(self, trouble: StoreError, command: Sequence[Argument]) -> Reply:
        """Send an ordinary command again if that is safe, or raise its trouble."""
        if isinstance(trouble, ServerRefused) and trouble.code == "NOSCRIPT":
            raise trouble
        packed = pack(tuple(command))
        deadline = self._loop.time() + self._patience
        if command[0] not in READS:
            return await self._again(trouble, packed, deadline, None)
        try:
            return await self._again(trouble, packed, deadline, lambda: packed)
        except LinkLost as lost:
            raise LinkDown(f"Redis could not be read: {lost}") from lost

    async def _again(
        self, trouble: StoreError, packed: bytes, deadline: float, repeat: Callable[[], bytes] | None
    ) -> Reply:
        """Send a command that had trouble again until `deadline`; `repeat`: what to send after a lost connection."""
        lost = False
        while True:
            if isinstance(trouble, LinkLost):
                if repeat is None:
                    raise trouble
                lost, packed = True, repeat()
            elif isinstance(trouble, ServerRefused):
                await self._make_good(trouble)
            if self._loop.time() >= deadline:
                raise trouble if lost else LinkDown(f"Redis takes no commands: {trouble}") from trouble
            try:
                async with asyncio.timeout_at(deadline):
                    return await self._submit(packed)
            except TimeoutError:
                raise LinkLost("Redis did not answer in time; the outcome is unknown") from trouble
            except LinkDown as down:
                if lost:
                    raise LinkLost(f"{down}; what became of the first attempt is unknown") from trouble
                raise down from trouble
            except (LinkLost, ServerRefused) as next_trouble:
                trouble = next_trouble

    async def _make_good(self, refused: ServerRefused) -> None:
        """Do what a refusal asks for before the command may be sent again, or raise it."""
        if refused.code == "NOSCRIPT":
            if self._loading is None or self._loading.done():
                # It is for everybody, so it is nobody's: a turn that is stopped meanwhile does not take it along.
                load = self.many([("SCRIPT", "LOAD", twin) for twin in TWINS])
                self._loading = asyncio.get_running_loop().create_task(load, context=Context())
            await asyncio.shield(self._loading)
        elif refused.code == "OOM":
            raise Full("Redis is full: it takes no new work until memory is freed or its limit is raised") from refused
        elif refused.code in PASSING:
            if refused.code == "READONLY" and self._wire is not None:
                self._wire.cut("it became a replica")  # the next connection may lead to the new primary
            await asyncio.sleep(random.uniform(0.02, 0.1))
        else:
            raise refused

    def _submit(self, packed: bytes) -> asyncio.Future[Reply]:
        future: asyncio.Future[Reply] = self._loop.create_future()
        self.commands += 1
        if self._wire is None:
            if self._closed:
                future.set_exception(LinkDown("the link was closed"))
                return future
            self._held[future] = packed
            self._loop.call_later(self._patience, self._give_up, future)
        else:
            if not self._batch:
                self._loop.call_soon(self._flush)
            self._batch.append(packed)
            self._unsent.append(future)
        return future

    def _flush(self) -> None:
        if self._wire is None or not self._batch:
            return
        self._wire.write(b"".join(self._batch))
        self._batch.clear()
        if not self._waiting:
            self._asked = self._loop.time()
        self._waiting.extend(self._unsent)
        self._unsent.clear()
        self.batches += 1

    def _replied(self, reply: Reply | ServerRefused) -> None:
        future = self._waiting.popleft()
        if not future.done():
            if isinstance(reply, ServerRefused):
                future.set_exception(reply)
            else:
                future.set_result(reply)

    async def _keep(self) -> None:
        """Connect, stay while it lasts, connect again."""
        attempt = 0
        while True:
            await asyncio.sleep(pause_before(attempt))
            wire = Wire(self._replied, self._lost)
            try:
                await wire.open(self._address)
            except LinkDown as down:
                self._down = str(down)
                if attempt == 0:
                    _log.warning("%s", down)
                attempt += 1
                continue
            self._lost_at.clear()
            since = self._loop.time()
            self._attach(wire)
            await self._lost_at.wait()
            attempt = 0 if self._loop.time() - since > 1.0 else attempt + 1

    def _attach(self, wire: Wire) -> None:
        self._wire = wire
        if self._ready.is_set():
            self.reconnects += 1
            for callback in self._callbacks:
                try:
                    callback()
                except Exception:  # noqa: BLE001  # a stranger's code, at the edge of the keeper's task
                    _log.exception("what should run after reconnecting failed")
        self._ready.set()
        for future, packed in self._held.items():
            if not future.done():
                self._batch.append(packed)
                self._unsent.append(future)
        self._held.clear()
        self._flush()

    def _lost(self, wire: Wire, why: str) -> None:
        if wire is not self._wire:
            return
        _log.warning("the connection to Redis broke: %s", why)
        self._down = f"the connection to Redis broke: {why}"
        self._detach(why)
        self._lost_at.set()

    def _detach(self, why: str) -> None:
        """Settle what the closed connection leaves behind: what was not sent yet goes on waiting."""
        self._wire = None
        waiting, self._waiting = self._waiting, deque()
        for future in waiting:
            _fail(future, LinkLost(f"the connection to Redis broke ({why}); whether it took effect is unknown"))
        for packed, future in zip(self._batch, self._unsent, strict=True):
            self._held[future] = packed
            self._loop.call_later(self._patience, self._give_up, future)
        self._batch.clear()
        self._unsent.clear()

    def _give_up(self, future: asyncio.Future[Reply]) -> None:
        if self._held.pop(future, None) is not None:
            _fail(future, LinkDown(f"nothing was sent: {self._down}"))

    def _watch(self) -> None:
        """Cut a connection on which the server owes replies and has been silent for too long."""
        self._watchdog = self._loop.call_later(self._patience / 4, self._watch)
        if self._wire is not None and self._waiting:
            silent = self._loop.time() - max(self._asked, self._wire.heard)
            if silent > self._patience:
                self._wire.cut(f"no answer for {silent:.1f} s")

    async def _check_server(self) -> None:
        reply = await self.call("INFO", "server")
        text = reply.decode() if isinstance(reply, bytes) else ""
        self.clustered = "redis_mode:cluster" in text
        version = text.partition("redis_version:")[2].partition("\r\n")[0]
        if version and int(version.partition(".")[0]) < _OLDEST_SERVER:
            raise TooOld(f"the server is Redis {version}; Sayso needs Redis or Valkey 7.0 or newer")


def _fail(future: asyncio.Future[Reply], error: StoreError) -> None:
    if not future.done():
        future.set_exception(error)


def _forget(future: asyncio.Future[Reply]) -> None:
    """Leave a reply that nobody will read, without a complaint of the event loop."""
    if not future.cancel() and not future.cancelled():
        future.exception()
