"""How an agent asks a person: confirm, choose, ask, files, form; each waits for the answer, over parks and restarts.

This file must not know how a question waits; what it is made of is in `asking.py`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Literal, TypedDict, Unpack, overload

from core import asking
from core.asking import Approval, Format, OptionLike
from core.errors import SaysoError
from core.files import File
from core.life.sealing import handle_of
from core.model import Json
from core.question import Accepted, ChoiceField, ConfirmField, FileField, Option, Question, TextField
from core.secret import Secret


class NotYet(SaysoError):
    """This release cannot do that yet; the text says what will bring it."""


class How(TypedDict, total=False):
    """How a form is asked; timeout in seconds, the rest as for every question."""

    message: str
    timeout: float | None
    copies: Sequence[str]
    responders: Sequence[str]


class Asks(ABC):
    """The verbs that ask. Each raises `Denied` when the person says no, and `NotAskable` when nobody could answer.

    copies: places of other chats where the question is shown, too. responders: who may answer it, and nobody else; ids
    of people.
    """

    @abstractmethod
    async def _ask(self, verb: str, question: Question) -> Accepted:
        """Ask, and wait for a yes."""

    async def confirm(
        self,
        title: str,
        *,
        tool: str | None = None,
        arguments: Mapping[str, Json] | None = None,
        message: str = "",
        restricted: bool = False,
        edit_schema: Mapping[str, Json] | None = None,
        timeout: float | None = None,
        copies: Sequence[str] = (),
        responders: Sequence[str] = (),
        options: Sequence[Option] | None = None,
    ) -> Approval:
        """Ask for a yes. With `tool` it approves exactly one call of it with these arguments, shown whole.

        edit_schema: a JSON schema within which the person may change the arguments; act with those of the result.
        timeout: seconds; None is the default for confirmations, 0 waits without end.

        Raises: `Denied` when a person says no.
        """
        question = asking.confirmation(
            title,
            tool=tool,
            arguments=arguments,
            message=message,
            restricted=restricted,
            edit_schema=edit_schema,
            timeout=timeout,
            given=options,
        )
        question = asking.routed(question, copies, responders)
        return asking.approval(question, await self._ask("confirm", question))

    @overload
    async def choose(
        self,
        title: str,
        options: Sequence[OptionLike],
        *,
        multiple: Literal[False] = False,
        allow_other: bool = False,
        message: str = "",
        timeout: float | None = None,
        copies: Sequence[str] = (),
        responders: Sequence[str] = (),
    ) -> str: ...
    @overload
    async def choose(
        self,
        title: str,
        options: Sequence[OptionLike],
        *,
        multiple: Literal[True],
        allow_other: bool = False,
        min: int = 0,
        max: int | None = None,
        message: str = "",
        timeout: float | None = None,
        copies: Sequence[str] = (),
        responders: Sequence[str] = (),
    ) -> list[str]: ...
    async def choose(
        self,
        title: str,
        options: Sequence[OptionLike],
        *,
        multiple: bool = False,
        allow_other: bool = False,
        min: int = 0,
        max: int | None = None,
        message: str = "",
        timeout: float | None = None,
        copies: Sequence[str] = (),
        responders: Sequence[str] = (),
    ) -> str | list[str]:
        """Let the person pick one option, or several; returns the whole text of a plain option, the id of one with it.

        options: texts, or objects with `label`, `description` and perhaps `id`; blank ones are left out.
        allow_other: the person may write something else, and that text is returned.

        Raises: `NotAskable` when there is nothing to pick; `Denied` when the person refuses to.
        """
        field = asking.choice_field("choice", "", options, multiple=multiple, allow_other=allow_other, min=min, max=max)
        picked = await self._one("choose", _question(title, field, message, timeout, copies, responders))
        if multiple:
            return [str(one) for one in picked] if isinstance(picked, list) else [str(picked)]
        return str(picked)

    @overload
    async def ask(
        self,
        title: str,
        *,
        format: Literal["integer"],
        message: str = "",
        timeout: float | None = None,
        copies: Sequence[str] = (),
        responders: Sequence[str] = (),
    ) -> int: ...
    @overload
    async def ask(
        self,
        title: str,
        *,
        format: Literal["number"],
        message: str = "",
        timeout: float | None = None,
        copies: Sequence[str] = (),
        responders: Sequence[str] = (),
    ) -> float: ...
    @overload
    async def ask(
        self,
        title: str,
        *,
        format: Literal["text", "multiline", "email", "url", "date"] = "text",
        pattern: str | None = None,
        placeholder: str | None = None,
        message: str = "",
        timeout: float | None = None,
        copies: Sequence[str] = (),
        responders: Sequence[str] = (),
    ) -> str: ...
    async def ask(
        self,
        title: str,
        *,
        format: Format = "text",
        pattern: str | None = None,
        placeholder: str | None = None,
        message: str = "",
        timeout: float | None = None,
        copies: Sequence[str] = (),
        responders: Sequence[str] = (),
    ) -> str | int | float:
        """Ask for a text, or for a number, an address or a date, by its format. Raises: `Denied`."""
        field = asking.text_field("text", "", format=format, pattern=pattern, placeholder=placeholder)
        given = await self._one("ask", _question(title, field, message, timeout, copies, responders))
        if format == "integer":
            return int(str(given))
        return float(str(given)) if format == "number" else str(given if given is not None else "")

    async def ask_file(
        self,
        title: str,
        *,
        types: Sequence[str] = (),
        max_bytes: int | None = None,
        message: str = "",
        timeout: float | None = None,
        copies: Sequence[str] = (),
        responders: Sequence[str] = (),
    ) -> File:
        """Ask for one file; it has a `name`, a `type` and a `size`, and `run.content` reads it.

        types: endings of names (`.csv`) or media types (`image/*`), none for any. max_bytes: how large it may be.

        Raises: `Denied`.
        """
        field = asking.file_field("file", "", types=types, max_bytes=max_bytes)
        given = await self._one("ask_file", _question(title, field, message, timeout, copies, responders))
        return (await self._given(given))[0]

    async def ask_files(
        self,
        title: str,
        *,
        types: Sequence[str] = (),
        max_files: int = 10,
        max_bytes: int | None = None,
        required: bool = True,
        message: str = "",
        timeout: float | None = None,
        copies: Sequence[str] = (),
        responders: Sequence[str] = (),
    ) -> list[File]:
        """Ask for several files, as `ask_file` does for one. required: False lets the person give none.

        Raises: `Denied`.
        """
        field = asking.file_field("file", "", types=types, max_files=max_files, max_bytes=max_bytes, required=required)
        given = await self._one("ask_files", _question(title, field, message, timeout, copies, responders))
        return await self._given(given)

    @overload
    async def form(
        self, title: str, *fields: ConfirmField | ChoiceField | TextField, **how: Unpack[How]
    ) -> dict[str, Json]: ...
    @overload
    async def form(
        self, title: str, *fields: ConfirmField | ChoiceField | TextField | FileField, **how: Unpack[How]
    ) -> dict[str, Json | list[File]]: ...
    async def form(
        self, title: str, *fields: ConfirmField | ChoiceField | TextField | FileField, **how: Unpack[How]
    ) -> dict[str, Json] | dict[str, Json | list[File]]:
        """Ask several things at once; returns a value for each field's id, of a file field a list of files.

        Raises: `Denied`.
        """
        span, message = asking.milliseconds(how.get("timeout")), how.get("message", "")
        question = Question(title=title, message=message, fields=fields, timeout_ms=span)
        question = asking.routed(question, how.get("copies", ()), how.get("responders", ()))
        answer = await self._ask("form", question)
        given = {field.id: asking.value(field, answer) for field in fields}
        files = {field.id: await self._given(given[field.id]) for field in fields if isinstance(field, FileField)}
        return {**given, **files}

    async def secret(
        self,
        name: str,
        title: str = "",
        *,
        store: bool = False,
        keep: bool = False,
        message: str = "",
        timeout: float | None = None,
        copies: Sequence[str] = (),
        responders: Sequence[str] = (),
    ) -> Secret:
        """Ask for a secret; it is given on a one-time page, never in the chat, and only `reveal()` tells it.

        The step that reveals it uses it up when it is done; keep: it stays until the run ends. store: it is offered to
        be kept under its name, and this agent can be given it again by a press.

        Raises: `Denied`.
        """
        question = asking.secret_question(name, title, store=store, message=message, timeout=timeout)
        answer = await self._ask("secret", asking.routed(question, copies, responders))
        return await self._secret(name, handle_of(answer.values.get("secret")) or "", keep)

    @abstractmethod
    async def _secret(self, name: str, handle: str, keep: bool) -> Secret:
        """Find what was given under a handle."""

    @abstractmethod
    async def _given(self, value: Json) -> list[File]:
        """Find the files of an answer."""

    async def _one(self, verb: str, question: Question) -> Json:
        return asking.value(question.fields[0], await self._ask(verb, question))


def _question(
    title: str,
    field: ChoiceField | TextField | FileField,
    message: str,
    timeout: float | None,
    copies: Sequence[str],
    responders: Sequence[str],
) -> Question:
    question = Question(title=title, message=message, fields=(field,), timeout_ms=asking.milliseconds(timeout))
    return asking.routed(question, copies, responders)
