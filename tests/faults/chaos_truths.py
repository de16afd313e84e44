"""What must be true of a chaos: at any moment, and when everything is up again and people have seen to what is left."""

from __future__ import annotations

import asyncio
from contextlib import suppress

from core import tree
from core.audit import Audit, Filter
from core.errors import StoreError
from core.leaks import Leaks
from core.life.decision import Model, Ref
from core.model import TERMINAL, Run, digest
from core.question import Accepted, Declined, Request
from tests.fakes import Message
from tests.faults.chaos_people import BEN, THERE, People
from tests.faults.chaotic import HERE
from tests.faults.roles import Store, breathe
from tests.redis_server import say
from tests.waiting import wait_until

HEALED = 90.0
"""seconds within which all is well again once everything is up"""
OVER = ("canceled", "ended", "deleted", "anybody", "again")
"""what a card says whose question nobody answered"""
DENIED = "Not done: 'Act?' was denied."
"""the last word of a run whose act was not allowed"""


class Truths:
    """What is looked at, and what was seen before.

    ends: the terminal states. approved: the numbers with an approval on record. cards: how many were read. processes:
    how many of runs there ever were.
    """

    def __init__(self, people: People, store: Store) -> None:
        self.people = people
        self.broker = people.broker
        self.store = store
        self.cards = 0
        self.ends: dict[str, str] = {}
        self.processes = 0
        self.nobodys = 0
        self._dead: set[tuple[str, str]] = set()
        self.approved: set[str] = set()

    # ── at any moment ────────────────────────────────────────────────────────────────────────────────────────────────

    async def look(self) -> None:
        """An end is an end, and no effect happened without leave, or twice."""
        await self._find()
        known = self._known()
        for run, found in zip(known, await asyncio.gather(*map(self.broker.peek, known)), strict=True):
            if found is None:
                home = self.people.homes.get(run)
                assert home is None or home in self.people.deleted, f"{run} is lost, and nobody deleted it"
                continue
            self.people.homes[run] = found.conversation
            was = self.ends.get(run, found.state)
            assert was == found.state, f"{run} was {was}, and is {found.state}"
            if found.state in TERMINAL:
                self.ends[run] = found.state
        over = {run for run, state in self.ends.items() if state == "canceled"}
        assert not over & {*(lives := self.alive())}, f"canceled, while something of them lives: {over & {*lives}}"
        effects = self.effects()
        assert len(effects) == len(set(effects)), f"an effect happened twice: {effects}"
        assert set(effects) <= self.people.allowed, f"without leave: {set(effects) - self.people.allowed}"

    def effects(self) -> list[str]:
        """The numbers whose act happened."""
        target = self.people.target
        return target.read_text("utf-8").split() if target.exists() else []

    def alive(self) -> dict[str, list[int]]:
        """The runs of which something lives, deleted ones too: their turns, or what these started."""
        here = self.people.target.parent / HERE
        begun = [line.split() for line in here.read_text("utf-8").splitlines()] if here.exists() else []
        self.processes = len(begun)
        found: dict[str, list[int]] = {}
        for run, pid, ticks in begun:
            if (pid, ticks) in self._dead:
                continue
            line = tree.stat(int(pid))
            if line is not None and str(line.ticks) == ticks and line.state not in tree.DEAD:
                found.setdefault(run, []).append(int(pid))
            else:
                self._dead.add((pid, ticks))
        return found

    def _known(self) -> list[str]:
        return [run for run in self.people.runs.values() if run]

    async def _find(self) -> None:
        """Learn which runs began in the chat."""
        people = self.people
        for place in await self.broker.conversations(BEN) if len(people.whose) < len(people.there) else ():
            found = await self.broker.peek(place.newest) if place.newest is not None else None
            number = found.message.partition(" ")[0] if found is not None else ""
            if found is not None and number in people.there and number not in people.runs:
                people.runs[number] = found.id
                people.whose[found.id] = BEN

    # ── in the end ───────────────────────────────────────────────────────────────────────────────────────────────────

    async def settle(self) -> None:
        """People answer what is open and resume what is paused, until all is at its end; then nothing is owed."""
        await wait_until(self._all_ended, HEALED)
        try:
            await wait_until(self._nothing_owed, HEALED)
        except AssertionError:
            raise AssertionError(f"still owed: {await self._owed()}") from None
        await self.look()
        for message in self.people.front.chats.at(THERE):
            await self._is_true(message)
        await self._on_record()
        for run in self._known():
            found = await self.broker.peek(run)
            if found is not None:
                await self._told_once(found)
            await self._webs_agree(run, found)
        for user in self.people.webs:
            assert (await user.get("/v1/requests?state=open"))["requests"] == []
            health = await user.get("/health")
            assert health["status"] == "ok", health

    async def _all_ended(self) -> bool:
        open = False
        for run in self._known():
            with suppress(StoreError):
                found = await self.broker.peek(run)
                if found is None or found.state in TERMINAL:
                    continue
                open = True
                if found.state == "paused":
                    await self.broker.resume(run, self.people.who(run))
        with suppress(StoreError):
            await self._find()
            for request in await self.people.open():
                open = True
                await self.people.answers(request, self.people.value(request))
        await breathe(0.1)
        return not open

    async def _nothing_owed(self) -> bool:
        with suppress(StoreError):
            return not await self._owed()
        return False

    async def _owed(self) -> list[object]:
        """Claims, stops under way, answers that were not delivered, cards out of step, and what lives for an end."""
        store = self.broker.store
        left: list[object] = [*await store.due(0, "stopping"), *await store.due(0, "ready")]
        left += [*await store.due(0, "undelivered"), *await Leaks(self.broker).all()]
        for index in ("unshown", "debt", "outbox"):
            left += await store.due(0, index, of="fa")
        claims = say(self.store.socket, "KEYS", f"{store.keys[0].index('claims', '')}*")
        left += claims if isinstance(claims, list) else [claims]
        for run in self._known():
            found = await self.broker.peek(run)
            if found is not None and (found.turn is not None or found.unproved or found.answered):
                left.append(run)
        return [*left, *self.alive().items()]

    async def _is_true(self, card: Message) -> None:
        """A card says what was decided, and has no button left; nor has any other message."""
        target = await self.broker.cards.target(THERE, card.id)
        if card.rows and target is None:
            await self._nobodys(card)
            return
        assert not card.rows, f"{card} can still be pressed"
        if target is None or not target.of.startswith("q"):
            return
        request = await self._request(target.of)
        assert isinstance(request, Request), f"no request stands behind {card}"
        answer = request.answer
        said = ("Approved", "Answered") if isinstance(answer, Accepted) else ("Denied",)
        wanted = said if isinstance(answer, Accepted | Declined) else OVER
        assert any(word in card.text for word in wanted), f"{card} is not true: {answer}"
        self.cards += 1

    async def _request(self, id: str) -> Model | None:
        ref: Ref = ("request", id)
        return (await self.broker.store.read(0, [ref]))[ref].model

    async def _nobodys(self, card: Message) -> None:
        """Who sent it died before it learned its name, so it was sent again: whoever presses it hears the truth."""
        payload = card.rows[0][0].payload
        assert payload is not None, card
        same = [one for one in self.people.front.chats.messages.values() if one.view.of == card.view.of]
        assert len(same) > 1, f"{card} is nobody's, and no other was sent"
        told = await self.people.front.send(BEN, card, payload)
        assert told.text, f"{card} was pressed, and nothing was said"
        if isinstance(await self._request(card.view.of or ""), Request):
            await wait_until(lambda: not card.rows)
        self.nobodys += 1

    async def _on_record(self) -> None:
        """Each effect has an approval of exactly this act on record; each request has one answer, as people were told.

        What was accepted is what was done, unless its run was stopped, which the run says, or it was taken as done.
        """
        audit, people = Audit(self.broker), self.people
        faults = [fault for chain in await audit.verify() for fault in chain.faults]
        assert not faults, faults
        deeds = await audit.lines(Filter(kind="answer"), limit=100_000)
        answered = {deed.request: deed.outcome for deed in deeds}
        assert len(answered) == len(deeds), "a request was answered twice"
        told = {request: outcome for request, outcome in people.told.items() if answered.get(request) != outcome}
        assert not told, f"people were told {told}; on record is {answered}"
        approved = {deed.digest for deed in deeds if deed.outcome == "accepted"}
        effects = self.effects()
        for number, run in people.runs.items():
            allowed = digest("act", {"number": number}) in approved
            self.approved |= {number} if allowed else set()
            assert allowed or number not in effects, f"{number} acted, and no approval is on record"
            if allowed and self.ends.get(run) == "completed" and number not in people.guessed:
                assert number in effects, f"the approval of {number} came to nothing"

    async def _told_once(self, run: Run) -> None:
        """A run that was completed has said each of its words once, in its history and in its chat."""
        if run.state != "completed":
            return
        number = run.message.partition(" ")[0]
        person = self.people.who(run.id)
        entries = await self.broker.history(run.conversation, person, limit=10_000) or []
        said = [entry.text for _, entry in entries if entry.role == "agent" and entry.run == run.id]
        for words in (f"{number} begins", f"{number} done"):
            assert said.count(words) <= 1, f"{run.id} said {said}"
            assert self.people.front.chats.texts(THERE).count(words) <= 1, f"the chat heard {words!r} twice"
        last = f"{number} done" if number in self.approved else DENIED
        assert said[-1:] == [last], f"{run.id} said {said}, and its act was{'' if last != DENIED else ' not'} allowed"

    async def _webs_agree(self, run: str, found: Run | None) -> None:
        """Whoever asks either web hears what is stored."""
        for user in self.people.webs if run not in self.people.whose else ():
            told = await user.http.get(f"/v1/runs/{run}")
            state = told.json()["state"] if told.status_code == 200 else None
            assert state == (found.shown if found is not None else None), f"{run} is {found}, a web says {told.text}"
