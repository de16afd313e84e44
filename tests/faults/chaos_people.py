"""The people of the chaos: what they say, answer, press and stop, through any door, and what they remember.

Ann is the owner; she speaks to either web, or straight to the broker. Ben is in a chat of the fake platform.
"""

from __future__ import annotations

import asyncio
import random
import re
from collections.abc import Awaitable, Callable
from pathlib import Path

import httpx

from core.broker import Broker
from core.errors import StoreError
from core.life.event import Reply, Said
from core.life.result import Answered, Sent
from core.model import Json, Person
from core.people import OWNER as ANN
from core.question import Accepted, Request
from tests.adapters.web.place import OBJECT, User
from tests.contract.bench import ANN as BEN
from tests.fakes import Message
from tests.faults.fronts import Front
from tests.faults.roles import breathe

THERE = "fa-7"
"""the chat of Ben, on the fake platform"""
TOLD = (200, 404, 409, 503)
"""what a web may answer: done, gone, refused with a reason, Redis is away"""


class People:
    """What they do, and what they remember.

    runs: the run of each number that was said. homes: run -> conversation. whose: the runs that are Ben's. there: the
    numbers said in the chat. allowed: the numbers whose act somebody allowed, perhaps in vain. told: request -> how it
    was answered, as somebody was told. guessed: the numbers whose act was taken as done. deleted: conversations.
    """

    def __init__(self, broker: Broker, webs: list[User], front: Front, target: Path, dice: random.Random) -> None:
        self.broker = broker
        self.webs = webs
        self.front = front
        self.target = target
        self.dice = dice
        self.runs: dict[str, str] = {}
        self.homes: dict[str, str] = {}
        self.whose: dict[str, Person] = {}
        self.there: list[str] = []
        self.allowed: set[str] = set()
        self.told: dict[str, str] = {}
        self.guessed: set[str] = set()
        self.deleted: set[str] = set()

    @property
    def deeds(self) -> dict[Callable[[], Awaitable[object]], float]:
        """What they do, and how much of it."""
        return {
            self.begin: 6,
            self.begin_there: 4,
            self.answer: 10,
            self.answer_twice: 3,
            self.press: 8,
            self.cancel: 3,
            self.pause: 2,
            self.abort: 2,
            self.resume: 4,
            self.delete: 1,
        }

    async def at_a_web(
        self, verb: str, path: str, body: dict[str, Json] | None = None, key: str | None = None
    ) -> dict[str, Json] | None:
        """Ask one of the webs; returns what it did, None when it did nothing or is not there."""
        user = self.dice.choice(self.webs)
        headers = {"Idempotency-Key": key} if key is not None else {}
        try:
            response = await user.http.request(verb, path, json=body, headers=headers)
        except httpx.TransportError:
            return None
        assert response.status_code in TOLD, f"{verb} {path} is answered {response.status_code}: {response.text}"
        return OBJECT.validate_json(response.content) if response.status_code == 200 else None

    def _by_web(self, run: str) -> bool:
        return run not in self.whose and self.dice.random() < 0.6

    # ── what is said ─────────────────────────────────────────────────────────────────────────────────────────────────

    async def begin(self) -> None:
        """Ann says something in a conversation of its own, and again until she knows that it was heard."""
        number = str(len(self.runs))
        self.runs[number] = ""
        text, key, by_web = f"{number} {self.target}", f"say-{number}", int(number) % 2 == 1
        event = Said(f"chat-{number}", text, ANN, "apart", key=key)
        for _ in range(20):
            if by_web and (said := await self.at_a_web("POST", "/v1/send", {"text": text, "key": key})) is not None:
                self._began(number, str(said["run"]), str(said["conversation"]))
                return
            if not by_web:
                try:
                    sent = await self.broker.said(event)
                    assert isinstance(sent, Sent), sent
                    self._began(number, sent.run, sent.conversation)
                    return
                except StoreError:
                    pass
            await breathe(0.1)
        del self.runs[number]  # the next one says the same, under the same key

    def _began(self, number: str, run: str, conversation: str) -> None:
        self.runs[number], self.homes[run] = run, conversation

    async def begin_there(self) -> None:
        """Ben says something to the front end, when nothing is open in that chat."""
        places = [one for one in await self.broker.conversations(BEN) if one.origin == THERE]
        if not self.front.serves or any(one.unsettled for one in places):
            return
        number = f"1{len(self.there):03}"
        self.there.append(number)
        await asyncio.gather(self.front.say(BEN, THERE, f"{number} {self.target}"), return_exceptions=True)

    # ── what is answered ─────────────────────────────────────────────────────────────────────────────────────────────

    async def press(self) -> None:
        """Ben presses a button of a question in the chat, now and then twice."""
        cards = [one for one in self.front.chats.cards(THERE) if "Act?" in one.text]
        if self.front.serves and cards:
            await self._pressed(self.dice.choice(cards), self.dice.choice(["Approve", "Approve", "Approve", "Deny"]))

    async def _pressed(self, card: Message, label: str) -> None:
        payload = next((one.payload for row in card.rows for one in row if one.label.startswith(label)), None)
        number = re.search(r"number\W+(\d+)", card.text)
        if payload is None or number is None:
            return
        if label == "Approve":
            self.allowed.add(number[1])
        key = self.front.key()
        for _ in range(self.dice.choice([1, 1, 2])):
            await asyncio.gather(self.front.send(BEN, card, payload, key=key), return_exceptions=True)

    async def open(self) -> list[Request]:
        """The open questions of all."""
        return [one for person in (ANN, BEN) for one in (await self.broker.pending(person)).requests]

    async def answer(self) -> None:
        """Somebody answers."""
        if found := await self.open():
            request = self.dice.choice(found)
            await self.answers(request, self.value(request))

    async def answer_twice(self) -> None:
        """Two people answer at once; one of them wins."""
        if found := await self.open():
            request = self.dice.choice(found)
            twice = (self.answers(request, self.value(request)) for _ in range(2))
            told = await asyncio.gather(*twice, return_exceptions=True)
            wrong = [one for one in told if isinstance(one, BaseException) and not isinstance(one, StoreError)]
            assert not wrong, wrong

    def value(self, request: Request) -> str:
        """A good answer, now and then a no; what may have happened is not repeated."""
        field = request.question.fields[0]
        if field.kind == "choice":
            return "done" if any(option.id == "done" for option in field.options) else "cancel"
        if field.kind == "confirm":
            return self.dice.choice(["once", "once", "once", "deny"])
        return "Bob"

    async def answers(self, request: Request, value: str) -> None:
        """Answer; whoever is told that the answer was taken may rely on it."""
        subject, values = request.question.subject, {request.question.fields[0].id: value}
        if subject is not None and value == "once" and isinstance(subject.arguments, dict):
            self.allowed.add(str(subject.arguments["number"]))  # before it is sent: its outcome may stay unknown
        if value == "done" and (run := await self.broker.peek(request.run)) is not None:
            self.guessed.add(run.message.partition(" ")[0])
        outcome: Json
        if request.origin != THERE and self.dice.random() < 0.6:
            body: dict[str, Json] = {"outcome": "accepted", "values": dict(values)}
            told = await self.at_a_web("POST", f"/v1/requests/{request.id}/answer", body)
            answer = told["answer"] if told is not None else None
            outcome = answer["outcome"] if isinstance(answer, dict) else None
        else:
            asked = BEN if request.origin == THERE else ANN
            result = await self.broker.answer(Reply(request.id, Accepted(values=dict(values)), asked, "chat"))
            outcome = result.answer.outcome if isinstance(result, Answered) and result.answer is not None else None
        if outcome is not None:
            was = self.told.setdefault(request.id, str(outcome))
            assert was == outcome, f"{request.id} was answered: {was}, and then: {outcome}"

    # ── what is stopped ──────────────────────────────────────────────────────────────────────────────────────────────

    def any(self) -> str | None:
        """One of the runs."""
        known = [run for run in self.runs.values() if run]
        return self.dice.choice(known) if known else None

    def who(self, run: str) -> Person:
        """Whose a run is."""
        return self.whose.get(run, ANN)

    async def cancel(self) -> None:
        """Somebody cancels, now and then at once."""
        run, urgent = self.any(), self.dice.random() < 0.3
        if run is not None and self._by_web(run):
            await self.at_a_web("POST", f"/v1/runs/{run}/cancel", {"urgent": urgent})
        elif run is not None:
            await self.broker.cancel(run, self.who(run), urgent=urgent)

    async def pause(self) -> None:
        """Somebody pauses."""
        run = self.any()
        if run is not None and self._by_web(run):
            await self.at_a_web("POST", f"/v1/runs/{run}/pause")
        elif run is not None:
            await self.broker.pause(run, self.who(run))

    async def abort(self) -> None:
        """Somebody aborts, at one of the questions."""
        found = await self.open()
        request = self.dice.choice(found) if found else None
        if request is not None and self._by_web(request.run):
            await self.at_a_web("POST", f"/v1/requests/{request.id}/abort")
        elif request is not None:
            await self.broker.abort(request.id, BEN if request.origin == THERE else ANN)

    async def resume(self) -> None:
        """Somebody resumes."""
        run = self.any()
        if run is not None and self._by_web(run):
            await self.at_a_web("POST", f"/v1/runs/{run}/resume")
        elif run is not None:
            await self.broker.resume(run, self.who(run))

    async def delete(self) -> None:
        """Somebody deletes a conversation."""
        run = self.any()
        found = await self.broker.peek(run) if run is not None else None
        if run is None or found is None:
            return
        self.deleted.add(found.conversation)  # before it is sent: its outcome may stay unknown
        if self._by_web(run):
            await self.at_a_web("DELETE", f"/v1/conversations/{found.conversation}")
        else:
            await self.broker.delete(found.conversation, self.who(run))
