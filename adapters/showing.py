"""Cards on a platform, kept in step with what they are of: shown, put on the ledger, edited, repaired, given up.

Works member by member from what `core.cards` says is owed; each job draws the card anew when its turn comes, so it
always shows what is true then. It knows no platform. Source: DESIGN sections 6 and 8, C04, C50, C51, C63.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace

from adapters.cards import Sight, request_view
from adapters.fit import Fitted, fit, squeezed
from adapters.outcomes import Clock
from adapters.platform import Migrated, Outcome, Refused, Sent, Unclear, View
from adapters.sending import Sending
from adapters.status import gone_view, status_view
from core.broker import Broker
from core.card import Card
from core.life.card import Edited, Ledger, Point, Show, Unshowable
from core.life.debt import prefix
from core.life.decision import Refusal
from core.life.result import Showing as Begun
from core.listening import Serves
from core.model import Conversation, Person, Run
from core.people import People
from core.question import Cancelled, Request, SecretField
from core.trace import emit

_log = logging.getLogger(__name__)
Ticket = Callable[[str, Person], Awaitable[str | None]]
FIRST_PAUSE = 1.0
LAST_PAUSE = 300.0


@dataclass(frozen=True, slots=True)
class Writing:
    """What a run is writing and doing at this moment, as far as it was told."""

    tail: str = ""
    doing: str = ""


@dataclass(frozen=True, slots=True)
class Drawn:
    """A card as it should look now, and the revision that this is. whole: all of the question can be read on it."""

    view: View
    rev: int
    turned: int
    fitted: Fitted
    whole: bool | None = None


class Showing:
    """The showing of cards on one platform.

    link: where a request stands on the dashboard, None without a public address. ticket: the one-time address at which
    one person gives the secret that a request asks for. again: called with the seconds
    after which something owed is due again. serves: what may be shown. writing: what a run is writing now. written:
    whether secrets are taken from one-to-one chats.
    """

    def __init__(
        self,
        broker: Broker,
        sending: Sending,
        *,
        is_private: Callable[[str], bool],
        link: Callable[[str], str | None],
        clock: Clock,
        again: Callable[[float], None],
        writing: Callable[[str], Writing],
        ticket: Ticket | None = None,
        serves: Serves | None = None,
        written: bool = False,
    ) -> None:
        self._written = written
        self._serves = serves
        self._ticket = ticket
        self._people = People(broker)
        self._broker = broker
        self._sending = sending
        self._is_private = is_private
        self._link = link
        self._clock = clock
        self._again = again
        self._writing = writing
        self._tries: dict[str, int] = {}
        self._looks: dict[tuple[str, str], View] = {}

    # ── showing ──────────────────────────────────────────────────────────────────────────────────────────────────────

    async def show(self, of: str, place: str) -> float | None:
        """Show a request that is open, as a new message; whether all of it can be read there is stored before that."""
        request = await self._request(of)
        drawn = await self._first(request, place) if request is not None and request.state == "open" else None
        whole = drawn.whole if drawn is not None else None
        begun = await self._broker.cards.show(Show(of, "request", place, self._serves, whole))
        return await self._send(begun, drawn)

    async def _first(self, request: Request, place: str) -> Drawn:
        """Draw a request before there is a card of it at the place, or as the one that is there is turned."""
        known = request.cards.get(place)
        card = await self._broker.cards.card(known) if known is not None else None
        at = request.conversation
        none = Card(id="", of=request.id, kind="request", conversation=at, place=place, state="sending", since_ms=0)
        return await self._draw_request(request, card or none)

    async def show_status(self, run: str, place: str) -> float | None:
        """Show the status of a run, as a new message."""
        begun = await self._broker.cards.show(Show(run, "status", place))
        return await self._send(begun)

    async def _send(self, begun: Begun | Refusal, drawn: Drawn | None = None) -> float | None:
        card = await self._broker.cards.card(begun.card) if isinstance(begun, Begun) and begun.card else None
        if card is None:
            return None
        if drawn is None or drawn.turned != card.turned:
            drawn = await self._draw(card)
        outcome, drawn = await self._post(card, drawn)
        if not isinstance(outcome, Sent):
            return await self._failed(card, outcome)
        self._tries.pop(card.id, None)
        self._remember(card, outcome.message, drawn.view)
        place, message = outcome.instead or (card.place, outcome.message)
        if card.kind == "request":
            await self._broker.cards.point(Point(place, message, card.of, card.conversation))
        instead = place if outcome.instead is not None else None
        await self._broker.cards.ledger(Ledger(card.id, outcome.message, drawn.rev, drawn.turned, instead, drawn.whole))
        emit("card.shown", card=card.id, of=card.of, place=card.place, attempt=card.attempt)
        return None

    async def _post(self, card: Card, drawn: Drawn) -> tuple[Outcome, Drawn]:
        """Send a card's messages in order; the buttons are on the last one, which is the card.

        Returns what became of the card, and what it shows: no Approve where the rest of it had to go elsewhere.
        """
        nonce = f"{card.id}.{len(card.messages)}"
        aside = False
        for number, part in enumerate(drawn.fitted.parts[:-1]):
            outcome = await self._sending.post(card.place, part, f"{nonce}.{number}", asks=drawn.view.asks)
            if not isinstance(outcome, Sent):
                return outcome, drawn
            aside = aside or outcome.instead is not None
        if drawn.fitted.attach is not None:
            name, content = f"{card.of}.txt", drawn.fitted.attach.encode()
            outcome = await self._sending.upload(card.place, name, content, f"{nonce}.file", asks=drawn.view.asks)
            if not isinstance(outcome, Sent):
                return outcome, drawn
            aside = aside or outcome.instead is not None
        here = await self._draw(card.changed(state="shown", whole=False)) if aside else drawn
        outcome = await self._sending.post(card.place, here.fitted.parts[-1], nonce)
        if not aside or not isinstance(outcome, Sent) or outcome.instead is None:
            return outcome, here
        edited = await self._sending.edit(card.place, outcome.message, drawn.fitted.parts[-1])
        return outcome, drawn if isinstance(edited, Sent) else here  # all of it stands there

    # ── repairing ────────────────────────────────────────────────────────────────────────────────────────────────────

    async def repair(self, id: str, *, owed: bool = True) -> float | None:
        """Bring a card up to date, on every message that carries it. owed: the state wants it, not only a stream."""
        card = await self._broker.cards.card(id)
        if card is None:
            return None
        drawn = await self._draw(card)
        if card.state == "failed":
            await self._broker.cards.unshowable(Unshowable(card.id, card.reason or "it could not be shown"))
            return None
        worst: Outcome | None = None
        for message in card.messages:
            outcome = await self._edit(card, message, drawn)
            if isinstance(outcome, Refused) and outcome.kind == "gone":
                outcome = Sent(message)
            if isinstance(outcome, Sent):
                self._remember(card, message, drawn.view)
            elif worst is None or not isinstance(worst, Refused) or worst.kind != "later":
                worst = outcome
        if worst is not None:
            return await self._failed(card, worst)
        self._tries.pop(card.id, None)
        if owed or (drawn.rev, drawn.turned) != card.shown:
            await self._broker.cards.edited(Edited(card.id, drawn.rev, drawn.turned, drawn.whole))
        emit("card.edited", card=card.id, of=card.of, place=card.place, rev=drawn.rev)
        return None

    async def _edit(self, card: Card, message: str, drawn: Drawn) -> Outcome:
        if self._looks.get((card.place, message)) == drawn.view:
            return Sent(message)
        if self._sending.limits.can_edit:
            return await self._sending.edit(card.place, message, drawn.fitted.parts[-1])
        if drawn.view.rows or card.final or message != card.messages[-1]:
            return Sent(message)
        state = View(blocks=tuple(b for b in drawn.view.blocks if b.kind in ("title", "state")), of=card.of)
        outcome = await self._sending.post(
            card.place, squeezed(state, self._sending.limits, self._sending.measure), f"{card.id}.end", reply_to=message
        )
        return Sent(message) if isinstance(outcome, Sent) else outcome

    def _remember(self, card: Card, message: str, view: View) -> None:
        self._looks[(card.place, message)] = view
        if len(self._looks) > 5_000:
            self._looks.pop(next(iter(self._looks)))

    # ── what did not pass ────────────────────────────────────────────────────────────────────────────────────────────

    async def _failed(self, card: Card, outcome: Outcome) -> float | None:
        match outcome:
            case Refused(kind="later", retry_after=float() | int() as pause):
                await self._broker.cards.unshowable(Unshowable(card.id, outcome.reason, int(pause * 1000)))
                self._again(pause)
                return float(pause)
            case Refused(kind="later") | Unclear() | Migrated():
                pause = self._pause(card.id)
                reason = outcome.reason if not isinstance(outcome, Migrated) else "the chat moved twice"
                await self._broker.cards.unshowable(Unshowable(card.id, reason, int(pause * 1000)))
                self._again(pause)
                return None
            case Refused():
                _log.warning("card %s of %s cannot be shown at %s: %s", card.id, card.of, card.place, outcome.reason)
                await self._broker.cards.unshowable(Unshowable(card.id, outcome.reason))
                emit("card.refused", card=card.id, of=card.of, place=card.place)
                return None
            case Sent():
                return None

    def _pause(self, id: str) -> float:
        tries = self._tries.get(id, 0)
        self._tries[id] = tries + 1
        return min(LAST_PAUSE, FIRST_PAUSE * 2.0**tries)

    # ── drawing ──────────────────────────────────────────────────────────────────────────────────────────────────────

    async def _draw(self, card: Card) -> Drawn:
        limits, measure = self._sending.limits, self._sending.measure
        if card.kind == "status":
            run = await self._broker.peek(card.of)
            if run is None:
                view = gone_view(card.of)
            else:
                writing = self._writing(run.root)
                view = status_view(run, card, limits, tail=writing.tail, doing=writing.doing)
            view = squeezed(view, limits, measure)
            return Drawn(view, run.rev if run is not None else 0, card.turned, Fitted((view,)))
        request = await self._request(card.of)
        if request is None:
            view = squeezed(gone_view(card.of), limits, measure)
            return Drawn(view, 0, card.turned, Fitted((view,)))
        return await self._draw_request(request, card)

    async def _draw_request(self, request: Request, card: Card) -> Drawn:
        limits, measure = self._sending.limits, self._sending.measure
        whole = await self._broker.whole(request)
        run = await self._broker.peek(request.run)
        sight = await self._sight(request, card, run)
        if request.body and whole is request:
            sight = replace(sight, whole=False)
        view = request_view(whole, card, run, sight)
        fitted = fit(view, limits, measure) if request.state == "open" else None
        lacks = fitted is not None and fitted.several and card.state == "shown" and card.whole is False
        if fitted is not None and (lacks or not fitted.whole):
            sight = replace(sight, whole=False)
            view, fitted = request_view(whole, card, run, sight), None
        if request.state == "settled" and not request.question.fields:
            view = self._titled(card, request, view)
        shown = fitted or Fitted((squeezed(view, limits, measure),))
        return Drawn(view, request.rev, card.turned, shown, sight.whole)

    def _titled(self, card: Card, request: Request, view: View) -> View:
        """Keep the title that a card shows when its question is forgotten, unless it was deleted; nothing stores it."""
        if isinstance(request.answer, Cancelled) and request.answer.cause == "deleted":
            return view
        looks = [look for message in card.messages if (look := self._looks.get((card.place, message))) is not None]
        title = [block for look in looks[-1:] for block in look.blocks if block.kind == "title"]
        rest = [block for block in view.blocks if block.kind != "title"]
        return view.changed(blocks=(*title, *rest)) if title else view

    async def _sight(self, request: Request, card: Card, run: Run | None) -> Sight:
        private = self._is_private(self._sending.at(card.place))
        secret = any(isinstance(field, SecretField) for field in request.question.fields)
        conversation = await self._conversation(request.conversation)
        asks = next(iter(request.question.responders), run.starter.id if run is not None else None)
        link = None if secret and not private else self._link(request.id)
        if secret and private and request.state == "open" and conversation is not None and self._ticket is not None:
            link = await self._ticket(request.id, conversation.owner)
        asked = None if private or asks is None else await self._people.account(asks, prefix(card.place))
        written = private and self._written
        return Sight(self._sending.limits, private, self._clock, link, person=asked, written=written)

    async def _request(self, id: str) -> Request | None:
        at = self._broker.store.partition(id)
        if at is None:
            return None
        model = (await self._broker.store.read(at, [("request", id)]))[("request", id)].model
        return model if isinstance(model, Request) else None

    async def _conversation(self, id: str) -> Conversation | None:
        at = self._broker.store.partition(id)
        if at is None:
            return None
        model = (await self._broker.store.read(at, [("conversation", id)]))[("conversation", id)].model
        return model if isinstance(model, Conversation) else None
