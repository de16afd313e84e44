"""How a file is asked for on a card, and what is stored of the files that somebody sent.

A file comes with a reply to the card, by a form, or on the dashboard, as the platform allows; how much fits through is
said before anybody tries. It knows no platform. Source: C123.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from adapters.platform import Ask, Block, Button, Limits, Prompt, View
from core.files import FileStore, told_of
from core.life.handing import wanted
from core.model import Json, Person
from core.press import payload
from core.question import FileField, Handed, Request
from core.visible import visible

MIB = 1024 * 1024


async def handed(files: FileStore | None, ids: Iterable[str], person: Person) -> dict[str, Handed]:
    """What is stored of files, by id; only of those that this person uploaded."""
    found = [await files.get(id) for id in ids] if files is not None else []
    return {one.id: told_of(one) for one in found if one is not None and one.owner == person.id}


class Seen(Protocol):
    """What a card is drawn for, as far as it matters here."""

    @property
    def limits(self) -> Limits:
        """What the platform allows."""
        ...

    @property
    def private(self) -> bool:
        """Whether it is a one-to-one place."""
        ...

    @property
    def link(self) -> str | None:
        """The address of the request on the dashboard."""
        ...

    @property
    def person(self) -> str | None:
        """Whose reply is wanted."""
        ...


def file_view(request: Request, field: FileField, sight: Seen) -> View:
    """Draw a question for files: what is wanted, how it is given, how large it may be."""
    limits, link = sight.limits, sight.link
    alone = len(request.question.fields) == 1
    blocks = [Block(kind="text", text=visible(field.label, prose=True))] if field.label else []
    skip = () if field.required or not alone else (_skip(request),)
    if not limits.take_max:
        words = f"Give {_what(field)} on the dashboard, under pending: none can be sent from here."
        there = (Button(label="Open on the dashboard", url=link),) if link is not None and limits.links else ()
        rows = tuple((one,) for one in (*there, *skip))
        return View(blocks=(*blocks, Block(kind="small", text=words)), rows=rows)
    how = "." if sight.private else " as a reply to this message."
    blocks.append(Block(kind="small", text=f"Send {_what(field)}{how} {size_words(field, limits)}"))
    forms = limits.form_files and limits.form_max and alone
    give = (Button(label="Choose a file…", payload=payload(request.id, "form"), style="yes"),) if forms else ()
    row = (*give, *skip)
    prompt = Prompt(placeholder="Attach the file", person=sight.person)
    return View(blocks=tuple(blocks), rows=(row,) if row else (), prompt=prompt)


def size_words(field: FileField, limits: Limits) -> str:
    """How large a file may be that is sent through a platform."""
    most = limits.take_max if field.max_bytes is None else min(limits.take_max, field.max_bytes)
    if most == field.max_bytes:
        return f"At most {_size(most)}."
    return f"At most {_size(most)} from here; a larger one on the dashboard."


def file_ask(field: FileField, number: int, label: str, limits: Limits, *, given: bool) -> Ask:
    """Ask for files in a form. given: there are some already, which stay if none are chosen."""
    kinds = f"{' or '.join(field.types)}. " if field.types else ""
    words = visible(f"{kinds}{size_words(field, limits)}", prose=True)
    needed = field.required and not given
    endings = field.types if all(kind.startswith(".") for kind in field.types) else ()
    return Ask(
        id=str(number),
        label=label,
        kind="file",
        description=words,
        required=needed,
        least=int(needed),
        most=field.max_files,
        types=endings,
    )


def named(value: Json) -> str:
    """The names of the files of an answer, with what was said with them."""
    found = [one for one in (value if isinstance(value, list) else ()) if isinstance(one, dict)]
    words = [f"{one['name']} ({one['note']})" if one.get("note") else str(one["name"]) for one in found]
    return ", ".join(visible(one, prose=True) for one in words) or "no file"


def _what(field: FileField) -> str:
    return visible(wanted(field), prose=True)


def _skip(request: Request) -> Button:
    return Button(label="Skip", payload=payload(request.id, "done"))


def _size(size: int) -> str:
    for unit, name in ((MIB, "MB"), (1024, "KB")):
        if size >= unit:
            return f"{round(size / unit, 1):g} {name}"
    return f"{size} bytes"
