"""What goes over the wire of the Bot API: JSON values, the fields of a request, refusals in Telegram's words.

It knows no chat and no rule; `spec` says what is allowed, the methods say what happens.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"
Object: TypeAlias = "dict[str, Json]"


@dataclass(frozen=True)
class Upload:
    """A file that came with a request."""

    name: str
    content: bytes
    mime: str = "application/octet-stream"


@dataclass(frozen=True)
class Refusal(Exception):
    """The server says no. retry_after: seconds; migrate_to: the chat's new id."""

    code: int
    description: str
    retry_after: int | None = None
    migrate_to: int | None = None

    @property
    def answer(self) -> Object:
        """The body of the response."""
        parameters: Object = {}
        if self.retry_after is not None:
            parameters["retry_after"] = self.retry_after
        if self.migrate_to is not None:
            parameters["migrate_to_chat_id"] = self.migrate_to
        body: Object = {"ok": False, "error_code": self.code, "description": self.description}
        if parameters:
            body["parameters"] = parameters
        return body


def bad(words: str) -> Refusal:
    """A 400, as the server words it."""
    return Refusal(400, f"Bad Request: {words}")


def forbidden(words: str) -> Refusal:
    """A 403."""
    return Refusal(403, f"Forbidden: {words}")


def too_many(seconds: int) -> Refusal:
    """A 429 that says how long to wait."""
    return Refusal(429, f"Too Many Requests: retry after {seconds}", retry_after=seconds)


@dataclass(frozen=True)
class Fields:
    """The fields of a request or of an object in it, read by type; what is not there is empty."""

    values: Mapping[str, Json]
    files: Mapping[str, Upload] = field(default_factory=dict[str, Upload])

    def __contains__(self, name: str) -> bool:
        return name in self.values

    def text(self, name: str) -> str:
        """A string, empty when it is not there; numbers in their digits."""
        value = self.values.get(name)
        return value if isinstance(value, str) else "" if value is None else str(value)

    def number(self, name: str) -> int | None:
        """An integer."""
        value = self.values.get(name)
        return value if isinstance(value, int) and not isinstance(value, bool) else None

    def flag(self, name: str) -> bool:
        """A boolean, false when it is not there."""
        return self.values.get(name) is True

    def object(self, name: str) -> Fields | None:
        """An object in the request; it can name the same uploads."""
        value = self.values.get(name)
        return Fields(value, self.files) if isinstance(value, dict) else None

    def list(self, name: str) -> list[Json]:
        """A list, empty when it is not there."""
        value = self.values.get(name)
        return value if isinstance(value, list) else []

    def objects(self, name: str) -> list[Fields]:
        """The objects of a list."""
        return [Fields(one, self.files) for one in self.list(name) if isinstance(one, dict)]

    def upload(self, name: str) -> Upload | None:
        """The file that a field holds or points to with `attach://`."""
        return self.files.get(name) or self.files.get(self.text(name).removeprefix("attach://"))


def as_objects(value: Json) -> list[Object]:
    """The objects in a list."""
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []
