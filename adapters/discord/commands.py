"""The commands of DESIGN section 8 as Discord knows them: slash commands with completion, one on messages. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from core.model import Json

CANCEL_THIS: Final = "Cancel this task"
PAIR: Final = "pair"
ASK: Final = "ask"

WORDS: Final[Mapping[str, str]] = {
    "ask": "Give the agent something to do",
    "status": "What works now",
    "pending": "What waits for you",
    "cancel": "End a task and discard it",
    "pause": "Stop a task and keep it for later",
    "resume": "Let a paused task go on",
    "approve": "Say yes to a question",
    "deny": "Say no to a question",
    "answer": "Answer a question",
    "abort": "Pause the task that asks a question",
    "new": "Begin a new conversation here",
    "agent": "See the agents, or choose one",
    "grants": "Remembered approvals",
    "jobs": "Background jobs",
    "stop": "End the tasks of everybody (for owners)",
    "freeze": "Let nothing begin until it is taken back (for owners)",
    "thaw": "Let tasks begin again (for owners)",
    "help": "How this works",
    "pair": "Link this account, or enter the code of another one",
}
ID: Final[dict[str, Json]] = {"type": 3, "name": "id", "description": "Which one", "autocomplete": True}
OPTIONS: Final[Mapping[str, tuple[dict[str, Json], ...]]] = {
    "ask": ({"type": 3, "name": "text", "description": "What you want done", "required": True},),
    "cancel": (ID,),
    "pause": (ID,),
    "resume": (ID,),
    "abort": (ID,),
    "stop": (
        {
            "type": 3,
            "name": "what",
            "description": "Everything",
            "required": True,
            "choices": [{"name": "all", "value": "all"}],
        },
    ),
    "freeze": ({"type": 3, "name": "reason", "description": "Why"},),
    "approve": (ID,),
    "deny": (ID, {"type": 3, "name": "reason", "description": "Why not"}),
    "answer": (
        {**ID, "required": True},
        {"type": 3, "name": "text", "description": "Your answer", "required": True},
    ),
    "agent": ({"type": 3, "name": "name", "description": "Which one", "autocomplete": True},),
}
SAME = ("name", "type", "description", "options", "contexts")


def definitions() -> list[dict[str, Json]]:
    """All commands, as they are registered."""
    made: list[dict[str, Json]] = [
        {
            "type": 1,
            "name": name,
            "description": words,
            "options": [dict(option) for option in OPTIONS.get(name, ())],
            "contexts": [0, 1],
            "integration_types": [0],
        }
        for name, words in WORDS.items()
    ]
    return [*made, {"type": 3, "name": CANCEL_THIS, "contexts": [0, 1], "integration_types": [0]}]


def differ(registered: Json) -> bool:
    """Whether what is registered is not what we want; then all are registered anew."""
    found = registered if isinstance(registered, list) else []
    return sorted(map(_mark, found)) != sorted(map(_mark, [dict(one) for one in definitions()]))


def _mark(command: Json) -> str:
    """A command without what Discord adds to it."""
    if not isinstance(command, dict):
        return ""
    options = command.get("options")
    listed = [_option(one) for one in options] if isinstance(options, list) else []
    contexts = command.get("contexts")
    places = sorted(map(str, contexts)) if isinstance(contexts, list) else ["0", "1"]
    return repr((command.get("name"), command.get("type", 1), command.get("description") or "", listed, places))


def _option(option: Json) -> str:
    if not isinstance(option, dict):
        return ""
    flags = (bool(option.get("required")), bool(option.get("autocomplete")))
    return repr((option.get("name"), option.get("type"), option.get("description"), flags))


def argument(name: str, options: Mapping[str, str]) -> str:
    """What stands after a command, as a person would have typed it."""
    order = [str(option["name"]) for option in OPTIONS.get(name, ())]
    return " ".join(value for key in order if (value := options.get(key, "").strip()))
