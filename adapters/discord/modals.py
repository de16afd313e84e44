"""Forms as Discord's modals: a form becomes a payload, what was filled in comes back as values. Pure.

Source: PLATFORMS section 4.2 (title and label 45, description 100, five questions, groups of 10, selects of 25; files:
ten endings of 16 characters). An ending is what Discord's client lets through; media types are looked at by us alone.
"""

from __future__ import annotations

from collections.abc import Sequence

from adapters.platform import Ask, Form
from adapters.text import clip
from core.model import Json

LABEL = 45
DESCRIPTION = 100
GROUP = 10
MOST_TYPES = 10
LONGEST_TYPE = 16


def modal(form: Form) -> dict[str, Json]:
    """Make the payload of a modal."""
    return {
        "custom_id": form.payload,
        "title": clip(form.title.replace("\n", " "), LABEL) or "Your answer",
        "components": [_label(ask) for ask in form.asks],
    }


def _label(ask: Ask) -> Json:
    label = ask.label.replace("\n", " ").strip() or "Your answer"
    made: dict[str, Json] = {"type": 18, "label": clip(label, LABEL), "component": _component(ask)}
    words = ask.description or (label if len(label) > LABEL else "")
    if words:
        made["description"] = clip(words.replace("\n", " "), DESCRIPTION)
    return made


def _component(ask: Ask) -> Json:
    match ask.kind:
        case "line" | "text":
            return _input(ask)
        case "file":
            return _files(ask)
        case "one" if 2 <= len(ask.choices) <= GROUP:
            return {"type": 21, "custom_id": ask.id, "options": _options(ask), "required": ask.required}
        case "many" if len(ask.choices) <= GROUP:
            most = min(ask.most or len(ask.choices), len(ask.choices))
            return {
                "type": 22,
                "custom_id": ask.id,
                "options": _options(ask),
                "required": ask.required,
                "min_values": max(ask.least, 1 if ask.required else 0),
                "max_values": max(1, most),
            }
        case _:
            most = min(ask.most or 1, len(ask.choices)) if ask.kind == "many" else 1
            return {
                "type": 3,
                "custom_id": ask.id,
                "options": _options(ask),
                "required": ask.required,
                "min_values": max(ask.least, 1 if ask.required else 0),
                "max_values": max(1, most),
            }


def _files(ask: Ask) -> Json:
    made: dict[str, Json] = {
        "type": 19,
        "custom_id": ask.id,
        "required": ask.required,
        "min_values": ask.least,
        "max_values": max(1, ask.most),
    }
    if ask.types and len(ask.types) <= MOST_TYPES and all(len(one) <= LONGEST_TYPE for one in ask.types):
        made["file_types"] = [*ask.types]
    return made


def _input(ask: Ask) -> Json:
    most = min(ask.most or 4_000, 4_000)
    made: dict[str, Json] = {
        "type": 4,
        "custom_id": ask.id,
        "style": 1 if ask.kind == "line" else 2,
        "required": ask.required,
        "max_length": max(1, most),
    }
    if ask.least:
        made["min_length"] = min(ask.least, most)
    if ask.placeholder:
        made["placeholder"] = clip(ask.placeholder, 100)
    if ask.value:
        made["value"] = ask.value[:most]
    return made


def _options(ask: Ask) -> list[Json]:
    found: list[Json] = []
    for choice in ask.choices:
        made: dict[str, Json] = {"label": clip(choice.label.replace("\n", " "), 100) or "—", "value": choice.value}
        if choice.description:
            made["description"] = clip(choice.description, DESCRIPTION)
        if choice.picked:
            made["default"] = True
        found.append(made)
    return found


def values(components: Sequence[Json]) -> dict[str, tuple[str, ...]]:
    """Read what was filled in: the id of each question, and its values."""
    found: dict[str, tuple[str, ...]] = {}
    for one in components:
        if not isinstance(one, dict):
            continue
        inner = one.get("component")
        for part in [*(row if isinstance(row := one.get("components"), list) else []), inner]:
            name = part.get("custom_id") if isinstance(part, dict) else None
            if isinstance(part, dict) and isinstance(name, str):
                found[name] = _values(part)
    return found


def _values(part: dict[str, Json]) -> tuple[str, ...]:
    several, one = part.get("values"), part.get("value")
    if isinstance(several, list):
        return tuple(value for value in several if isinstance(value, str))
    return (one,) if isinstance(one, str) else ()
