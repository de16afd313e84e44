"""What is wrong with a field, in our words: the rule it breaks, whoever found it. It knows no field and no route."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from core.life.decision import Code

RULES: Final[Mapping[str, str]] = {
    "missing": "is missing",
    "extra_forbidden": "is no field of this call",
    "model_type": "must be an object",
    "model_attributes_type": "must be an object",
    "dict_type": "must be an object",
    "list_type": "must be a list",
    "string_type": "must be text",
    "string_unicode": "must be whole text",
    "int_type": "must be an integer",
    "int_parsing": "must be an integer",
    "int_parsing_size": "must be an integer of fewer digits",
    "int_from_float": "must be an integer",
    "float_type": "must be a number",
    "float_parsing": "must be a number",
    "finite_number": "must be a number that is not infinite",
    "bool_type": "must be true or false",
    "bool_parsing": "must be true or false",
    "literal_error": "must be {expected}",
    "greater_than": "must be more than {gt}",
    "greater_than_equal": "must be at least {ge}",
    "less_than": "must be less than {lt}",
    "less_than_equal": "must be at most {le}",
    "string_too_short": "must have at least {min_length} characters",
    "string_too_long": "must have at most {max_length} characters",
    "too_short": "must have at least {min_length} items",
    "too_long": "must have at most {max_length} items",
    "string_pattern_mismatch": "must be 1 to 128 visible ASCII characters",
    "json_invalid": "must be JSON",
}
"""by the kind of a validation error; a pattern is only ever that of a key"""
UNNAMED: Final = "must be as /openapi.json says"
REFUSED: Final[Mapping[Code, str]] = {
    "unknown": "must be the id of one of yours",
    "already_answered": "must be of an open question; this one was answered",
    "expired": "must be of an open question; the time of this one is over",
    "paused": "must be of a run that is not paused",
    "conflict": "must be in a state in which this can be done; `state` says in which it is",
    "ended": "must not be over",
    "gone": "must not be deleted",
    "busy": "must not be at work; try again in a moment",
    "not_allowed": "must be of something that you may decide",
    "scope": "must be something that this token may do",
    "choose": "must answer an open question as its card says",
    "secret": "must not be where a secret belongs; its card says how it is given",
    "frozen": "must wait until an owner thaws",
}
"""by the word of a refusal that names no rule itself"""


def broken(kind: str, more: Mapping[str, object]) -> str:
    """Say which rule a value breaks. kind: as the validation calls it; more: what it says besides."""
    rule = RULES.get(kind, UNNAMED)
    return rule.format_map({name: str(value) for name, value in more.items()}) if "{" in rule else rule


def refused(code: Code) -> str:
    """Say which rule stands against something that was refused as a whole."""
    return REFUSED.get(code, "must be in a state in which this can be done")
