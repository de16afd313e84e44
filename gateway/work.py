"""The worker role of a process: it loads the agents, claims runs and runs their turns."""

from __future__ import annotations

import asyncio
import logging
import os
from contextlib import AsyncExitStack
from typing import Final

from core import cgroups
from core.agent import Agent, NoAgent, goes_on, runs_apart
from core.lease import Lease
from core.template import Template, command
from core.worker import Worker
from gateway import agents, wiring
from gateway.cannot_start import CannotStart
from gateway.collector import calm_collector
from gateway.figures import tallied
from gateway.settings import Settings
from gateway.signals import on_signals
from gateway.stdin import watch_stdin
from gateway.upkeep import files_kept

STUCK: Final = 75
"""exit status of a process that ends because a turn in it does not; whoever started it starts it again"""
_log = logging.getLogger("sayso.worker")


async def work(settings: Settings, *, until_stdin_closes: bool) -> None:
    """Work until Ctrl-C, SIGTERM, or (when asked) the end of standard input, which is the end of whoever started us.

    Raises: `RedisUnavailable`, `CannotStart`, `StoreError`.
    """
    stop = asyncio.Event()
    on_signals(stop)
    try:
        known = agents.load_all(settings)
    except NoAgent as error:
        raise CannotStart(str(error), "SAYSO_AGENT", "Correct it; `demo` is the one that Sayso ships.") from None

    def found(name: str) -> Agent:
        if name not in known:
            raise NoAgent(f"there is no agent {name!r}; known names: {', '.join(known)}")
        return known[name]

    async with AsyncExitStack() as stack:
        if until_stdin_closes:
            stack.callback(watch_stdin(stop))
        broker = await stack.enter_async_context(wiring.opened(settings, name="sayso-worker"))
        lease = await stack.enter_async_context(Lease(broker, "worker", span=settings.lease, note=cgroups.words()))
        await stack.enter_async_context(tallied(broker, "worker"))
        files = wiring.files(settings)
        await stack.enter_async_context(files_kept(files))
        pausing = frozenset(name for name, one in known.items() if not goes_on(one))
        apart = {name: goes_on(one) for name, one in known.items() if runs_apart(one)}
        template = None
        if apart:
            template = await stack.enter_async_context(
                Template(command("gateway.template"), patience=settings.turn_start)
            )
            await template.warm()
        spans = wiring.pace(settings)
        ladders = {name: own.ladder_ms for name, one in known.items() if (own := spans.of(one)) != spans}
        worker = Worker(
            broker,
            lease,
            found,
            files=files,
            slots=settings.runs_at_once,
            pace=spans,
            pausing=pausing,
            apart=apart,
            template=template,
            ladders=ladders,
        )
        await stack.enter_async_context(worker)
        await stack.enter_async_context(wiring.reaper(settings, broker))
        calm_collector()
        await _until(stop, worker.stuck)
    if worker.left:
        _log.error("a turn did not end, so this process does: %s", ", ".join(worker.left))
        logging.shutdown()
        os._exit(STUCK)


async def _until(*events: asyncio.Event) -> None:
    """Wait for the first of them."""
    waiting = [asyncio.create_task(event.wait()) for event in events]
    try:
        await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in waiting:
            task.cancel()
