"""The page `docs/settings.md`, made from the fields: `python -m gateway.settings_page` prints it."""

import sys

from gateway.front_ends import SHIPPED, FrontEnd
from gateway.opening import env_of, required, settings_of
from gateway.settings import Settings, env_name, shown_default

_HEAD = """# Settings

Made from `gateway/settings.py` and the settings of each front end by `python -m gateway.settings_page`; do not edit by
hand.

The environment wins over `sayso.toml` in the current folder, which wins over the one in the data folder. Spans are in
seconds, sizes in bytes. A value that cannot be used stops the program with a line that names the setting and the rule.
"""
_COLUMNS = ["| environment | `sayso.toml` | default | what it is |", "| --- | --- | --- | --- |"]


def page() -> str:
    """The whole page."""
    rows = [
        f"| `{env_name(name)}` | `{name}` | {shown_default(name)} | {field.description} |"
        for name, field in Settings.model_fields.items()
    ]
    return "\n".join([_HEAD, *_COLUMNS, *rows, "", *(line for one in SHIPPED for line in _front_end(one))])


def _front_end(front: FrontEnd) -> list[str]:
    model = settings_of(front)
    starts = " and ".join(f"`{env_of(front, name)}`" for name in required(model))
    rows: list[str] = []
    for name, field in model.model_fields.items():
        default = field.get_default(call_default_factory=True, validated_data={})
        shown = "none" if field.is_required() or default in (None, "", ()) else f"`{default}`"
        rows.append(f"| `{env_of(front, name)}` | `{name}` | {shown} | {field.description} |")
    words = f"Starts when {starts} is given. In `sayso.toml` these stand in the table `[{front.name}]`."
    return [f"## {front.title}", "", words, "", *_COLUMNS, *rows, ""]


if __name__ == "__main__":
    sys.stdout.write(page())
