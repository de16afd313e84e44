"""Remembered approvals: used for exactly the call that was shown, for its person and conversation, until taken back.

    allow_run ──▶ in the run's document, gone with it        allow_always ──▶ in the conversation's grants

What a grant allowed and was not begun yet is taken back with it: `begin` finds no approval and the call asks anew.
Source: DESIGN section 6 (Remembered approvals), C131.
"""

from __future__ import annotations

from core.life.access import may_see
from core.life.audit import note
from core.life.decision import Refusal
from core.life.draft import Draft
from core.life.event import Withdraw
from core.life.result import Kept
from core.life.start import grant_of
from core.model import Approval, Conversation, Grant, Grants, Person, Run
from core.question import Accepted, ConfirmField, Question, Request

GRANTED = "grant:"
"""Begins the name of an approval that a grant gave."""
UNKNOWN = Refusal("unknown", "there is no such conversation")


def granted(d: Draft, conversation: Conversation, run: Run, question: Question, name: str) -> Run | None:
    """The run with an approval of exactly this call, if one is remembered for the person who started it."""
    options = [option for field in question.fields if isinstance(field, ConfirmField) for option in field.options]
    if question.restricted or all(option.effect == "deny" for option in options):
        return None
    approval = Approval(request=f"{GRANTED}{d.ids('q')}", digest=name)
    if any(grant.digest == name for grant in run.grants):
        return d.save_run(run, grants=_used(d, run.grants, name), approvals=(*run.approvals, approval))
    grants = d.grants(conversation.id)
    found = next((grant for grant in grants.all if grant.digest == name and grant.person == run.starter.id), None)
    if found is None:
        return None
    d.put(("grants", conversation.id), Grants(all=_used(d, grants.all, name, found.person)))
    return d.save_run(run, approvals=(*run.approvals, approval))


def _used(d: Draft, grants: tuple[Grant, ...], name: str, person: str | None = None) -> tuple[Grant, ...]:
    def meant(grant: Grant) -> bool:
        return grant.digest == name and person in (None, grant.person)

    return tuple(grant.changed(used_ms=d.now) if meant(grant) else grant for grant in grants)


def remember_grant(
    d: Draft, conversation: Conversation, run: Run, request: Request, answer: Accepted, person: Person
) -> Run:
    """Remember what the person allowed for longer, exactly as shown."""
    found = grant_of(d, request, answer, run.starter)
    if found is None:
        return run
    scope, grant = found
    d.tell(
        conversation.id,
        "grant.added",
        run.id,
        digest=grant.digest,
        tool=grant.tool,
        arguments=grant.arguments,
        scope="this task" if scope == "allow_run" else "always",
        by=person.name or person.id,
    )
    if scope == "allow_run":
        return d.save_run(run, grants=(*(g for g in run.grants if g.digest != grant.digest), grant))
    others = (g for g in d.grants(conversation.id).all if (g.digest, g.person) != (grant.digest, grant.person))
    d.put(("grants", conversation.id), Grants(all=(*others, grant)))
    return run


def withdraw(d: Draft, e: Withdraw) -> Kept | Refusal:
    """Take back a remembered approval, everywhere in its conversation (or in one run); the same call asks again."""
    conversation = d.conversation(e.conversation)
    if conversation is None or conversation.deleted or not may_see(e.person, conversation):
        return UNKNOWN
    meant = d.run_now(e.run) if e.run is not None else None
    if e.run is not None and (meant is None or meant.conversation != conversation.id):
        return Refusal("unknown", "no such approval is remembered here; `/grants` lists them")
    found: list[tuple[str, Grant]] = []
    for run in (meant,) if meant is not None else _unsettled(d, conversation):
        grants = tuple(grant for grant in run.grants if grant.digest != e.digest)
        found += [("this task", grant) for grant in run.grants if grant.digest == e.digest]
        approvals = tuple(one for one in run.approvals if one.used or not _gave(one, e.digest))
        if grants != run.grants or approvals != run.approvals:
            d.save_run(run, grants=grants, approvals=approvals)
    if meant is None:
        grants = d.grants(conversation.id)
        left = tuple(grant for grant in grants.all if grant.digest != e.digest)
        if left != grants.all:
            found += [("always", grant) for grant in grants.all if grant.digest == e.digest]
            d.put(("grants", conversation.id), Grants(all=left))
    if not found:
        return Refusal("unknown", "no such approval is remembered here; `/grants` lists them")
    d.save_conversation(conversation)
    note(d, "grant.removed", e.person, conversation, meant, where=e.via, digest=e.digest)
    scope, gone = found[-1]
    d.tell(
        conversation.id,
        "grant.removed",
        meant.id if meant is not None else None,
        digest=e.digest,
        tool=gone.tool,
        arguments=gone.arguments,
        scope=scope,
        by=e.person.name or e.person.id,
    )
    return Kept()


def _gave(approval: Approval, digest: str) -> bool:
    return approval.digest == digest and approval.request.startswith(GRANTED)


def _unsettled(d: Draft, conversation: Conversation) -> list[Run]:
    live = (conversation.live,) if conversation.live else ()
    ids = (*live, *conversation.queue, *conversation.waiting, *conversation.paused, *conversation.stopping)
    found = (d.run(id) for id in dict.fromkeys(ids))
    return [run for run in found if run is not None]
