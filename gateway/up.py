"""`sayso up`: the web role in this process, the worker in one of its own that is started again when it ends.

So an agent that blocks its event loop never freezes a button. The worker ends with this process, however that ends: it
holds the other end of a pipe that only we have open.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import resource
import sys
import time
import webbrowser
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Final

from core.broker import Broker
from gateway import health, wiring
from gateway.cannot_start import CannotStart
from gateway.settings import Settings, has_desktop
from gateway.signals import on_signals
from gateway.web import serve

FIRST_PAUSE: Final = 0.5
LONGEST_PAUSE: Final = 10.0
"""seconds before a worker is started again"""
GOOD: Final = 30.0
"""seconds after which a worker counts as one that works"""
PATIENCE: Final = 15.0
"""seconds for a worker to end its turns when we go, and to show itself before we say that we are ready"""
LOOK: Final = 0.05
"""seconds between two looks for the first worker"""
NEVER: Final = 2
"""exit status of a process that cannot start"""
_log = logging.getLogger("sayso.up")


async def up(settings: Settings, *, browser: bool | None, say: Callable[[str], None]) -> None:
    """Run everything until Ctrl-C. browser: whether to open one; None: only on a desktop, from a terminal.

    Raises: `RedisUnavailable`, `CannotStart`, `StoreError`.
    """
    raise_file_limit()
    stop = asyncio.Event()
    on_signals(stop)
    async with wiring.opened(settings, name="sayso-web") as broker:
        ports: asyncio.Queue[int] = asyncio.Queue()
        async with workers(stop), asyncio.TaskGroup() as group:
            greeting = group.create_task(_greet(settings, broker, ports, browser, say), name="greeting")
            await serve(settings, broker, stop, ports.put_nowait)
            greeting.cancel()
        say("Stopped. Nothing is lost: what waits goes on at the next start.")


async def _greet(
    settings: Settings, broker: Broker, ports: asyncio.Queue[int], browser: bool | None, say: Callable[[str], None]
) -> None:
    port = await ports.get()
    for _ in range(int(PATIENCE / LOOK)):
        if (await health.workers(broker)).ok:
            break
        await asyncio.sleep(LOOK)
    link = wiring.login_link(settings, await wiring.accounts(settings, broker).link(), port)
    minutes = f"{settings.login_link / 60:g} minutes"
    say(
        f"\n  Sayso {wiring.version()} is ready. Your agents act on your say-so.\n\n"
        f"  Open   {link}\n"
        f"         (signs you in, once, within {minutes}; later: {wiring.address(settings, port)})\n"
        f"  Agent  {settings.agent}\n"
        f"  Data   {settings.data_dir}\n"
        "  Stop   Ctrl-C\n"
    )
    if wiring.is_public(settings) and not wiring.address(settings).startswith("https://"):
        say("  Others can reach this address and it is not encrypted: put an HTTPS proxy before it.\n")
    if browser if browser is not None else sys.stdout.isatty() and has_desktop():
        with contextlib.suppress(webbrowser.Error):
            await asyncio.to_thread(webbrowser.open, link)


@asynccontextmanager
async def workers(stop: asyncio.Event) -> AsyncGenerator[None]:
    """A worker process for as long as the block lasts, started again whenever it ends.

    Raises: `CannotStart` at the end, after setting `stop`, when the first one says that it never can.
    """
    ending = asyncio.Event()
    keeping = asyncio.create_task(_keep(ending, stop), name="worker process")
    try:
        yield
    finally:
        ending.set()
        able = await keeping
    if not able:
        raise CannotStart("The worker cannot start", "its words stand above", "Correct that, then try again.")


async def _keep(ending: asyncio.Event, stop: asyncio.Event) -> bool:
    """Have a worker until `ending`; False when the first one could never work."""
    pause, first = FIRST_PAUSE, True
    while not ending.is_set():
        began = time.monotonic()
        child = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "gateway", "worker", "--until-stdin-closes"),
            stdin=asyncio.subprocess.PIPE,
            start_new_session=True,
        )
        if not await _until(child, ending):
            await _end(child)
            return True
        if first and child.returncode == NEVER:
            stop.set()
            return False
        first = False
        pause = FIRST_PAUSE if time.monotonic() - began > GOOD else min(pause * 2, LONGEST_PAUSE)
        _log.error("the worker ended with status %s; another one starts in %g s", child.returncode, pause)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(pause):
                await ending.wait()
    return True


async def _until(child: asyncio.subprocess.Process, ending: asyncio.Event) -> bool:
    """Wait for one of both; True when the child ended by itself."""
    ended = asyncio.create_task(child.wait())
    told = asyncio.create_task(ending.wait())
    await asyncio.wait({ended, told}, return_when=asyncio.FIRST_COMPLETED)
    told.cancel()
    if not ended.done():
        ended.cancel()
        return False
    return True


async def _end(child: asyncio.subprocess.Process) -> None:
    with contextlib.suppress(ProcessLookupError):
        child.terminate()
        try:
            async with asyncio.timeout(PATIENCE):
                await child.wait()
        except TimeoutError:
            _log.warning("the worker did not end within %g s; it is killed, its runs go on at the next start", PATIENCE)
            child.kill()
            await child.wait()


def raise_file_limit() -> None:
    """Allow as many open files as this system lets us: each page is one."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = hard if hard != resource.RLIM_INFINITY else 65_536
    if soft < wanted:
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
