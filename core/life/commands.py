"""Commands: what a text that begins with a known word and a slash does, on every surface alike.

    /approve ID [code] · /deny ID [reason] · /answer ID text · /abort ID     answer from anywhere (not `cli-` requests)
    /cancel [RUN] · /pause [RUN] · /resume [RUN]                         the run at work, or the one named
    /new                                                                 a new conversation at this place
    /agent NAME                                                          whom the next run of this place is with
    /stop all · /freeze [reason] · /thaw                                 everybody's runs, for owners
    /status /pending /agent /jobs /grants /help                          only show something

Ids may be in any case and have stray spaces. Other text that begins with a slash is ordinary text. Source: C21, C36.
"""

from __future__ import annotations

from core.life.again import resume
from core.life.decision import Refusal
from core.life.draft import Draft
from core.life.event import Abort, Reply, Reset, Resume, Said, Stop
from core.life.place import reset
from core.life.request import abort, reply
from core.life.result import Answered, Opened, Resumed, Stopped, Told
from core.life.rights import UNKNOWN, asked_of, lacks
from core.life.run import stop
from core.life.words import text_answer
from core.model import DISCARDING, Cause, Conversation, Origin, Run
from core.question import Accepted, ConfirmField, Declined

ON_REQUEST = frozenset({"approve", "deny", "answer", "abort"})
ON_RUN = frozenset({"cancel", "pause", "resume"})
SHOWS = frozenset({"status", "pending", "agent", "jobs", "grants", "help", "start"})
ON_ALL = frozenset({"stop", "freeze", "thaw"})
COMMANDS = ON_REQUEST | ON_RUN | ON_ALL | SHOWS | {"new"}
CAUSES: dict[str, Cause] = {"cancel": "user_canceled", "pause": "user_paused"}


def parse(text: str) -> tuple[str, str] | None:
    """Split a known command from its argument; None for ordinary text."""
    if not text.startswith("/"):
        return None
    word, rest = _first(text[1:]) if text[1:2].strip() else ("", "")
    name = word.split("@", 1)[0].casefold()
    return (name, rest) if name in COMMANDS else None


def aimed(e: Said) -> str | None:
    """Tell which request, or run, a text names: by a command, or as the reply to its card."""
    if e.secret is not None:
        return e.secret
    parsed = parse(e.text) if not e.edited else None
    if parsed is not None:
        return _first(parsed[1])[0].casefold() if parsed[0] in ON_REQUEST | ON_RUN else None
    return e.reply_to


def _first(text: str) -> tuple[str, str]:
    """Split the first word from the rest."""
    parts = text.split(None, 1)
    return (parts[0] if parts else "", parts[1].strip() if len(parts) > 1 else "")


def command(
    d: Draft, e: Said, conversation: Conversation | None, name: str, rest: str
) -> Answered | Stopped | Resumed | Opened | Told | Refusal:
    """Do what a command says."""
    place = conversation.id if conversation is not None else None
    if name in ON_REQUEST:
        return _on_request(d, e, name, rest)
    if name == "new":
        origin = conversation.origin if conversation is not None and e.conversation is not None else e.origin
        agent = conversation.agent if conversation is not None else e.agent
        return reset(d, Reset(origin, e.person, agent, e.private, e.people))
    if name in ON_RUN:
        run = _first(rest)[0].casefold() or _meant(conversation, name)
        if not run:
            return Told(command=name, conversation=place)
        refused = lacks(e, "run")
        if refused is not None:
            return refused
        if name == "resume":
            return resume(d, Resume(run, e.person, via=e.via))
        urgent = _is_repeat(d.run_now(run), name)
        return stop(d, Stop(run, CAUSES[name], e.person, urgent=urgent, via=e.via))
    if name in ON_ALL and (refused := lacks(e, "run")) is not None:
        return refused
    return Told(command=name, argument=rest, conversation=place)


def _is_repeat(run: Run | None, name: str) -> bool:
    """Tell whether a run is being stopped by this very command already: said once more, nobody waits any longer."""
    return run is not None and run.state == "stopping" and (name == "cancel") == (run.cause in DISCARDING)


def choose_agent(d: Draft, e: Said, conversation: Conversation, name: str, *, new: bool) -> Told | Refusal:
    """Choose whom the conversation is with from its next run on. Told: `argument` is the agent that it is now."""
    found = next((one for one in e.agents if one.casefold() == name.casefold()), None)
    if found is None:
        names = ", ".join(e.agents) or "none"
        words = f"there is no agent {name!r}; choose one of {names}"
        return Refusal("invalid", words, {"field": "agent", "rule": f"must be one of {names}"})
    if new and e.origin.startswith("chat-"):  # each new one of the page has a place of its own: nothing to choose for
        return Told(command="agent", argument=found)
    if new:
        d.put(("origin", e.origin), Origin(conversation=conversation.id))
    d.save_conversation(conversation, agent=found)
    return Told(command="agent", argument=found, conversation=conversation.id)


def _meant(conversation: Conversation | None, name: str) -> str | None:
    """The run that a command without an id means; None when the person has to choose."""
    if conversation is None:
        return None
    if name == "resume":
        return conversation.paused[0] if len(conversation.paused) == 1 else None
    if conversation.live is not None:
        return conversation.live
    rest = (*conversation.queue, *conversation.waiting, *conversation.stopping)
    return rest[-1] if rest else None


def _on_request(d: Draft, e: Said, name: str, rest: str) -> Answered | Stopped | Told | Refusal:
    id, text = _first(rest)
    id = id.casefold()
    if not id:
        return Told(command=name)
    request = asked_of(d, e, id, "run" if name == "abort" else "answer")
    if isinstance(request, Refusal):
        return request
    if request.origin.startswith("cli-") and request.origin != e.origin:
        return UNKNOWN
    via = e.via
    if request.state == "settled" and (name == "abort" or not request.question.fields):
        return reply(d, Reply(id, Declined(), e.person, via))
    if name == "abort":
        return abort(d, Abort(id, e.person, via=via))
    if name == "deny":
        return reply(d, Reply(id, Declined(reason=text or None), e.person, via))
    if name == "answer":
        answer = text_answer(request, text, e.attachments)
        return answer if isinstance(answer, Refusal) else reply(d, e.answering(id, answer))
    field = next((field for field in request.question.fields if isinstance(field, ConfirmField)), None)
    option = next((o for o in field.options if o.effect == "allow_once"), None) if field is not None else None
    if field is None or option is None:
        return Refusal(
            "invalid", "this question is not an approval: use /answer", {"field": "command", "rule": "approve"}
        )
    yes = Accepted(values={field.id: option.id})
    return reply(d, e.answering(id, yes, proof="proof" in e.rights))
