"""Emergencies in chats: `/stop all`, `/freeze`, `/thaw` carried out for owners, and a word to whoever speaks meanwhile.

It decides nothing: who may, and what is refused while everything is frozen, stands in `core/life/emergency.py`.
"""

from __future__ import annotations

from adapters.outcomes import Notice, refused
from core.broker import Broker
from core.emergency import Emergency, Halted
from core.life.decision import Refusal
from core.life.emergency import words
from core.life.result import Told
from core.model import Person

HOW = "/stop all cancels every task of everybody. For this conversation: /cancel ends its task, /pause keeps it."


async def carried_out(broker: Broker, told: Told, person: Person, via: str) -> Notice:
    """Do what an owner demands of everything, and say what came of it."""
    emergency = Emergency(broker)
    match told.command:
        case "freeze":
            result = await emergency.freeze(person, told.argument, via=via)
            return refused(result) if isinstance(result, Refusal) else Notice(text=frozen_now(result), private=False)
        case "thaw":
            thawed = await emergency.thaw(person, via=via)
            if isinstance(thawed, Refusal):
                return refused(thawed)
            return Notice(text=thawed_now(already=thawed.note == "already"), private=False)
        case _ if told.argument.strip().casefold() == "all":
            result = await emergency.stop_all(person, via=via)
            return refused(result) if isinstance(result, Refusal) else Notice(text=stopped_now(result), private=False)
        case _:
            return Notice(text=HOW)


def frozen_now(result: Halted) -> str:
    """Say what a freeze did."""
    first = "Sayso was frozen already." if result.already else "Frozen: nothing begins until /thaw."
    return f"{first} {_counted(result, 'paused', 'being paused')} Answers, cancels and deletes still work."


def thawed_now(*, already: bool) -> str:
    """Say what a thaw did."""
    if already:
        return "Nothing was frozen."
    return "Thawed: what is queued starts. What the freeze paused waits for Resume; /pending lists it."


def stopped_now(result: Halted) -> str:
    """Say what became of everybody's tasks."""
    return _counted(result, "canceled", "being canceled")


def _counted(result: Halted, over: str, under_way: str) -> str:
    if not result.settled + result.stopping:
        return f"No task had to be {over}."
    words = [f"{result.settled} {over}"] if result.settled else []
    words += [f"{result.stopping} {under_way}"] if result.stopping else []
    return f"Tasks: {', '.join(words)}."


async def while_frozen(broker: Broker) -> Notice | None:
    """What to tell somebody whose words started a task while everything is frozen."""
    found = await Emergency(broker).frozen()
    if found is None:
        return None
    return Notice(text=f"Kept, and not begun: {words(found)}. Answers and cancels still work.")
