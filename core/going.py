"""What goes on in a conversation at a moment, put together from its journal: half-said messages, tools, statuses."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

from core.model import Event, Json


@dataclass(slots=True)
class Going:
    """partial: message id → its run and the text so far. tools: call → what runs. status: run → its last one."""

    partial: dict[str, dict[str, str]] = field(default_factory=dict[str, dict[str, str]])
    tools: dict[str, dict[str, Json]] = field(default_factory=dict[str, dict[str, Json]])
    status: dict[str, str] = field(default_factory=dict[str, str])


def going(events: Iterable[tuple[int, Event]], until: int, runs: Collection[str]) -> Going:
    """Walk a journal up to a number, for the runs that are not at their end."""
    found = Going()
    for seq, event in events:
        if seq <= until and event.run is not None and event.run in runs:
            _note(found, event, event.run)
    return found


def _note(found: Going, event: Event, run: str) -> None:
    text, message, call = event.data.get("text"), event.data.get("message"), event.data.get("call")
    match event.type:
        case "message.delta" if isinstance(message, str):
            before = found.partial.setdefault(message, {"run": run, "text": ""})
            before["text"] += text if isinstance(text, str) else ""
        case "message.completed" if isinstance(message, str):
            found.partial.pop(message, None)
        case "tool.started" if isinstance(call, str):
            found.tools[call] = {"run": run, "at": event.at, **event.data}
        case "tool.completed" if isinstance(call, str):
            found.tools.pop(call, None)
        case "status" if isinstance(text, str):
            found.status[run] = text
        case "run.paused":
            found.status.pop(run, None)
            found.tools = {call: tool for call, tool in found.tools.items() if tool["run"] != run}
        case _:
            pass
