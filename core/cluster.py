"""A Redis Cluster: a link to every primary that has something of ours, each command to the one that has its key.

Which node has a slot is learnt when it is first asked for, when a node says that the slot moved, and when a node cannot
be reached. A commit that was under way while a node failed is sent again, under its own id, to the one in its place.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from types import TracebackType
from typing import Self, TypeAlias, TypeVar
from urllib.parse import urlsplit

from redis.asyncio.connection import AbstractConnection
from redis.crc import key_slot

from core.address import Address
from core.errors import LinkDown, LinkLost, ServerRefused, StoreError
from core.link import Link
from core.script import Outcome
from core.wire import Argument, Reply

R = TypeVar("R")
Node: TypeAlias = tuple[str, int]
Act: TypeAlias = Callable[[Link, bool], Awaitable[R]]
PARTITIONS = 16
"""Of a deployment on a cluster; as many as there are tags for (`core/keys.py`)."""
MOVES = 8
"""How often one command follows its slot before that is an error."""
KEYLESS = frozenset({"CLUSTER", "INFO", "PING", "TIME"})


class Cluster:
    """The process's connections to a cluster, for as long as the context lasts.

    url: of any node; user and password are good for all. name, patience: as for `Link`.

    Raises: on entering, LinkDown if no node can be reached.
    """

    def __init__(self, url: str, *, name: str = "sayso", patience: float = 2.0) -> None:
        self.url = url
        self.partitions = PARTITIONS
        self._name = name
        self._patience = patience
        self._owners: dict[int, Node] = {}
        self._links: dict[Node, Link] = {}
        self._callbacks: list[Callable[[], None]] = []
        self._opening = asyncio.Lock()
        self._learning: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        try:
            await self.learn()
        except BaseException:
            await self.__aexit__(None, None, None)
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._learning is not None:
            self._learning.cancel()
            await asyncio.gather(self._learning, return_exceptions=True)
        for node in list(self._links):
            await self._leave(node)

    def on_reconnect(self, callback: Callable[[], None]) -> None:
        """Have something called after every connection to a node but its first."""
        self._callbacks.append(callback)
        for link in self._links.values():
            link.on_reconnect(callback)

    def address(self, key: str, name: str) -> Address:
        """Return where the node of a key is; it is looked up before every connection."""
        return _Owner(self, key, name, self._patience)

    async def call(self, *args: Argument) -> Reply:
        """Send a command to the node of its key and return the reply.

        Raises: as `Link.call`.
        """
        return await self._call(args)

    async def many(self, commands: Sequence[Sequence[Argument]]) -> list[Reply]:
        """Send commands side by side, each to the node of its key, and return their replies in order.

        Raises: as `Link.many`.
        """
        replies = await asyncio.gather(*[self._call(command) for command in commands], return_exceptions=True)
        return [_raised(reply) for reply in replies]

    async def _call(self, command: Sequence[Argument]) -> Reply:
        async def act(link: Link, ask: bool) -> Reply:
            return (await link.many([("ASKING",), command]))[1] if ask else await link.call(*command)

        return await self._at(_slot(command), act)

    async def commit(self, keys: Sequence[str], argv: Sequence[Argument], *, oom: bool) -> Outcome:
        """Call the one script on the node of its keys.

        Raises: as `Link.commit`.
        """
        lost = False

        async def act(link: Link, ask: bool) -> Outcome:
            nonlocal lost
            asking = link.send("ASKING") if ask else None
            try:
                return await link.commit(keys, argv, oom=oom, repeat=lost)
            except LinkLost:
                lost = True
                raise
            finally:
                if asking is not None and not asking.cancel():
                    asking.exception()

        try:
            return await self._at(key_slot(keys[0].encode()), act, again=True)
        except LinkDown as down:
            if lost:
                raise LinkLost(f"{down}; what became of the first attempt is unknown") from down
            raise

    async def each(self, *args: Argument) -> list[Reply]:
        """Ask every node that has something of ours, and return their replies."""
        nodes = dict.fromkeys(self._owners.values())
        return [await (await self._link(node)).call(*args) for node in nodes]

    async def _at(self, slot: int | None, act: Act[R], *, again: bool = False) -> R:
        """Do something at the node of a slot, wherever that goes. again: also when its outcome became unknown."""
        ask: Node | None = None
        trouble: StoreError = LinkDown("no node of the cluster has this slot")
        for _ in range(MOVES):
            node = ask or self._owner(slot)
            if node is None:
                await self.learn()
                node = self._owner(slot)
                if node is None:
                    raise trouble
            try:
                return await act(await self._link(node), ask is not None)
            except ServerRefused as refused:
                told = _node(refused, node)
                if told is None:
                    raise
                trouble, ask = refused, told if refused.code == "ASK" else None
                if refused.code == "MOVED" and slot is not None:
                    self._owners[slot] = told
            except (LinkDown, LinkLost) as down:
                if isinstance(down, LinkLost) and not again:
                    raise
                trouble, ask = down, None
                await self.learn()
                if self._owner(slot) in (node, None):
                    raise
        raise LinkDown(f"the slot of this key moves too often: {trouble}") from trouble

    def _owner(self, slot: int | None) -> Node | None:
        return next(iter(self._owners.values()), None) if slot is None else self._owners.get(slot)

    async def where(self, key: str) -> str:
        """Look up the address of the node that has a key.

        Raises: LinkDown.
        """
        await self.learn()
        node = self._owners.get(key_slot(key.encode()))
        if node is None:
            raise LinkDown("no node of the cluster has the slot of this key")
        return self._url(node)

    async def learn(self) -> None:
        """Ask who has which slot; many that want it at once ask once.

        Raises: LinkDown when no node answers.
        """
        if self._learning is None or self._learning.done():
            self._learning = asyncio.create_task(self._learn(), name="cluster")
            self._learning.add_done_callback(_heard)
        await asyncio.shield(self._learning)

    async def _learn(self) -> None:
        for link in [one for one in self._links.values() if one.connected]:
            try:
                self._owners = _owners(await link.call("CLUSTER", "SLOTS"), urlsplit(link.url).hostname or "")
            except StoreError:
                continue
            break
        else:
            async with Link(self.url, name=self._name, patience=self._patience) as link:
                self._owners = _owners(await link.call("CLUSTER", "SLOTS"), urlsplit(self.url).hostname or "")
        left = self._links.keys() - set(self._owners.values())
        for node in [node for node in left if not self._links[node].connected]:
            await self._leave(node)

    async def _link(self, node: Node) -> Link:
        """Return the link to a node, opened when it is wanted first."""
        if node not in self._links:
            async with self._opening:
                if node not in self._links:
                    link = Link(self._url(node), name=self._name, patience=self._patience)
                    for callback in self._callbacks:
                        link.on_reconnect(callback)
                    self._links[node] = await link.__aenter__()
        return self._links[node]

    async def _leave(self, node: Node) -> None:
        """Close the link to a node; what waits for it fails, and finds the node's successor."""
        await self._links.pop(node).__aexit__(None, None, None)

    def _url(self, node: Node) -> str:
        parts = urlsplit(self.url)
        login, at, _ = parts.netloc.rpartition("@")
        host = f"[{node[0]}]" if ":" in node[0] else node[0]
        return parts._replace(netloc=f"{login}{at}{host}:{node[1]}").geturl()


class _Owner(Address):
    """The node that has a key, whichever that is when a connection is opened."""

    def __init__(self, cluster: Cluster, key: str, name: str, timeout: float) -> None:
        super().__init__(cluster.url, name, timeout)
        self._cluster = cluster
        self._key = key
        self._name = name

    async def connected(self) -> AbstractConnection:
        """Look the node up and open a connection to it.

        Raises: RedisError, OSError, LinkDown.
        """
        return await Address(await self._cluster.where(self._key), self._name, self.timeout).connected()


def _slot(command: Sequence[Argument]) -> int | None:
    """The slot of a command's key; None for a command that any node answers. SCAN goes where its pattern's tag lies."""
    if command[0] in KEYLESS:
        return None
    return key_slot(str(command[3 if command[0] == "SCAN" else 1]).encode())


def _node(refused: ServerRefused, asked: Node) -> Node | None:
    """The node to which a refusal points ("MOVED 3999 127.0.0.1:6381"); an empty host is that of the node asked."""
    if refused.code not in ("MOVED", "ASK"):
        return None
    host, _, port = refused.text.rpartition(" ")[2].rpartition(":")
    return host or asked[0], int(port)


def _owners(reply: Reply, asked: str) -> dict[int, Node]:
    """Read CLUSTER SLOTS: the primary of each slot."""
    found: dict[int, Node] = {}
    for part in reply if isinstance(reply, list) else []:
        match part:
            case [int(first), int(last), [host, int(port), *_], *_]:
                name = host.decode() if isinstance(host, bytes) and host else asked
                found.update(dict.fromkeys(range(first, last + 1), (name, port)))
            case _:
                pass
    return found


def _raised(reply: Reply | BaseException) -> Reply:
    if isinstance(reply, BaseException):
        raise reply
    return reply


def _heard(task: asyncio.Task[None]) -> None:
    """Take note of what became of a look that nobody waits for any more."""
    if not task.cancelled():
        task.exception()
