"""What a person says: one event, routed by one table, so that a lost race routes it again and never loses it.

    a known command            acts as a command, also while a question is open (words.py)
    a reply to a card          answers that request, also a closed one ("already answered …")
    private, a secret open     never stored as text; sealed, it answers the only request that asks for one
    private, a question open   its answer, or a word on how to answer; nothing is consumed. Files answer the only
                               question that asks for files
    a run queued or working    steers it
    otherwise                  starts a run (behind one that is stopping, beside one that waits or is paused)

Source: DESIGN section 6 ("What a person says"), C09, C11, C26, C28, C33 to C36, C38.
"""

from __future__ import annotations

from collections.abc import Mapping

from core.life.access import may_act, may_see, may_start
from core.life.again import resume
from core.life.check import misplaced
from core.life.commands import choose_agent, command, parse
from core.life.decision import Hint, Log, Refusal
from core.life.draft import Draft
from core.life.event import Forestall, Reply, Resume, Said
from core.life.form import Fill, fill
from core.life.memory import FORESTALLED, remember_said, said_before
from core.life.overhearing import hand_over
from core.life.request import reply
from core.life.result import Answered, Forestalled, Result, Resumed, Sent, Told
from core.life.rights import asked_of, lacks
from core.life.run import cancel_now
from core.life.start import new_run
from core.life.words import NOT_KEPT, is_only_secret, text_answer, without_code, word_answer
from core.model import TERMINAL, Conversation, Json, Origin, Run, Step, digest
from core.question import Accepted, Request

IN_FIELD: Mapping[str, Json] = {"field": "conversation"}
NO_CONVERSATION = Refusal("unknown", "there is no such conversation; leave it out to start a new one", IN_FIELD)
STRAY_MS = 10_000
LOOKED_BACK = 3
STRAY = "this came right after a secret and may belong to it, so it was not kept; if not, write it again in a moment"


def said(d: Draft, e: Said) -> Result | Refusal:
    """Route what a person said."""
    found = _place(d, e)
    if isinstance(found, Refusal):
        return found
    conversation, new = found
    if not new and e.conversation is None and not e.private and not conversation.private:
        conversation = _listed(d, conversation, e.people)
    if not may_start(e.person, conversation):
        if conversation.private:
            return Refusal("unknown", "there is no such conversation", IN_FIELD)
        return Refusal("not_allowed", "you are not on the list of people who may talk to the agent here")
    before = said_before(d, e.key, e.person, mark(e))
    if before is not None and before != FORESTALLED:
        return before
    if e.secret is not None:
        return _secret(d, e, e.secret)
    result = _route(d, e, conversation, new=new, forestalled=before == FORESTALLED)
    if not isinstance(result, Refusal | Told):
        remember_said(d, e.key, e.person, result, mark(e))
    return result


def _place(d: Draft, e: Said) -> tuple[Conversation, bool] | Refusal:
    """Find the conversation, or lay a new one at the origin (stored only with what starts in it)."""
    if e.conversation is not None:
        conversation = d.conversation(e.conversation)
        if conversation is None or not may_see(e.person, conversation):
            return NO_CONVERSATION
        if conversation.deleted:
            return Refusal("gone", "this conversation was deleted; leave it out to start a new one", IN_FIELD)
        return conversation, False
    pointer = d.origin(e.origin)
    conversation = d.conversation(pointer.conversation) if pointer is not None else None
    if conversation is not None and not conversation.deleted:
        return conversation, False
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
    return fresh, True


def _listed(d: Draft, conversation: Conversation, people: tuple[str, ...]) -> Conversation:
    """Who may talk here is what the place says now, not what it said when the conversation began."""
    return conversation if conversation.people == people else d.save_conversation(conversation, people=people)


def _route(d: Draft, e: Said, conversation: Conversation, *, new: bool, forestalled: bool) -> Result | Refusal:
    if e.edited:
        return Told(command="edited", conversation=None if new else conversation.id)
    parsed = parse(e.text)
    if parsed is not None:
        if parsed[0] == "agent" and parsed[1]:
            return choose_agent(d, e, conversation, parsed[1], new=new)
        return command(d, e, None if new else conversation, *parsed)
    if e.reply_to is not None:
        return _to_card(d, e, e.reply_to)
    if e.pending_task is not None:
        return _to_run(d, e, conversation, e.pending_task)
    if conversation.private and conversation.open:
        return _to_open(d, e, conversation)
    stray = _stray(d, e, conversation) if not new and not e.origin.startswith(("chat-", "cli-")) else None
    if stray is not None:
        return stray
    steered = _steered(d, e, conversation)
    if steered is not None:
        return _steer(d, e, conversation, steered)
    return _start(d, e, conversation, new=new, forestalled=forestalled)


def _start(d: Draft, e: Said, conversation: Conversation, *, new: bool, forestalled: bool) -> Sent | Refusal:
    wrong = misplaced(e.deliver_to) if e.deliver_to is not None else None
    if wrong is not None or (e.deliver_to is not None and conversation.origin.startswith("cli-")):
        wrong = wrong or "questions of a terminal are answered in its window only"
        return Refusal("invalid", f"'deliver_to': {wrong}", {"field": "deliver_to", "rule": wrong})
    if new:
        d.put(("origin", e.origin), Origin(conversation=conversation.id))
        d.put(("conversation", conversation.id), conversation)
    agent = e.with_agent or conversation.agent
    heard = _heard(d, conversation, e)
    files, to = e.attachments, e.deliver_to
    run = new_run(d, conversation, e.person, e.text, agent, attachments=files, overheard=heard, deliver_to=to)
    if forestalled:
        conversation = d.conversation(conversation.id) or conversation
        cancel_now(d, conversation, run, e.person)
    return Sent(conversation=conversation.id, run=run.id)


def elsewhere(d: Draft, e: Said) -> Result | Refusal:
    """A reply to a card, or a command with a request's id, whose request lives in another partition than the place."""
    before = said_before(d, e.key, e.person, mark(e))
    if before is not None and before != FORESTALLED:
        return before
    if e.secret is not None:
        return _secret(d, e, e.secret)
    parsed = parse(e.text)
    result = command(d, e, None, *parsed) if parsed is not None else _to_card(d, e, e.reply_to or "")
    if not isinstance(result, Refusal | Told):
        remember_said(d, e.key, e.person, result, mark(e))
    return result


def mark(e: Said) -> str:
    """Name what was said, so that its key cannot stand for something else."""
    meant: list[Json] = [e.text, e.conversation, e.pending_task, e.reply_to]
    more: list[Json] = [e.deliver_to, e.with_agent, len(e.attachments) or None]
    return digest("said", [*meant, *more] if any(more) else meant)


def _secret(d: Draft, e: Said, id: str) -> Answered | Refusal:
    """A secret was written where only its person and we read: its sealed value is the answer, its text is nowhere.

    What came of it is kept under the key without a mark, for that would be a digest of the text.
    """
    request = d.request(id)
    if request is None or not e.private or not is_only_secret(request):
        return Refusal("secret", NOT_KEPT)
    value: Json = {"secret": next(iter(e.sealed), "")}
    answer = Accepted(values={request.question.fields[0].id: value})
    told = reply(d, Reply(id, answer, e.person, e.via, None, sealed=e.sealed))
    if isinstance(told, Answered):
        remember_said(d, e.key, e.person, told)
        settled = d.request(id)
        if settled is not None:
            d.save_request(settled, written=True)
    return told


def _stray(d: Draft, e: Said, conversation: Conversation) -> Refusal | None:
    """A message right after a secret that came as one may be the rest of it, and is not kept. Source: C128."""
    run = d.run(conversation.newest) if e.private and conversation.newest is not None else None
    for id in (*run.requests, *run.past)[-LOOKED_BACK:] if run is not None else ():
        given = d.request(id)
        if given is not None and given.written and given.by == e.person and d.now - (given.settled_ms or 0) < STRAY_MS:
            return Refusal("secret", STRAY)
    return None


def _unkept(request: Request) -> Refusal:
    """A text came where a secret is asked for. asked: the request that a private place may give it to, sealed."""
    return Refusal("secret", NOT_KEPT, {"asked": request.id} if is_only_secret(request) else {})


def _to_card(d: Draft, e: Said, id: str) -> Answered | Refusal:
    request = asked_of(d, e, id)
    if isinstance(request, Refusal):
        return request
    if request.state == "open" and len(request.question.fields) > 1:
        return _fill(d, e, request)
    text, proof = _proved(e, request)
    answer = text_answer(request, text, e.attachments)
    if isinstance(answer, Refusal) and request.state == "open":
        return _unkept(request) if answer.code == "secret" else answer
    sent = word_answer(request, text) if isinstance(answer, Refusal) else answer
    return reply(d, e.answering(id, sent, proof=proof))


def _fill(d: Draft, e: Said, request: Request) -> Answered | Refusal:
    return fill(d, Fill(request.id, e.text, e.person, e.via, e.origin, e.seen_at, e.key, e.attachments, e.files))


def _proved(e: Said, request: Request) -> tuple[str, bool]:
    """What was said to a request, and whether a one-time code came with it, for one that needs a proof."""
    proof = request.question.restricted and "proof" in e.rights
    return (without_code(e.text) if proof else e.text), proof


def _to_open(d: Draft, e: Said, conversation: Conversation) -> Answered | Refusal:
    """A question is open in a private place: the text is its answer, or the person is told how to answer."""
    refused = lacks(e, "answer")
    if refused is not None:
        return refused
    found = [request for id in conversation.open if (request := d.request(id)) is not None]
    if any(field.kind == "secret" for request in found for field in request.question.fields):
        return _unkept(found[0]) if len(found) == 1 else Refusal("secret", NOT_KEPT)
    if len(found) == 1 and len(found[0].question.fields) > 1 and e.origin in found[0].cards:
        return _fill(d, e, found[0])
    kind = "file" if e.attachments and any(_only(one, "file") for one in found) else "text"
    fitting = [one for one in found if _only(one, kind)]
    if len(fitting) == 1:
        answer = text_answer(fitting[0], e.text, e.attachments)
        return answer if isinstance(answer, Refusal) else reply(d, e.answering(fitting[0].id, answer))
    if len(found) > 1:
        lines = [f"{n}. {r.question.title or 'question'} (/answer {r.id} …)" for n, r in enumerate(found, 1)]
        return Refusal(
            "choose", "several questions are open, which one?\n" + "\n".join(lines), {"open": list(conversation.open)}
        )
    text, proof = _proved(e, found[0])
    answer = text_answer(found[0], text, e.attachments)
    return answer if isinstance(answer, Refusal) else reply(d, e.answering(found[0].id, answer, proof=proof))


def _only(request: Request, kind: str) -> bool:
    """Tell whether a request asks for one thing, of this kind."""
    return [field.kind for field in request.question.fields] == [kind]


def _to_run(d: Draft, e: Said, conversation: Conversation, id: str) -> Result | Refusal:
    """A program names the run that it means: it is resumed, or steered while it works."""
    run = d.run_now(id)
    if run is None or run.conversation != conversation.id or not may_act(e.person, conversation, run):
        return Refusal("unknown", "there is no such run in this conversation")
    if run.state in TERMINAL:
        return Refusal("ended", f"run {run.id!r} is {run.state}", {"state": run.state})
    if run.state in ("working", "queued"):
        return _steer(d, e, conversation, run) if e.text.strip() else Refusal("conflict", "conflict: run is working")
    if run.state != "paused":
        return Refusal("conflict", f"conflict: run is {run.shown}", {"state": run.shown, "run": run.id})
    refused = lacks(e, "run")
    if refused is not None:
        return refused
    if e.text.strip():
        _keep_steer(d, e, run)
    resumed = resume(d, Resume(run.id, e.person, via=e.via))
    if isinstance(resumed, Resumed):
        return Sent(conversation=conversation.id, run=resumed.run, resumed=True)
    return resumed


def _steered(d: Draft, e: Said, conversation: Conversation) -> Run | None:
    """The run that a text steers: the one at work, else the last one in the queue; never one that is stopping."""
    for id in (conversation.live, *reversed(conversation.queue)):
        run = d.run(id) if id is not None else None
        if run is not None and run.state in ("working", "queued") and may_act(e.person, conversation, run):
            return run
        if run is not None and run.state == "stopping":
            return None
    return None


def _steer(d: Draft, e: Said, conversation: Conversation, run: Run) -> Sent:
    _keep_steer(d, e, run)
    return Sent(conversation=conversation.id, run=run.id, steer=True)


def _heard(d: Draft, conversation: Conversation, e: Said) -> Json:
    """What people said among themselves before, where there are several."""
    return None if conversation.private else hand_over(d, conversation.origin, e.heard)


def _keep_steer(d: Draft, e: Said, run: Run) -> None:
    """Store what was said in the run's journal; it is given to the run before its next call."""
    run = d.save_run(run, steered=run.steered + 1)
    conversation = d.conversation(run.conversation)
    heard = _heard(d, conversation, e) if conversation is not None else None
    entry = d.write(run.conversation, "person", e.text, run.id, e.person, steer=True, overheard=heard)
    data: dict[str, Json] = {
        "text": e.text,
        "by": e.person.name or e.person.id,
        "entry": entry,
        "attachments": [*e.attachments],
    }
    d.want(Log(run.root, Step(kind="steer", key=f"steer#{run.steered}", fence=run.fence, at=d.now, data=data)))
    d.want(Hint("run", run.id))
    d.tell(run.conversation, "status", run.id, steer=e.text, by=e.person.name or e.person.id, entry=entry)


def forestall(d: Draft, e: Forestall) -> Forestalled | Sent | Refusal:
    """A cancel that comes before its start is kept for that key; the start that finds it is canceled."""
    before = said_before(d, e.start_key, e.person)
    if isinstance(before, Sent):
        return before
    if before is None:
        remember_said(d, e.start_key, e.person, FORESTALLED)
    return Forestalled()
