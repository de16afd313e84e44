"""Agents: whatever has `async def turn(run)`; plain async functions with `@agent`; and how one is found by its name.

    @agent("deploy", guarded=("deploy",))
    async def deploy(run: Run, message: str) -> str | None: ...

This file must not know any agent; a name that Sayso ships is looked up where the wiring says.
"""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Literal, TypeGuard

from core.asking import Approval, choice_field, confirm_field, file_field, text_field
from core.asks import NotYet
from core.command import CommandFailed, Exited
from core.effect import StepFailed, Undecided
from core.errors import SaysoError
from core.files import File
from core.pace import Steps
from core.replay import Diverged, Steer
from core.run import Agent, CallFailed, Completed, Failed, Parked, Run, goes_on
from core.secret import Secret, SecretGone
from core.speech import Stream
from core.tool import Call, Denied, Unrepeatable
from core.turn import NotAskable

__all__ = [
    "Agent",
    "Approval",
    "Call",
    "CallFailed",
    "CommandFailed",
    "Completed",
    "Denied",
    "Diverged",
    "Exited",
    "Failed",
    "File",
    "FunctionAgent",
    "NoAgent",
    "NotAskable",
    "NotYet",
    "Parked",
    "Run",
    "Secret",
    "SecretGone",
    "Steer",
    "StepFailed",
    "Steps",
    "Stream",
    "Undecided",
    "Unrepeatable",
    "agent",
    "choice_field",
    "confirm_field",
    "file_field",
    "goes_on",
    "load",
    "runs_apart",
    "text_field",
]

Body = Callable[[Run, str], Awaitable[str | Completed | Failed | None]]
OnLost = Literal["retry", "pause"]
Isolation = Literal["task", "process"]


class NoAgent(SaysoError):
    """There is no such agent, or it cannot be loaded; the text says which, why, and what there is."""


class FunctionAgent:
    """An agent that is one async function; its run is replayed from its journal.

    isolation: `task` runs it in the worker's process, with others; `process` in one of its own, which can always be
    ended, with all that it started. on_lost: whether a run whose worker was lost goes on by itself
    from its journal, or waits for a person. guarded: tools that always need an approval. steps: of the ladder that a
    stop climbs, when they are not to take what the settings say.
    """

    def __init__(
        self,
        body: Body,
        name: str,
        *,
        isolation: Isolation = "task",
        on_lost: OnLost = "retry",
        guarded: tuple[str, ...] = (),
        description: str = "",
        steps: Steps | None = None,
    ) -> None:
        self.steps = steps
        self.name = name
        self.isolation: Isolation = isolation
        self.on_lost: OnLost = on_lost
        self.guarded = frozenset(guarded)
        self.description = description
        self._body = body

    async def turn(self, run: Run) -> Completed | Parked | Failed:
        """Call the function; a no that it does not catch ends the run with a word on it."""
        inner = run.guard(self.guarded)
        try:
            result = await self._body(inner, run.message)
        except Denied as denied:
            return Completed(f"Not done: {denied}.")
        except ExceptionGroup as several:
            denied, rest = several.split(Denied)
            if denied is None or rest is not None:
                raise
            return Completed(f"Not done: {_first(denied)}.")
        if isinstance(result, Completed | Failed):
            return result
        return Completed(result)


def _first(error: BaseException) -> BaseException:
    inner: object = getattr(error, "exceptions", (error,))[0]
    return _first(inner) if isinstance(inner, BaseException) and inner is not error else error


def agent(
    name: str,
    *,
    isolation: Isolation = "task",
    on_lost: OnLost = "retry",
    guarded: tuple[str, ...] = (),
    description: str = "",
    steps: Steps | None = None,
) -> Callable[[Body], FunctionAgent]:
    """Make an agent out of an async function of a run and a message."""

    def make(body: Body) -> FunctionAgent:
        return FunctionAgent(
            body,
            name,
            isolation=isolation,
            on_lost=on_lost,
            guarded=guarded,
            description=description or (body.__doc__ or "").strip().split("\n", 1)[0],
            steps=steps,
        )

    return make


def runs_apart(agent: Agent) -> bool:
    """Tell whether an agent's turns want a process of their own; its `isolation` is `process` then."""
    return getattr(agent, "isolation", "task") == "process"


def load(spec: str, shipped: Mapping[str, str] | None = None) -> Agent:
    """Find an agent by a name that is shipped, or as `module:attribute` (the current folder counts as a place).

    shipped: name → `module:attribute`.

    Raises: `NoAgent`.
    """
    known = shipped or {}
    place = known.get(spec, spec)
    module, colon, attribute = place.partition(":")
    if not colon:
        names = ", ".join(sorted(known)) or "none"
        raise NoAgent(f"there is no agent {spec!r}; known names: {names}; your own is named as module:attribute")
    if str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))
    try:
        found: object = importlib.import_module(module)
    except ImportError as error:
        raise NoAgent(f"agent {spec!r}: cannot import {module!r}: {error}") from error
    except Exception as error:
        why = f"{type(error).__name__}: {error}"
        raise NoAgent(f"agent {spec!r}: {module!r} fails when it is imported: {why}") from error
    for part in attribute.split("."):
        found = getattr(found, part, None)
        if found is None:
            raise NoAgent(f"agent {spec!r}: {module!r} has no {attribute!r}")
    made = found() if isinstance(found, type) else found
    if not _is_agent(made):
        raise NoAgent(
            f"agent {spec!r} is no agent (its type is {type(made).__name__}): it needs a `name` and "
            "`async def turn(self, run)`; an async function becomes one with @agent"
        )
    return made


def _is_agent(made: object) -> TypeGuard[Agent]:
    return isinstance(getattr(made, "name", None), str) and inspect.iscoroutinefunction(getattr(made, "turn", None))
