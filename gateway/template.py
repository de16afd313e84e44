"""The template as a program: `python -m gateway.template <fd>`, started by a worker whose agents want processes.

It imports all that a turn needs, agents included, and then serves; `core/template.py` says how. What it says of itself
stands in the worker's log.
"""

from __future__ import annotations

import gc
import logging
import socket
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import NoReturn

import uvloop

from core.agent import Agent, NoAgent
from core.apart_turn import work_apart
from core.broker import Broker
from core.model import Json
from core.template import serve
from gateway import agents, wiring
from gateway.logging import set_up
from gateway.settings import Settings, SettingsError, load
from gateway.unlock import unlock

_log = logging.getLogger("sayso.template")


def main(fd: int) -> NoReturn:
    """Get ready and serve until the worker is gone; exits with 2 when it cannot get ready."""
    try:
        settings = load()
        set_up(settings)
        known = agents.load_all(settings)
    except (SettingsError, NoAgent) as error:
        _log.error("%s", error)
        sys.exit(2)
    gc.collect()
    gc.freeze()

    def turn(order: dict[str, Json], talk: socket.socket) -> None:
        uvloop.run(_turn(settings, known, order, talk))

    serve(socket.socket(fileno=fd), turn)


async def _turn(settings: Settings, known: dict[str, Agent], order: dict[str, Json], talk: socket.socket) -> None:
    def found(name: str) -> Agent:
        if name not in known:
            raise NoAgent(f"there is no agent {name!r}; known names: {', '.join(known)}")
        return known[name]

    @asynccontextmanager
    async def opened(url: str) -> AsyncGenerator[Broker]:
        async with wiring.at(settings, url, name="sayso-turn", hears=False) as broker:
            broker.safe.vault = await unlock(settings, broker)
            yield broker

    await work_apart(order, talk, opened, found, wiring.files(settings), wiring.pace(settings))


if __name__ == "__main__":
    main(int(sys.argv[1]))
