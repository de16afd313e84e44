"""`sayso up`: the web role in this process, a worker and each front end that was set up in one of their own.

So an agent that blocks its event loop never freezes a button, and a platform that fails takes nothing else with it.
"""

from __future__ import annotations

import asyncio
import contextlib
import resource
import sys
import webbrowser
from collections.abc import Callable, Sequence
from typing import Final

from core.broker import Broker
from gateway import front, health, opening, wiring
from gateway.children import WORKER, children
from gateway.opening import Front
from gateway.settings import Settings, has_desktop
from gateway.signals import on_signals
from gateway.web import serve

PATIENCE: Final = 15.0
"""seconds for a worker to show itself before we say that we are ready"""
LOOK: Final = 0.05
"""seconds between two looks for the first worker"""


async def up(settings: Settings, *, browser: bool | None, say: Callable[[str], None]) -> None:
    """Run everything until Ctrl-C. browser: whether to open one; None: only on a desktop, from a terminal.

    Raises: `SettingsError`, `RedisUnavailable`, `CannotStart`, `StoreError`.
    """
    raise_file_limit()
    fronts = opening.set_up(settings)
    stop = asyncio.Event()
    on_signals(stop)
    async with wiring.opened(settings, name="sayso-web") as broker:
        ports: asyncio.Queue[int] = asyncio.Queue()
        every = [WORKER, *(front.of(one) for one in fronts)]
        async with children(every, stop), asyncio.TaskGroup() as group:
            greeting = group.create_task(_greet(settings, broker, fronts, ports, browser, say), name="greeting")
            await serve(settings, broker, stop, ports.put_nowait)
            greeting.cancel()
        say("Stopped. Nothing is lost: what waits goes on at the next start.")


async def _greet(
    settings: Settings,
    broker: Broker,
    fronts: Sequence[Front],
    ports: asyncio.Queue[int],
    browser: bool | None,
    say: Callable[[str], None],
) -> None:
    port = await ports.get()
    for _ in range(int(PATIENCE / LOOK)):
        if (await health.workers(broker)).ok:
            break
        await asyncio.sleep(LOOK)
    link = wiring.login_link(settings, await wiring.accounts(settings, broker).link(), port)
    chats = f"  Chats  {', '.join(one.of.title for one in fronts)}\n" if fronts else ""
    minutes = f"{settings.login_link / 60:g} minutes"
    say(
        f"\n  Sayso {wiring.version()} is ready. Your agents act on your say-so.\n\n"
        f"  Open   {link}\n"
        f"         (signs you in, once, within {minutes}; later: {wiring.address(settings, port)})\n"
        f"  Agent  {settings.agent}\n"
        f"{chats}"
        f"  Data   {settings.data_dir}\n"
        "  Stop   Ctrl-C\n"
    )
    if wiring.is_public(settings) and not wiring.address(settings).startswith("https://"):
        say("  Others can reach this address and it is not encrypted: put an HTTPS proxy before it.\n")
    if browser if browser is not None else sys.stdout.isatty() and has_desktop():
        with contextlib.suppress(webbrowser.Error):
            await asyncio.to_thread(webbrowser.open, link)


def raise_file_limit() -> None:
    """Allow as many open files as this system lets us: each page is one."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = hard if hard != resource.RLIM_INFINITY else 65_536
    if soft < wanted:
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
