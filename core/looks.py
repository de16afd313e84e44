"""What people may look at: runs, requests, conversations, histories, journals. It changes nothing.

Unknown and foreign look the same: None.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar

from core.feed import Feed, Subscription
from core.going import Going, going
from core.life.access import may_act, may_look, may_see
from core.life.decision import Kind, Model, Ref
from core.life.turn import effects_of
from core.listening import Listeners
from core.model import TERMINAL, Conversation, Entry, Event, Grant, Grants, Incarnation, Json, Person, Run, Step
from core.question import Question, Request
from core.store import Store

M = TypeVar("M", Run, Request, Conversation, Grants, Incarnation, Listeners)


@dataclass(frozen=True, slots=True)
class Pending:
    """What waits for a person: open questions, and runs that can be resumed."""

    requests: tuple[Request, ...] = ()
    runs: tuple[Run, ...] = ()


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A conversation as a page needs it at first paint; follow its journal from `seq`.

    runs: the unsettled ones and the newest. requests: open and withdrawn. going: what is half said, and runs.
    """

    conversation: Conversation
    history: tuple[tuple[int, Entry], ...]
    runs: tuple[Run, ...]
    requests: tuple[Request, ...]
    going: Going
    seq: int


class Looks:
    """Reads for people and programs; every one is fresh from Redis."""

    def __init__(self, store: Store, feeds: Sequence[Feed]) -> None:
        self.store = store
        self.feeds = feeds

    async def run(self, id: str, person: Person) -> Run | None:
        """Look at a run, where it is now if it moved."""
        run = await self.peek(id)
        if run is None:
            return None
        return run if await self.conversation(run.conversation, person) is not None else None

    async def request(self, id: str, person: Person) -> Request | None:
        """Look at a request, with its long texts."""
        request = await self._one("request", id, Request)
        found = await self._one("conversation", request.conversation, Conversation) if request is not None else None
        if request is None or found is None or found.deleted or not may_look(person, found, request):
            return None
        return await self.whole(request)

    async def whole(self, request: Request) -> Request:
        """Load a request's long texts."""
        text = await self.store.body(request.id) if request.body else None
        if text is None:
            return request
        return request.changed(question=Question.model_validate_json(text).changed(copies=request.question.copies))

    async def conversation(self, id: str, person: Person) -> Conversation | None:
        """Look at a conversation; a deleted one is not there."""
        found = await self._one("conversation", id, Conversation)
        return found if found is not None and not found.deleted and may_see(person, found) else None

    async def deleted(self, id: str, person: Person) -> Conversation | None:
        """Look at what is left of a deleted conversation, for a day."""
        found = await self._one("conversation", id, Conversation)
        return found if found is not None and found.deleted and may_see(person, found) else None

    async def place(self, id: str) -> Conversation | None:
        """Look at a conversation, asking for nobody; at what is left of it when it was deleted."""
        return await self._one("conversation", id, Conversation)

    async def conversations(self, person: Person, *, limit: int = 50) -> list[Conversation]:
        """List the conversations that a person may see, the last changed first."""
        found: list[Conversation] = []
        for partition in range(len(self.store.keys)):
            members = await self.store.newest(partition, "mine", person.id, 500)
            models = await self._many(partition, "conversation", [id for id, _ in members], Conversation)
            for id, model in models.items():
                if model is None:
                    await self.store.unlist(partition, "mine", id, of=person.id)
                elif not model.deleted and may_see(person, model):
                    found.append(model)
        return sorted(found, key=lambda one: one.changed_ms, reverse=True)[:limit]

    async def pending(self, person: Person) -> Pending:
        """List open questions that a person may answer or whose run they may stop, and runs they may resume."""
        requests: list[Request] = []
        runs: list[Run] = []
        for partition in range(len(self.store.keys)):
            members = await self.store.due(partition, "pending", of=person.id, limit=1_000)
            models = await self._many(partition, "conversation", [id for id, _ in members], Conversation)
            places = {id: one for id, one in models.items() if one is not None and may_see(person, one)}
            named = [id for id, _ in await self.store.due(partition, "asked", of=person.id, limit=1_000)]
            open = dict.fromkeys([*(id for one in places.values() for id in one.open), *named])
            asked = [one for one in (await self._many(partition, "request", list(open), Request)).values() if one]
            ids = [*(one.run for one in asked), *(id for one in places.values() for id in one.paused)]
            theirs = {
                id: run
                for id, run in (await self._many(partition, "run", list(dict.fromkeys(ids)), Run)).items()
                if run is not None and run.conversation in places and may_act(person, places[run.conversation], run)
            }
            for one in asked:
                if one.state == "open" and (one.run in theirs or person.id in one.question.responders):
                    requests.append(await self.whole(one))
            runs += [run for run in theirs.values() if run.state == "paused"]
        return Pending(
            tuple(sorted(requests, key=lambda one: one.created_ms)),
            tuple(sorted(runs, key=lambda one: one.changed_ms)),
        )

    async def grants(self, conversation: str, person: Person) -> list[Grant] | None:
        """List what a conversation remembers as approved: always, and for its unsettled runs."""
        found = await self.conversation(conversation, person)
        partition = self.store.partition(conversation)
        if found is None or partition is None:
            return None
        kept = await self._one("grants", conversation, Grants, partition)
        runs = await self._many(partition, "run", unsettled(found), Run)
        return [*(kept.all if kept else ()), *(grant for run in runs.values() if run for grant in run.grants)]

    async def message(self, run: Run) -> str:
        """Load the text that started a run."""
        return run.message if not run.body else (await self.store.body(run.root)) or ""

    async def history(
        self, conversation: str, person: Person, *, limit: int = 200, before: int | None = None
    ) -> list[tuple[int, Entry]] | None:
        """Read a history's end, or what stands before an entry; oldest first."""
        if await self.conversation(conversation, person) is None:
            return None
        return await self.store.history(conversation, last=limit, before=before)

    async def snapshot(self, conversation: str, person: Person, *, limit: int = 200) -> Snapshot | None:
        """Look at a conversation as a page needs it at first paint."""
        partition = self.store.partition(conversation)
        if partition is None:
            return None
        seq = await self.store.end("journal", conversation)
        found = await self.conversation(conversation, person)
        if found is None:
            return None
        history = await self.store.history(conversation, last=limit)
        ids = unsettled(found)
        if found.newest is not None and found.newest not in ids:
            ids.append(found.newest)
        runs = [run for run in (await self._many(partition, "run", ids, Run)).values() if run is not None]
        asked = [id for run in runs for id in run.requests]
        requests = (await self._many(partition, "request", asked, Request)).values()
        shown = [await self.whole(one) for one in requests if one is not None and one.state != "settled"]
        alive = {run.id for run in runs if run.state not in TERMINAL}
        told = going(await self.store.journal(conversation, 0) or [], seq, alive) if alive else Going()
        return Snapshot(found, tuple(history), tuple(runs), tuple(shown), told, seq)

    async def journal(self, conversation: str, after: int) -> list[tuple[int, Event]] | None:
        """Read what was told after a number; None when it is not in the journal (any more): tell `reset`."""
        return await self.store.journal(conversation, after)

    def follow(self, conversation: str) -> Subscription:
        """Be hinted when a conversation's journal grows; a hint is only a hint, look as well."""
        partition = self.store.partition(conversation) or 0
        return self.feeds[partition].subscribe("journal", conversation)

    def wire(self, conversation: str, seq: int, event: Event) -> dict[str, Json]:
        """Shape an event as pages and programs get it."""
        plain: dict[str, Json] = {"type": event.type, "conversation": conversation}
        if event.run is not None:
            plain["run"] = event.run
        return {**plain, "seq": seq, "at": event.at, **event.data}

    async def steps(self, root: str, after: int = 0) -> list[tuple[int, Step]]:
        """Read a run's own journal."""
        return await self.store.steps(root, after)

    async def effects(self, run: Run | None) -> Literal["none", "done", "unknown"] | None:
        """Tell what the journal of a run that no worker holds says of side effects."""
        if run is None or run.turn is not None:
            return None
        return effects_of([step for _, step in await self.steps(run.root)])

    async def peek(self, id: str) -> Run | None:
        """Look at a run, asking for nobody; where it is now if it moved."""
        run = await self._one("run", id, Run)
        for _ in range(64):
            if run is None or run.moved_to is None:
                return run
            run = await self._one("run", run.moved_to, Run)
        return run

    async def _one(self, kind: Kind, id: str, of: type[M], partition: int | None = None) -> M | None:
        place = self.store.partition(id) if partition is None else partition
        if place is None:
            return None
        return (await self._many(place, kind, [id], of))[id]

    async def _many(self, partition: int, kind: Kind, ids: Sequence[str], of: type[M]) -> dict[str, M | None]:
        if not ids:
            return {}
        refs: list[Ref] = [(kind, id) for id in ids]
        found = await self.store.read(partition, refs)
        return {ref[1]: _as(stored.model, of) for ref, stored in found.items()}


def unsettled(conversation: Conversation) -> list[str]:
    """All runs of a conversation that are not at their end."""
    live = (conversation.live,) if conversation.live else ()
    return [*live, *conversation.queue, *conversation.waiting, *conversation.paused, *conversation.stopping]


def _as(model: Model | None, of: type[M]) -> M | None:
    return model if isinstance(model, of) else None
