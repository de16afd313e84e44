"""What a button carries: `v1:<id>:<verb>`, at most 64 bytes; all meaning is in Redis.

Made here and read here; adapters pass it on. An id names a request, a run or a grant; a verb names what was pressed,
with a number where one is needed. A payload is untrusted: who pressed, and whether it still counts, is decided by
`life` when it arrives.

    o3      pick option 3 (0-based) of the only field       f1o3   pick or toggle option 3 of field 1
    done    submit what was picked or filled in              skip    leave the field shown empty      back  go back
    p2      turn to page 2                                   deny    the no of an approval
    abort   pause the run that asked                         cancel  ask whether the task is to end   sure  end it
    keep    do not end it                                    pause   pause the run                    resume
    stop    stop now (skip a step of the ladder)             retry   try a failed run again           revert
    text    open an input for text                           page    the link to its page on the dashboard
    show    show the question again, here                    withdraw  take back a remembered approval
    g2      open page 2 of its form                          m2, f1m2  what was picked from page 2 of a menu
    reason  open a form to say no with a reason              give    open a form for a secret
    gone    accept the run as stopped

An `x` before the word: the button stands in a list or a notice, not on the card of what it names.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, TypeGuard, get_args

Verb = Literal[
    "option",
    "done",
    "skip",
    "back",
    "turn",
    "deny",
    "abort",
    "cancel",
    "sure",
    "keep",
    "pause",
    "resume",
    "stop",
    "retry",
    "revert",
    "text",
    "page",
    "show",
    "withdraw",
    "form",
    "reason",
    "give",
    "pick",
    "gone",
]
NUMBERED = frozenset({"option", "turn", "form", "pick"})
WORDS: frozenset[str] = frozenset(get_args(Verb)) - NUMBERED
FORMS: frozenset[Verb] = frozenset({"text", "form", "reason", "give"})
"""The verbs of buttons that open a form, where a platform has forms."""

SHAPE = re.compile(r"v1:([a-z0-9]{16}):([a-z0-9]{1,16})")
OPTION = re.compile(r"(?:f(\d{1,2}))?o(\d{1,3})")
TURN = re.compile(r"p(\d{1,3})")
FORM = re.compile(r"g(\d{1,2})")
PICK = re.compile(r"(?:f(\d{1,2}))?m(\d{1,2})")


@dataclass(frozen=True, slots=True)
class Press:
    """A button that was pressed, as far as its payload tells. field, number: 0-based. loose: it stands on no card."""

    id: str
    verb: Verb
    field: int = 0
    number: int = 0
    loose: bool = False


def payload(id: str, verb: Verb, *, field: int = 0, number: int = 0, loose: bool = False) -> str:
    """Make the payload of a button."""
    match verb:
        case "option":
            word = f"f{field}o{number}" if field else f"o{number}"
        case "turn":
            word = f"p{number}"
        case "form":
            word = f"g{number}"
        case "pick":
            word = f"f{field}m{number}" if field else f"m{number}"
        case _:
            word = verb
    return f"v1:{id}:{'x' if loose else ''}{word}"


def read(text: str) -> Press | None:
    """Read a payload; None for what is none of ours."""
    found = SHAPE.fullmatch(text)
    if found is None:
        return None
    id, word = found.groups()
    bare = word.removeprefix("x")
    if _is_word(bare):
        return Press(id, bare, loose=bare != word)
    option = OPTION.fullmatch(word)
    if option is not None:
        return Press(id, "option", int(option[1] or 0), int(option[2]))
    pick = PICK.fullmatch(word)
    if pick is not None:
        return Press(id, "pick", int(pick[1] or 0), int(pick[2]))
    turn, form = TURN.fullmatch(word), FORM.fullmatch(word)
    if form is not None:
        return Press(id, "form", number=int(form[1]))
    return Press(id, "turn", number=int(turn[1])) if turn is not None else None


def _is_word(word: str) -> TypeGuard[Verb]:
    return word in WORDS
