"""The gateway: HELLO, IDENTIFY, RESUME with replay, heartbeats, and every way in which it goes wrong.

Source: Discord developer pages "Gateway" and "Opcodes and Status Codes".
"""

from __future__ import annotations

import asyncio
import json
import zlib
from collections import Counter, deque
from dataclasses import dataclass, field

from aiohttp import WSMsgType, web

from tests.standins.discord import forms
from tests.standins.discord.shapes import Json, Obj, number, parsed, section, snowflake, snowflakes, text
from tests.standins.discord.telling import CONTENT, MEMBERS, PRESENCES
from tests.standins.discord.world import Event, World

BIGGEST_FRAME = 4096


@dataclass(eq=False)
class Session:
    """What outlives a connection: all that was dispatched, by number."""

    id: str
    intents: int
    log: list[Obj] = field(default_factory=list[Obj])
    line: Line | None = None


class Line:
    """One socket. mute: nothing leaves it any more, although it stays open."""

    def __init__(self, socket: web.WebSocketResponse, request: web.Request) -> None:
        self.socket = socket
        self.request = request
        self.mute = False
        self.closing = False
        self.session: Session | None = None
        self.out: asyncio.Queue[Obj | int] = asyncio.Queue()
        self.squeeze = zlib.compressobj() if request.query.get("compress") == "zlib-stream" else None

    def send(self, frame: Obj) -> None:
        if not self.mute:
            self.out.put_nowait(frame)

    def close(self, code: int) -> None:
        """Close after what was sent before."""
        self.closing = True
        self.out.put_nowait(code)

    def cut(self) -> None:
        """Break the connection without a word."""
        if self.request.transport is not None:
            self.request.transport.abort()

    async def write(self) -> None:
        """Send what is queued, in order, until the end."""
        try:
            while not isinstance(frame := await self.out.get(), int):
                raw = json.dumps(frame, separators=(",", ":"))
                if self.squeeze is None:
                    await self.socket.send_str(raw)
                else:
                    squeezed = self.squeeze.compress(raw.encode()) + self.squeeze.flush(zlib.Z_SYNC_FLUSH)
                    await self.socket.send_bytes(squeezed)
            await self.socket.close(code=frame)
        except ConnectionError:
            pass


class Gateway:
    """All sessions and lines. seen: how often each opcode came; closed: the codes it closed with."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.heartbeat = 41.25
        self.sessions: dict[str, Session] = {}
        self.lines: list[Line] = []
        self.seen: Counter[str] = Counter()
        self.resumed_at: list[int] = []
        self.closed: list[int] = []
        self.refusals: deque[int] = deque()
        self.ignored = 0
        self.held: list[Event] | None = None
        self.last: dict[str, Event] = {}
        world.listeners.append(self.dispatch)

    # ── what a test does ─────────────────────────────────────────────────────────────────────────────────────────────

    @property
    def connected(self) -> int:
        """How many lines are identified or resumed now."""
        return sum(one.session is not None and not one.mute for one in self.lines)

    def drop(self, code: int | None = None) -> None:
        """Break every line, or close it with a code; sessions stay for RESUME."""
        for one in self.lines:
            if code is None:
                one.cut()
            else:
                self._close(one, code)

    def reconnect(self) -> None:
        """Ask every line to come again (opcode 7)."""
        for one in self.lines:
            one.send({"op": 7, "d": None})

    def invalidate(self, *, resumable: bool = False) -> None:
        """Tell every line that its session is over (opcode 9); without `resumable` it is forgotten."""
        for one in self.lines:
            one.send({"op": 9, "d": resumable})
        if not resumable:
            self.forget()

    def forget(self) -> None:
        """Lose all sessions: the next RESUME is answered with INVALID_SESSION."""
        for one in self.sessions.values():
            one.line = None
        self.sessions.clear()

    def silence(self) -> None:
        """Let every line of now stay open and say nothing more, not even heartbeat acknowledgements."""
        for one in self.lines:
            one.mute = True

    def refuse(self, code: int, times: int = 1) -> None:
        """Close the next attempts to identify or resume with a code."""
        self.refusals.extend([code] * times)

    def ignore(self) -> None:
        """Answer the next RESUME by nothing, on a line that goes on with heartbeats."""
        self.ignored += 1

    def repeat(self, name: str = "") -> None:
        """Dispatch the last event once more, or the last of a name."""
        self.dispatch(self.last[name])

    # ── what it says ─────────────────────────────────────────────────────────────────────────────────────────────────

    def dispatch(self, event: Event) -> None:
        """Give an event to every session that may hear it; those without a line get it when they resume."""
        self.last[""] = self.last[event.name] = event
        for one in self.sessions.values():
            if event.intents and not one.intents & event.intents:
                continue
            bare = event.bare is not None and not one.intents & CONTENT
            self._log(one, event.name, event.bare if bare else event.body)

    def _log(self, session: Session, name: str, body: Json) -> None:
        frame: Obj = {"op": 0, "s": len(session.log) + 1, "t": name, "d": body}
        session.log.append(frame)
        if session.line is not None:
            session.line.send(frame)

    def _close(self, line: Line, code: int) -> None:
        self.closed.append(code)
        line.close(code)

    # ── what it hears ────────────────────────────────────────────────────────────────────────────────────────────────

    async def talk(self, request: web.Request) -> web.WebSocketResponse:
        """Serve one connection."""
        socket = web.WebSocketResponse(autoping=True, max_msg_size=0)
        await socket.prepare(request)
        line = Line(socket, request)
        self.lines.append(line)
        writer = asyncio.create_task(line.write())
        try:
            line.send({"op": 10, "d": {"heartbeat_interval": int(self.heartbeat * 1000)}})
            async for message in socket:
                if message.type is WSMsgType.TEXT and isinstance(message.data, str):
                    self._hear(line, message.data)
        finally:
            self.lines.remove(line)
            if line.session is not None and line.session.line is line:
                line.session.line = None
                if socket.close_code in {1000, 1001} and not line.closing:  # the bot ended its session
                    self.sessions.pop(line.session.id, None)
            writer.cancel()
        return socket

    def _hear(self, line: Line, raw: str) -> None:
        if len(raw.encode()) > BIGGEST_FRAME:
            self._close(line, 4002)
            return
        frame = section({"frame": parsed(raw)}, "frame")
        code, body = number(frame, "op", -1), section(frame, "d")
        names = {1: "heartbeat", 2: "identify", 3: "presence", 6: "resume", 8: "members"}
        self.seen[names.get(code, str(code))] += 1
        match code:
            case 1:
                line.send({"op": 11})
            case 2:
                self._identify(line, body)
            case 6:
                self._resume(line, body)
            case 8:
                self._members(line, body)
            case 3 | 4:
                pass
            case _:
                self._close(line, 4001)

    def _refused(self, line: Line, body: Obj) -> bool:
        if self.refusals:
            self._close(line, self.refusals.popleft())
        elif text(body, "token") != self.world.portal.token:
            self._close(line, 4004)
        else:
            return False
        return True

    def _identify(self, line: Line, body: Obj) -> None:
        if self._refused(line, body):
            return
        portal, intents = self.world.portal, number(body, "intents")
        allowed = {MEMBERS: portal.members, PRESENCES: portal.presences, CONTENT: portal.message_content}
        if line.session is not None:
            self._close(line, 4005)
        elif any(intents & bit and not set for bit, set in allowed.items()):
            self._close(line, 4014)
        else:
            session = Session(f"session-{self.world.snowflake()}", intents, line=line)
            line.session = self.sessions[session.id] = session
            self._greet(session)

    def _greet(self, session: Session) -> None:
        world = self.world
        mine = [one for one in world.guilds.values() if world.bot.id in one.members]
        about = forms.application(world)
        ready: Obj = {
            "v": 10,
            "user": forms.me(world.bot),
            "guilds": [{"id": one.id, "unavailable": True} for one in mine],
            "session_id": session.id,
            "session_type": "normal",
            "resume_gateway_url": world.address.replace("http://", "ws://") + "/resume",
            "private_channels": [],
            "application": {"id": about["id"], "flags": about["flags"]},
        }
        self._log(session, "READY", ready)
        for one in (each for each in mine if not each.away):
            self._log(session, "GUILD_CREATE", forms.guild(world, one, live=True))

    def _resume(self, line: Line, body: Obj) -> None:
        if self._refused(line, body):
            return
        if self.ignored:
            self.ignored -= 1
            return
        session, after = self.sessions.get(text(body, "session_id")), number(body, "seq")
        if session is None:
            line.send({"op": 9, "d": False})
            return
        if after > len(session.log):
            self._close(line, 4007)
            return
        self.resumed_at.append(after)
        session.line, line.session = line, session
        for frame in session.log[after:]:
            line.send(frame)
        self._log(session, "RESUMED", {"_trace": ["stand-in"]})

    def _members(self, line: Line, body: Obj) -> None:
        """Answer a wish for members with one chunk."""
        home = self.world.guilds.get(snowflake(body, "guild_id"))
        if home is None or line.session is None:
            return
        wanted, begins = snowflakes(body, "user_ids"), text(body, "query")
        every = [self.world.users[id] for id in home.members]
        chosen = [one for one in every if one.id in wanted or (not wanted and one.name.startswith(begins))]
        missing: list[Json] = [id for id in wanted if id not in home.members]
        found: dict[str, Json] = {"guild_id": home.id, "chunk_index": 0, "chunk_count": 1, "not_found": missing}
        found |= {"members": [forms.member(home, one) for one in chosen], "nonce": text(body, "nonce")}
        self._log(line.session, "GUILD_MEMBERS_CHUNK", found)
