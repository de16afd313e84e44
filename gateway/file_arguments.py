"""Files named on the command line: put into the file store, as an upload puts them there. It knows no question."""

from __future__ import annotations

import asyncio
import mimetypes
from collections.abc import Iterable, Mapping
from pathlib import Path

from core.accounts import OWNER
from core.errors import FileRefused
from core.files import FileStore, told_of
from core.life.decision import Refusal
from core.question import Handed

Stored = Mapping[str, list[Handed]]
"""What is stored, by the field that it is for; by "" where no field was named."""


async def stored(files: FileStore, given: Iterable[str], *, named: bool) -> Stored | Refusal:
    """Store files of the owner; nothing is stored when one of them cannot be read. named: as `field=PATH`."""
    wanted = [_named(one) if named else ("", Path(one)) for one in given]
    for field, path in wanted:
        if named and not field:
            return Refusal("invalid", f"{str(path)!r}: this is a form, write --file field=PATH")
        if not await asyncio.to_thread(path.is_file):
            return Refusal("invalid", f"there is no file {str(path)!r}")
    found: dict[str, list[Handed]] = {}
    for field, path in wanted:
        kind = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
        try:
            file = await files.put(path, path.name, owner=OWNER.id, type=kind)
        except (FileRefused, OSError) as no:
            return Refusal("invalid", f"{str(path)!r} was not taken: {no}")
        found.setdefault(field, []).append(told_of(file))
    return found


def _named(given: str) -> tuple[str, Path]:
    """The field and the path of `field=PATH`; without a field all of it is a path."""
    field, sign, path = given.partition("=")
    return (field.strip(), Path(path)) if sign else ("", Path(given))


def by_id(files: Stored) -> dict[str, Handed]:
    """What is stored, by its id; in the order in which it was named."""
    return {one.id: one for given in files.values() for one in given}
