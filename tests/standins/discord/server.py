"""The HTTP side: reads a call, checks it against Discord's document, limits and spoils it, answers it, keeps it."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from aiohttp import web
from multidict import CIMultiDict

from tests.standins.discord.calls import TABLE, Call, found
from tests.standins.discord.faults import Fault, Limits, Reply
from tests.standins.discord.gateway import Gateway
from tests.standins.discord.refusals import Refusal
from tests.standins.discord.schema import wrong_body, wrong_query
from tests.standins.discord.shapes import Json, number, parsed
from tests.standins.discord.world import World
from tests.standins.discord.writing import uploads_of

PREFIX = "/api/v10"
OURS = {50006, 50035, 50109, 40005}
"""Codes that only a mistake of the bot brings: no person and no administrator can cause them."""


class Server:
    """The REST API of a world.

    calls: all that came, oldest first. loaded: names of the files that were downloaded. violations: what the bot must
    never have sent.
    """

    def __init__(self, world: World, gateway: Gateway) -> None:
        self.world = world
        self.gateway = gateway
        self.limits = Limits()
        self.faults: list[Fault] = []
        self.calls: list[Call] = []
        self.loaded: list[str] = []
        self.violations: list[str] = []
        self.port = 0

    @asynccontextmanager
    async def listening(self) -> AsyncGenerator[None]:
        """Listen on loopback; a second time on the same port."""
        app = web.Application(client_max_size=64 << 20)
        app.router.add_get("/gateway", self.gateway.talk)
        app.router.add_get("/resume", self.gateway.talk)
        app.router.add_get("/attachments/{channel}/{id}/{name}", self.download)
        app.router.add_route("*", PREFIX + "/{path:.*}", self.serve)
        runner = web.AppRunner(app, handle_signals=False, access_log=None, shutdown_timeout=0.1)
        await runner.setup()
        try:
            site = web.TCPSite(runner, "127.0.0.1", self.port, reuse_address=True)
            await site.start()
            self.port = self.port or int(runner.addresses[0][1])
            self.world.address = f"http://127.0.0.1:{self.port}"
            yield
        finally:
            self.gateway.drop()
            await runner.cleanup()

    async def download(self, request: web.Request) -> web.Response:
        """A file, as from the content network."""
        one = self.world.attachments.get(request.match_info["id"])
        if one is None:
            raise web.HTTPNotFound
        self.loaded.append(one.name)
        return web.Response(body=one.content, headers={"Content-Type": one.kind})

    async def serve(self, request: web.Request) -> web.StreamResponse:
        """Answer one call."""
        place = found(request.method, request.path.removeprefix(PREFIX))
        if place is None:
            self.violations.append(f"no such route: {request.method} {request.path}")
            return _response(Reply(404, {"message": "404: Not Found", "code": 0}))
        call = Call(*place, dict(request.query), None)
        self.calls.append(call)
        call.with_token = request.headers.get("Authorization") == f"Bot {self.world.portal.token}"
        await self._read(request, call)
        fault = self._fault(call.route)
        if fault is not None and fault.cut == "before":
            return self._cut(request)
        if fault is not None and fault.held == "early":
            await fault.opened.wait()
        reply = (fault.reply if fault is not None else None) or self._reply(call)
        self.limits.note(fault)
        call.status, call.answer = reply.status, reply.body
        call.code = number(reply.body, "code") if isinstance(reply.body, dict) and reply.status >= 400 else 0
        self.limits.count(reply)
        if fault is not None and fault.held == "late":
            await fault.opened.wait()
        if fault is not None and fault.cut == "after":
            return self._cut(request)
        return _response(reply)

    def _fault(self, route: str) -> Fault | None:
        for one in self.faults:
            if one.route == route:
                one.times -= 1
                if not one.times:
                    self.faults.remove(one)
                one.reached.set()
                return one
        return None

    async def _read(self, request: web.Request, call: Call) -> None:
        """Take body and files."""
        if request.content_type == "multipart/form-data":
            files: dict[str, tuple[str, bytes]] = {}
            for name, value in (await request.post()).items():
                if isinstance(value, web.FileField):
                    files[name] = value.filename, value.file.read()
                elif name == "payload_json" and isinstance(value, str):
                    call.body = parsed(value)
            call.files = uploads_of(files)
        elif raw := await request.read():
            try:
                call.body = parsed(raw)
            except ValueError:
                self.violations.append(f"{call.route}: the body is not JSON")

    def _reply(self, call: Call) -> Reply:
        exempt = call.route.split(" ")[1].startswith(("/interactions", "/webhooks"))
        if not call.with_token and not exempt:
            return Reply(401, {"message": "401: Unauthorized", "code": 0})
        major = call.params.get("channel_id", call.params.get("guild_id", call.params.get("webhook_token", "")))
        refused, headers = self.limits.check(call.route, major, exempt=exempt)
        if refused is not None:
            refused.headers |= headers
            return refused
        try:
            wrong = wrong_query(call.route, call.query) + wrong_body(call.route, call.body)
            if wrong:
                raise Refusal(50035, wrong)
            answer = TABLE[call.route](self.world, call)
        except Refusal as refusal:
            if refusal.code in OURS:
                self.violations.append(f"{call.route}: {refusal}")
            return Reply(refusal.status, refusal.body, headers)
        return Reply(204 if answer is None else 200, answer, headers)

    def _cut(self, request: web.Request) -> web.StreamResponse:
        if request.transport is not None:
            request.transport.abort()
        return web.Response()


def _response(reply: Reply) -> web.Response:
    """An answer with the header that discord.py wants exactly so."""
    headers = CIMultiDict(reply.headers)
    if reply.plain is not None:
        headers["Content-Type"] = "text/plain; charset=utf-8"
        return web.Response(status=reply.status, body=reply.plain.encode(), headers=headers)
    if reply.status == 204:
        return web.Response(status=204, headers=headers)
    headers["Content-Type"] = "application/json"
    return web.Response(status=reply.status, body=_json(reply.body), headers=headers)


def _json(body: Json) -> bytes:
    return json.dumps(body, separators=(",", ":")).encode()
