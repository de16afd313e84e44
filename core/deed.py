"""What somebody decided: one line of the audit. Never a value that somebody typed or chose in words, never a secret."""

from __future__ import annotations

from typing import Literal

from core.model import Value

DeedKind = Literal[
    "answer",
    "cancel",
    "pause",
    "abort",
    "resume",
    "revert",
    "extend",
    "copy",
    "delete",
    "grant.used",
    "grant.removed",
    "accept_stopped",
    "freeze",
    "thaw",
    "invite",
    "uninvite",
    "join",
    "role",
    "remove",
    "pair",
    "unpair",
    "bind",
    "token",
    "revoke",
    "trimmed",
]


class Deed(Value):
    """One decision. by: the person's id; where: the surface (`chat`, `tg`, `api`, `cli`), as far as it is known.

    tool, digest: of what was approved or denied. outcome: `accepted`, `declined`, or the state that a stop led to.
    picked: ids of the options that were picked. after_ms: since it was asked. whom: the person or account it is about.
    upto: the number of the last line that was let go (`trimmed`).
    """

    kind: DeedKind
    at: int
    by: str = ""
    where: str | None = None
    conversation: str | None = None
    origin: str | None = None
    run: str | None = None
    request: str | None = None
    tool: str | None = None
    digest: str | None = None
    outcome: str | None = None
    picked: tuple[str, ...] = ()
    proof: bool = False
    after_ms: int | None = None
    whom: str | None = None
    role: str | None = None
    scopes: tuple[str, ...] = ()
    reason: str | None = None
    upto: int | None = None
