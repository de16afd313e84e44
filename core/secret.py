"""A secret in an agent's hands: masked where it is shown, revealed only on purpose, gone after the step that used it.

This file must not know where the sealed value stands, nor how it was given.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from typing import NoReturn

from pydantic import GetCoreSchemaHandler
from pydantic_core import CoreSchema, core_schema

from core.errors import SaysoError
from core.model import Json
from core.question import Question

MASK = "********"
SHORTEST = 4
"""characters; shorter values are not looked for in what a turn records, they would be found everywhere"""


class SecretGone(SaysoError):
    """A secret was used up by an earlier step, or its run ended; ask for it again."""


class Secret:
    """A secret that a person gave; only `reveal` tells it. name: what was asked for."""

    __slots__ = ("_keep", "_open", "handle", "name", "veil")

    def __init__(self, name: str, handle: str, open: Callable[[], str] | None, *, keep: bool = False) -> None:
        self.name = name
        self.handle = handle
        self._open = open
        self.veil: Veil | None = None
        self._keep = keep

    def reveal(self) -> str:
        """Tell the value. Inside a step, the secret is used up by that step when it is done, unless asked with `keep`.

        Raises: `SecretGone`, `core.vault.Unreadable`.
        """
        if self._open is None:
            raise SecretGone(f"the secret {self.name!r} was used up by an earlier step; ask for it again")
        value = self._open()
        if self.veil is not None:
            self.veil.add(value)
        used = revealed.get()
        if used is not None and not self._keep:
            used.add(self)
        return value

    def forget(self) -> None:
        """Reveal no more."""
        self._open = None

    def __repr__(self) -> str:
        return f"Secret({self.name!r})"

    def __str__(self) -> str:
        return MASK

    def __reduce__(self) -> NoReturn:
        raise TypeError(f"{self!r} is not copied elsewhere: reveal it where it is used")

    @classmethod
    def __get_pydantic_core_schema__(cls, source: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.is_instance_schema(cls, serialization=core_schema.to_string_ser_schema())


revealed: ContextVar[set[Secret] | None] = ContextVar("revealed", default=None)
"""The secrets that were revealed inside the step at work."""


class Veil:
    """What a turn revealed, so that nothing it records repeats it."""

    def __init__(self) -> None:
        self._values: set[str] = set()

    def add(self, value: str) -> None:
        """Hide a value from now on."""
        if len(value) >= SHORTEST:
            self._values |= {value, value.strip()} if len(value.strip()) >= SHORTEST else {value}

    def text(self, text: str) -> str:
        """The text without the values, and without the form that they have inside a quoted text."""
        for form in self._forms():
            text = text.replace(form, MASK)
        return text

    def held(self, text: str) -> int:
        """How many characters at the end of a text may be the beginning of a value that is still being written."""
        forms, at = self._forms(), 0
        while at < len(text) and forms:
            rest = len(text) - at
            if any(len(form) > rest and form.startswith(text[at:]) for form in forms):
                return rest
            at += next((len(form) for form in forms if text.startswith(form, at)), 1)
        return 0

    def _forms(self) -> list[str]:
        """The values, and the forms that they have inside a quoted text, the longest first."""
        return sorted({form for value in self._values for form in (value, repr(value)[1:-1])}, key=len, reverse=True)

    def json(self, value: Json) -> Json:
        """The same for everything inside."""
        match value:
            case str():
                return self.text(value)
            case list():
                return [self.json(one) for one in value]
            case dict():
                return {self.text(name): self.json(one) for name, one in value.items()}
            case _:
                return value

    def fields(self, fields: dict[str, Json]) -> dict[str, Json]:
        """The same for the fields of an entry; they are the same object while nothing was revealed."""
        return {name: self.json(one) for name, one in fields.items()} if self._values else fields

    def question(self, question: Question) -> Question:
        """The same for the words of a question; the call that it approves is shown as it is, it is what runs."""
        if not self._values:
            return question
        return question.changed(title=self.text(question.title), message=self.text(question.message))

    def __bool__(self) -> bool:
        return bool(self._values)
