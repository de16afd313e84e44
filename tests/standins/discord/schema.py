"""Checking a request against Discord's own OpenAPI document (`openapi.json`, derived; see `derive.py`).

Stricter than Discord in one way: a field or a query parameter that the document does not know is refused, because a
misspelt one would be silently ignored there.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from tests.standins.discord.shapes import Json, Obj, parsed, section, text

DOCUMENT = section({"document": parsed((Path(__file__).parent / "openapi.json").read_bytes())}, "document")
SCHEMAS = section(DOCUMENT, "schemas")
ROUTES = section(DOCUMENT, "routes")
SNOWFLAKE = section(SCHEMAS, "SnowflakeType").get("pattern")
"""Discord takes an id as text or as a number; the document says text."""
IGNORED = {"nsfw", "tts"}
"""What discord.py sends with commands and edits, the document does not list there and Discord ignores."""


class Wrong(NamedTuple):
    """One thing that is not as the document says. path: keys and positions from the top."""

    path: tuple[str, ...]
    code: str
    message: str

    def __str__(self) -> str:
        return f"{'.'.join(self.path) or 'body'}: {self.message}"


def wrong_body(route: str, body: Json) -> list[Wrong]:
    """All that is wrong with the body of a call. route: as in `openapi.json`."""
    schema = section(ROUTES, route).get("body")
    if schema is None:
        return [Wrong((), "BODY_UNEXPECTED", "this call has no body")] if body not in (None, {}) else []
    return _wrong(schema, body, ())


def wrong_query(route: str, query: Mapping[str, str]) -> list[Wrong]:
    """All that is wrong with the query of a call."""
    known = section(section(ROUTES, route), "query")
    found: list[Wrong] = []
    for name, value in query.items():
        if name not in known:
            found.append(Wrong((name,), "QUERY_UNKNOWN", "this call has no such parameter"))
            continue
        kind = text(_resolved(known[name]), "type")
        if kind == "integer" and value.isdecimal():
            found += _wrong(known[name], int(value), (name,))
        elif kind != "boolean" or value not in {"0", "1", "true", "false"}:
            found += _wrong(known[name], value, (name,))
    return found


def _resolved(schema: Json) -> Obj:
    assert isinstance(schema, Mapping)
    while "$ref" in schema:
        schema = section(SCHEMAS, text(schema, "$ref").rpartition("/")[2])
    return schema


def _wrong(schema: Json, value: Json, path: tuple[str, ...]) -> list[Wrong]:
    schema = _resolved(schema)
    found: list[Wrong] = []
    for each in _branches(schema, "allOf"):
        found += _wrong(each, value, path)
    branches = _branches(schema, "oneOf") or _branches(schema, "anyOf")
    if branches:
        found += _nearest(branches, value, path)
    if "const" in schema and schema["const"] != value:
        found.append(Wrong(path, "BASE_TYPE_CHOICES", f"must be {schema['const']!r}"))
    choices = schema.get("enum")
    if isinstance(choices, list) and value not in choices:
        found.append(Wrong(path, "BASE_TYPE_CHOICES", f"Value must be one of {choices!r}."))
    if schema.get("pattern") == SNOWFLAKE and isinstance(value, int):
        return found
    kinds = schema.get("type")
    if kinds is not None and _kind(value) not in _kinds(kinds):
        return [*found, Wrong(path, "BASE_TYPE_BAD_TYPE", f"must be {kinds!r}, is {_kind(value)}")]
    return found + _sized(schema, value, path) + _inside(schema, value, path)


def _branches(schema: Obj, key: str) -> list[Obj]:
    branches = schema.get(key)
    return [_resolved(one) for one in branches] if isinstance(branches, list) else []


def _nearest(branches: list[Obj], value: Json, path: tuple[str, ...]) -> list[Wrong]:
    """Nothing when a branch fits, else what is wrong with the one that was meant: same `type`, then fewest faults."""
    named = value.get("type") if isinstance(value, Mapping) else None
    fits = [one for one in branches if "type" not in one or _kind(value) in _kinds(one["type"])] or branches
    meant = [one for one in fits if named in _enum(section(section(one, "properties"), "type"))] or fits
    return min((_wrong(one, value, path) for one in meant), key=len)


def _enum(schema: Obj) -> list[Json]:
    choices = schema.get("enum")
    return choices if isinstance(choices, list) else []


def _kind(value: Json) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case int():
            return "integer"
        case float():
            return "number"
        case str():
            return "string"
        case Mapping():
            return "object"
        case _:
            return "array"


def _kinds(kinds: Json) -> set[str]:
    named = {str(one) for one in kinds} if isinstance(kinds, list) else {str(kinds)}
    return named | {"integer"} if "number" in named else named


def _sized(schema: Obj, value: Json, path: tuple[str, ...]) -> list[Wrong]:
    """Lengths, counts, ranges and patterns."""
    if isinstance(value, str | list):
        size, low, high = len(value), "minLength", "maxLength"
        code, unit = "BASE_TYPE_{}_LENGTH", "in length"
        if isinstance(value, list):
            low, high, unit = "minItems", "maxItems", "items"
    elif isinstance(value, int | float) and not isinstance(value, bool):
        size, low, high, code, unit = value, "minimum", "maximum", "NUMBER_TYPE_{}", "in value"
    else:
        return []
    least, most, found = schema.get(low), schema.get(high), list[Wrong]()
    if isinstance(least, int | float) and size < least:
        found.append(Wrong(path, code.format("MIN"), f"Must be {least} or more {unit}, is {size}."))
    if isinstance(most, int | float) and size > most:
        found.append(Wrong(path, code.format("MAX"), f"Must be {most} or fewer {unit}, is {size}."))
    pattern = schema.get("pattern")
    if isinstance(pattern, str) and isinstance(value, str) and not re.search(pattern, value):
        found.append(Wrong(path, "STRING_TYPE_REGEX", f"String value did not match validation regex {pattern!r}."))
    if schema.get("uniqueItems") is True and isinstance(value, list) and len({str(one) for one in value}) < len(value):
        found.append(Wrong(path, "SET_TYPE_ALREADY_CONTAINS_VALUE", "The set already contains this value."))
    return found


def _inside(schema: Obj, value: Json, path: tuple[str, ...]) -> list[Wrong]:
    """What an object or a list holds."""
    found: list[Wrong] = []
    if isinstance(value, list) and "items" in schema:
        for place, each in enumerate(value):
            found += _wrong(schema["items"], each, (*path, str(place)))
    if not isinstance(value, Mapping) or ("properties" not in schema and "additionalProperties" not in schema):
        return found
    properties, more = section(schema, "properties"), schema.get("additionalProperties")
    required = schema.get("required")
    for key in required if isinstance(required, list) else ():
        if key not in value:
            found.append(Wrong((*path, str(key)), "BASE_TYPE_REQUIRED", "This field is required"))
    for key, each in value.items():
        if key in properties:
            found += _wrong(properties[key], each, (*path, key))
        elif isinstance(more, Mapping):
            found += _wrong(more, each, (*path, key))
        elif key not in IGNORED:
            found.append(Wrong((*path, key), "FIELD_UNKNOWN", "there is no such field"))
    return found
