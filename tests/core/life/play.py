"""Who and what plays in the tests of the rules: people, questions, and a world in which each event has a verb."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

from core.life import again, card, emergency, grant, overdue, place, request, run, said, start, turn
from core.life.card import Show
from core.life.decision import Refusal
from core.life.emergency import Freeze, Thaw
from core.life.event import (
    Abort,
    Append,
    Ask,
    Begin,
    Broke,
    Claim,
    Deadline,
    Delete,
    Ended,
    Extend,
    Finish,
    Forestall,
    Free,
    Lost,
    Park,
    Reply,
    Reset,
    Resume,
    Revert,
    Said,
    ShrinkDue,
    Stop,
    Take,
    Took,
    Withdraw,
)
from core.life.living import Beat, Leave, Stray, Swept
from core.life.place import ghost
from core.life.result import Answered, Asked, Changed, Delivered, Result, Resumed, Sent, Stopped
from core.listening import Serves
from core.model import Cause, Incarnation, Json, Person
from core.question import Accepted, ChoiceField, ConfirmField, Declined, Option, Question, Subject, TextField
from tests.core.life.world import Look, World

ANN = Person(id="web:ann", name="Ann")
BEN = Person(id="web:ben", name="Ben")
CAT = Person(id="tg:cat", name="Cat", role="approver")
DAN = Person(id="tg:dan", name="Dan")
OWNER = Person(id="web:owner", name="owner", role="owner")
GROUP = (ANN.id, BEN.id, CAT.id)
PERSON_EVENTS = (Said, Reply, Stop, Abort, Resume, Revert, Extend, Delete, Reset, Withdraw, Forestall)

AB = (Option(id="a", label="Alpha"), Option(id="b", label="Beta"))
CHOICE = Question(title="Which file?", fields=(ChoiceField(options=AB),))
MULTI = Question(title="Which ones?", fields=(ChoiceField(options=AB, multiple=True, min=1),))
TEXT = Question(title="What name?", fields=(TextField(),))
NUMBER = Question(title="How many?", fields=(TextField(format="integer"),))
FORM = Question(title="Fill in", fields=(TextField(id="name"), ChoiceField(id="size", options=AB)))
SURE = Question(title="Sure?", fields=(ConfirmField(),))


def call(path: str, **more: object) -> Question:
    """A confirmation of one call: remove a path."""
    made = Question(title="Remove", fields=(ConfirmField(),), subject=Subject(tool="rm", arguments={"path": path}))
    return made.model_copy(update=more)


Event = (
    Append
    | Ask
    | Beat
    | Begin
    | Broke
    | Claim
    | Deadline
    | Delete
    | Ended
    | Extend
    | Finish
    | Forestall
    | Free
    | Freeze
    | Leave
    | Lost
    | Park
    | Reply
    | Reset
    | Resume
    | Revert
    | Said
    | Show
    | ShrinkDue
    | Stop
    | Abort
    | Stray
    | Swept
    | Take
    | Thaw
    | Took
    | Withdraw
)

E = TypeVar("E", bound=Event)


class Play(World):
    """A world in which things happen; the verbs that end in a past form insist that they were accepted."""

    def act(self, event: Event, look: Look | None = None, clock: int | None = None) -> Result | Refusal:
        """Let an event happen."""
        if isinstance(event, PERSON_EVENTS):
            return self._person(event, look, clock)
        match event:
            case Claim():
                return self.step(start.claim, event, look, clock=clock)
            case Ask():
                return self.step(request.ask, event, look, clock=clock)
            case Take():
                return self.step(request.take, event, look, clock=clock)
            case Park():
                return self.step(request.park, event, look, clock=clock)
            case Begin():
                return self.step(turn.begin, event, look, clock=clock)
            case Append():
                return self.step(turn.append, event, look, clock=clock)
            case Took():
                return self.step(turn.took, event, look, clock=clock)
            case Finish():
                return self.step(run.finish, event, look, clock=clock)
            case Broke():
                return self.step(run.broke, event, look, clock=clock)
            case Ended():
                return self.step(run.ended, event, look, clock=clock)
            case Lost():
                return self.step(again.lost, event, look, clock=clock)
            case Freeze():
                return self.step(emergency.freeze, event, look, clock=clock)
            case Show():
                return self.step(card.show, event, look, clock=clock)
            case Thaw():
                return self.step(emergency.thaw, event, look, clock=clock)
            case _:
                return self._machine(event, look, clock)

    def _person(
        self,
        event: Said | Reply | Stop | Abort | Resume | Revert | Extend | Delete | Reset | Withdraw | Forestall,
        look: Look | None,
        clock: int | None,
    ) -> Result | Refusal:
        match event:
            case Said():
                return self.step(said.said, event, look, clock=clock)
            case Reply():
                return self.step(request.reply, event, look, clock=clock)
            case Stop():
                return self.step(run.stop, event, look, clock=clock)
            case Abort():
                return self.step(request.abort, event, look, clock=clock)
            case Resume():
                return self.step(again.resume, event, look, clock=clock)
            case Revert():
                return self.step(again.revert, event, look, clock=clock)
            case Extend():
                return self.step(overdue.extend, event, look, clock=clock)
            case Delete():
                return self.step(place.delete, event, look, clock=clock)
            case Reset():
                return self.step(place.reset, event, look, clock=clock)
            case Withdraw():
                return self.step(grant.withdraw, event, look, clock=clock)
            case Forestall():
                return self.step(said.forestall, event, look, clock=clock)

    def _machine(
        self,
        event: Beat | Leave | Swept | Stray | Deadline | Free | ShrinkDue,
        look: Look | None,
        clock: int | None,
    ) -> Result | Refusal:
        match event:
            case Beat():
                return self.step(place.beat, event, look, clock=clock)
            case Leave():
                return self.step(place.leave, event, look, clock=clock)
            case Swept():
                return self.step(place.swept, event, look, clock=clock)
            case Stray():
                return self.step(place.stray, event, look, clock=clock)
            case Deadline():
                return self.step(overdue.deadline, event, look, clock=clock)
            case Free():
                return self.step(run.free, event, look, clock=clock)
            case ShrinkDue():
                return self.step(place.shrink, event, look, clock=clock)

    # people

    def say(self, text: str, person: Person = ANN, origin: str = "chat-1", **more: object) -> Result | Refusal:
        """Somebody says something in a private place (`chat-`), or in the group (`tg-`)."""
        private = not origin.startswith("tg-")
        event = Said(origin, text, person, "demo", private=private, people=() if private else GROUP)
        return self.act(_with(event, more))

    def said(self, text: str, person: Person = ANN, origin: str = "chat-1", **more: object) -> str:
        """The same, and it starts or steers a run, whose id is returned."""
        sent = self.say(text, person, origin, **more)
        assert isinstance(sent, Sent), sent
        return sent.run

    def reply(
        self, request: str, answer: Accepted | Declined | Json, person: Person = ANN, **more: object
    ) -> Result | Refusal:
        """Somebody answers; a bare value is that of the only field."""
        if not isinstance(answer, Accepted | Declined):
            field = self.request(request).question.fields[0].id
            answer = Accepted(values={field: answer})
        return self.act(_with(Reply(request, answer, person, "chat"), more))

    def answered(
        self, request: str, answer: Accepted | Declined | Json, person: Person = ANN, **more: object
    ) -> Answered:
        """The same, and it is accepted."""
        told = self.reply(request, answer, person, **more)
        assert isinstance(told, Answered), told
        return told

    def step_old(
        self, request: str, answer: Accepted | Declined, person: Person, look: Look, clock: int | None = None
    ) -> Result | Refusal:
        """Somebody answers, decided on older documents, perhaps by a slow clock."""
        return self.act(Reply(request, answer, person, "chat"), look, clock)

    def stop(self, run: str, cause: Cause, person: Person = ANN, **more: object) -> Result | Refusal:
        """Somebody wants a run to stop."""
        return self.act(_with(Stop(run, cause, person), more))

    def stopped(self, run: str, cause: Cause, person: Person = ANN, **more: object) -> Stopped:
        """The same, and it is recorded."""
        told = self.stop(run, cause, person, **more)
        assert isinstance(told, Stopped), told
        return told

    def resumed(self, run: str, person: Person = ANN, **more: object) -> Resumed:
        """Somebody resumes a run."""
        told = self.act(_with(Resume(run, person), more))
        assert isinstance(told, Resumed), told
        return told

    # workers

    def beat(self, id: str = "w1", *serves: str | Serves, span: int = 1_000_000) -> Result | Refusal:
        """A process takes or renews its lease."""
        first = ("incarnation", id) not in self.docs
        lease = Incarnation(id=id, kind="worker", until_ms=self.now + span)
        served = tuple(Serves(prefix=one) if isinstance(one, str) else one for one in serves)
        return self.act(Beat(lease, served, first=first))

    def claimed(self, run: str, worker: str = "w1") -> Delivered:
        """A worker takes a ready run."""
        if ("incarnation", worker) not in self.docs:
            self.beat(worker)
        self.now = max(self.now, self.run(run).retry_ms or 0)
        told = self.act(Claim(run, worker))
        assert isinstance(told, Delivered), told
        return told

    def at_work(self, text: str = "go", person: Person = ANN, origin: str = "chat-1", worker: str = "w1") -> Delivered:
        """A new run at work."""
        return self.claimed(self.said(text, person, origin), worker)

    def ask(self, turn: Delivered, question: Question, key: str = "ask#0", **more: object) -> Result | Refusal:
        """A turn asks."""
        length = self.length(self.run(turn.run).root)
        return self.act(_with(Ask(turn.run, turn.fence, key, question, length), more))

    def asked(self, turn: Delivered, question: Question, key: str = "ask#0", **more: object) -> str:
        """The same, and a request stands open."""
        told = self.ask(turn, question, key, **more)
        assert isinstance(told, Asked), told
        assert told.request is not None
        return told.request

    def parked(self, turn: Delivered) -> None:
        """A held turn lets go."""
        told = self.act(Park(turn.run, turn.fence))
        assert isinstance(told, Changed), told

    def waiting(self, question: Question, person: Person = ANN, origin: str = "chat-1") -> tuple[str, str]:
        """A run that is parked on a question: its id and the request's."""
        turn = self.at_work("go", person, origin)
        asked = self.asked(turn, question)
        self.parked(turn)
        return turn.run, asked

    def take(self, turn: Delivered) -> Result | Refusal:
        """A held turn takes its answers."""
        return self.act(Take(turn.run, turn.fence, self.length(self.run(turn.run).root)))

    def begin(
        self, turn: Delivered, key: str = "step#0", digest: str | None = None, **more: object
    ) -> Result | Refusal:
        """A step is about to act."""
        length = self.length(self.run(turn.run).root)
        return self.act(Begin(turn.run, turn.fence, turn.halt, key, length, digest))

    def finish(self, turn: Delivered, text: str = "done", **more: object) -> Result | Refusal:
        """The agent returns."""
        return self.act(_with(Finish(turn.run, turn.fence, "completed", text), more))

    def finished(self, turn: Delivered, text: str = "done", **more: object) -> Changed:
        """The same, and the run is completed."""
        told = self.finish(turn, text, **more)
        assert isinstance(told, Changed), told
        return told

    def sweep(self, worker: str, *, gone: bool = True, again: bool = True, cause: Cause = "worker_lost") -> None:
        """A worker's lease ends, and what it held is settled; again later, when it is known to be gone at last."""
        if ("incarnation", ghost(worker)) not in self.docs:
            self.act(Leave(worker))
        for id in list(self.index("claims", worker)):
            self.act(Lost(id, worker, gone, again, cause))
        self.act(Swept(worker, open=bool(self.index("claims", worker))))

    def due(self) -> Sequence[Result | Refusal]:
        """Everything whose time has come happens, as the sweeper lets it."""
        told: list[Result | Refusal] = []
        timers = sorted(self.index("timers").items(), key=lambda timer: (timer[1], timer[0]))
        for member, at in timers:
            what, _, id = member.partition(":")
            if at > self.now or self.index("timers").get(member) != at:
                continue
            match what:
                case "deadline":
                    one = self.act(Deadline(id))
                    stray = Stray("deadline", id, at)
                case "free":
                    one = self.act(Free(id))
                    stray = Stray("free", id, at)
                case _:
                    one = self.act(ShrinkDue(id))
                    stray = Stray("shrink", id, at)
            if isinstance(one, Refusal):
                self.act(stray)
            told.append(one)
        return told

    def later(self, span: int) -> Sequence[Result | Refusal]:
        """Time goes by."""
        self.now += span
        return self.due()


def _with(event: E, more: dict[str, object]) -> E:
    return replace(event, **more) if more else event
