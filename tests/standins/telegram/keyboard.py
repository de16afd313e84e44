"""Keyboards as Telegram accepts them: one action a button, 64 bytes, 100 buttons. Source: PLATFORMS 2.1, 2.3."""

from __future__ import annotations

from tests.standins.telegram.text import utf16
from tests.standins.telegram.wire import Fields, Json, Object, as_objects, bad

MOST_BUTTONS = 100
MOST_IN_ROW = 8
PAYLOAD_MAX = 64
ACTIONS = {
    "url",
    "callback_data",
    "web_app",
    "login_url",
    "switch_inline_query",
    "switch_inline_query_current_chat",
    "switch_inline_query_chosen_chat",
    "copy_text",
    "callback_game",
    "pay",
    "disabled",
}
STYLES = {"", "primary", "success", "danger"}


def markup(call: Fields) -> tuple[list[list[Object]], Object | None]:
    """The inline keyboard of a request, and the prompt (a forced reply) of it; other keyboards are nothing.

    Raises: `Refusal` in Telegram's words.
    """
    given = call.object("reply_markup")
    if given is None:
        return [], None
    prompt = dict(given.values) if given.flag("force_reply") else None
    _check_prompt(prompt)
    rows = [as_objects(row) for row in given.list("inline_keyboard")]
    rows = [row for row in rows if row]
    for button in [button for row in rows for button in row]:
        _check(Fields(button))
    if sum(len(row) for row in rows) > MOST_BUTTONS:
        raise bad("reply markup is too long")
    if any(len(row) > MOST_IN_ROW for row in rows):
        raise bad("BUTTON_ROW_TOO_LONG")
    return rows, prompt


def _check_prompt(prompt: Object | None) -> None:
    placeholder = (prompt or {}).get("input_field_placeholder")
    if placeholder is not None and not 1 <= len(str(placeholder)) <= 64:
        raise bad("INPUT_FIELD_PLACEHOLDER_INVALID")


def _check(button: Fields) -> None:
    actions = ACTIONS & set(button.values)
    if not button.text("text").strip():
        raise bad("inline keyboard button text must be non-empty")
    if not actions:
        raise bad("can't parse inline keyboard button: Text buttons are unallowed in the inline keyboard")
    if len(actions) > 1:
        raise bad(f"can't parse inline keyboard button: more than one action: {', '.join(sorted(actions))}")
    if button.text("style") not in STYLES:
        raise bad("can't parse inline keyboard button: invalid button style specified")
    if "callback_data" in button and not 1 <= len(button.text("callback_data").encode()) <= PAYLOAD_MAX:
        raise bad("BUTTON_DATA_INVALID")
    url = button.text("url")
    if "url" in button and not (url.startswith(("http://", "https://", "tg://")) and len(url) > len("https://")):
        raise bad(f"inline keyboard button URL '{url}' is invalid: wrong HTTP URL")
    if _is_local(url):
        raise bad(f"inline keyboard button URL '{url}' is invalid: Wrong HTTP URL")
    copied = button.object("copy_text")
    if copied is not None and not 1 <= utf16(copied.text("text")) <= 256:
        raise bad("BUTTON_COPY_TEXT_INVALID")


def _is_local(url: str) -> bool:
    """Hosts that Telegram refuses on a button."""
    host = url.partition("://")[2].partition("/")[0].partition(":")[0]
    return url.startswith("http") and "." not in host


def buttons_json(rows: list[list[Object]]) -> list[Json]:
    """The rows as JSON values, to compare and to show."""
    return [[*row] for row in rows]
