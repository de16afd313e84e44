"""What came of something, in words: the state line of a card, and the answer to a press or a text.

One vocabulary for all platforms. A notice never holds a value of a secret, and fits into what a platform allows.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from adapters.platform import Button, Form
from adapters.text import clip
from adapters.wanted import named
from core.life.decision import Refusal
from core.life.result import Answered, Changed, Kept, Opened, Result, Resumed, Sent, Stopped, Told
from core.life.sealing import handle_of
from core.model import Cause, Json, Run, Value
from core.press import payload
from core.question import (
    Accepted,
    AnyField,
    Cancelled,
    ChoiceField,
    ConfirmField,
    Declined,
    Expired,
    FileField,
    Request,
    SecretField,
    Undeliverable,
)
from core.visible import visible

PLACES = {"chat": "the dashboard", "tg": "Telegram", "dc": "Discord", "cli": "the terminal", "api": "the API"}
STATES = {
    "queued": "Queued",
    "working": "Working",
    "waiting": "Waiting for you",
    "canceling": "Canceling",
    "pausing": "Pausing",
    "paused": "Paused",
    "completed": "Finished",
    "failed": "Failed",
    "canceled": "Canceled",
}
CAUSES: dict[Cause, str] = {
    "user_paused": "as you asked",
    "user_aborted": "on a question",
    "client_disconnected": "its window was closed",
    "deadline": "nobody answered in time",
    "undeliverable": "a question could be shown nowhere",
    "turn_failed": "it broke",
    "worker_lost": "its worker was lost",
    "shutdown": "Sayso was stopped",
    "deleted": "its conversation was deleted",
    "user_canceled": "canceled",
    "moved": "it goes on elsewhere",
    "reverted": "it went back to its last question",
    "owner_removed": "its owner was removed",
}
Clock = Callable[[int], str]
COMMAND = re.compile(r"`(/\w+)`")
"""a command as the API's texts name it; in a chat it stands without marks, where a tap sends it"""
RUN = re.compile(r"\brun(s?)\b")
"""a run as the API's texts name it; on cards and in chats it is a task"""
NOT_YOURS = "This is not yours to answer."


class Notice(Value):
    """An answer to one person. private: nobody else needs to see it. alert: it tells of something that did not work.

    pending: the outcome is not known yet, the card will show it. seen: the card itself shows it, so that nobody has to
    be told. form: what is to be filled in, on platforms that have forms.
    """

    text: str
    private: bool = True
    alert: bool = False
    pending: bool = False
    seen: bool = False
    form: Form | None = None
    rows: tuple[tuple[Button, ...], ...] = ()


def where(via: str | None) -> str:
    """Name a surface for people."""
    return PLACES.get(via or "", via or "another place")


def outcome(request: Request, run: Run | None, clock: Clock) -> str:
    """The state line of a request's card."""
    answer, who = request.answer, _who(request)
    at = f" · {clock(request.settled_ms)}" if request.settled_ms else ""
    match answer:
        case None if request.state == "withdrawn":
            return "Paused: resume the task to answer this."
        case None:
            return f"Open until {clock(request.deadline_ms)}" if request.deadline_ms else ""
        case Accepted():
            return f"✓ {_chosen(request, answer)}{who}{at}{_receipt(request)}"
        case Declined():
            reason = f": {clip(visible(answer.reason, prose=True), 200)}" if answer.reason else ""
            return f"✗ Denied{who}{at}{reason}{_receipt(request)}"
        case Expired():
            return f"⌛ Nobody answered in time{at}. The task is paused."
        case Cancelled():
            return f"■ {_ended(answer, run)}{at}"
        case Undeliverable():
            return f"⚠ This could be shown nowhere in time{at}."


def _who(request: Request) -> str:
    by = (request.by.name or request.by.id) if request.by is not None else ""
    return f" by {clip(visible(by, prose=True), 60)} on {where(request.via)}" if by else ""


def _receipt(request: Request) -> str:
    """How far an answer has come: recorded, delivered to the run, acted on."""
    if request.acted:
        return " · acted on"
    return " · delivered to the task" if request.delivered else " · recorded"


def _ended(answer: Cancelled, run: Run | None) -> str:
    if answer.cause == "deleted":
        return "The conversation was deleted"
    if answer.cause == "reverted":
        return "Taken back, it is asked again"
    if answer.cause == "owner_removed":
        return "The task was canceled: its owner was removed"
    if answer.cause == "user_canceled":
        by = run.stopped_by if run is not None else None
        name = clip(visible(by.name or by.id, prose=True), 60) if by is not None else ""
        return f"The task was canceled by {name}" if name else "The task was canceled"
    return f"The task has ended{f': {run.shown}' if run is not None else ''}"


def _chosen(request: Request, answer: Accepted) -> str:
    """What was answered, in a few words."""
    if not request.question.fields or not answer.values:
        return "Answered"
    if len(request.question.fields) > 1:
        return "Submitted"
    field = next(iter(request.question.fields))
    value = answer.values.get(field.id)
    if isinstance(field, ConfirmField):
        option = next((one for one in field.options if one.id == value), None)
        changed = ", with changes" if answer.arguments is not None else ""
        return {"allow_run": "Approved for this task", "allow_always": "Approved, always"}.get(
            (option.effect if option else None) or "", "Approved"
        ) + changed
    if isinstance(field, SecretField):
        return "Received"
    if isinstance(field, FileField):
        return f"Received “{clip(named(value), 300)}”" if value else "Skipped"
    return f"Answered “{clip(said(field, value), 300)}”"


def said(field: AnyField, value: Json) -> str:
    """A value in people's words: the labels of what was picked; of a secret only that it came."""
    if isinstance(field, SecretField):
        return "received"
    if isinstance(field, FileField):
        return named(value)
    if isinstance(field, ChoiceField | ConfirmField):
        labels = {option.id: option.label for option in field.options}
        picks = value if isinstance(value, list) else [value]
        return ", ".join(visible(_label(one, labels), prose=True) for one in picks) or "nothing"
    return visible(value if isinstance(value, str) else str(value), prose=True)


def _label(value: Json, labels: dict[str, str]) -> str:
    if isinstance(value, dict):
        other = value.get("other")
        return other if isinstance(other, str) else ""
    return labels.get(value, value) if isinstance(value, str) else str(value)


# ── notices ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def notice(result: Result | Refusal, most: int = 200) -> Notice | None:
    """Say what came of something; None when there is nothing to say (the card or the reply will show it)."""
    if isinstance(result, Refusal):
        return refused(result, most)
    match result:
        case Answered(settled=False):
            return Notice(text="Kept.", seen=True)
        case Answered(repeat=True):
            return Notice(text="Already answered: that is the answer that stands.")
        case Answered(answer=Declined()):
            return Notice(text="Denied.", seen=True)
        case Answered():
            return Notice(text="Accepted.", seen=True)
        case Stopped():
            return Notice(text=_stopped(result), seen=True)
        case Changed(state="canceled" | "paused"):
            return Notice(text="Accepted as stopped; your name stands with it.")
        case Resumed(state="waiting"):
            return Notice(text="Resumed: its question is open again.", seen=True)
        case Resumed():
            return Notice(text="Resumed.", seen=True)
        case Opened():
            return Notice(text="A new conversation begins here.", private=False)
        case Told(command="edited"):
            return Notice(text="I do not read edits: what you wrote first stands. Send it as a new message instead.")
        case Kept(note="cancel"):
            return Notice(text="Cancel discards the task. Press again to confirm.", seen=True)
        case Sent(answered=str()):
            return Notice(text="Accepted.")
        case _:
            return None


def is_secret(said: Result | Refusal) -> bool:
    """Tell whether what was said was meant as a secret, so that it must not stay in the chat."""
    if isinstance(said, Refusal):
        return said.code == "secret"
    values = said.answer.values if isinstance(said, Answered) and isinstance(said.answer, Accepted) else {}
    return any(handle_of(value) is not None for value in values.values())


def _stopped(result: Stopped) -> str:
    words = {"canceled": "Canceled.", "paused": "Paused: /resume goes on.", "canceling": "Canceling…"}
    return words.get(result.state, "Pausing…")


def refused(refusal: Refusal, most: int = 200) -> Notice:
    """Say why nothing was changed; long words are kept for chats, an answer to a press gets the first line."""
    text = refusal.text
    if refusal.code == "paused":
        run = refusal.standing.get("run")
        rows = ((Button(label="Resume", payload=payload(run, "resume", loose=True)),),) if isinstance(run, str) else ()
        return Notice(text="Paused: resume first.", alert=True, rows=rows)
    if refusal.code == "already_answered":
        by, at = refusal.standing.get("by"), refusal.standing.get("where")
        via = where(at) if isinstance(at, str) else "another place"
        no = "denied" if refusal.standing.get("outcome") == "declined" else None
        picked = refusal.standing.get("picked") or no
        text = f"Already answered by {by} on {via}{f': {visible(str(picked), prose=True)}' if picked else ''}."
    text = RUN.sub(r"task\1", COMMAND.sub(r"\1", text[:1].upper() + text[1:]))
    return Notice(text=text if len(text) <= most else clip(text, most), alert=refusal.code != "choose")


def pressed(result: Result | Refusal, verb: str, most: int) -> Notice:
    """Word the outcome of a press."""
    if isinstance(result, Refusal) and result.code == "not_allowed" and "not yours" in result.text:
        return Notice(text=NOT_YOURS, alert=True)
    if isinstance(result, Kept) and verb in ("turn", "back", "skip", "keep"):
        return Notice(text="Done.", seen=True)
    if isinstance(result, Kept) and verb == "show":
        return Notice(text="It is shown again below.")
    return notice(result, most) or Notice(text="Done.")
