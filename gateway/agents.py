"""Which agents people can talk to, by name, and where each is loaded from. Only a worker loads them."""

from __future__ import annotations

from adapters.agents import SHIPPED
from core.agent import Agent, NoAgent, load
from gateway.settings import Settings


def first(settings: Settings) -> str:
    """The name of the agent that people talk to first: `ours.agents:deploy` is called `deploy`."""
    if settings.agent in settings.agents:
        return settings.agent
    return settings.agent.rpartition(":")[2].rpartition(".")[2]


def default(settings: Settings, surface: str) -> str:
    """The name of the agent that new conversations of a front end are with.

    Raises: `NoAgent` when the setting names one that there is not.
    """
    name = _given(settings)[surface] or first(settings)
    if name not in places(settings):
        names = ", ".join(places(settings))
        where = f"front_ends.{surface}.agent" if surface in settings.front_ends else f"SAYSO_AGENT_{surface.upper()}"
        raise NoAgent(f"{where} names {name!r}; the agents are {names}")
    return name


def _given(settings: Settings) -> dict[str, str | None]:
    return {
        "web": settings.agent_web,
        "telegram": settings.agent_telegram,
        "discord": settings.agent_discord,
        "terminal": settings.agent_terminal,
        **{name: one.agent for name, one in settings.front_ends.items()},
    }


def places(settings: Settings) -> dict[str, str]:
    """Every agent's name, the first one first, with where it is loaded from."""
    tables = {name: entry.use for name, entry in settings.agents.items()}
    return {first(settings): settings.agent, **tables}


def load_all(settings: Settings) -> dict[str, Agent]:
    """Load every agent.

    Raises: `NoAgent`.
    """
    for surface in _given(settings):
        default(settings, surface)
    return {name: load(place, SHIPPED) for name, place in places(settings).items()}
