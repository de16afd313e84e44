"""Which agents people can talk to, by name, and where each is loaded from. Only a worker loads them."""

from __future__ import annotations

from typing import Literal, TypeAlias

from adapters.agents import SHIPPED
from core.agent import Agent, NoAgent, load
from gateway.settings import Settings

Surface: TypeAlias = Literal["web", "telegram", "discord", "terminal"]


def first(settings: Settings) -> str:
    """The name of the agent that people talk to first: `ours.agents:deploy` is called `deploy`."""
    if settings.agent in settings.agents:
        return settings.agent
    return settings.agent.rpartition(":")[2].rpartition(".")[2]


def default(settings: Settings, surface: Surface) -> str:
    """The name of the agent that new conversations of a front end are with.

    Raises: `NoAgent` when the setting names one that there is not.
    """
    given: dict[Surface, str | None] = {
        "web": settings.agent_web,
        "telegram": settings.agent_telegram,
        "discord": settings.agent_discord,
        "terminal": settings.agent_terminal,
    }
    name = given[surface] or first(settings)
    if name not in places(settings):
        names = ", ".join(places(settings))
        raise NoAgent(f"SAYSO_AGENT_{surface.upper()} names {name!r}; the agents are {names}")
    return name


def places(settings: Settings) -> dict[str, str]:
    """Every agent's name, the first one first, with where it is loaded from."""
    tables = {name: entry.use for name, entry in settings.agents.items()}
    return {first(settings): settings.agent, **tables}


def load_all(settings: Settings) -> dict[str, Agent]:
    """Load every agent.

    Raises: `NoAgent`.
    """
    surfaces: tuple[Surface, ...] = ("web", "telegram", "discord", "terminal")
    for surface in surfaces:
        default(settings, surface)
    return {name: load(place, SHIPPED) for name, place in places(settings).items()}
