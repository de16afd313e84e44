"""How a command of `sayso` reads the settings, runs to its end, and says what went wrong. It knows no command."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import NoReturn, TypeVar

import typer
import uvloop

from core.broker import Broker
from core.errors import StoreError
from core.life.decision import Refusal
from gateway import logging, wiring
from gateway.cannot_start import CannotStart
from gateway.served import Served, served
from gateway.settings import Settings, SettingsError, load, unknown_names
from gateway.unavailable import RedisUnavailable

NAME = "sayso"
KNOWN = (SettingsError, RedisUnavailable, CannotStart, StoreError)
T = TypeVar("T")


def read_settings() -> Settings:
    """Read the settings; names in the environment that look like ours and are none get a word."""
    try:
        settings = load()
    except SettingsError as error:
        fail(str(error))
    for stranger in unknown_names():
        typer.echo(f"{NAME}: no such setting in the environment: {stranger}", err=True)
    return settings


def quiet() -> Settings:
    """Read the settings for a command whose output is read by programs: nothing but warnings is logged."""
    settings = read_settings()
    logging.set_up(settings, quiet=True)
    return settings


def with_broker(settings: Settings, work: Callable[[Broker], Awaitable[T]]) -> T:
    """Do something with a broker."""

    async def run() -> T:
        async with wiring.opened(settings, name="sayso-command", vault=False) as broker:
            return await work(broker)

    return run_to_end(run())


async def where(settings: Settings, broker: Broker) -> Served:
    """Find where the page is, for a link; where nobody can know it, that is said instead."""
    at = await served(settings, broker)
    if not at.now and not settings.public_url and not settings.port:
        fail("Nobody serves the page, and with SAYSO_PORT=0 its port is not known before: start `sayso up` first.")
    return at


def show_link(at: Served, path: str) -> None:
    """Print a link to the page, and on standard error that nobody is there yet."""
    typer.echo(f"{at.address}{path}")
    if not at.now:
        typer.echo(f"{NAME}: nobody serves {at.address} right now; the link works once `sayso up` runs.", err=True)


def run_to_end(work: Coroutine[object, object, T]) -> T:
    """Run to the end; what keeps a process from its work is told in one line."""
    try:
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            return runner.run(work)
    except KNOWN as error:
        fail(str(error))
    except BaseExceptionGroup as group:
        known, rest = group.split(KNOWN)
        if known is None or rest is not None:
            raise
        fail(str(_first(known)))
    except KeyboardInterrupt:
        raise typer.Exit(130) from None


def _first(group: BaseExceptionGroup[Exception]) -> Exception:
    first = group.exceptions[0]
    return _first(first) if isinstance(first, BaseExceptionGroup) else first


def fail(words: str) -> NoReturn:
    """End with one line on what is wrong; nothing was done."""
    typer.echo(f"{NAME}: {words}", err=True)
    raise typer.Exit(2) from None


def refuse(refusal: Refusal) -> NoReturn:
    """End with the words of a rule that refused."""
    typer.echo(f"{NAME}: {refusal.text}", err=True)
    raise typer.Exit(1)
