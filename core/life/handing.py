"""Files as values: is this a question for files that can be answered, and are these files an answer to it.

What is stored of a file is asked where an answer comes in, and told with it; here is only compared. A value holds the
names, so that every surface can tell which file it was, also when the file is gone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase

from core.life.decision import Refusal
from core.model import Json
from core.question import FileField, Handed, Request

MOST = 10
NOTE = 2_000
"""characters of what is said with files"""
SKIP = frozenset({"skip", "none"})
OR_CANCEL = ", or /cancel"
"""what a person in a chat can write instead of an answer"""


def normal_file(field: FileField) -> FileField | str:
    """Bring the wanted kinds into one form; the rule that is broken where nobody could answer."""
    if not 1 <= field.max_files <= MOST:
        return f"max_files must be 1 to {MOST}"
    if field.max_bytes is not None and field.max_bytes < 1:
        return "max_bytes must be at least 1"
    kinds = [kind.strip().lower() for kind in field.types if kind.strip()]
    return field.changed(types=tuple(kind if kind[0] == "." or "/" in kind else f".{kind}" for kind in kinds))


def handed(field: FileField, value: Json, files: Mapping[str, Handed], *, whole: bool) -> list[Json] | str:
    """Turn ids of files into the value that counts; the rule that is broken where they do not fit.

    files: those that exist and that the person may use, by id.
    """
    if not isinstance(value, list):
        return "must be a list of ids of files"
    ids = [_id(one) for one in value]
    if not ids and whole and field.required:
        return "a file is required"
    if len(ids) > field.max_files:
        return f"at most {field.max_files} file{'s are' if field.max_files > 1 else ' is'} taken, not {len(ids)}"
    if len(set(ids)) < len(ids):
        return "each file counts once"
    found = [files.get(id) if id is not None else None for id in ids]
    for id, file in zip(ids, found, strict=True):
        if file is None:
            return f"there is no file {id!r} of yours: upload it first, then give the id that it got"
        if (wrong := _wrong(field, file)) is not None:
            return wrong
    pairs = [(file, _note(one)) for file, one in zip(found, value, strict=True) if file is not None]
    said = [file if note is None else file.changed(note=note) for file, note in pairs]
    return [one.model_dump(mode="json", exclude_none=True) for one in said]


def _wrong(field: FileField, file: Handed) -> str | None:
    if field.max_bytes is not None and file.size > field.max_bytes:
        size = f"{file.size} bytes, and at most {field.max_bytes} are taken"
        return f"{file.name!r} is too large: it has {size}; send a smaller one"
    name, type = file.name.lower(), file.type.partition(";")[0].strip().lower()
    if field.types and not any(name.endswith(kind) or fnmatchcase(type, kind) for kind in field.types):
        return f"{file.name!r} is not of a kind that is wanted: send {' or '.join(field.types)}"
    return None


def _id(value: Json) -> str | None:
    found = value.get("id") if isinstance(value, dict) else value
    return found if isinstance(found, str) else None


def _note(value: Json) -> str | None:
    """What is said with a file; None keeps what was said with it before."""
    found = value.get("note") if isinstance(value, dict) else None
    return found.strip()[:NOTE] if isinstance(found, str) else None


def of_value(value: Json) -> dict[str, Handed]:
    """The files that a stored value names, by id."""
    found: dict[str, Handed] = {}
    for one in value if isinstance(value, list) else ():
        if isinstance(one, dict) and {"id", "name", "type", "size"} <= set(one):
            file = Handed.model_validate(one)
            found[file.id] = file
    return found


def usable(request: Request, values: Iterable[Json], files: Mapping[str, Handed]) -> dict[str, Handed]:
    """The files that may be part of an answer: those that came with it, and those that its form holds already."""
    if not any(isinstance(field, FileField) for field in request.question.fields):
        return {}
    return {**{id: file for value in values for id, file in of_value(value).items()}, **files}


def alike(before: Json, sent: Json) -> bool:
    """Tell whether a value was sent again; files count by their ids."""
    if isinstance(before, list) and isinstance(sent, list) and of_value(before):
        return [_id(one) for one in before] == [_id(one) for one in sent]
    return before == sent


def file_answer(field: FileField, text: str, attachments: tuple[str, ...]) -> list[Json] | Refusal:
    """Read what a person sent as the value of a field: the files, with what was said; or a word that skips it."""
    if attachments:
        first: list[Json] = [{"id": attachments[0], "note": text}] if text.strip() else [attachments[0]]
        return [*first, *attachments[1:]]
    if not field.required and text.strip().rstrip(".!").casefold() in SKIP:
        return []
    skip = "" if field.required else ', or write "skip"'
    return Refusal("choose", f"{wanted(field)} is wanted: send it as an attachment{skip}{OR_CANCEL}")


def wanted(field: FileField) -> str:
    """What is asked for, in words: `a file (.csv or .tsv)`."""
    kinds = f" ({' or '.join(field.types)})" if field.types else ""
    return f"a file{kinds}" if field.max_files == 1 else f"up to {field.max_files} files{kinds}"
