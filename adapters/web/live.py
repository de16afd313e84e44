"""Live events: one WebSocket for each page, SSE for programs, both from the same journal, gapless, without repeats.

A WebSocket is let in before it is accepted, and only from our own page (or with a token). Its frames are JSON:

    page → us   {"follow": conversation, "after": seq} · {"unfollow": conversation} · {"ping": n}
    us → page   events · {"type": "followed"} · {"type": "pong"} · {"type": "reset"}
                {"type": "conversation.changed"} · {"type": "pending.changed"} · {"type": "frozen"}

After `reset` or `conversation.deleted` a page follows that conversation no more until it says so again. An event of SSE
has the id `<conversation>-<seq>`; its stream goes on after `reset`, from the end of the journal.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from typing import Annotated, Final

from fastapi import APIRouter, Header, Query, Request
from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, ValidationError
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send
from starlette.websockets import WebSocket

from adapters.web.body import JsonRoute
from adapters.web.channel import Frame, deleted, frame, reset
from adapters.web.conversations import Parts, conversation_of
from adapters.web.hub import Page
from adapters.web.problems import Problem, invalid, of_store
from adapters.web.security import Reader, known_to, lacking, refuse, stranger
from adapters.web.state import Web
from adapters.web.wording import broken
from core.errors import StoreError

router = APIRouter(prefix="/v1", tags=["live"], route_class=JsonRoute)
MOST_FOLLOWED: Final = 50
MOST_SEQ: Final = 2**53
"""no journal is longer"""
LONGEST_FRAME: Final = 65_536
KEEP_ALIVE: Final = 15.0
"""seconds of silence after which a stream says that it lives"""
LAST: Final = frozenset({"reset", "conversation.deleted"})
CLOSING: Final[Mapping[str, tuple[int, str]]] = {
    "shutdown": (1012, "restarting"),
    "signed_out": (4401, "signed out"),
}


class Wish(BaseModel):
    """One frame of a page."""

    model_config = ConfigDict(extra="forbid", strict=True)

    follow: str | None = None
    after: int = Field(default=0, ge=0, le=MOST_SEQ)
    unfollow: str | None = None
    ping: Annotated[int, Field(ge=-MOST_SEQ, le=MOST_SEQ)] | FiniteFloat | str | None = None


# ── WebSocket ────────────────────────────────────────────────────────────────────────────────────────────────────────


class Socket:
    """The endpoint of `GET /v1/ws`; one for each connection."""

    def __init__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._scope = scope
        self._receive = receive
        self._send = send

    def __await__(self) -> object:
        return self._serve().__await__()

    async def _serve(self) -> None:
        socket = WebSocket(self._scope, self._receive, self._send)
        web: object = socket.app.state.web
        assert isinstance(web, Web)
        try:
            known = await known_to(web, socket)
        except StoreError as error:
            await refuse(self._scope, self._receive, self._send, of_store(error))
            return
        wrong = stranger() if known is None else lacking(known, "read")
        if known is None or wrong is not None:
            await refuse(self._scope, self._receive, self._send, wrong or stranger())
            return
        await socket.accept()
        page = web.hub.open(known, lists=True)
        talking = asyncio.create_task(_talk(web, page, socket), name="page")
        try:
            await _listen(web, page, socket)
        finally:
            web.hub.leave(page)
            talking.cancel()
            await asyncio.gather(talking, return_exceptions=True)


async def _listen(web: Web, page: Page, socket: WebSocket) -> None:
    """Take what a page wishes, until it is gone."""
    while True:
        message = await socket.receive()
        if message["type"] == "websocket.disconnect":
            return
        text: object = message.get("text")
        answer = await _wish(web, page, text if isinstance(text, str) else "")
        if answer is not None:
            page.note(answer)


async def _wish(web: Web, page: Page, text: str) -> Frame | None:
    try:
        if len(text) > LONGEST_FRAME:
            raise invalid("frame", f"must not be longer than {LONGEST_FRAME} characters")
        wish = Wish.model_validate_json(text)
        if wish.follow is not None:
            return await _follow(web, page, wish.follow, wish.after)
        if wish.unfollow is not None:
            web.hub.unfollow(page, wish.unfollow)
            return None
        if wish.ping is not None:
            return frame("pong", {"ping": wish.ping})
        raise invalid("frame", "must have follow, unfollow or ping")
    except ValidationError as error:
        first = error.errors()[0]
        field = str(first["loc"][0]) if first["loc"] else "frame"
        rule = "must be a number or text" if field == "ping" else broken(first["type"], first.get("ctx", {}))
        return frame("error", invalid(field, rule).body())
    except Problem as problem:
        return frame("error", problem.body())
    except StoreError as error:
        return frame("error", of_store(error).body())


async def _follow(web: Web, page: Page, id: str, after: int) -> Frame:
    if len(page.follows) >= MOST_FOLLOWED and id not in page.follows:
        raise invalid("follow", f"at most {MOST_FOLLOWED} conversations; unfollow one first")
    try:
        found = await conversation_of(web, page.known, id)
    except Problem as problem:
        gone = await web.broker.deleted(id, page.known.person) if problem.status == 410 else None
        if gone is not None:
            return deleted(gone.id, after + 1, gone.changed_ms)
        raise Problem(
            problem.status,
            problem.code,
            problem.detail,
            errors=[("follow", "must be the id of one of yours")],
            standing={"conversation": id},
        ) from None
    web.hub.follow(page, found.id, after)
    return frame("followed", {"conversation": found.id, "seq": after})


async def _talk(web: Web, page: Page, socket: WebSocket) -> None:
    """Send what is new, until the page has to end."""
    with suppress(RuntimeError, OSError):  # the connection went away while we wrote: `_listen` hears of it
        while page.closed is None:
            await page.wait()
            for conversation, told in await page.take():
                await socket.send_text(told.text)
                if told.type in LAST and conversation:
                    web.hub.unfollow(page, conversation)
        code, reason = CLOSING[page.closed]
        await socket.close(code, reason)


# ── SSE ──────────────────────────────────────────────────────────────────────────────────────────────────────────────


class EventStream(Response):
    """A stream of events, written by hand: no task, no queue and no validation for each event."""

    media_type = "text/event-stream"

    def __init__(self, web: Web, page: Page, conversation: str, after: int | None) -> None:
        self.status_code = 200
        self.body = b""
        self.background = None
        self.init_headers({"cache-control": "no-cache, no-transform", "x-accel-buffering": "no"})
        self._web = web
        self._page = page
        self._conversation = conversation
        self._after = after

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Stream until the program, or this process, goes."""
        headers = [(name, value) for name, value in self.raw_headers if name != b"content-length"]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        gone = asyncio.create_task(_gone(receive, self._page), name="end of a stream")
        try:
            await self._stream(send)
        except OSError:
            pass  # the program is gone
        finally:
            self._web.hub.leave(self._page)
            gone.cancel()
            await asyncio.gather(gone, return_exceptions=True)

    async def _stream(self, send: Send) -> None:
        page, hub = self._page, self._web.hub
        await send(_piece(b"retry: 1000\n\n"))
        if self._after is None:
            await self._begin_again(send)
        else:
            hub.follow(page, self._conversation, self._after)
        while page.closed is None:
            if not await page.wait(KEEP_ALIVE):
                await send(_piece(b": still here\n\n"))
                continue
            frames = [told for _, told in await page.take()]
            told = [one for one in frames if one.type not in LAST]
            if told:
                await send(_piece(b"".join(_event(self._conversation, one) for one in told)))
            for last in (one for one in frames if one.type in LAST):
                hub.unfollow(page, self._conversation)
                if last.type == "conversation.deleted":
                    await send(_piece(_event(self._conversation, last)))
                    page.closed = "shutdown"
                else:
                    await self._begin_again(send)
        with suppress(OSError):
            await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _begin_again(self, send: Send) -> None:
        """Tell the program to load everything again, and go on from the journal's end as it is now."""
        last = await reset(self._web.broker, self._conversation)
        await send(_piece(_event(self._conversation, last)))
        self._web.hub.follow(self._page, self._conversation, last.seq)


async def _gone(receive: Receive, page: Page) -> None:
    while True:
        message: Message = await receive()
        if message["type"] == "http.disconnect":
            page.close("shutdown")
            return


def _piece(body: bytes) -> Message:
    return {"type": "http.response.body", "body": body, "more_body": True}


def _event(conversation: str, told: Frame) -> bytes:
    return f"id: {conversation}-{told.seq}\nevent: {told.type}\ndata: {told.text}\n\n".encode()


@router.get("/conversations/{id}/events", summary="Events of a conversation (SSE)", response_class=Response)
@router.get("/sessions/{id}/events", include_in_schema=False, response_class=Response)
async def events(
    id: str,
    request: Request,
    web: Parts,
    who: Reader,
    after: Annotated[int | None, Query(ge=0, le=MOST_SEQ, description="a `seq`: tell what came after it")] = None,
    last_event_id: Annotated[str | None, Header(description="`<conversation>-<seq>`, as a browser sends it")] = None,
) -> EventStream:
    """Stream what happens, each event once and in order. Without a place to begin: from the journal's beginning.

    An id of another conversation, or one that the journal does not reach back to, gets `reset` first.
    """
    found = await conversation_of(web, who, id)
    begin: int | None = after or 0
    if last_event_id:
        place, _, seq = last_event_id.rpartition("-")
        begin = int(seq) if place == found.id and seq.isascii() and seq.isdigit() and len(seq) < 16 else None
    return EventStream(web, web.hub.open(who, lists=False), found.id, begin)
