"""JSON shapes: what the API shows of conversations, histories, runs and requests. It decides nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from core.life.request import shown
from core.life.run import facts
from core.model import TERMINAL, Cause, Conversation, Entry, Grant, Json, Person, Run, Shown
from core.question import Request

Render = Callable[[str], str]
WITH_HTML = frozenset({"agent"})
"""roles of entries whose text is Markdown"""


class PersonShape(BaseModel):
    """Somebody, as others see them."""

    id: str
    name: str = ""
    role: str | None = None


class ConversationShape(BaseModel):
    """A conversation in a list. open: how many questions wait in it."""

    id: str
    origin: str
    title: str
    agent: str
    created: int
    changed: int
    state: Literal["idle", "queued", "working", "waiting", "paused", "stopping"]
    open: int
    live: str | None = None
    newest: str | None = None


class EntryShape(BaseModel):
    """One entry of a history; beside these, what its role adds (`request`, `outcome`, `tool`, `attachments` …)."""

    model_config = ConfigDict(extra="allow")

    seq: int
    id: str
    role: Literal["person", "agent", "tool", "request", "note"]
    run: str | None = None
    text: str = ""
    html: str | None = None
    by: PersonShape | None = None
    at: int


class RunShape(BaseModel):
    """A run. The last ones are there when it is stopping or was stopped: requested, seen to end, side effects."""

    run: str
    conversation: str
    title: str | None = None
    agent: str
    state: Shown
    cause: Cause | None = None
    error: str | None = None
    requests: list[str] = Field(default_factory=list[str], description="open, withdrawn, or answered and not delivered")
    created: int
    changed: int
    moved_to: str | None = None
    moved_from: str | None = None
    retry: int | None = Field(default=None, description="its worker was lost; before this moment it is not tried again")
    stop_requested: int | None = None
    ended: int | None = None
    ended_by: str | None = None
    effects: Literal["none", "done", "unknown"] | None = None
    unconfirmed: bool | None = Field(default=None, description="true: told to stop, and nobody saw it end")


class CardShape(BaseModel):
    """A request; `fields` are what is asked, `subject` is what is approved, `outcome` and the rest what came of it.

    foreign: it is of a conversation that the reader cannot see, and names them to answer it.
    """

    model_config = ConfigDict(extra="allow")

    request: str
    run: str
    conversation: str
    origin: str
    state: Literal["open", "withdrawn", "settled"]
    title: str
    fields: list[dict[str, Json]]
    created: int
    message: str | None = None
    deadline: int | None = None
    outcome: str | None = None
    by: str | None = None
    where: str | None = None
    foreign: bool | None = None


class GrantShape(BaseModel):
    """A remembered approval of exactly this tool and these arguments."""

    digest: str
    tool: str
    arguments: Json = None
    since: int
    used: int | None = None
    by: str


class SnapshotShape(BaseModel):
    """A conversation as a page needs it at first paint; follow its events from `seq`."""

    conversation: ConversationShape
    history: list[EntryShape]
    runs: list[RunShape]
    requests: list[CardShape]
    partial: dict[str, dict[str, str]] = Field(description="message id → run and text so far")
    tools: dict[str, dict[str, Json]] = Field(description="call → the tool that runs")
    status: dict[str, str] = Field(description="run → what it said last of what it does")
    seq: int


class HistoryShape(BaseModel):
    """Older entries of a history."""

    history: list[EntryShape]


def person(one: Person) -> PersonShape:
    """Show somebody."""
    return PersonShape(id=one.id, name=one.name or one.id)


def conversation(one: Conversation, *, stopping: bool = False) -> ConversationShape:
    """Show a conversation in a list. stopping: its live run was told to stop."""
    return ConversationShape(
        id=one.id,
        origin=one.origin,
        title=one.title,
        agent=one.agent,
        created=one.created_ms,
        changed=one.changed_ms,
        state="stopping" if stopping else _state(one),
        open=len(one.open),
        live=one.live,
        newest=one.newest,
    )


def _state(one: Conversation) -> Literal["idle", "queued", "working", "waiting", "paused", "stopping"]:
    """What is going on in a conversation, the liveliest first."""
    if one.live is not None:
        return "working"
    if one.queue:
        return "queued"
    if one.open or one.waiting:
        return "waiting"
    if one.stopping:
        return "stopping"
    return "paused" if one.paused else "idle"


def entry(seq: int, one: Entry, data: dict[str, Json], render: Render) -> EntryShape:
    """Show an entry of a history. data: its data, with its files described."""
    plain: dict[str, object] = {
        **data,
        "seq": seq,
        "id": one.id,
        "role": one.role,
        "run": one.run,
        "text": one.text,
        "html": render(one.text) if one.role in WITH_HTML and one.text else None,
        "by": person(one.by) if one.by is not None else None,
        "at": one.at,
    }
    return EntryShape.model_validate(plain)


def run(one: Run, *, asked: str | None = None, title: str | None = None) -> RunShape:
    """Show a run. asked: the id it was asked for by, when it may have moved since."""
    plain: dict[str, object] = {
        "run": one.id,
        "conversation": one.conversation,
        "title": title,
        "agent": one.agent,
        "state": one.shown,
        "cause": one.cause,
        "error": one.error,
        "requests": list(one.requests),
        "created": one.created_ms,
        "changed": one.changed_ms,
        "moved_to": one.id if asked is not None and asked != one.id else one.moved_to,
        "moved_from": one.moved_from,
        "retry": one.retry_ms if one.state == "queued" else None,
    }
    if one.stop_ms is not None and (one.state in ("stopping", "paused") or one.state in TERMINAL):
        plain |= facts(one)
    if one.state == "stopping" and one.turn is None:
        plain["unconfirmed"] = True
    return RunShape.model_validate(plain)


def card(one: Request) -> CardShape:
    """Show a request; its long texts are loaded, so nothing is left out."""
    plain = shown(one)
    plain.pop("body", None)
    return CardShape.model_validate(plain)


def cards(many: Iterable[Request]) -> list[CardShape]:
    """Show requests."""
    return [card(one) for one in many]


def grant(one: Grant) -> GrantShape:
    """Show a remembered approval."""
    return GrantShape(
        digest=one.digest,
        tool=one.tool,
        arguments=one.arguments,
        since=one.since_ms,
        used=one.used_ms,
        by=one.person,
    )
