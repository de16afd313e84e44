"""More than one Redis for a test: a cluster of three primaries and a replica, or a primary that a Sentinel watches."""

import contextlib
import queue
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Generator
from dataclasses import dataclass
from pathlib import Path

import hiredis
from redis.crc import key_slot

from tests.redis_server import RedisServer, binary, running_server, say

LIMIT = 20.0
PAUSE = 0.02
SLOTS = 16_384
NOTHING: queue.Queue[None] = queue.Queue()


@dataclass(frozen=True)
class Node:
    """One server of several."""

    server: RedisServer
    port: int

    @property
    def url(self) -> str:
        """What a client connects to."""
        return f"redis://127.0.0.1:{self.port}"

    @property
    def name(self) -> str:
        """The id by which the cluster knows it."""
        return str(self.server.say("CLUSTER", "MYID"))


@dataclass(frozen=True)
class RedisCluster:
    """Three primaries, and a replica of the first."""

    primaries: tuple[Node, ...]
    replica: Node

    @property
    def url(self) -> str:
        """The address of one of its nodes, the last: the first is the one to be killed."""
        return self.primaries[-1].url

    @property
    def nodes(self) -> tuple[Node, ...]:
        """All of them."""
        return (*self.primaries, self.replica)

    def owner(self, key: str) -> Node:
        """The primary that was given a key's slot in the beginning."""
        return self.primaries[key_slot(key.encode()) * 3 // SLOTS]

    def settled(self) -> bool:
        """Whether every node sees the whole."""
        told = [str(node.server.say("CLUSTER", "INFO")) for node in self.nodes]
        linked = "master_link_status:up" in str(self.replica.server.say("INFO", "replication"))
        return linked and all("cluster_state:ok" in one and "cluster_known_nodes:4" in one for one in told)


def wait_for(there: Callable[[], bool], what: str) -> None:
    """Look until it is so."""
    limit = time.monotonic() + LIMIT
    while not there():
        if time.monotonic() > limit:
            raise RuntimeError(f"{what} did not come about")
        with contextlib.suppress(queue.Empty):
            NOTHING.get(timeout=PAUSE)


def copied(primary: Node, replica: Node) -> None:
    """Wait until a replica has what its primary took so far."""
    so_far = _offset(primary, "master_repl_offset")
    wait_for(lambda: _offset(replica, "slave_repl_offset") >= so_far, "a copy of what was written")


def _offset(node: Node, name: str) -> int:
    told = str(node.server.say("INFO", "replication")).partition(f"{name}:")[2]
    return int(told.partition("\r\n")[0] or 0)


def ports(count: int) -> list[int]:
    """So many free ports."""
    with contextlib.ExitStack() as stack:
        found = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in found:
            one.bind(("127.0.0.1", 0))
        return [int(one.getsockname()[1]) for one in found]


@contextlib.contextmanager
def running_cluster() -> Generator[RedisCluster]:
    """Start a cluster on loopback, and kill it at the end."""
    with contextlib.ExitStack() as stack:
        found = ports(8)
        nodes = [_node(stack, port, bus) for port, bus in zip(found[:4], found[4:], strict=True)]
        for number, node in enumerate(nodes[:3]):
            first, last = -(-SLOTS * number // 3), -(-SLOTS * (number + 1) // 3) - 1
            node.server.say("CLUSTER", "ADDSLOTSRANGE", first, last)
        for port, bus in zip(found[1:4], found[5:], strict=True):
            nodes[0].server.say("CLUSTER", "MEET", "127.0.0.1", port, bus)
        cluster = RedisCluster(tuple(nodes[:3]), nodes[3])
        wait_for(lambda: _follows(nodes[3], nodes[0]), "a replica")
        wait_for(cluster.settled, "a cluster")
        yield cluster


def _node(stack: contextlib.ExitStack, port: int, bus: int) -> Node:
    options = {"cluster_enabled": "yes", "cluster_port": str(bus), "cluster_node_timeout": "600"}
    more = {"bind": "127.0.0.1", "repl_diskless_sync_delay": "0", "cluster_replica_validity_factor": "0"}
    return Node(stack.enter_context(running_server(port=str(port), **options, **more)), port)


def _follows(replica: Node, primary: Node) -> bool:
    with contextlib.suppress(hiredis.ReplyError):
        return replica.server.say("CLUSTER", "REPLICATE", primary.name) == "OK"
    return False


@dataclass(frozen=True)
class Watched:
    """A primary and its replica, and the Sentinel that names the primary `it`."""

    primary: Node
    replica: Node
    sentinel: Path
    port: int

    @property
    def url(self) -> str:
        """What a client connects to."""
        return f"redis+sentinel://127.0.0.1:{self.port}/it"

    def named(self) -> int:
        """The port of the primary, as the Sentinel says."""
        told = say(self.sentinel, "SENTINEL", "GET-MASTER-ADDR-BY-NAME", "it")
        return int(str(told[1])) if isinstance(told, list) else 0


@contextlib.contextmanager
def running_sentinel() -> Generator[Watched]:
    """Start a primary, a replica and a Sentinel on loopback, and kill them at the end."""
    first, second, port = ports(3)
    with contextlib.ExitStack() as stack:
        more = {"bind": "127.0.0.1", "repl_diskless_sync_delay": "0"}
        primary = Node(stack.enter_context(running_server(port=str(first), **more)), first)
        replica = Node(
            stack.enter_context(running_server(port=str(second), replicaof=f"127.0.0.1 {first}", **more)), second
        )
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="sayso-", ignore_cleanup_errors=True)))
        place, config = folder / "sentinel.sock", folder / "sentinel.conf"
        lines = (
            f"port {port}",
            "bind 127.0.0.1",
            f"unixsocket {place}",
            f"dir {folder}",
            "sentinel resolve-hostnames no",
        )
        watch = (f"monitor it 127.0.0.1 {first} 1", "down-after-milliseconds it 400", "failover-timeout it 2000")
        config.write_text("\n".join([*lines, *(f"sentinel {one}" for one in watch)]) + "\n")
        with (folder / "log").open("wb") as sink:
            process = subprocess.Popen([binary(), str(config), "--sentinel"], stdout=sink, stderr=sink)
        stack.callback(_ended, process)
        made = Watched(primary, replica, place, port)
        wait_for(lambda: _watching(made), "a Sentinel that knows the replica")
        yield made


def _watching(made: Watched) -> bool:
    with contextlib.suppress(OSError, hiredis.ReplyError):
        told = say(made.sentinel, "SENTINEL", "MASTER", "it")
        words = [str(one) for one in told] if isinstance(told, list) else []
        facts = dict(zip(words[::2], words[1::2], strict=True))
        linked = "master_link_status:up" in str(made.replica.server.say("INFO", "replication"))
        return linked and facts.get("num-slaves") == "1" and facts.get("flags") == "master"
    return False


def _ended(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()
