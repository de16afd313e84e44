"""Files that people and agents exchange: a folder in which contents are named by their hash, and names are only text.

    blobs/ab/abcd…      contents, once each, named by their SHA-256
    entries/f….json     one file as somebody gave it: name, type, size, whose it is

Nothing that a sender writes ever becomes a path. This file must not know conversations or who may read what.
Source: C123, DESIGN section 9.
"""

import asyncio
import hashlib
import os
import re
import secrets
import tempfile
import time
import unicodedata
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path

from core.errors import FileRefused
from core.model import Value
from core.question import Handed

__all__ = ["File", "FileStore", "safe_name", "told_of"]

NAME_BYTES = 120
PIECE = 256 * 1024
RECOUNT = 30.0
_ID = re.compile(r"f[0-9a-f]{24}")
_RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)


class File(Value):
    """A stored file. name: safe to save it under; original: what the sender called it, only ever shown as text.

    owner: the conversation (or person) that it belongs to; who may read it is the caller's rule. note: what was said
    with it when it answered a question; it is never stored here.
    """

    id: str
    name: str
    original: str
    type: str = "application/octet-stream"
    size: int
    sha256: str
    owner: str
    created_ms: int
    note: str = ""


def told_of(file: File) -> Handed:
    """What an answer tells of a file."""
    return Handed(id=file.id, name=file.name, type=file.type, size=file.size)


def safe_name(name: str) -> str:
    """Make a file name out of whatever a sender wrote: no folders, no control characters, no reserved names."""
    last = re.split(r"[/\\]", name)[-1]
    plain = "".join(" " if unicodedata.category(c)[0] in "CZ" else c for c in unicodedata.normalize("NFC", last))
    plain = re.sub(r'[<>:"|?*\s]+', "_", plain.strip()).strip("._")
    stem, dot, ending = plain.rpartition(".")
    if not dot or len(ending.encode()) > 16:
        stem, ending = plain, ""
    room = NAME_BYTES - len(ending.encode()) - 1
    plain = stem.encode()[:room].decode("utf-8", "ignore") + (f".{ending}" if ending else "")
    return f"_{plain}" if _RESERVED.fullmatch(plain) else plain or "file"


class FileStore:
    """The folder of all files of an installation; several processes may share it.

    file_max, quota: bytes. keep: seconds that a file is kept.
    """

    def __init__(self, folder: Path, *, file_max: int, quota: int, keep: float) -> None:
        self._blobs = folder / "blobs"
        self._entries = folder / "entries"
        self._file_max = file_max
        self._quota = quota
        self._keep = keep
        self._used = 0
        self._counted = -RECOUNT

    async def put(
        self,
        content: bytes | Path | AsyncIterator[bytes],
        name: str,
        *,
        owner: str,
        type: str = "application/octet-stream",
    ) -> File:
        """Store a file under a new id; the same content is kept once.

        Raises: `FileRefused` when it is larger than allowed or the space is used up; nothing is kept then.
        """
        await asyncio.to_thread(self._room)
        sink = await asyncio.to_thread(self._open)
        try:
            size = 0
            async for piece in _pieces(content):
                size += len(piece)
                self._check(size, name)
                await asyncio.to_thread(sink.take, piece)
            file = File(
                id="f" + secrets.token_hex(12),
                name=safe_name(name),
                original=name[:300].encode("utf-8", "replace").decode(),
                type=type,
                size=size,
                sha256=sink.sha256.hexdigest(),
                owner=owner,
                created_ms=time.time_ns() // 1_000_000,
            )
            await asyncio.to_thread(self._keep_it, sink, file)
        finally:
            await asyncio.to_thread(sink.drop)
        self._used += size
        return file

    async def get(self, id: str) -> File | None:
        """Find a file by its id; None when there is none (any more)."""
        return await asyncio.to_thread(self._read, id)

    async def handed(self, file: Handed) -> File:
        """The file that an answer tells of, whether its content is still kept or not."""
        told = File(**file.model_dump(exclude_none=True), original=file.name, sha256="0" * 64, owner="", created_ms=0)
        found = await self.get(file.id)
        return found.changed(note=file.note or "") if found is not None else told

    async def content(self, file: File) -> bytes:
        """Read a whole file. Raises: `FileRefused` when its content is gone."""
        try:
            return await asyncio.to_thread(self.path(file).read_bytes)
        except FileNotFoundError:
            raise FileRefused(f"the content of {file.original!r} is gone") from None

    def path(self, file: File) -> Path:
        """Where the content lies; to read only, it may be shared by several files."""
        return self._blobs / file.sha256[:2] / file.sha256

    async def sweep(self) -> int:
        """Remove what is older than it is kept, and contents that no file names; returns how many files went."""
        return await asyncio.to_thread(self._sweep)

    # ── on a thread ──────────────────────────────────────────────────────────────────────────────────────────────────

    def _room(self) -> None:
        self._blobs.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._entries.mkdir(parents=True, exist_ok=True, mode=0o700)
        if time.monotonic() - self._counted > RECOUNT:
            self._used = sum(blob.stat().st_size for blob in self._blobs.glob("*/*") if blob.is_file())
            self._counted = time.monotonic()

    def _check(self, size: int, name: str) -> None:
        if size > self._file_max:
            raise FileRefused(f"{name[:80]!r} is larger than the {self._file_max} bytes that one file may have")
        if self._used + size > self._quota:
            raise FileRefused(f"no room for {name[:80]!r}: all files together may take {self._quota} bytes")

    def _open(self) -> "_Sink":
        return _Sink(self._blobs)

    def _keep_it(self, sink: "_Sink", file: File) -> None:
        place = self.path(file)
        place.parent.mkdir(exist_ok=True, mode=0o700)
        sink.move(place)
        entry = self._entries / f"{file.id}.json"
        rough = entry.with_suffix(".new")
        rough.write_text(file.model_dump_json(), "utf-8")
        rough.replace(entry)

    def _read(self, id: str) -> File | None:
        if not _ID.fullmatch(id):
            return None
        try:
            return File.model_validate_json((self._entries / f"{id}.json").read_text("utf-8"))
        except (OSError, ValueError):
            return None

    def _sweep(self) -> int:
        limit = time.time() - self._keep
        kept: set[str] = set()
        gone = 0
        for entry in self._entries.glob("f*.json"):
            file = self._read(entry.stem)
            if file is not None and file.created_ms / 1000 >= limit:
                kept.add(file.sha256)
            else:
                entry.unlink(missing_ok=True)
                gone += 1
        for blob in self._blobs.glob("*/*"):
            with suppress(FileNotFoundError):
                # One that was stored a moment ago may not have its entry yet.
                if blob.name not in kept and time.time() - blob.stat().st_mtime > min(self._keep, 3600):
                    blob.unlink()
        self._counted = -RECOUNT
        return gone


class _Sink:
    """A content that is being written."""

    def __init__(self, folder: Path) -> None:
        handle, name = tempfile.mkstemp(prefix=".new-", dir=folder)
        self._place = Path(name)
        self._file = os.fdopen(handle, "wb")
        self.sha256 = hashlib.sha256()

    def take(self, piece: bytes) -> None:
        self._file.write(piece)
        self.sha256.update(piece)

    def move(self, place: Path) -> None:
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.close()
        self._place.replace(place)

    def drop(self) -> None:
        self._file.close()
        self._place.unlink(missing_ok=True)


async def _pieces(content: bytes | Path | AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    if isinstance(content, bytes):
        for start in range(0, len(content), PIECE):
            yield content[start : start + PIECE]
    elif isinstance(content, Path):
        file = await asyncio.to_thread(content.open, "rb")
        try:
            while piece := await asyncio.to_thread(file.read, PIECE):
                yield piece
        finally:
            file.close()
    else:
        async for piece in content:
            yield piece
