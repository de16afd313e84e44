"""Writes the compact specification beside this file, from a full machine-readable one of the Bot API.

Kept: the names of methods and types, and each field's name and type; a name that ends in `!` is required. A list of
names instead of fields is a union. It must not keep sentences.

    python -m tests.standins.telegram.compact FULL.json OLDER.json > tests/standins/telegram/bot-api.json

FULL has `api`, `methods` and `types` with `fields`; OLDER adds `subtypes`, which FULL leaves out.
"""

import json
import sys
from collections.abc import Mapping
from pathlib import Path

from pydantic import BaseModel, TypeAdapter

NO_FIELDS = {"InputFile", "CallbackGame", "DisabledButton", "CommunityChatRemoved", "ForumTopicClosed"} | {
    "ForumTopicReopened",
    "GeneralForumTopicHidden",
    "GeneralForumTopicUnhidden",
    "VideoChatStarted",
}


class Field(BaseModel):
    """One field of a method or a type."""

    name: str
    type: str
    required: bool


class Entry(BaseModel):
    """One method or type."""

    fields: list[Field] = []


class Union(BaseModel):
    """A type that may be one of several."""

    subtypes: list[str] = []


class Api(BaseModel):
    """What version it is."""

    version: str
    release_date: str


class Full(BaseModel):
    """A full specification."""

    api: Api
    methods: dict[str, Entry]
    types: dict[str, Entry]


def compact(full: Full, unions: Mapping[str, Union]) -> str:
    """Return the compact form, one method or type a line."""
    lines = [f'"version": {json.dumps(full.api.version)}', f'"date": {json.dumps(full.api.release_date)}']
    for name, entries in (("methods", full.methods), ("types", full.types)):
        inner = [f"{json.dumps(key)}: {json.dumps(_fields(full, unions, key, one))}" for key, one in entries.items()]
        lines.append(f'"{name}": {{\n' + ",\n".join(inner) + "\n}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _fields(full: Full, unions: Mapping[str, Union], name: str, entry: Entry) -> dict[str, str] | list[str]:
    if entry.fields or name in full.methods or name in NO_FIELDS:
        return {field.name + "!" * field.required: field.type for field in entry.fields}
    known = unions[name].subtypes if name in unions else []
    return known or [other for other in full.types if other.startswith(name) and other != name]


if __name__ == "__main__":
    newest, older = (Path(place).read_bytes() for place in sys.argv[1:3])
    olders = TypeAdapter(dict[str, Union]).validate_python(json.loads(older)["types"])
    sys.stdout.write(compact(Full.model_validate_json(newest), olders))
