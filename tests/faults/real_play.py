"""The world of the stateful test, on a real server: events are decided and committed by two other processes.

After each event the whole database is read into the documents, lists and indexes that the plain world has, so that the
same checks look at it. Old documents are those that a process still remembers, wrong clocks are its own.
"""

import random
import socket
import subprocess
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import hiredis

from core.keys import LETTERS, TYPES
from core.life.decision import Kind, Refusal
from core.life.draft import Draft
from core.life.event import Deadline, Free
from core.listening import Listeners
from core.model import Entry, Event, Run, Step
from core.wire import pack
from tests.core.life.play import Play
from tests.core.life.world import Look
from tests.faults.orders import Order, get, put
from tests.redis_server import Reply

R = TypeVar("R")
E = TypeVar("E")
PREFIX = "sayso:{0}:"
KINDS: dict[str, Kind] = {letter: kind for kind, letter in LETTERS.items()}
LISTS: dict[str, tuple[str, type[Event] | type[Entry] | type[Step]]] = {
    "j": ("journal", Event),
    "h": ("history", Entry),
    "s": ("steps", Step),
}
TOO_LATE = Refusal("contended", "too late to be early: the real clock went on meanwhile")
NEAR_MS = 200
CALM_MS = 1_500


class Wire:
    """A plain connection that sends many commands at once."""

    def __init__(self, place: Path) -> None:
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.settimeout(10)
        self._socket.connect(str(place))
        self._reader = hiredis.Reader(encoding="utf-8")

    def say(self, *commands: tuple[str | int | float, ...]) -> list[Reply]:
        """Send commands and return their replies in order."""
        self._socket.sendall(b"".join(pack(command) for command in commands))
        found: list[Reply] = []
        while len(found) < len(commands):
            reply = self._reader.gets()
            if reply is False:
                self._reader.feed(self._socket.recv(65_536))
            elif isinstance(reply, hiredis.HiredisError):
                raise reply
            else:
                found.append(reply)
        return found

    def close(self) -> None:
        """Say nothing more."""
        self._socket.close()


class RealPlay(Play):
    """What the plain world is, read from a server; `now` is its time when the last event began."""

    def __init__(self, wire: Wire, actors: list["subprocess.Popen[bytes]"], seed: int) -> None:
        self._wire = wire
        self._actors = actors
        self._dice = random.Random(seed)
        self._raw: dict[str, Reply] = {}
        self._cuts: dict[int, int] = {}
        self._now = 0
        super().__init__()
        self.spans = replace(self.spans, held_grace_ms=60_000)
        self._wire.say(("FLUSHALL",), ("SET", "sayso:meta", "1 1"))
        self._now = self._clock()
        self.load()

    @property
    def now(self) -> int:
        """The server's time when the last event began, in milliseconds."""
        return self._now

    @now.setter
    def now(self, value: int) -> None:
        """Wait until the server's clock is there."""
        limit = self._clock() + 2_000
        while self._now < value < limit:
            self._wire.say(("BLPOP", "never", 0.005))
            self._now = self._clock()

    def later(self, span: int) -> list[object]:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Let time go by, at most as long as anything here takes."""
        return list(super().later(min(span, 120)))

    def step(
        self,
        rule: Callable[[Draft, E], R | Refusal],
        event: E,
        look: Look | None = None,
        *,
        clock: int | None = None,
    ) -> R | Refusal:
        """Have one of the processes decide and commit an event, sometimes with its connections cut."""
        looked, self._now = self._now, self._clock()
        if isinstance(event, Deadline | Free) and self._nearly(event, looked):
            return TOO_LATE
        actor = self._dice.choice(self._actors)
        cut = self._dice.randrange(30) if self._dice.random() < 0.3 and self._calm(actor.pid) else None
        assert actor.stdin is not None
        assert actor.stdout is not None
        told: object = "LinkDown"
        for _ in range(20):
            put(actor.stdin, Order(f"{rule.__module__}:{rule.__name__}", event, cut))
            told = get(actor.stdout)
            assert told is not None, "an actor died"
            if not (isinstance(told, str) and told.startswith("LinkDown")):
                break
            cut = None  # surely nothing was stored: the same is tried again, as every caller does
        assert not isinstance(told, str), (event, told)
        self.load()
        return told  # pyright: ignore[reportReturnType]  # what the rule gave, from the other process

    def load(self) -> None:
        """Read everything that stands in the server."""
        found = _texts(self._wire.say(("KEYS", f"{PREFIX}*"))[0])
        keys = sorted(key for key in found if not key.endswith(("}:feed", "}:d", "}:dh")))  # hints, and the audit
        commands = [_reading(key) for key in keys]
        replies = self._wire.say(*commands, *(("PTTL", key) for key in keys)) if keys else []
        raw = dict(zip(keys, replies[: len(keys)], strict=True))
        self.commits += raw != self._raw
        self._raw = raw
        self.docs, self.versions, self.lists, self.indexes, self.bodies = {}, {}, {}, {}, {}
        self.mortal = set()
        for key, reply, ttl in zip(keys, replies[: len(keys)], replies[len(keys) :], strict=True):
            self._take(key.removeprefix(PREFIX), reply, mortal=isinstance(ttl, int) and ttl > 0)

    def _take(self, name: str, reply: Reply, *, mortal: bool) -> None:
        letter, _, id = name.partition(":")
        if letter == "z":
            index, _, of = id.partition(":")
            pairs = _texts(reply)
            members = {pairs[n]: int(float(pairs[n + 1])) for n in range(0, len(pairs), 2)}
            self.indexes[(index, of)] = members
        elif letter in LISTS:
            listed, model = LISTS[letter]
            entries = [text.split(" ", 2) for text in _texts(reply)]
            self.lists[(listed, id)] = [(int(seq), model.model_validate_json(text)) for seq, _, text in entries]
            if mortal:
                self.mortal.add((listed, id))
        elif letter == "b" and isinstance(reply, str):
            self.bodies[id] = reply
        elif isinstance(reply, str) and (kind := KINDS.get(f"{letter}:" if _ else letter)):
            v, fence, halt, text = reply.split(" ", 3)
            found = TYPES[kind].model_validate_json(text)
            if isinstance(found, Run):
                found = found.changed(fence=int(fence), halt=int(halt))
            if isinstance(found, Listeners):
                found = found.changed(fence=int(fence))
            self.docs[(kind, id)] = found
            self.versions[(kind, id)] = hash(v)

    def _calm(self, actor: int) -> bool:
        """Tell whether an actor's connection has stood long enough to be cut again: then it is back at once."""
        if self._now - self._cuts.get(actor, 0) < CALM_MS:
            return False
        self._cuts[actor] = self._now
        return True

    def _nearly(self, event: Deadline | Free, looked: int) -> bool:
        """Tell whether something that was not due when it was `looked` at may be due when it arrives."""
        what = f"deadline:{event.request}" if isinstance(event, Deadline) else f"free:{event.run}"
        at = self.index("timers").get(what)
        return at is not None and looked < at < self._now + NEAR_MS

    def _clock(self) -> int:
        seconds, micros = _texts(self._wire.say(("TIME",))[0])
        return int(seconds) * 1_000 + int(micros) // 1_000


@contextmanager
def two_processes(place: Path) -> Generator[list["subprocess.Popen[bytes]"]]:
    """Two processes that act on the server at this socket."""
    command = [sys.executable, "-m", "tests.faults.actor", str(place)]
    actors = [subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) for _ in range(2)]
    try:
        for actor in actors:
            assert actor.stdout is not None
            assert get(actor.stdout) == "ready"
        yield actors
    finally:
        for actor in actors:
            for pipe in (actor.stdin, actor.stdout):
                if pipe is not None:
                    pipe.close()
            actor.wait(10)


def _reading(key: str) -> tuple[str | int, ...]:
    name = key.removeprefix(PREFIX)
    if name.startswith("z:"):
        return ("ZRANGE", key, 0, -1, "WITHSCORES")
    return ("LRANGE", key, 0, -1) if name[:2] in ("j:", "h:", "s:") else ("GET", key)


def _texts(reply: Reply) -> list[str]:
    return [item for item in reply if isinstance(item, str)] if isinstance(reply, list) else []
