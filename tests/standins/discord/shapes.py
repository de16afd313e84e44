"""JSON as the stand-in reads it: whatever is missing or of another kind is the empty value of the kind asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from pydantic_core import from_json

Json: TypeAlias = "Mapping[str, Json] | Sequence[Json] | str | int | float | bool | None"
Obj: TypeAlias = Mapping[str, Json]


def parsed(raw: bytes | str) -> Json:
    """Read a document. Raises: `ValueError` when it is not JSON."""
    value: Json = from_json(raw)
    return value


def text(of: Obj, key: str, default: str = "") -> str:
    value = of.get(key)
    return value if isinstance(value, str) else default


def number(of: Obj, key: str, default: int = 0) -> int:
    value = of.get(key)
    return value if isinstance(value, int) else default


def section(of: Obj, key: str) -> Obj:
    value = of.get(key)
    return value if isinstance(value, Mapping) else {}


def listed(of: Obj, key: str) -> list[Obj]:
    """The objects of a list."""
    value = of.get(key)
    return [one for one in value if isinstance(one, Mapping)] if isinstance(value, list) else []


def words(of: Obj, key: str) -> list[str]:
    """The texts of a list."""
    value = of.get(key)
    return [one for one in value if isinstance(one, str)] if isinstance(value, list) else []


def snowflake(of: Obj, key: str) -> str:
    """An id; Discord takes it as text or as a number."""
    return _id(of.get(key))


def snowflakes(of: Obj, key: str) -> list[str]:
    """The ids of a list."""
    value = of.get(key)
    return [_id(one) for one in value] if isinstance(value, list) else []


def _id(value: Json) -> str:
    return str(value) if isinstance(value, str | int) else ""
