"""The web role of a process: the HTTP server, its live pages, the sweeper, and the lease that says it listens."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import AsyncExitStack, asynccontextmanager
from logging import DEBUG, INFO, getLogger
from types import FrameType

import uvicorn

from adapters.web.app import create
from adapters.web.attached import Attached
from adapters.web.emergency import Banner
from adapters.web.hooks import Called
from adapters.web.hub import Hub
from adapters.web.lists import Lists
from adapters.web.markdown import render
from adapters.web.people import signed_out
from adapters.web.state import Options, Web
from core.audit import Audit
from core.broker import Broker
from core.errors import StoreError
from core.files import FileStore
from core.inbox import Inbox
from core.lease import Lease
from core.removals import finish_removals
from core.sweeper import Sweeper
from gateway import agents, health, logging, opening, wiring
from gateway.cannot_start import CannotStart
from gateway.collector import calm_collector
from gateway.figures import owed, tallied
from gateway.opening import Front
from gateway.settings import Settings
from gateway.upkeep import keep_audit

BACKLOG = 4_096
LONGEST_FRAME = 65_536
GRACE = 3
HOUR = 3_600.0
MINUTE = 60.0
OURS = frozenset({"", "v1", "page", "login", "invite", "secret", "health", "ready", "metrics", "favicon.ico"})
"""first parts of paths that are routes already"""
_log = getLogger("sayso.web")


class Server(uvicorn.Server):
    """A server whose start and end are ours to decide; signals are taken by whoever runs it."""

    def __init__(self, config: uvicorn.Config, started: Callable[[], None]) -> None:
        super().__init__(config)
        self._started = started

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen, then say so."""
        await super().startup(sockets)
        if self.started:
            self._started()

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None]:
        """Leave signals alone."""
        yield

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """End: let requests finish, then go."""
        self.should_exit = True


@asynccontextmanager
async def front(settings: Settings, broker: Broker, port: int) -> AsyncGenerator[Web]:
    """Everything of the web front end but the server, for as long as the block lasts."""
    async with AsyncExitStack() as stack:
        accounts = wiring.accounts(settings, broker)
        files = wiring.files(settings)
        attached = Attached(files)
        hub = Hub(broker, accounts, attached, render)
        span = min(settings.lease, settings.listener_lease)
        at = wiring.address(settings, port)
        await stack.enter_async_context(Lease(broker, "web", span=span, prefixes=("chat",), note=at))
        sweeper = Sweeper(broker, look=settings.sweep_look, span=settings.singleton_lease)
        await stack.enter_async_context(sweeper)
        await stack.enter_async_context(wiring.reaper(settings, broker))
        await stack.enter_async_context(hub)
        await stack.enter_async_context(tallied(broker, "web"))
        options = Options(
            version=wiring.version(),
            agent=agents.default(settings, "web"),
            agents=tuple(agents.places(settings)),
            host=settings.host,
            public_url=settings.public_url,
            login_days=settings.login_days,
            body_max=settings.body_max,
            file_max=settings.file_max,
        )
        known = opening.known(settings)
        fronts = opening.set_up(settings)
        wanted = [one.of.name for one in fronts]
        people = wiring.people(broker)
        for warning in await people.warnings():
            _log.warning("%s; choose them on the page under People, or with `sayso group`", warning)
        yield Web(
            broker,
            accounts,
            hub,
            files,
            attached,
            options,
            render,
            people,
            wiring.tickets(settings, broker),
            lambda: health.checks(broker, known, wanted),
            [one for front in fronts if (one := _called(broker, front)) is not None],
            lambda: owed(broker, [one.prefix for one in known]),
        )


def _called(broker: Broker, front: Front) -> Called | None:
    """The route for a platform that calls us; its updates go to whichever process serves it.

    Raises: `CannotStart` when its path is one of ours.
    """
    hook = front.create().hook() if front.is_called else None
    if hook is None:
        return None
    if hook.path.partition("?")[0].strip("/").partition("/")[0] in OURS:
        what = f"{front.of.title} cannot be called at {hook.path}: that path is ours"
        raise CannotStart(what, front.of.title, f"Give its webhook address another path, as /{front.of.name}.")
    logging.hide(front.secrets())
    return Called(front.of.title, hook.path, hook.genuine, Inbox(broker, front.of.prefix).keep)


async def serve(settings: Settings, broker: Broker, stop: asyncio.Event, started: Callable[[int], None]) -> None:
    """Serve until `stop`; started: called with the port when requests are taken.

    Raises: `CannotStart` when the address cannot be had.
    """
    listening = listen(settings)
    port = int(listening.getsockname()[1])
    try:
        async with front(settings, broker, port) as web, asyncio.TaskGroup() as group:
            server = Server(_config(settings, web), lambda: started(port))
            calm_collector()
            lists = group.create_task(Lists(web.hub).watch(), name="lists of open pages")
            banner = group.create_task(Banner(web.hub).watch(), name="freezes told to open pages")
            tidying = group.create_task(_tidy(web.files), name="files that were kept long enough")
            auditing = group.create_task(keep_audit(Audit(broker), settings), name="audit that was kept long enough")
            parting = group.create_task(_part(web, broker), name="removals that were interrupted")
            ending = group.create_task(_end(stop, server, web.hub), name="end of the web server")
            await server.serve([listening])
            for task in (lists, banner, tidying, auditing, parting, ending):
                task.cancel()
    finally:
        listening.close()


async def _tidy(files: FileStore) -> None:
    """Remove files that were kept long enough, now and every hour."""
    while True:
        try:
            gone = await files.sweep()
        except OSError as error:
            _log.warning("old files could not be removed: %s", error)
        else:
            _log.log(INFO if gone else DEBUG, "removed %d old files", gone)
        await asyncio.sleep(HOUR)


async def _part(web: Web, broker: Broker) -> None:
    """Finish removals that were interrupted, now and every minute."""
    while True:
        try:
            for gone in await finish_removals(broker, web.people):
                await signed_out(web, gone, tokens=True)
                _log.info("the removal of %s was finished", gone.id)
        except StoreError as lost:
            _log.warning("interrupted removals wait: %s", lost)
        await asyncio.sleep(MINUTE)


async def _end(stop: asyncio.Event, server: Server, hub: Hub) -> None:
    """Streams never end by themselves: close them first, then the server."""
    await stop.wait()
    hub.shut()
    server.should_exit = True


def _config(settings: Settings, web: Web) -> uvicorn.Config:
    return uvicorn.Config(
        create(web),
        http="httptools",
        ws="websockets-sansio",
        ws_max_size=LONGEST_FRAME,
        ws_ping_interval=20.0,
        ws_ping_timeout=20.0,
        ws_per_message_deflate=False,
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=bool(settings.trusted_proxies),
        forwarded_allow_ips=list(settings.trusted_proxies),
        backlog=BACKLOG,
        timeout_graceful_shutdown=GRACE,
    )


def listen(settings: Settings) -> socket.socket:
    """Take the address that the settings mean.

    Raises: `CannotStart`.
    """
    where = f"{settings.host}:{settings.port}"
    try:
        found = socket.getaddrinfo(settings.host, settings.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        family, kind, protocol, _, place = found[0]
        taken = socket.socket(family, kind, protocol)
        try:
            taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            taken.bind(place)
            taken.setblocking(False)
        except OSError:
            taken.close()
            raise
    except OSError as error:
        what = f"The web server cannot listen: {error.strerror or error}"
        what_to_do = "End the program that listens there, or set SAYSO_PORT (0 takes a free one) or SAYSO_HOST."
        raise CannotStart(what, where, what_to_do) from None
    return taken
