"""The status card of a run, and plain texts: what stands in a chat beside questions.

It shows the state, the end of what is being written, and the buttons that fit the state: Pause and Cancel while it
works, Stop now while it stops, Accept as stopped when nobody saw its end, Resume, Retry, Revert and Cancel while it is
paused. It knows no platform.
"""

from __future__ import annotations

from adapters.buttons import in_rows
from adapters.outcomes import CAUSES, STATES, Notice
from adapters.platform import Block, Button, Limits, Tone, View
from adapters.text import clip
from core.card import Card
from core.model import Entry, Run
from core.press import Verb, payload
from core.visible import visible

TAIL = 600
ERROR = 300


def status_view(run: Run, card: Card, limits: Limits, *, tail: str = "", doing: str = "") -> View:
    """Draw the status of a run. tail: the end of what it is writing; doing: what it says it does."""
    state = STATES[run.shown]
    if run.state == "paused" and run.cause is not None:
        state += f": {CAUSES[run.cause]}"
    if run.state == "working" and doing:
        state += f": {clip(visible(doing, prose=True), 200)}"
    if run.state == "stopping" and run.turn is None:
        state += ": the stop is not confirmed yet"
    mark = {"working": "▶", "paused": "⏸", "completed": "✓", "failed": "✗", "canceled": "■"}.get(run.state, "…")
    blocks = [Block(kind="state", text=f"{mark} {visible(run.agent)} · {state}")]
    if run.error and run.state == "paused":
        blocks.append(Block(kind="quote", text=clip(visible(run.error, prose=True), ERROR)))
    if tail and run.state == "working":
        blocks.append(Block(kind="markdown", text=_end(tail)))
    if card.asking and not run.state.startswith(("completed", "failed", "canceled")):
        blocks.append(Block(kind="state", text="Cancel discards the task. Sure?"))
    blocks.append(Block(kind="small", text=run.id))
    return View(blocks=tuple(blocks), rows=in_rows(_buttons(run, card), limits, 2), of=run.id, tone=_tone(run))


def _tone(run: Run) -> Tone:
    if run.state in ("completed", "failed"):
        return "yes" if run.state == "completed" else "no"
    return "halt" if run.state == "paused" else "over" if run.state == "canceled" else "work"


def _end(text: str) -> str:
    return text if len(text) <= TAIL else f"…{text[-TAIL:]}"


def _buttons(run: Run, card: Card) -> list[Button]:
    if run.state in ("completed", "failed", "canceled"):
        return []
    if card.asking:
        return [_button(run, "Yes, cancel the task", "sure", danger=True), _button(run, "Keep it", "keep")]
    cancel = _button(run, "Cancel", "cancel", danger=True)
    if run.state == "stopping":
        gone = [_button(run, "Accept as stopped", "gone")] if run.turn is None else []
        return [_button(run, "Stop now", "stop", danger=True), *gone]
    if run.state == "paused":
        again = run.cause in ("turn_failed", "worker_lost", "shutdown")
        first = _button(run, "Retry", "retry") if again else _button(run, "Resume", "resume")
        return [first, _button(run, "Revert", "revert"), cancel]
    return [_button(run, "Pause", "pause"), cancel]


def _button(run: Run, label: str, verb: Verb, *, danger: bool = False) -> Button:
    return Button(label=label, payload=payload(run.id, verb), style="danger" if danger else "plain")


def gone_view(id: str) -> View:
    """Draw what is left of something that was deleted or forgotten."""
    return View(
        blocks=(Block(kind="state", text="■ This is over: it was deleted, or is no longer kept."),), of=id, tone="over"
    )


def entry_view(entry: Entry, text: str) -> View:
    """Draw what an agent said, or a note of ours."""
    return View(blocks=(Block(kind="markdown" if entry.role == "agent" else "state", text=text),), of=entry.id)


def notice_view(notice: Notice, *, only: str | None = None) -> View:
    """Draw an answer to one person."""
    return View(blocks=(Block(kind="text", text=notice.text),), rows=notice.rows, only=only)
