"""What a turn says: whole messages, streamed ones, files. Each is in the journal, so that nothing is said twice.

Streamed text goes out in pieces, at most 10 a second and 4 KiB each; only the whole message is kept. A question asked
in the middle of a stream ends the message there; what is written afterwards is a new one. No piece ends within
a secret.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from core.clamp import clamp
from core.hold import Hold
from core.model import Entry, Json, digest, fresh, partition_of
from core.turn import Turn
from core.waited import waited

PIECE = 4_096
GAP = 0.1
WHOLE = 1_048_576


class Stream:
    """A message that is being written."""

    def __init__(self, turn: Turn, key: str, gap: float = GAP) -> None:
        self._turn = turn
        self._key = key
        self._gap = gap
        self._muted = False
        self._part = 0
        self._parts: list[tuple[int, str]] = []
        self._ahead = ""
        self._text = ""
        self._told = 0
        self._id = _message(turn)
        self._last = -gap
        self._flusher: asyncio.Task[None] | None = None

    def replay(self) -> bool:
        """Find what was written already; True when the message was finished, and nothing of it is told again."""
        tape = self._turn.tape
        self._muted = self._turn.parked or tape.look(self._key).said
        while not self._muted and (place := tape.look(f"{self._key}/part#{self._part}")).said:
            self._parts.append((place.size, place.mark))
            self._part += 1
        return self._muted

    async def write(self, text: str) -> None:
        """Add text to the message; it is shown within a tenth of a second."""
        if self._muted or self._turn.parked:
            return
        self._turn.check()
        self._ahead += text
        self._skip()
        if len(self._text) > self._told and (self._flusher is None or self._flusher.done()):
            self._flusher = waited(self._flush(), f"flush {self._id}")

    def _skip(self, *, all: bool = False) -> None:
        """Pass over the parts that were said already; when the text is another one now, all of it is said.

        all: nothing more is written, so that a part that was not reached is none of this text.
        """
        while self._parts and len(self._ahead) >= self._parts[0][0]:
            size, mark = self._parts[0]
            if _mark(self._ahead[:size]) != mark:
                self._parts.clear()
                break
            self._ahead = self._ahead[size:]
            del self._parts[0]
        if all:
            self._parts.clear()
        if not self._parts:
            self._text, self._ahead = self._text + self._ahead, ""

    async def _flush(self) -> None:
        """Tell what was not told yet, in pieces, and never faster than the gap."""
        loop = asyncio.get_running_loop()
        while self._told < len(self._text) and not self._turn.parked:
            await asyncio.sleep(max(0.0, self._last + self._gap - loop.time()))
            piece = _piece(self._text[self._told : self._told + PIECE])
            piece = piece[: len(piece) - self._turn.veil.held(piece)]
            if not piece:
                return  # it may be the beginning of a secret: the next word, or the end, decides
            self._told += len(piece)
            self._last = loop.time()
            await self._turn.tell(self._turn.event("message.delta", message=self._id, text=piece))

    async def cut(self, **more: Json) -> None:
        """End the message here, because something is asked; what comes next is another message."""
        self._skip(all=True)
        if self._text:
            await self._rest()
            key = f"{self._key}/part#{self._part}"
            await _complete(self._turn, key, self._id, self._text, part=True, shown=more)
            self._part += 1
            self._text, self._told, self._id = "", 0, _message(self._turn)

    async def end(self) -> None:
        """Complete the message."""
        self._skip(all=True)
        await self._rest()
        await _complete(self._turn, self._key, self._id, self._text)

    async def broken(self) -> None:
        """Keep what was written when the code was left in the middle; a replay that writes the same goes on there."""
        await self._rest()
        if not self._parts and not self._turn.parked and not self._turn.lost:
            await self.cut(interrupted=True)

    async def _rest(self) -> None:
        """Tell no more pieces: the whole message is about to be told."""
        flusher, self._flusher = self._flusher, None
        if flusher is not None:
            flusher.cancel()
            await asyncio.gather(flusher, return_exceptions=True)


@asynccontextmanager
async def streaming(turn: Turn, hold: Hold, key: str) -> AsyncGenerator[Stream]:
    """Stream a message; it is complete when the block ends."""
    stream = Stream(turn, key)
    if stream.replay():
        yield stream
        return
    hold.before[stream.cut] = None
    try:
        yield stream
    except BaseException:
        await stream.broken()
        raise
    finally:
        hold.before.pop(stream.cut, None)
    await stream.end()


async def say(turn: Turn, key: str, text: str, **more: Json) -> None:
    """Say a whole message, once."""
    place = turn.tape.glance(key)
    if (place is None or not place.said) and text.strip():
        await _complete(turn, key, _message(turn), text, shown=more)


async def _complete(
    turn: Turn, key: str, id: str, text: str, *, part: bool = False, shown: dict[str, Json] | None = None
) -> None:
    """Put a message into the history and the journals, in one commit."""
    more = shown or {}
    marks: dict[str, Json] = {"size": len(text), "mark": _mark(text)} if part else {}
    if not text.strip() and not (more and not part):
        await turn.append(turn.entry("said", key, **marks))
        return
    entry = _entry(turn, id, text, **more)
    event = turn.event("message.completed", message=id, entry=entry.id, text=entry.text, **more)
    await turn.append(turn.entry("said", key, entry=entry.id, **marks), entries=(entry,), tell=(event,))


def _mark(text: str) -> str:
    return digest("text", text)


def _entry(turn: Turn, id: str, text: str, **more: Json) -> Entry:
    return Entry(
        id=id, role="agent", run=turn.run.id, text=clamp(text, WHOLE), at=turn.broker.store.now(), data={**more}
    )


def _message(turn: Turn) -> str:
    return fresh("m", partition_of(turn.run.id))


def _piece(text: str) -> str:
    return text.encode()[:PIECE].decode("utf-8", "ignore")
