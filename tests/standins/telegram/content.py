"""Texts and files of a request, made into what a message shows, or refused. Source: PLATFORMS 2.1, 2.2."""

from __future__ import annotations

from tests.standins.telegram.markup import parsed
from tests.standins.telegram.state import State
from tests.standins.telegram.text import entity_losses, entity_refusal, utf16
from tests.standins.telegram.wire import Fields, Json, Object, Refusal, Upload, as_objects, bad
from tests.standins.telegram.world import StoredFile

TEXT_MAX = 4096
CAPTION_MAX = 1024
SLACK = 8
"""Before entities are parsed a text may be so many times longer."""


def formatted(state: State, call: Fields, name: str, entities: str) -> tuple[str, list[Json]]:
    """The text of a field and its entities, by parse mode or as they were given."""
    text, mode = call.text(name), call.text("parse_mode")
    if mode and call.list(entities):
        state.complain(f"parse_mode and {entities} in one request")
    if mode:
        return parsed(text, mode)
    given = as_objects(call.list(entities))
    refusal = entity_refusal(text, given)
    if refusal is not None:
        raise refusal
    for loss in entity_losses(text, given):
        state.complain(loss)
    return text, [*given]


def text_of(state: State, call: Fields) -> tuple[str, list[Json]]:
    """The text of a message, 1 to 4096 units."""
    text, entities = formatted(state, call, "text", "entities")
    if not text.strip():
        raise bad("message text is empty")
    if utf16(text) > TEXT_MAX:
        raise bad("message is too long")
    return text, entities


def draft_of(state: State, call: Fields) -> str:
    """The text of a draft, which may be empty."""
    text, _ = formatted(state, call, "text", "entities")
    if utf16(text) > TEXT_MAX:
        raise bad("message is too long")
    return text


def caption_of(state: State, call: Fields) -> tuple[str, list[Json]]:
    """A caption, 0 to 1024 units."""
    text, entities = formatted(state, call, "caption", "caption_entities")
    if utf16(text) > CAPTION_MAX:
        raise bad("message caption is too long")
    return text, entities


def file_of(state: State, call: Fields, name: str, *, photo: bool = False) -> StoredFile:
    """The file of a field: uploaded, or known by its id."""
    upload = call.upload(name)
    if upload is not None:
        return _accepted(state, upload, photo)
    given = call.text(name)
    if given in state.files:
        return state.files[given]
    if given.startswith("attach://") or not given:
        raise bad(f"there is no {name} in the request")
    if given.startswith(("http://", "https://")):
        state.complain(f"{name} by URL: the server would fetch it")
        raise bad("failed to get HTTP URL content")
    raise bad("wrong file identifier/HTTP URL specified")


def _accepted(state: State, upload: Upload, photo: bool) -> StoredFile:
    if not upload.content:
        raise bad("file must be non-empty")
    if len(upload.content) > state.can.upload_max:
        raise Refusal(413, "Request Entity Too Large")
    if photo and len(upload.content) > state.can.photo_max:
        raise bad(f"file of size {len(upload.content)} bytes is too big for a photo")
    if photo and not upload.content.startswith((b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"RIFF")):
        raise bad("IMAGE_PROCESS_FAILED")
    return state.keep(upload, photo=photo)


def previewed(call: Fields) -> bool:
    """Whether links in the text would be shown with a preview."""
    options = call.object("link_preview_options")
    return options is None or not options.flag("is_disabled")


def shown(text: str, entities: list[Json], rows: list[list[Object]]) -> tuple[str, list[Json], list[list[Object]]]:
    """What two versions of a message are compared by; space at the ends does not count."""
    return text.strip(), entities, rows
