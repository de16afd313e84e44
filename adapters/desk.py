"""The desk: what a person did on a platform (text, press, command, edit, file) becomes an event; the outcome, a notice.

It decides nothing: rules stand in `core/life`. Each event carries the platform's own key and takes effect once; what it
did is stored when a verb returns, so a platform confirms the update to itself afterwards. Nothing that a person wrote
is logged here. It knows no platform. Source: DESIGN sections 6 and 8, C06, C36, C38, C123, C124, C127, C128.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Coroutine, Sequence
from types import TracebackType
from typing import Self

from adapters import proving
from adapters.doors import Doors, Open, unbound
from adapters.finds import Finds
from adapters.forms import CODE, Filled, Filling, Forms
from adapters.home import Place, home
from adapters.outcomes import NOT_YOURS, Notice, is_secret, notice, pressed, refused
from adapters.platform import Platform
from adapters.relay import Relay
from adapters.shows import Shows, withdrawn
from adapters.vouched import Vouched
from adapters.wanted import handed
from core.broker import Broker
from core.errors import FileRefused, StoreError
from core.files import FileStore
from core.inbox import Inbox
from core.life.decision import Refusal
from core.life.event import Said
from core.life.once import Once
from core.life.overhearing import Overhear
from core.life.pressed import Pressed
from core.life.result import Answered, Kept, Result, Sent, Told
from core.model import Person
from core.overheard import Line
from core.press import FORMS, read
from core.presses import Presses
from core.trace import emit

__all__ = ["Desk", "Doors", "Open"]

_log = logging.getLogger(__name__)
NOT_STORED = Notice(text="Not stored: Sayso cannot reach its store right now. Try again.", alert=True)
LATER = Notice(text="Received. The card will show what came of it.", pending=True)
NO_BUTTON = Notice(text="This button is not known.", alert=True)
NO_LINKS = Notice(text="I do not open links from here: send the file itself.", alert=True)
STRANGERS = frozenset({"unknown", "not_allowed"})


class Desk:
    """What a platform folder brings its events to, for as long as the context lasts.

    agents: names, the default first. doors: who is let in. patience: seconds that a press is waited for before it is
    answered without its outcome. files: None for none. proofs: checks one-time codes. written: takes secrets in.
    """

    def __init__(
        self,
        broker: Broker,
        platform: Platform,
        relay: Relay,
        *,
        agents: Sequence[str],
        doors: Doors,
        files: FileStore | None = None,
        patience: float = 0.8,
        proofs: proving.Proofs | None = None,
        written: bool = False,
    ) -> None:
        self._written, self._proofs = written, proofs
        self._broker, self._platform, self._relay = broker, platform, relay
        self._private = platform.is_private
        self._agents = tuple(agents)
        self._doors = self.vouched = Vouched(doors, broker.bind)
        self._files = files
        self.patience = patience
        self.inbox = Inbox(broker, platform.prefix)
        self._presses = Presses(broker)
        self._shows = Shows(broker, platform.limits, agents, platform.prefix)
        self._forms = Forms(broker, platform.limits)
        self.finds = Finds(broker, platform.prefix, self._doors, agents)
        self._late: set[asyncio.Task[Notice]] = set()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._late:
            await asyncio.wait(tuple(self._late), timeout=self.patience)
        for task in tuple(self._late):
            task.cancel()
        await asyncio.gather(*self._late, return_exceptions=True)

    # ── what comes in ────────────────────────────────────────────────────────────────────────────────────────────────

    async def text(
        self,
        place: str,
        message: str,
        text: str,
        person: Person,
        *,
        key: str,
        reply_to: str | None = None,
        files: tuple[str, ...] = (),
        links: tuple[str, ...] = (),
        heard: tuple[Line, ...] = (),
    ) -> Notice | None:
        """A person wrote something; what there is to say about it is posted as an answer, and returned.

        message, reply_to: the platform's ids. key: of the update; a repeat changes nothing and is not answered again.
        files: ids that `file` gave. links: attachments that are only addresses; never fetched. heard: of `finds`.
        Raises: `StoreError` when it could not be stored: do not confirm the update.
        """
        who = await self._doors.admit(person, place, self._private(place))
        if isinstance(who, Notice):
            return await self._turned_away(place, key, who, person, message)
        said = await self._said(place, text, who, key, reply_to, files, heard=heard)
        if is_secret(said):
            self._relay.remove(place, message)
        answer = NO_LINKS if links else await self._answer(place, said, who)
        if answer is not None and await self._first(place, key):
            self._post(place, answer, said, who, message)
        return answer

    async def command(self, place: str, name: str, argument: str, person: Person, *, key: str) -> Notice:
        """A person gave a command by the platform's own means; the platform shows the outcome in its own way."""
        who = await self._doors.admit(person, place, self._private(place))
        if isinstance(who, Notice):
            return who
        said = await self._said(place, f"/{name} {argument}".strip(), who, key, None, ())
        return await self._answer(place, said, who) or notice(said) or Notice(text="Done.")

    async def edit(self, place: str, message: str, text: str, person: Person, *, key: str) -> Notice | None:
        """A person edited what they wrote: nothing is done again, and they are told that what they wrote first stands.

        text: as it reads now; platforms that know the former text only call this when it differs.
        """
        who = await self._doors.admit(person, place, False)
        if isinstance(who, Notice):
            return None
        said = await self._said(place, text, who, key, None, (), edited=True)
        answer = notice(said)
        if answer is not None and await self._first(place, key):
            self._post(place, answer, said, who, message)
        return answer

    async def press(self, place: str, message: str | None, payload: str, person: Person, *, key: str) -> Notice:
        """A person pressed a button: the true outcome, in at most as many characters as the platform answers with.

        Where the outcome takes longer than `patience`, the answer says so (`pending`) and the card shows it.
        """
        return await self._patient(self.decide(place, message, payload, person, key=key))

    async def fill(
        self, place: str, message: str | None, payload: str, values: Filled, person: Person, *, key: str
    ) -> Notice:
        """A person filled in a form, or picked from a menu with a payload; the outcome as of a press.

        message: on which it was opened, if the platform knows. values: by the ids of the questions; of a menu under "".
        """
        return await self._patient(self.decide(place, message, payload, person, key=key, values=values))

    async def link(self, place: str, person: Person, code: str | None) -> Notice:
        """Link accounts by a code: a stranger is shown theirs, who is known gets a form, and enters it by `code`.

        Only to be shown to this person alone.
        """
        who = await self._doors.admit(person, place, True)
        if isinstance(who, Notice) or code is not None:
            return who if isinstance(who, Notice) else await self._doors.redeem(code or "", who)
        return Notice(text="", form=CODE)

    async def _patient(self, doing: Coroutine[None, None, Notice]) -> Notice:
        task = asyncio.create_task(doing)
        self._late.add(task)
        task.add_done_callback(self._late.discard)
        try:
            async with asyncio.timeout(self.patience):
                return await asyncio.shield(task)
        except TimeoutError:
            return LATER

    async def moved(self, old: str, new: str) -> None:
        """A chat has a new id: its conversation and its open questions go on there."""
        await self._relay.moved(old, new)

    async def unnamed(self, place: str, message: str, *, key: str) -> Notice:
        """Somebody wrote to the bot whom the platform does not name: a button tells who they are, a text cannot."""
        answer = await self._shows.unnamed((await home(self._broker.store, place)).conversation)
        await self.tell(place, message, answer, key=key)
        return answer

    async def overheard(self, place: str, by: str, text: str, *, key: str) -> None:
        """People of a group spoke among themselves: kept for a while as context, if the group is bound to anybody.

        by: their name there. Nobody is answered, nothing begins. Raises: `StoreError`.
        """
        if not self._private(place) and await self._doors.people(place):
            at = await home(self._broker.store, place)
            await self._broker.cards.overhear(Overhear(at.origin, by, text, key))

    async def tell(self, place: str, message: str, answer: Notice, *, key: str) -> None:
        """Answer something in words of the platform's folder (a file that could not be fetched), once."""
        if await self._first(place, key):
            self._relay.say(place, answer, reply_to=message)

    async def file(
        self,
        place: str,
        name: str,
        content: bytes | AsyncIterator[bytes],
        person: Person,
        type: str = "application/octet-stream",
    ) -> str:
        """Take in a file; returns its id, for `text`. The name is only ever shown, never a path.

        Raises: `FileRefused` with words for the person: too large, no room, no files here.
        """
        who = await self._doors.admit(person, place, False)
        if self._files is None or isinstance(who, Notice):
            raise FileRefused("no files are taken here")
        return (await self._files.put(content, name, owner=who.id, type=type)).id

    # ── what is done with it ─────────────────────────────────────────────────────────────────────────────────────────

    async def _said(
        self,
        place: str,
        text: str,
        person: Person,
        key: str,
        reply_to: str | None,
        files: tuple[str, ...],
        *,
        edited: bool = False,
        heard: tuple[Line, ...] = (),
    ) -> Result | Refusal:
        at = await home(self._broker.store, place)
        target = await self._broker.cards.target(at.origin, reply_to) if reply_to is not None else None
        request = target.of if target is not None and target.of.startswith("q") else None
        private = self._private(place)
        event = Said(
            origin=at.origin,
            text=text,
            person=person,
            agent=self._agent(at),
            key=key,
            reply_to=request,
            private=private,
            people=() if private else await self._doors.people(place),
            attachments=files,
            files=await handed(self._files, files, person),
            edited=edited,
            agents=self._agents,
            heard=heard,
        )
        said = await proving.said(self._broker, self._proofs, event)
        asked = said.standing.get("asked") if isinstance(said, Refusal) and private and self._written else None
        if not isinstance(asked, str) or edited or files:
            return said
        secret = await self._broker.safe.written(event, asked)
        given = secret if isinstance(secret, Refusal) else await self._broker.said(secret)
        return Refusal("secret", f"{given.text}; this message was not kept") if isinstance(given, Refusal) else given

    async def decide(
        self, place: str, message: str | None, payload: str, person: Person, *, key: str, values: Filled | None = None
    ) -> Notice:
        """Decide a press, however long that takes: for a platform's folder that acknowledges by itself, in time."""
        press = read(payload)
        if press is None:
            return NO_BUTTON
        try:
            who = await self._doors.admit(person, place, False)  # shows no code, so none is made
            if isinstance(who, Notice):
                return Notice(text=NOT_YOURS, alert=True)
            at = await home(self._broker.store, place)
            if press.verb == "withdraw":
                return await withdrawn(self._broker, press.id, who, at.conversation, self._platform.prefix)
            event = Pressed(press, who, at.origin, self._platform.prefix, key, message)
            result = await self._presses.pressed(event)
            if isinstance(result, Told) and press.verb in (*FORMS, "pick"):
                return await self._form(event, key, values)
        except StoreError as lost:
            _log.warning("a press on %s was not stored: %s", press.id, lost)
            return NOT_STORED
        if isinstance(result, Refusal) and result.code == "not_allowed":
            _log.warning("a press on %s by %s was refused: not theirs", press.id, who.id)
        emit("press.answered", of=press.id, verb=press.verb, refused=isinstance(result, Refusal))
        return pressed(result, press.verb, self._platform.limits.notice_max)

    async def _form(self, e: Pressed, key: str, values: Filled | None) -> Notice:
        """Open a form, or take in what was filled in."""
        if not self._platform.limits.form_max:
            return Notice(text="Write your answer as a reply to the card.")
        if values is not None:
            stored = await handed(self._files, (id for given in values.values() for id in given), e.person)
            return await self._forms.fill(Filling(e.press, values, e.person, e.via, key, e.place, stored))
        form = await self._forms.form(e.press)
        return refused(form) if isinstance(form, Refusal) else Notice(text="", form=form)

    async def _answer(self, place: str, said: Result | Refusal, person: Person) -> Notice | None:
        """What there is to say to a person about what they said."""
        match said:
            case Told() if said.command != "edited":
                return await self._shows.show(said, person, await home(self._broker.store, place), self._private(place))
            case Refusal(code="choose") if isinstance(open := said.standing.get("open"), list):
                return await self._shows.which(person, [id for id in open if isinstance(id, str)])
            case Sent(steer=False):
                return await self._shows.started()
            case Refusal(code="not_allowed") if not self._private(place) and not await self._doors.people(place):
                chat = self._platform.chat(place)
                return unbound(chat) if await self._first(chat, "unbound") else notice(said)
            case Answered() if is_secret(said):
                return Notice(text="Received, and sealed. Your message is deleted here.")
            case Answered(repeat=False) | Sent():
                return None
            case _:
                return notice(said, 4_000)

    def _post(self, place: str, answer: Notice, said: Result | Refusal | None, person: Person, reply_to: str) -> None:
        """Answer a text; what is for one person only is not said aloud in a group."""
        stranger = isinstance(said, Refusal) and said.code in STRANGERS and not said.standing.get("proof")
        private = self._private(place)
        if stranger and answer.private and not private and not self._platform.limits.whispers:
            _log.warning("what %s wrote at %s changed nothing: it is not theirs to say", person.id, place)
            return
        only = person.id if not private and answer.private and self._platform.limits.whispers else None
        self._relay.say(place, answer, reply_to=reply_to, only=only)

    async def _turned_away(self, place: str, key: str, answer: Notice, person: Person, reply_to: str) -> Notice:
        """Tell a stranger how to be let in, where nobody else has to read it."""
        aloud = self._private(place) or self._platform.limits.whispers
        if aloud and await self._first(place, key):
            self._relay.say(place, answer, reply_to=reply_to, only=None if self._private(place) else person.id)
        return answer

    async def _first(self, place: str, key: str) -> bool:
        """Tell whether an update is answered for the first time."""
        return await self._broker.cards.once(Once(place, key)) == Kept(note=True)

    def _agent(self, at: Place) -> str:
        chosen = at.conversation.agent if at.conversation is not None else ""
        return chosen if chosen in self._agents else next(iter(self._agents), "")
