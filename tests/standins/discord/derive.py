"""Make `openapi.json`, the part of Discord's OpenAPI document that the stand-in checks requests against.

Run `python -m tests.standins.discord.derive <openapi.json> <schemas.json>` after taking a newer document from Discord's
repository of API specifications; everything but shapes, lengths and ranges of what a bot sends is left out. The second
one has newer schemas, of which the fields in `NEWER` are taken.
"""

import json
import sys
from pathlib import Path

from tests.standins.discord.routes import ROUTES
from tests.standins.discord.shapes import Json, Obj, listed, parsed, section, text

HERE = Path(__file__).parent
SOURCE = "Discord HTTP API v10, OpenAPI 3.1 document of build 242668 (2026-07-18), MIT License, (c) Discord Inc."
NEWER = {"FileUploadComponentForModalRequest": ("file_types",)}
"""Fields of build 266135 that the document does not have yet."""
LEFT_OUT = {"contentEncoding", "deprecated", "description", "example", "format", "title", "x-discord-union"}


def bare(schema: Json, *, names: bool = False) -> Json:
    """A schema without words for readers. names: the keys are names of fields, and all stay."""
    if isinstance(schema, dict):
        kept = {key: each for key, each in schema.items() if names or key not in LEFT_OUT}
        return {key: bare(each, names=key == "properties" and not names) for key, each in kept.items()}
    if isinstance(schema, list):
        return [bare(each) for each in schema]
    return schema


def named(schema: Json) -> set[str]:
    """The schemas that a schema refers to directly."""
    if isinstance(schema, dict):
        mine = {text(schema, "$ref").rpartition("/")[2]} if "$ref" in schema else set[str]()
        return mine.union(*(named(each) for each in schema.values()))
    return set[str]().union(*(named(each) for each in schema)) if isinstance(schema, list) else set()


def with_newer(schemas: Obj, newer: Obj) -> Obj:
    """Schemas with the fields that only a newer document has."""
    made = dict(schemas)
    for name, fields in NEWER.items():
        known = section(section(newer, name), "properties")
        properties = section(section(schemas, name), "properties")
        made[name] = {**section(schemas, name), "properties": {**properties, **{key: known[key] for key in fields}}}
    return made


def derived(whole: Obj, newer: Obj) -> Obj:
    """The small document: `routes` with query and body of each call, `schemas` with all they refer to."""
    paths = section(whole, "paths")
    every = with_newer(
        section(section(whole, "components"), "schemas"), section(section(newer, "components"), "schemas")
    )
    routes: dict[str, Json] = {}
    for path, methods in ROUTES:
        for method in methods.split():
            spec = section(section(paths, path), method)
            shared = [*listed(section(paths, path), "parameters"), *listed(spec, "parameters")]
            query = {text(one, "name"): bare(one.get("schema")) for one in shared if text(one, "in") == "query"}
            body = section(section(section(spec, "requestBody"), "content"), "application/json").get("schema")
            routes[f"{method.upper()} {path}"] = {"query": query, "body": bare(body)}
    wanted, kept = named(routes), dict[str, Json]()
    while wanted - kept.keys():
        for name in sorted(wanted - kept.keys()):
            kept[name] = bare(every[name])
            wanted |= named(kept[name])
    return {"source": SOURCE, "routes": routes, "schemas": dict(sorted(kept.items()))}


if __name__ == "__main__":
    made = derived(*(section({"whole": parsed(Path(name).read_bytes())}, "whole") for name in sys.argv[1:3]))
    (HERE / "openapi.json").write_text(json.dumps(made, separators=(",", ":")) + "\n", "utf-8")
