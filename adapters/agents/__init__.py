"""The agents that Sayso ships, by name; the wiring hands this to `core.agent.load`."""

__all__ = ["SHIPPED"]

SHIPPED: dict[str, str] = {"demo": "adapters.agents.demo:demo"}
