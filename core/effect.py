"""Steps: what acts on the world, at most once. Begun is committed before, done after, with the result.

    begun, done       the recorded result; it does not run again
    begun, not done   unknown: an idempotent step is repeated, for any other a person is asked (repeat, done, cancel)
    failed            the recorded failure; when the turn broke by it, it counts as unknown at the next try

This file must not know how an agent calls a step, nor how a question waits.
"""

from __future__ import annotations

import asyncio
import inspect
import json
import typing
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from functools import partial
from typing import TypeVar

from pydantic import JsonValue, PydanticSchemaGenerationError, TypeAdapter, ValidationError
from pydantic_core import PydanticSerializationError, to_jsonable_python

from core.asking import unknown
from core.errors import SaysoError
from core.hold import Hold
from core.model import Json
from core.question import Accepted, Subject
from core.replay import Place
from core.secret import Secret, revealed
from core.turn import Turn
from core.waited import unbroken

T = TypeVar("T")
JSON: TypeAdapter[JsonValue] = TypeAdapter(JsonValue)
inside: ContextVar[str] = ContextVar("inside", default="")
"""The step whose code runs; nothing can be asked or recorded from there."""


class StepFailed(SaysoError):
    """A step raised an error, now or in an earlier turn; the text has its type and message."""


class Undecided(SaysoError):
    """Nobody said what to do about a step that may have happened."""


async def run_step(
    turn: Turn, hold: Hold, key: str, name: str, call: Callable[[], Awaitable[T] | T], *, idempotent: bool
) -> T:
    """Run a step once, or give what it gave. The return annotation of its function shapes a recorded result.

    Raises: `StepFailed`, `Undecided`, `Diverged`.
    """
    turn.check()
    place = turn.tape.look(key)
    error = place.ended.get("error") if place.ended is not None else None
    if place.ended is not None and (error is None or not turn.tape.trailing(place)):
        return _recorded(call, name, place)
    if place.begun and not idempotent and await decide(hold, turn, key, name, place) == "done":
        await turn.append(turn.entry("done", key, assumed=True))
        return _shaped(call, None)
    if not place.begun:
        hold.in_order(key)
    with turn.act(asyncio.current_task()):
        await turn.begin(key)
        turn.check()
        place.begun += 1
        return _shaped(call, await _act(turn, key, name, call))


async def decide(hold: Hold, turn: Turn, key: str, name: str, place: Place, *, subject: Subject | None = None) -> str:
    """Ask whether to repeat what may have happened; "repeat" or "done".

    subject: the guarded call that is meant; "repeat" approves it once more, and it cannot be taken as done.
    """
    error = place.ended.get("error") if place.ended is not None else None
    scope, _, last = key.rpartition("/")
    asked = f"{scope}/unknown:{last}#{place.begun - 1}" if scope else f"unknown:{last}#{place.begun - 1}"
    question = unknown(name, error=str(error) if error else None, subject=subject)
    answer = await hold.ask(asked, question, ours="unknown_step")
    picked = answer.values.get("choice") if isinstance(answer, Accepted) else None
    if picked == "cancel":
        await turn.stopped("user_canceled")
    if picked not in ("repeat", "done"):
        raise Undecided(f"{name!r} may have happened, and nobody said what to do about it")
    return str(picked)


async def _act(turn: Turn, key: str, name: str, call: Callable[[], Awaitable[T] | T]) -> Json:
    mark, used = inside.set(key), set[Secret]()
    uses = revealed.set(used)
    try:
        result = _plain(name, await _called(call))
    except Exception as error:
        text = turn.veil.text(f"{type(error).__name__}: {error}")
        await turn.append(turn.entry("done", key, error=text))
        raise StepFailed(f"step {name!r} failed: {text}") from error
    finally:
        revealed.reset(uses)
        inside.reset(mark)
    result = turn.veil.json(result)
    await turn.append(turn.entry("done", key, result=result), used=tuple(secret.handle for secret in used))
    for secret in used:
        secret.forget()
    return result


async def _called(call: Callable[[], object]) -> object:
    """Call a coroutine function here and a plain one on a thread; a thread that was begun is waited for."""
    result = call() if inspect.iscoroutinefunction(call) else await unbroken(asyncio.to_thread(call))
    return await result if inspect.isawaitable(result) else result


def _plain(name: str, result: object) -> Json:
    try:
        return JSON.validate_python(to_jsonable_python(result))
    except (PydanticSerializationError, ValidationError):
        raise TypeError(
            f"{type(result).__name__} cannot be kept as the result of {name!r}: return JSON or a pydantic model"
        ) from None


def _recorded(call: Callable[[], Awaitable[T] | T], name: str, place: Place) -> T:
    ended = place.ended or {}
    if ended.get("error") is not None:
        raise StepFailed(f"step {name!r} failed: {ended['error']}")
    return _shaped(call, ended.get("result"))


def _shaped(call: Callable[[], Awaitable[T] | T], result: Json) -> T:
    """Give a result the type that its function promises, the same now and in a replay; without one it is plain JSON."""
    func = call.func if isinstance(call, partial) else call
    try:
        return TypeAdapter(typing.get_type_hints(func)["return"]).validate_python(result)
    except (KeyError, NameError, TypeError, ValidationError, PydanticSchemaGenerationError):
        return json.loads(json.dumps(result))
