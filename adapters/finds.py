"""What a platform may ask the desk besides bringing events: who may talk, what ids there are, what waits where.

Looks only; what people do goes through the desk's verbs. It knows no platform. Source: DESIGN section 8, C110.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from adapters.doors import Doors
from adapters.outcomes import Notice
from adapters.text import clip
from core.broker import Broker
from core.life.access import may_answer
from core.life.commands import ON_REQUEST, ON_RUN
from core.life.debt import prefix
from core.model import Conversation, Person
from core.overheard import Line, Overheard
from core.question import Request
from core.visible import visible


@dataclass(frozen=True, slots=True)
class Asked:
    """A place where a question is open. messages: the platform's ids of the messages that show it."""

    place: str
    messages: tuple[str, ...]


class Finds:
    """Looks for one platform. agents: names, the default first."""

    def __init__(self, broker: Broker, prefix: str, doors: Doors, agents: Sequence[str]) -> None:
        self._broker = broker
        self._prefix = prefix
        self._doors = doors
        self._agents = tuple(agents)

    async def may_talk(self, place: str, person: Person) -> bool:
        """Tell whether a person may talk to the agent in a group, before anything is done for them there."""
        who = await self._doors.admit(person, place, False)
        people = await self._doors.people(place)
        return not isinstance(who, Notice) and who.id in people

    async def may_hand(
        self, place: str, person: Person, *, private: bool, of: str | None = None, reply_to: str | None = None
    ) -> bool:
        """Tell whether somebody's files can count at a place, before they are loaded: who may not is told, not served.

        of: the request in whose form they are. reply_to: the message that they reply to.
        """
        who = await self._doors.admit(person, place, False)
        if isinstance(who, Notice):
            return False
        target = await self._broker.cards.target(place, reply_to) if reply_to is not None else None
        id = of or (target.of if target is not None else "")
        request = await self._request(id) if id.startswith("q") else None
        if request is None:
            return private or who.id in await self._doors.people(place)
        run, conversation = await self._broker.peek(request.run), await self._broker.place(request.conversation)
        return run is not None and conversation is not None and may_answer(who, conversation, run, request)

    async def ids(self, place: str, command: str, person: Person) -> list[tuple[str, str]]:
        """What can stand after a command: ids (or names) with words for people, the newest first."""
        who = await self._doors.admit(person, place, False) if command != "agent" else person
        if isinstance(who, Notice):
            return []
        if command == "agent":
            return [(name, name) for name in self._agents]
        found = await self._broker.pending(who)
        if command in ON_REQUEST:
            return [(one.id, f"{_title(one)} · {one.id}") for one in reversed(found.requests)]
        if command not in ON_RUN:
            return []
        runs = {run.id: run for run in reversed(found.runs)}
        for one in found.requests if command != "resume" else ():
            run = await self._broker.run(one.run, who)
            if run is not None:
                runs.setdefault(run.id, run)
        words = {id: clip(visible(run.message, prose=True).replace("\n", " "), 60) for id, run in runs.items()}
        return [(id, f"{words[id] or run.agent} · {id}") for id, run in runs.items()]

    async def run_of(self, place: str, message: str) -> str | None:
        """Tell of which run a message is a card; None for any other message."""
        target = await self._broker.cards.target(place, message)
        if target is None or not target.of.startswith("q"):
            return target.of if target is not None and target.of.startswith("r") else None
        request = await self._request(target.of)
        return request.run if request is not None else None

    async def heard(self, place: str) -> tuple[Line, ...]:
        """What people said among themselves at a place lately, as context for a task that begins beside it."""
        store = self._broker.store
        model = (await store.read(store.place(place), [("overheard", place)]))["overheard", place].model
        return model.lines if isinstance(model, Overheard) else ()

    async def asked(self) -> list[Asked]:
        """List the places of this platform where questions are open."""
        store, found = self._broker.store, list[Asked]()
        for partition in range(len(store.keys)):
            for id, _ in await store.due(partition, "pending", of=self._prefix, limit=1_000):
                model = (await store.read(partition, [("conversation", id)]))[("conversation", id)].model
                for request in model.open if isinstance(model, Conversation) else ():
                    found += await self._cards(request)
        return found

    async def _cards(self, id: str) -> list[Asked]:
        request = await self._request(id)
        places = request.cards.items() if request is not None else ()
        cards = [
            (place, await self._broker.cards.card(card)) for place, card in places if prefix(place) == self._prefix
        ]
        return [Asked(place, card.messages) for place, card in cards if card is not None and card.messages]

    async def _request(self, id: str) -> Request | None:
        at = self._broker.store.partition(id)
        model = (
            (await self._broker.store.read(at, [("request", id)]))[("request", id)].model if at is not None else None
        )
        return model if isinstance(model, Request) else None


def _title(request: Request) -> str:
    subject = request.question.subject
    words = request.question.title or (subject.tool if subject is not None else "question")
    return clip(visible(words, prose=True).replace("\n", " "), 60)
