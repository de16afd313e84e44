"""Conversations, processes and what is remembered: reset, deleted, shrunk; leases and listeners; grants withdrawn.

Delete is one commit and asks nobody's leave: fences rise, requests close, contents go; a later write finds nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

from core.life.access import may_delete, may_see, may_start
from core.life.audit import note
from core.life.closing import blank, forget_past, settle, stub
from core.life.decision import Hint, Owe, Refusal, Settle, Shrink, Unready, Untimer, Wipe
from core.life.draft import Draft
from core.life.event import Delete, Reset, ShrinkDue, Stop
from core.life.living import Beat, Hold, Leave, Stray, Swept
from core.life.memory import recall, remember
from core.life.overhearing import forget
from core.life.result import Deleted, Kept, Opened
from core.life.run import stop, tell_workers, turns_of
from core.life.sealing import drop
from core.listening import Listener, Listeners
from core.model import Conversation, Origin, Run, Turn
from core.question import Cancelled

UNKNOWN = Refusal("unknown", "there is no such conversation")


def reset(d: Draft, e: Reset) -> Opened | Refusal:
    """Lay a new conversation at an origin. In the old one what waits for an answer is canceled; what works goes on."""
    meant = f"open {e.origin}"
    if (known := recall(d, e.key, e.person, Opened, meant)) is not None:
        return known
    pointer = d.origin(e.origin)
    before = d.conversation(pointer.conversation) if pointer is not None else None
    if before is not None and not may_start(e.person, before):
        return UNKNOWN
    fresh = Conversation(
        id=d.ids("c"),
        origin=e.origin,
        owner=e.person,
        private=e.private,
        people=e.people,
        agent=e.agent,
        created_ms=d.now,
        changed_ms=d.now,
    )
    for id in before.waiting if before is not None else ():
        stop(d, Stop(id, "user_canceled", e.person))
    d.spare = False
    d.put(("conversation", fresh.id), fresh)
    d.put(("origin", e.origin), Origin(conversation=fresh.id))
    return remember(d, e.key, e.person, Opened(conversation=fresh.id, origin=e.origin), meant)


def delete(d: Draft, e: Delete) -> Deleted | Refusal:
    """Delete a conversation whatever goes on in it; what is not proved to have stopped is told."""
    conversation = d.conversation(e.conversation)
    if conversation is None or not may_see(e.person, conversation):
        return UNKNOWN
    meant = f"delete {e.conversation}"
    if (known := recall(d, e.key, e.person, Deleted, meant)) is not None:
        return known
    if conversation.deleted:
        return Refusal("gone", "this conversation was deleted already")
    if not may_delete(e.person, conversation):
        return Refusal("not_allowed", "only who began this conversation, or an approver, may delete it")
    note(d, "delete", e.person, conversation, where=e.via)
    unproved: list[Turn] = []
    lists = (conversation.queue, conversation.waiting, conversation.paused, conversation.stopping)
    every = (conversation.live, *conversation.ended, *(id for ids in lists for id in ids))
    ids = {id: None for id in every if id is not None}
    for id in ids:
        run = d.run(id)
        if run is not None:
            unproved.extend(_erase(d, run))
    d.put(
        ("conversation", conversation.id),
        Conversation(
            id=conversation.id,
            origin=conversation.origin,
            owner=conversation.owner,
            private=conversation.private,
            people=conversation.people,
            agent=conversation.agent,
            created_ms=conversation.created_ms,
            changed_ms=d.now,
            deleted=True,
            unproved=tuple(unproved),
        ),
    )
    pointer = d.origin(conversation.origin)
    if pointer is not None and pointer.conversation == conversation.id:
        d.put(("origin", conversation.origin), None)
    forget(d, conversation.origin)
    if d.grants(conversation.id).all:
        d.put(("grants", conversation.id), None)
    d.want(Wipe("conversation", conversation.id), Untimer("shrink", conversation.id))
    d.want(Hint("deleted", conversation.id), Hint("journal", conversation.id))
    return remember(d, e.key, e.person, Deleted(conversation=conversation.id, unproved=tuple(unproved)), meant)


def _erase(d: Draft, run: Run) -> tuple[Turn, ...]:
    """Take a run away: stubs of its requests stay, its worker is told to stop."""
    forget_past(d, run)
    for id in run.requests:
        request = d.request(id)
        if request is None:
            continue
        if request.state != "settled":
            request = settle(d, request, Cancelled(cause="deleted"), None, None)
        d.save_request(request, question=blank(request.question), answer=stub(request.answer), delivered=True)
        d.want(Wipe("request", id))
    tell_workers(d, run)
    drop(d, run, run.secrets)
    d.put(("run", run.id), None)
    d.want(Unready(run.id), Untimer("free", run.id), Settle("stopping", run.id), Wipe("run", run.root))
    return turns_of(run)


def shrink(d: Draft, e: ShrinkDue) -> Kept | Refusal:
    """A journal was kept long enough after its last run: only its end stays, so that its numbers go on."""
    conversation = d.conversation(e.conversation)
    if conversation is None or conversation.deleted:
        return Refusal("gone", f"conversation {e.conversation!r} is gone")
    if conversation.live is not None or conversation.queue:
        return Refusal("busy", f"a run of {e.conversation!r} works")
    d.want(Shrink(conversation.id), Untimer("shrink", conversation.id))
    return Kept()


def beat(d: Draft, e: Beat) -> Kept | Refusal:
    """A process says that it lives, and what it listens to; one that was swept meanwhile has to begin anew."""
    known = d.incarnation(e.incarnation.id)
    if known is None and not e.first:
        return Refusal("gone", f"the lease of {e.incarnation.id!r} lapsed and was swept: take a new one")
    d.put(("incarnation", e.incarnation.id), e.incarnation)
    d.want(Owe("leases", e.incarnation.id, e.incarnation.until_ms))
    if e.serves:
        listeners = d.listeners()
        others = tuple(one for one in listeners.all if one.who != e.incarnation.id and one.until_ms > d.now)
        who, until = e.incarnation.id, e.incarnation.until_ms
        mine = tuple(
            Listener(prefix=one.prefix, match=one.match, accept=one.accept, who=who, until_ms=until) for one in e.serves
        )
        was = {_who(one) for one in listeners.all if one.until_ms > d.now}
        fence = listeners.fence + (was != {_who(one) for one in (*others, *mine)})
        d.put(("listeners", ""), Listeners(all=(*others, *mine), fence=fence))
    return Kept()


def _who(one: Listener) -> tuple[str, ...]:
    """Who listens to what, whatever the time."""
    return (one.who, one.prefix, one.match, *one.accept)


def leave(d: Draft, e: Leave) -> Kept | Refusal:
    """A process is gone: its lease ends, so that a waking zombie meets nothing; who it was stays until it is swept."""
    incarnation = d.incarnation(e.incarnation)
    if incarnation is not None:
        if e.lapsed:
            if incarnation.until_ms > d.now:
                return Refusal("conflict", f"{e.incarnation!r} lives")
            d.hold(from_ms=incarnation.until_ms)
        d.put(("incarnation", e.incarnation), None)
        d.put(("incarnation", ghost(e.incarnation)), incarnation)
    d.want(Owe("leases", e.incarnation, d.now), Hint("timer"))
    listeners = d.listeners()
    others = tuple(one for one in listeners.all if one.who != e.incarnation)
    if others != listeners.all:
        d.put(("listeners", ""), Listeners(all=others, fence=listeners.fence + 1))
    return Kept()


def ghost(incarnation: str) -> str:
    """The name under which a process that is gone is remembered until all that it held is seen to have ended."""
    return f"{incarnation}!"


def swept(d: Draft, e: Swept) -> Kept | Refusal:
    """What a process held that is gone was settled; until all of it is seen to have ended, it is remembered."""
    if d.incarnation(e.incarnation) is not None:
        return Refusal("conflict", f"{e.incarnation!r} lives")
    if e.open:
        d.want(Owe("leases", e.incarnation, d.now + d.spans.proof_ms))
        return Kept()
    if d.incarnation(ghost(e.incarnation)) is not None:
        d.put(("incarnation", ghost(e.incarnation)), None)
    d.want(Settle("leases", e.incarnation))
    return Kept()


def hold(d: Draft, e: Hold) -> Kept | Refusal:
    """Take or renew what only one may hold; the others stand by."""
    held = d.one(e.name)
    if held is not None and held.id != e.incarnation.id and held.until_ms > d.now:
        return Refusal("busy", f"{held.id!r} holds {e.name!r}", {"until": held.until_ms})
    if held is not None and held.id != e.incarnation.id:
        d.hold(from_ms=held.until_ms)
    d.put(("incarnation", f"one:{e.name}"), e.incarnation)
    return Kept()


def stray(d: Draft, e: Stray) -> Kept:
    """A timer that has nothing to do any more goes."""
    d.want(Untimer(e.what, e.id, e.at_ms))
    return Kept()


@dataclass(frozen=True, slots=True)
class Bind:
    """The list of people of a place with several people changed."""

    origin: str
    people: tuple[str, ...]


def bind(d: Draft, e: Bind) -> Kept:
    """The list of people of a place changed; it counts for the conversation there at once."""
    pointer = d.origin(e.origin)
    conversation = d.conversation(pointer.conversation) if pointer is not None else None
    if conversation is not None and not conversation.private and conversation.people != e.people:
        listed = dict.fromkeys((*conversation.people, *e.people))
        d.save_conversation(conversation, people=e.people)
        d.want(Hint("journal", conversation.id), *(Hint("asked", person) for person in listed))
    return Kept()
