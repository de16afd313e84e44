"""Routes of files: up by multipart form, down as an attachment that a browser never shows in our name."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Annotated, Final
from urllib.parse import quote

from fastapi import APIRouter, File, Request, UploadFile
from pydantic import BaseModel
from starlette.responses import FileResponse

from adapters.web.body import JsonRoute
from adapters.web.conversations import Parts, file_of
from adapters.web.problems import Problem, invalid, unknown
from adapters.web.security import Reader, Sender
from core import files
from core.errors import FileRefused

router = APIRouter(prefix="/v1/files", tags=["files"], route_class=JsonRoute)
PIECE: Final = 65_536


class FileShape(BaseModel):
    """A stored file."""

    id: str
    name: str
    size: int
    type: str


def shape(file: files.File) -> FileShape:
    """Show a file."""
    return FileShape(id=file.id, name=file.name, size=file.size, type=file.type)


@router.post("", summary="Store a file, to attach to what you say", status_code=201)
async def up(file: Annotated[UploadFile, File()], request: Request, web: Parts, who: Sender) -> FileShape:
    """Store a file; its name is only ever text."""
    if len((await request.form()).getlist("file")) > 1:
        raise invalid("file", "must be one; store each file by a call of its own")
    try:
        stored = await web.files.put(
            _pieces(file),
            file.filename or "file",
            owner=who.person.id,
            type=file.content_type or "application/octet-stream",
        )
    except FileRefused as refused:
        raise Problem(413, "too_large", str(refused), errors=[("file", str(refused))]) from None
    return shape(stored)


@router.get("/{id}", summary="Fetch a file", response_class=FileResponse)
async def down(id: str, web: Parts, who: Reader) -> FileResponse:
    """Send a file as an attachment."""
    found = await file_of(web, who, id)
    if found is None or not web.files.path(found).is_file():
        raise unknown("file")
    plain = found.name.encode("ascii", "replace").decode().replace("?", "_").replace('"', "_")
    return FileResponse(
        web.files.path(found),
        media_type="application/octet-stream",
        headers={
            "content-disposition": f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quote(found.name)}",
            "content-security-policy": "default-src 'none'; sandbox",
            "cache-control": "private, no-store",
        },
    )


async def _pieces(file: UploadFile) -> AsyncIterator[bytes]:
    while piece := await file.read(PIECE):
        yield piece
