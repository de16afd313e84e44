"""The saved specification: which fields a method has, of which types, and whether a value is of a type.

It knows shapes only: lengths, rights and state are rules of the server. Source: bot-api.json, see README.md.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path

from pydantic import BaseModel

from tests.standins.telegram.wire import Json, Object

SIMPLE: dict[str, tuple[type, ...]] = {
    "String": (str,),
    "Integer": (int,),
    "Float": (int, float),
    "Boolean": (bool,),
    "True": (bool,),
}
TRUTHS = {"true": True, "True": True, "1": True, "false": False, "False": False, "0": False}


class Spec(BaseModel):
    """Every method and type; a field's name that ends in `!` is required, a list of names is a union."""

    version: str
    date: str
    methods: dict[str, dict[str, str]]
    types: dict[str, dict[str, str] | list[str]]

    def method(self, name: str) -> str | None:
        """The proper name of a method, whatever the case it was called in; None when there is none."""
        return name if name in self.methods else LOWER.get(name.lower())

    @cached_property
    def fields(self) -> dict[str, dict[str, tuple[str, bool]]]:
        """The fields of each method and of each type that is no union."""
        entries = self.methods | {name: one for name, one in self.types.items() if isinstance(one, dict)}
        return {name: _fields(one) for name, one in entries.items()}

    def read(self, method: str, values: Mapping[str, Json], uploads: Mapping[str, object]) -> tuple[Object, list[str]]:
        """Return the fields in their types, form strings turned into what they stand for, and what is wrong."""
        fields = self.fields[method]
        wrong = [f"{method} has no field {name!r}" for name in values if name not in fields]
        wrong += [
            f"{method} needs {name!r}"
            for name, (_, must) in fields.items()
            if must and not (name in values or name in uploads)
        ]
        read: Object = {}
        for name, value in values.items():
            kind = fields.get(name, ("String", False))[0]
            read[name] = self._from_form(kind, value)
            wrong += self.check(kind, read[name], f"{method}.{name}")
        return read, wrong

    def check(self, kind: str, value: Json, at: str) -> list[str]:
        """What keeps a value from being of a type, as sentences; nothing when it is."""
        if " or " in kind:
            return self._one_of(kind.split(" or "), value, at)
        if kind.startswith("Array of "):
            if not isinstance(value, list):
                return [f"{at} is not a list"]
            inner = kind.removeprefix("Array of ")
            names = inner.replace(" and ", ", ").split(", ")
            complaints = [self._one_of(names, one, f"{at}[{place}]") for place, one in enumerate(value)]
            return [complaint for some in complaints for complaint in some]
        if kind in SIMPLE:
            right = isinstance(value, SIMPLE[kind]) and (not isinstance(value, bool) or bool in SIMPLE[kind])
            return [] if right else [f"{at} is not of type {kind}: {value!r}"]
        if kind == "InputFile":
            return [] if isinstance(value, str) else [f"{at} is not a file"]
        return self._of_type(kind, value, at)

    def _of_type(self, kind: str, value: Json, at: str) -> list[str]:
        known = self.types.get(kind)
        if known is None:
            return [f"{at}: no type {kind}"]
        if isinstance(known, list):
            return self._one_of(known, value, at)
        if not isinstance(value, dict):
            return [f"{at} is not an object"]
        fields = self.fields[kind]
        wrong = [f"{at} ({kind}) has no field {name!r}" for name in value if name not in fields]
        wrong += [f"{at} ({kind}) needs {name!r}" for name, (_, must) in fields.items() if must and name not in value]
        for name, one in value.items():
            if name in fields:
                wrong += self.check(fields[name][0], one, f"{at}.{name}")
        return wrong

    def _one_of(self, kinds: list[str], value: Json, at: str) -> list[str]:
        found = [self.check(kind, value, at) for kind in kinds]
        return min(found, key=len)

    def _from_form(self, kind: str, value: Json) -> Json:
        """What a form's string stands for."""
        if not isinstance(value, str) or kind in ("String", "InputFile", "InputFile or String"):
            return value
        if kind in ("Boolean", "True"):
            return TRUTHS.get(value, value)
        if kind in ("Integer", "Float", "Integer or String"):
            return next(_numbers(value), value)
        try:
            return json.loads(value)
        except ValueError:
            return value


def _numbers(value: str) -> Iterator[int | float]:
    for kind in (int, float):
        try:
            yield kind(value)
        except ValueError:
            continue


def _fields(entry: Mapping[str, str]) -> dict[str, tuple[str, bool]]:
    """Each field's type, and whether it is required."""
    return {name.rstrip("!"): (kind, name.endswith("!")) for name, kind in entry.items()}


SPEC = Spec.model_validate_json(Path(__file__).with_name("bot-api.json").read_bytes())
LOWER = {name.lower(): name for name in SPEC.methods}
