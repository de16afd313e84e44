"""Which agents people can talk to, by name, and where each is loaded from. Only a worker loads them."""

from __future__ import annotations

from adapters.agents import SHIPPED
from core.agent import Agent, load
from gateway.settings import Settings


def first(settings: Settings) -> str:
    """The name of the agent that people talk to first: `ours.agents:deploy` is called `deploy`."""
    if settings.agent in settings.agents:
        return settings.agent
    return settings.agent.rpartition(":")[2].rpartition(".")[2]


def places(settings: Settings) -> dict[str, str]:
    """Every agent's name, the first one first, with where it is loaded from."""
    tables = {name: entry.use for name, entry in settings.agents.items()}
    return {first(settings): settings.agent, **tables}


def load_all(settings: Settings) -> dict[str, Agent]:
    """Load every agent.

    Raises: `NoAgent`.
    """
    return {name: load(place, SHIPPED) for name, place in places(settings).items()}
