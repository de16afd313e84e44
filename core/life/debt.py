"""What front ends owe their people after a change: cards to show and edit, texts to bring.

Worked out when a draft is closed, from the documents before and after, so that no rule can forget it:

    unshown   a request is open and has a place (its origin, its copies) without a card
    debt      a card shows an older revision than its request, or its run's status, has
    outbox    a conversation of a platform has history that was not brought there
    asked     an open request names who may answer it: it is in their list, wherever it was asked; their pages are told

The dashboard reads the state itself and is owed nothing. Source: DESIGN sections 1 and 8.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from core.life.decision import Hint, Owe, Settle, Write
from core.model import TERMINAL, Conversation, Run
from core.question import Request

if TYPE_CHECKING:
    from core.card import Card
    from core.life.draft import Draft

TOLD = frozenset({"agent", "note"})


def prefix(place: str) -> str:
    """The front end that serves a place: `tg` of `tg-42.7`."""
    return place.split("-", 1)[0]


def places(request: Request) -> tuple[str, ...]:
    """Where a request is shown by cards: its origin and its copies; the dashboard needs none."""
    return tuple(
        place for place in dict.fromkeys((request.origin, *request.question.copies)) if prefix(place) != "chat"
    )


def member(card: Card, of: Request | Run | None) -> str:
    """Name a card in the index of debts: a status card by its run, which may have moved."""
    return f"run:{of.id}" if isinstance(of, Run) else card.id


def indebt(d: Draft) -> None:
    """Want what front ends owe after this change."""
    for ref, model in list(d.puts.items()):
        before = d.docs.get(ref)
        match model:
            case Request():
                _request(d, before if isinstance(before, Request) else None, model)
            case Run() if prefix(model.origin) != "chat":
                _run(d, before if isinstance(before, Run) else None, model)
            case None if isinstance(before, Run) and prefix(before.origin) != "chat":
                _gone(d, before)
            case _:
                pass
    for effect in list(d.effects):
        if isinstance(effect, Write) and effect.entry.role in TOLD:
            origin = _origin(d, effect.conversation)
            if origin is not None and prefix(origin) != "chat":
                d.want(Owe("outbox", effect.conversation, d.now, of=prefix(origin)))


def _request(d: Draft, before: Request | None, after: Request) -> None:
    if people := dict.fromkeys(after.question.responders):
        if (before is not None and before.state == "open") != (after.state == "open"):
            owed = after.state == "open"
            for person in people:
                d.want(Owe("asked", after.id, d.now, of=person) if owed else Settle("asked", after.id, of=person))
        if before is None or _seen(before) != _seen(after):
            d.want(*(Hint("asked", person) for person in people))
    for place in places(after) if after.question.copies or prefix(after.origin) != "chat" else ():
        reopened = before is not None and before.state == "withdrawn"
        if after.state == "open" and (reopened or place not in after.cards):
            d.want(Owe("unshown", f"{after.id} {place}", d.now, of=prefix(place)))
        elif after.state != "open":
            d.want(Settle("unshown", f"{after.id} {place}", of=prefix(place)))
    if not after.cards or before is None or _seen(before) == _seen(after):
        return
    d.put(("request", after.id), after.changed(rev=before.rev + 1))
    for place, card in after.cards.items():
        d.want(Owe("debt", card, d.now, of=prefix(place)))


def _seen(request: Request) -> tuple[object, ...]:
    """What a card shows of a request."""
    answer = request.answer
    return (
        request.state,
        answer.outcome if answer else None,
        request.given,
        request.deadline_ms,
        request.delivered,
        request.acted,
        request.run,
    )


def _run(d: Draft, before: Run | None, after: Run) -> None:
    where = prefix(after.origin)
    if after.moved_to is not None or (after.card is None and after.state in TERMINAL):
        d.want(Settle("debt", f"run:{after.id}", of=where))
        return
    if before is not None and (before.shown, before.cause, before.error, before.urgent) == (
        after.shown,
        after.cause,
        after.error,
        after.urgent,
    ):
        return
    d.put(("run", after.id), after.changed(rev=(before.rev if before else after.rev) + 1))
    d.want(Owe("debt", f"run:{after.id}", d.now, of=where))


def _gone(d: Draft, before: Run) -> None:
    """A run was deleted: its status card says so."""
    d.want(Settle("debt", f"run:{before.id}", of=prefix(before.origin)))
    if before.card is not None:
        d.want(Owe("debt", before.card, d.now, of=prefix(before.origin)))


def _origin(d: Draft, conversation: str) -> str | None:
    found = d.puts.get(("conversation", conversation)) or d.docs.get(("conversation", conversation))
    if isinstance(found, Conversation):
        return found.origin
    return d.origin_of.get(conversation)


def lists(conversation: Conversation | None) -> dict[tuple[Literal["mine", "pending"], str], None]:
    """Whose lists name a conversation: of all who may see it; while something is not settled, its front end's too."""
    if conversation is None or conversation.deleted:
        return {}
    found: dict[tuple[Literal["mine", "pending"], str], None] = {}
    people = () if conversation.private else conversation.people
    for person in (conversation.owner.id, *people):
        found["mine", person] = None
        if conversation.unsettled:
            found["pending", person] = None
    where = prefix(conversation.origin)
    if conversation.unsettled and where != "chat":
        found["pending", where] = None
    return found
