"""Make `openapi.json`, the part of Discord's OpenAPI document that the stand-in checks requests against.

Run `python -m tests.standins.discord.derive <discord-openapi-v10.json>` after taking a newer document from Discord's
repository of API specifications; everything but shapes, lengths and ranges of what a bot sends is left out.
"""

import json
import sys
from pathlib import Path

from tests.standins.discord.routes import ROUTES
from tests.standins.discord.shapes import Json, Obj, listed, parsed, section, text

HERE = Path(__file__).parent
SOURCE = "Discord HTTP API v10, OpenAPI 3.1 document of build 242668 (2026-07-18), MIT License, (c) Discord Inc."
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


def derived(whole: Obj) -> Obj:
    """The small document: `routes` with query and body of each call, `schemas` with all they refer to."""
    paths, every = section(whole, "paths"), section(section(whole, "components"), "schemas")
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
    made = derived(section({"whole": parsed(Path(sys.argv[1]).read_bytes())}, "whole"))
    (HERE / "openapi.json").write_text(json.dumps(made, separators=(",", ":")) + "\n", "utf-8")
