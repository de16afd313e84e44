"""How Discord says no: a status, a code, a message, and for bad forms what is wrong where."""

from __future__ import annotations

from collections.abc import Iterable

from tests.standins.discord.schema import Wrong
from tests.standins.discord.shapes import Json

CODES: dict[int, tuple[int, str]] = {
    0: (404, "404: Not Found"),
    10003: (404, "Unknown Channel"),
    10004: (404, "Unknown Guild"),
    10007: (404, "Unknown Member"),
    10008: (404, "Unknown Message"),
    10013: (404, "Unknown User"),
    10015: (404, "Unknown Webhook"),
    10062: (404, "Unknown interaction"),
    10063: (404, "Unknown application command"),
    30046: (429, "Maximum number of edits to messages older than 1 hour reached. Try again later"),
    40005: (413, "Request entity too large"),
    40060: (400, "Interaction has already been acknowledged."),
    50001: (403, "Missing Access"),
    50003: (403, "Cannot execute action on a DM channel"),
    50005: (403, "Cannot edit a message authored by another user"),
    50006: (400, "Cannot send an empty message"),
    50007: (403, "Cannot send messages to this user"),
    50013: (403, "Missing Permissions"),
    50024: (400, "Cannot execute action on this channel type"),
    50027: (401, "Invalid Webhook Token"),
    50035: (400, "Invalid Form Body"),
    50083: (400, "Thread is archived"),
    50109: (400, "The request body contains invalid JSON."),
    50278: (403, "Cannot send messages to this user due to having no mutual guilds"),
    160002: (400, "Cannot reply without permission to read message history"),
    160004: (400, "A thread has already been created for this message"),
    160005: (400, "Thread is locked"),
}
"""Discord's codes that the stand-in can answer with: status and words."""


class Refusal(Exception):
    """A call is answered with an error; `wrong` fills `errors` of a bad form."""

    def __init__(self, code: int, wrong: Iterable[Wrong] = (), *, status: int | None = None, message: str = "") -> None:
        known = CODES.get(code, (400, message))
        self.code, self.status, self.message = code, status or known[0], message or known[1]
        self.wrong = tuple(wrong)
        super().__init__(f"{self.status} {self.code} {self.message}: {[str(one) for one in self.wrong]}")

    @property
    def body(self) -> dict[str, Json]:
        """What stands in the answer."""
        made: dict[str, Json] = {"message": self.message, "code": self.code}
        if self.wrong:
            made["errors"] = _nested(self.wrong)
        return made


def bad_form(path: str, code: str, message: str) -> Refusal:
    """A refusal of one field. path: `components.0.label`."""
    return Refusal(50035, [Wrong(tuple(part for part in path.split(".") if part), code, message)])


def _nested(wrong: Iterable[Wrong]) -> Json:
    tree: dict[str, Json] = {}
    for one in wrong:
        level = tree
        for part in one.path:
            below = level.get(part)
            if not isinstance(below, dict):
                below = level[part] = dict[str, Json]()
            level = below
        said = level.get("_errors")
        level["_errors"] = [*(said if isinstance(said, list) else []), {"code": one.code, "message": one.message}]
    return tree
