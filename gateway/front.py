"""The role of a front end: this process serves one platform, or stands by for the process that does."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from logging import getLogger

from adapters.doors import Linked
from adapters.surface import Surface
from core.agent import NoAgent
from core.broker import Broker
from gateway import agents, logging, opening, wiring
from gateway.cannot_start import CannotStart
from gateway.children import Child, children
from gateway.collector import calm_collector
from gateway.opening import Front
from gateway.settings import Settings
from gateway.signals import on_signals
from gateway.stdin import watch_stdin

_log = getLogger("sayso.front")
DRAIN = 5.0
"""seconds for what is under way, when we go"""


async def serve(settings: Settings, front: Front, *, until_stdin_closes: bool) -> None:
    """Serve until Ctrl-C, SIGTERM, or (when asked) the end of standard input, which is the end of whoever started us.

    Raises: `RedisUnavailable`, `CannotStart`, `StoreError`.
    """
    stop = asyncio.Event()
    on_signals(stop)
    logging.hide(front.secrets())
    async with AsyncExitStack() as stack:
        if until_stdin_closes:
            stack.callback(watch_stdin(stop))
        broker = await stack.enter_async_context(wiring.opened(settings, name=f"sayso-{front.of.name}"))
        await stack.enter_async_context(surface(settings, front, broker))
        calm_collector()
        await stop.wait()


async def serve_all(settings: Settings) -> None:
    """Serve every front end that was set up, each in a process of its own, until Ctrl-C or SIGTERM.

    Raises: `SettingsError`, `CannotStart`.
    """
    stop = asyncio.Event()
    on_signals(stop)
    fronts = opening.set_up(settings)
    if not fronts:
        _log.warning("no front end was set up, so there is nothing to do; docs/settings.md says what each needs")
    async with children([of(one) for one in fronts], stop):
        await stop.wait()


def of(front: Front) -> Child:
    """The process of a front end."""
    return Child(front.of.title, ("front", front.of.name))


def surface(settings: Settings, front: Front, broker: Broker) -> Surface:
    """The front end as the settings mean it.

    Raises: `CannotStart`.
    """
    try:
        first = agents.default(settings, front.of.name)
    except NoAgent as error:
        raise CannotStart(str(error), front.of.title, "Correct it, or leave it out.") from None
    return Surface(
        broker,
        front.create(),
        agents=[first, *(name for name in agents.places(settings) if name != first)],
        doors=Linked(wiring.people(broker)),
        files=wiring.files(settings),
        link=lambda request: f"{settings.public_url}/#pending" if settings.public_url else None,
        ticket=wiring.tickets(settings, broker).link,
        match=front.of.match,
        span=settings.singleton_lease,
        lease=min(settings.lease, settings.listener_lease),
        look=settings.index_look,
        drain=DRAIN,
        proofs=wiring.accounts(settings, broker),
    )
