"""One hook for logs, counts and test signals: `emit("run.claimed", run=id)` tells whoever subscribed.

A name is `noun.past_tense`; fields are small values, never texts of people and never secrets. This file must not know
what the events mean, nor which library writes the log.
"""

import asyncio
import logging
from collections import Counter, deque
from collections.abc import Callable
from typing import NamedTuple, TypeAlias

__all__ = ["Event", "Subscriber", "count", "emit", "seen", "subscribe"]

Field: TypeAlias = str | int | float | bool | None

_KEPT = 512
_WARN = frozenset({"failed", "broke", "broken", "fenced", "refused", "lost", "overdue"})
_TAKEN = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime"}
_log = logging.getLogger("sayso.trace")


class Event(NamedTuple):
    """Something that happened in this process."""

    name: str
    fields: dict[str, Field]


Subscriber: TypeAlias = Callable[[Event], None]

_subscribers: dict[Subscriber, None] = {}
_counts: Counter[str] = Counter()
_recent: deque[Event] = deque(maxlen=_KEPT)


def emit(name: str, /, **fields: Field) -> None:
    """Tell everybody that something happened; a subscriber that fails is logged and changes nothing."""
    event = Event(name, fields)
    _counts[name] += 1
    _recent.append(event)
    level = logging.WARNING if name.rpartition(".")[2] in _WARN else logging.DEBUG
    if _log.isEnabledFor(level):
        _log.log(level, "%s", name, extra={f"{key}_" if key in _TAKEN else key: value for key, value in fields.items()})
    for subscriber in tuple(_subscribers):
        try:
            subscriber(event)
        except Exception:  # noqa: BLE001  # a stranger's code must not change what is traced
            _log.exception("a subscriber of the trace failed at %r", name)


def subscribe(subscriber: Subscriber) -> Callable[[], None]:
    """Be told every event from now on; returns what ends it."""
    _subscribers[subscriber] = None
    return lambda: _subscribers.pop(subscriber, None)


def count(name: str) -> int:
    """How often an event of this name happened in this process."""
    return _counts[name]


async def seen(name: str, /, timeout: float = 10.0, **fields: Field) -> Event:
    """Wait until an event with these fields happened; one of the last few hundred counts, too.

    timeout: seconds, the limit of the wait. Raises: `TimeoutError` that names the event.
    """
    found: asyncio.Future[Event] = asyncio.get_running_loop().create_future()

    def look(event: Event) -> None:
        if event.name == name and fields.items() <= event.fields.items() and not found.done():
            found.set_result(event)

    end = subscribe(look)
    try:
        for event in tuple(_recent):
            look(event)
        async with asyncio.timeout(timeout):
            return await found
    except TimeoutError:
        raise TimeoutError(f"{name} {fields} was not seen within {timeout:g} s") from None
    finally:
        end()
