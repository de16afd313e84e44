"""What commands show: state, open questions, resumable runs, remembered approvals, agents, help; with their buttons.

Every list is of the person who asks, and says how to act on what it lists. It knows no platform.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from adapters.emergency import carried_out, while_frozen
from adapters.home import Place
from adapters.outcomes import CAUSES, STATES, Notice
from adapters.platform import Button, Limits
from adapters.text import clip
from core.broker import Broker
from core.life.decision import Refusal
from core.life.result import Told
from core.looks import unsettled
from core.model import Conversation, Grant, Person, Run
from core.press import payload
from core.question import Request, SecretField
from core.visible import visible

HELP = """Write what you want done. Commands:
/status what works now · /pending what waits for you
/cancel end a task · /pause keep it for later · /resume go on
/approve ID · /deny ID reason · /answer ID text · /abort ID
/new a new conversation · /agent NAME another agent · /grants remembered approvals · /jobs background jobs
/stop all, /freeze, /thaw everybody's tasks, for owners"""
GREETING = "Hello. I am Sayso: your agents ask here before they act.\n\n"
UNNAMED = "I cannot see who you are: you write as the group. Press a button, or write as yourself."
Rows = list[tuple[Button, ...]]


class Shows:
    """The answers to commands that only want to be shown something. agents: names, the default first; via: where."""

    def __init__(self, broker: Broker, limits: Limits, agents: Sequence[str], via: str) -> None:
        self._broker = broker
        self._via = via
        self._limits = limits
        self._agents = tuple(agents)

    async def show(self, told: Told, person: Person, at: Place, private: bool) -> Notice:
        """Answer a command. private: nobody else reads what is said at the place."""
        conversation = at.conversation
        read_by_all = None if private or self._limits.whispers else at
        match told.command:
            case "status":
                return await self._status(person, conversation)
            case "pending" | "approve" | "deny" | "answer" | "abort" | "resume":
                return await self._pending(person, read_by_all)
            case "cancel" | "pause":
                return await self._choose(person, told.command, read_by_all)
            case "grants":
                return await self._grants(person, conversation)
            case "stop" | "freeze" | "thaw":
                return await carried_out(self._broker, told, person, self._via)
            case "agent" if told.argument.strip():
                return Notice(text=f"{told.argument} answers here from now on.")
            case "agent":
                return self._agent(conversation)
            case "jobs":
                return await self._jobs(person, conversation)
            case "start":
                return Notice(text=GREETING + HELP)
            case _:
                return Notice(text=HELP)

    async def started(self) -> Notice | None:
        """What to tell somebody whose words started a task: nothing, but while everything is frozen."""
        return await while_frozen(self._broker)

    async def _status(self, person: Person, conversation: Conversation | None) -> Notice:
        runs = await self._runs(person, conversation)
        if not runs:
            return Notice(text="Nothing works here. Write what you want done, or /pending for what waits.")
        rows: Rows = []
        for run in runs:
            stops = (Button(label="Pause", payload=payload(run.id, "pause", loose=True)), _cancel(run))
            rows += [stops] if run.state in ("queued", "working", "waiting") else [_again(run)]
        return self._listed([_line(run) for run in runs], rows)

    async def _jobs(self, person: Person, conversation: Conversation | None) -> Notice:
        """List what runs here without anybody having to wait for it."""
        going = [
            run for run in await self._runs(person, conversation) if run.state in ("queued", "working", "stopping")
        ]
        if not going:
            return Notice(text="No background jobs, and nothing else works here.")
        rows: Rows = [
            (Button(label="Pause", payload=payload(run.id, "pause", loose=True)), _cancel(run)) for run in going
        ]
        return self._listed(["No background jobs. At work here:", *(_line(run) for run in going)], rows)

    async def _pending(self, person: Person, at: Place | None) -> Notice:
        """List open questions and resumable runs, each with its button. at: only what is of this place, see `_of`."""
        found = await self._broker.pending(person)
        requests = [one for one in found.requests if at is None or _of(at, one.conversation) or at.origin in one.cards]
        runs = [run for run in found.runs if at is None or _of(at, run.conversation)]
        more = _elsewhere(len(found.requests) + len(found.runs) - len(requests) - len(runs))
        if not requests and not runs:
            return Notice(text=" ".join(["Nothing waits for you here.", *more]) if more else "Nothing waits for you.")
        lines = [_how(one) for one in requests] + [_line(run) for run in runs] + more
        rows: Rows = [_show(one) for one in requests if not one.origin.startswith("cli-")]
        return self._listed(lines, [*rows, *(_again(run) for run in runs)])

    async def unnamed(self, conversation: Conversation | None) -> Notice:
        """Ask somebody whom the platform does not name to press a button: what is open here, what works here."""
        runs = [await self._broker.peek(id) for id in unsettled(conversation)] if conversation is not None else []
        lines = [UNNAMED]
        rows: Rows = []
        for run in (run for run in runs if run is not None):
            lines.append(_line(run))
            stop = (Button(label="Pause", payload=payload(run.id, "pause", loose=True)), _cancel(run))
            rows.append(_again(run) if run.state == "paused" else stop)
        for id in conversation.open if conversation is not None else ():
            rows.append((Button(label="Show the question again", payload=payload(id, "show", loose=True)),))
        return self._listed(lines, rows)

    async def which(self, person: Person, open: Sequence[str]) -> Notice:
        """Ask which of several open questions is meant."""
        found = [one for one in (await self._broker.pending(person)).requests if one.id in open]
        lines = [_how(one) for one in found]
        return self._listed(
            ["Several questions are open, which one? Reply to its card, or:", *lines], [_show(one) for one in found]
        )

    async def _choose(self, person: Person, verb: str, at: Place | None) -> Notice:
        paused = (await self._broker.pending(person)).runs
        runs = [run for run in paused if at is None or _of(at, run.conversation)]
        if not runs:
            return Notice(text=f"Nothing works here that one could {verb}.")
        lines = ["Nothing works now. These tasks are paused:", *(_line(run) for run in runs)]
        return self._listed(lines, [_again(run) for run in runs])

    async def _grants(self, person: Person, conversation: Conversation | None) -> Notice:
        grants = await self._broker.grants(conversation.id, person) if conversation is not None else None
        if not grants:
            return Notice(text="No approvals are remembered here.")
        lines = [f"{number}. {_grant(grant)}" for number, grant in enumerate(grants, 1)]
        rows: Rows = [
            (Button(label=f"Take back {number}", payload=payload(grant.digest[:16], "withdraw", loose=True)),)
            for number, grant in enumerate(grants, 1)
        ]
        return self._listed(["Remembered approvals of this conversation, each for exactly this call:", *lines], rows)

    def _agent(self, conversation: Conversation | None) -> Notice:
        now = conversation.agent if conversation is not None and conversation.agent in self._agents else None
        now = now or next(iter(self._agents), "")
        lines = [f"• {visible(name)}{' (now)' if name == now else ''}" for name in self._agents]
        return Notice(text="\n".join([*lines, "Choose one with /agent NAME."]))

    async def _runs(self, person: Person, conversation: Conversation | None) -> list[Run]:
        if conversation is None:
            return []
        found = [await self._broker.run(id, person) for id in unsettled(conversation)]
        return [run for run in found if run is not None]

    def _listed(self, lines: list[str], rows: Rows) -> Notice:
        """Lay a list out with as many buttons as the platform allows; the text names everything."""
        kept: Rows = []
        for row in rows:
            if sum(len(one) for one in kept) + len(row) <= self._limits.card_buttons:
                kept.append(row)
        return Notice(text="\n".join(lines), rows=tuple(kept))


def _name(request: Request) -> str:
    subject = request.question.subject
    return f"? {clip(visible(request.question.title or (subject.tool if subject else 'question'), prose=True), 80)}"


def _how(request: Request) -> str:
    """A question, and how to answer it in words; a secret is no word."""
    secret = any(isinstance(field, SecretField) for field in request.question.fields)
    return _name(request) if secret else f"{_name(request)} (/answer {request.id} …)"


def _of(at: Place, conversation: str) -> bool:
    """Whether something is of a place: where everybody reads, nothing else is listed."""
    return at.conversation is not None and at.conversation.id == conversation


def _elsewhere(number: int) -> list[str]:
    return [f"{number} more elsewhere: /pending in a private chat lists all."] if number else []


def _line(run: Run) -> str:
    cause = f" ({CAUSES[run.cause]})" if run.state == "paused" and run.cause is not None else ""
    text = clip(visible(run.message, prose=True).replace("\n", " "), 60)
    return f"{STATES[run.shown]}{cause}: {text or run.agent} · {run.id}"


def _show(request: Request) -> tuple[Button, ...]:
    return (Button(label=clip(_name(request), 30), payload=payload(request.id, "show", loose=True)),)


def _again(run: Run) -> tuple[Button, ...]:
    return (Button(label="Resume", payload=payload(run.id, "resume", loose=True)), _cancel(run))


def _cancel(run: Run) -> Button:
    return Button(label="Cancel", payload=payload(run.id, "sure", loose=True), style="danger")


def _grant(grant: Grant) -> str:
    plain = json.dumps(grant.arguments, ensure_ascii=False) if grant.arguments is not None else ""
    return f"{visible(grant.tool)} {visible(plain)}".strip()


async def withdrawn(broker: Broker, digest: str, person: Person, conversation: Conversation | None, via: str) -> Notice:
    """Take a remembered approval back that a button names by the beginning of its digest."""
    grants = await broker.grants(conversation.id, person) if conversation is not None else None
    found = next((grant for grant in grants or () if grant.digest.startswith(digest)), None)
    if conversation is None or found is None:
        return Notice(text="This approval is not remembered any more.", alert=True)
    for run in (None, *unsettled(conversation)):
        if not isinstance(await broker.withdraw_grant(conversation.id, person, found.digest, run, via=via), Refusal):
            return Notice(text="Taken back: the same call asks again.")
    return Notice(text="This approval is not remembered any more.", alert=True)
