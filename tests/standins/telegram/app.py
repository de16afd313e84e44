"""The HTTP side: reads a request, checks it against the specification, lets go wrong what a test ordered, answers.

It holds the state's lock only while a method runs, and never while it waits.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Coroutine
from urllib.parse import parse_qsl

from fastapi import FastAPI, Request, Response
from starlette.datastructures import UploadFile
from starlette.requests import ClientDisconnect
from starlette.types import Receive, Scope, Send

from tests.standins.telegram import bot, chats, messages
from tests.standins.telegram.access import METHODS
from tests.standins.telegram.faults import Fault
from tests.standins.telegram.polling import Polling, webhook_method
from tests.standins.telegram.spec import SPEC
from tests.standins.telegram.state import Call, State
from tests.standins.telegram.transport import cut, cut_in_half
from tests.standins.telegram.wire import Fields, Json, Object, Refusal, Upload, bad

MODULES = (bot, chats, messages)
"""They register what they can do."""
TOKEN = re.compile(r"\d{1,20}:[A-Za-z0-9_-]{20,60}")
NEWER_FIELDS = {"can_stop", "keep_on_stop", "ephemeral_message_parameters"}
NEWER_METHODS = re.compile(r".*Ephemeral.*")
FORM = "application/x-www-form-urlencoded"
PATH = re.compile(r"/bot([^/]+)/([^/]+)")
COUNTED = re.compile(r"(send(?!ChatAction|MessageDraft)|edit|copy|forward).*")
PAGE = b"<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<body>nginx</body>\r\n</html>\r\n"


class App:
    """The application. closing: set when the server ends, so that nothing waits on."""

    def __init__(self, state: State, polling: Polling, closing: asyncio.Event) -> None:
        self.state = state
        self.polling = polling
        self.closing = closing
        self.rest = FastAPI(openapi_url=None)
        self.rest.add_api_route("/file/bot{token}/{path:path}", self.file, methods=["GET"], response_model=None)
        self.rest.add_api_route("/{path:path}", self.nowhere, methods=["GET", "POST"], response_model=None)

    async def asgi(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request; methods straight away, for a bench counts what this server costs as Telegram's time."""
        found = PATH.fullmatch(scope["path"]) if scope["type"] == "http" else None
        if found is None or scope["method"] not in ("GET", "POST"):
            await self.rest(scope, receive, send)
            return
        response = await self.call(Request(scope, receive), *found.groups())
        await response(scope, receive, send)

    async def nowhere(self, request: Request) -> Response:
        """What has no token."""
        self.state.complain(f"nothing is at {request.url.path.partition(':')[0]}")
        return answer(Refusal(404, "Not Found").answer)

    async def file(self, request: Request, token: str, path: str) -> Response:
        """The content of a file."""
        with self.state.lock:
            call = Call("file", Fields({"file_path": path}), self.state.clock.now())
            self.state.calls.append(call)
            fault = self._fault(call)
            found = next((one for one in self.state.files.values() if one.path == path), None)
            known = found is not None and token == self.state.token
        if fault is not None:
            told = await self._suffer(request, fault, answer(bad("fault").answer))
            if told is not None:
                return told
        if not known or found is None:
            return answer(Refusal(404, "Not Found").answer)
        call.answer = {"ok": True}
        return Response(found.content, media_type="application/octet-stream")

    async def call(self, request: Request, token: str, name: str) -> Response:
        """One method of the Bot API."""
        refusal = self._who(token)
        method = SPEC.method(name)
        if refusal is None and method is None:
            self.state.complain(f"no method {name!r}")
            refusal = Refusal(404, "Not Found: method not found")
        if method is None or refusal is not None:
            with self.state.lock:
                self.state.calls.append(Call(name, Fields({}), self.state.clock.now(), refusal and refusal.answer))
            return answer((refusal or Refusal(404, "Not Found")).answer)
        try:
            values, files = await read(request)
        except ClientDisconnect:
            return Response(b"")
        read_values, wrong = SPEC.read(method, values, files)
        return await self._answered(request, Fields(read_values, files), method, wrong)

    def _who(self, token: str) -> Refusal | None:
        if token == self.state.token:
            return None
        return Refusal(401, "Unauthorized") if TOKEN.fullmatch(token) else Refusal(404, "Not Found")

    async def _answered(self, request: Request, fields: Fields, method: str, wrong: list[str]) -> Response:
        with self.state.lock:
            call = Call(method, fields, self.state.clock.now())
            self.state.calls.append(call)
            refusal = self._refused(call, wrong)
            fault = self._fault(call)
        if fault is not None:
            call.faulty = True
            done = await self._run(request, call, refusal) if fault.accepted else None
            told = await self._suffer(request, fault, done)
            if told is not None:
                return told
        return await self._run(request, call, refusal)

    def _refused(self, call: Call, wrong: list[str]) -> Refusal | None:
        """What is refused before the method is looked at."""
        for words in wrong:
            self.state.complain(words)
        if wrong:
            return bad(wrong[0])
        if not self.state.can.newest and NEWER_METHODS.fullmatch(call.method):
            return Refusal(404, "Not Found: method not found")
        if call.chat is None:
            return None
        paused = self.state.limiter.paused(call.chat)
        if paused is not None and self.state.limiter.is_known(call.chat):
            self.state.complain(f"{call.method} in {call.chat} although it was told to wait: {paused.description}")
        return paused

    def _fault(self, call: Call) -> Fault | None:
        """Take what a test ordered for this call."""
        for fault in self.state.faults:
            if fault.meets(call.method, call.fields):
                fault.left -= 1
                if fault.refusal is not None and fault.refusal.retry_after is not None and call.chat is not None:
                    self.state.limiter.pause(call.chat, fault.refusal.retry_after)
                return fault
        return None

    async def _run(self, request: Request, call: Call, refusal: Refusal | None) -> Response:
        try:
            if refusal is not None:
                raise refusal
            call.answer = {"ok": True, "result": await self._result(request, call)}
        except Refusal as no:
            call.answer = no.answer
        return answer(call.answer)

    async def _result(self, request: Request, call: Call) -> Json:
        if call.method == "getUpdates":
            return await self.polling.poll(call.fields, lambda: gone(request), self.closing)
        with self.state.lock:
            special = webhook_method(self.state, call.method, call.fields)
            if special is not None:
                return special
            act = METHODS.get(call.method)
            if act is None:
                self.state.complain(f"{call.method} is not modelled here")
                raise Refusal(501, "Not Implemented: the stand-in does not model it")
            chat = self.state.chats.get(call.chat or 0)
            if chat is not None and COUNTED.fullmatch(call.method):
                limit = self.state.limiter.count(chat)
                if limit is not None:
                    raise limit
            if not self.state.can.newest:
                kept = {name: value for name, value in call.fields.values.items() if name not in NEWER_FIELDS}
                return act(self.state, Fields(kept, call.fields.files))
            return act(self.state, call.fields)

    async def _suffer(self, request: Request, fault: Fault, done: Response | None) -> Response | None:
        """Let it go wrong; None when the usual answer is to follow."""
        fault.reached.set()
        if fault.held:
            await asyncio.to_thread(fault.released.wait)
            return done
        if fault.refusal is not None:
            return answer(fault.refusal.answer)
        match fault.how:
            case "silence":
                await first(self.closing.wait, lambda: gone(request))
                cut(request)
            case "cut":
                cut(request)
            case "half":
                cut_in_half(request, bytes(done.body) if done is not None else b'{"ok":true,"result":true}')
            case "bad gateway":
                return Response(PAGE, 502, media_type="text/html")
            case "rubbish":
                return Response(b"<html>Please log in to the network</html>", 200, media_type="text/html")
            case "answer":
                return done
        return Response(b"")


async def gone(request: Request) -> None:
    """Return when the client has gone."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


async def first(*waits: Callable[[], Coroutine[None, None, object]]) -> None:
    """Wait until one of them returns, and give up the others."""
    tasks = [asyncio.ensure_future(wait()) for wait in waits]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def answer(body: Object) -> Response:
    """A response as the Bot API gives it: the code is also the status."""
    code = body.get("error_code", 200)
    assert isinstance(code, int)
    parameters = body.get("parameters")
    wait = parameters.get("retry_after") if isinstance(parameters, dict) else None
    headers = {"retry-after": str(wait)} if wait is not None else {}
    return Response(json.dumps(body), code, headers, "application/json")


async def read(request: Request) -> tuple[Object, dict[str, Upload]]:
    """The fields and files of a request: from the address, a form, or JSON."""
    values: Object = dict(request.query_params)
    kind = request.headers.get("content-type", "")
    if kind.startswith("application/json"):
        body: Json = json.loads(await request.body() or b"{}")
        return values | (body if isinstance(body, dict) else {}), {}
    if kind.startswith(FORM):
        return values | dict(parse_qsl((await request.body()).decode(), keep_blank_values=True)), {}
    files: dict[str, Upload] = {}
    async with request.form() as form:
        for name, value in form.multi_items():
            if isinstance(value, UploadFile):
                mime = value.content_type or "application/octet-stream"
                files[name] = Upload(value.filename or name, await value.read(), mime)
            else:
                values[name] = value
    return values, files
