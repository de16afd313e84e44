"""What attached files are called: beside ids of files in entries and events stand their name, size and type."""

from __future__ import annotations

from collections import OrderedDict
from typing import Final

from core.files import FileStore
from core.model import Json

ROOM: Final = 2_000


class Attached:
    """Descriptions of files; a description never changes, so it is looked up once."""

    def __init__(self, files: FileStore) -> None:
        self._files = files
        self._known: OrderedDict[str, dict[str, Json]] = OrderedDict()

    async def described(self, plain: dict[str, Json]) -> dict[str, Json]:
        """The same with `files`, where there are `attachments` without."""
        ids = plain.get("attachments")
        if not isinstance(ids, list) or not ids or "files" in plain:
            return plain
        return {**plain, "files": [await self._one(id) for id in ids if isinstance(id, str)]}

    async def _one(self, id: str) -> dict[str, Json]:
        if id in self._known:
            return self._known[id]
        found = await self._files.get(id)
        if found is None:
            return {"id": id, "gone": True}
        shown: dict[str, Json] = {"id": id, "name": found.name, "size": found.size, "type": found.type}
        self._known[id] = shown
        if len(self._known) > ROOM:
            self._known.popitem(last=False)
        return shown
