"""What is shown on Discord: a view becomes a message's payload. Pure; nothing in a view becomes a link or a mention.

    a text (one block, no buttons)     a content message, 2,000 characters
    a card (all others)                a v2 container with an accent, 4,000 characters over all its texts

Whichever a message began as, it stays: only cards are ever edited. Source: PLATFORMS sections 4.2, 4.3, 9.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from adapters.platform import Block, Button, Menu, Tone, View
from adapters.text import utf16
from core.model import Json

IS_COMPONENTS = 1 << 15
NO_PREVIEWS = 1 << 2
EPHEMERAL = 1 << 6
MOST_COMPONENTS = 40
TEXTS = frozenset({"text", "markdown", "state"})
ACCENT: dict[Tone, int] = {
    "ask": 0x5865F2,
    "work": 0x3BA5D9,
    "yes": 0x248046,
    "no": 0xDA373C,
    "halt": 0xF0B232,
    "over": 0x80848E,
}
STYLES = {"plain": 2, "yes": 3, "no": 4, "danger": 4}
SPECIAL = re.compile(r"([\\`*_~|<>\[\]@#])|(?<=http)(:)(?=//)|(?<=https)(:)(?=//)")
LINE_START = re.compile(r"^(\s*)([-+]|\d+(?=\.))", re.MULTILINE)
# What Discord probably takes for code is left as it is (a mark that is escaped, or never closed, begins none), but for
# addresses: a quote, a title or a bold mark around the first mark of it would end the code before them.
MASKED_LINK = re.compile(r"((?<!\\)```.*?```|(?<!\\)`[^`\n]*`)|\]\(", re.DOTALL)
TO_ADDRESS = re.compile(r"\]\((?=[^)]*:)")
BROKEN = r"]\("


def message(view: View) -> dict[str, Json]:
    """Make the payload of a new message."""
    if is_text(view):
        return {"content": _block(view.blocks[0], plain=view.plain), "flags": NO_PREVIEWS, "allowed_mentions": _none()}
    return {"flags": IS_COMPONENTS, **card(view)}


def elsewhere(body: dict[str, Json], channel: int) -> dict[str, Json]:
    """A message that could not be shown in its channel: a text says where it belongs."""
    content = body.get("content")
    words = {"content": f"-# <#{channel}>\n{content}".rstrip()} if isinstance(content, str) else {}
    return {name: value for name, value in body.items() if name != "message_reference"} | words


def card(view: View) -> dict[str, Json]:
    """Make what a card shows, for a new message and for an edit."""
    asked = person(view.asks)
    pings: list[Json] = [asked] if asked is not None else []
    return {"components": _components(view), "allowed_mentions": {"parse": [], "users": pings}}


def is_text(view: View) -> bool:
    """Whether a view is a text, and not a card."""
    if len(view.blocks) != 1 or view.blocks[0].kind not in TEXTS or view.of.startswith(("q", "r")):
        return False
    return not view.rows and not view.menus and view.tone == "plain"


def measure(view: View) -> int:
    """Count a view so that 3,900 is the most for texts and cards alike: a text has half the room of a card."""
    return utf16(text(view)) * (2 if is_text(view) else 1)


def text(view: View) -> str:
    """All that a view says, in Discord's markup."""
    asked = person(view.asks)
    head = [f"<@{asked}>"] if asked is not None else []
    return "\n".join([*head, *(_block(block, plain=view.plain) for block in view.blocks if block.text.strip())])


def person(asks: str | None) -> str | None:
    """Whom a view is addressed to, as Discord's own id."""
    asked = asks or ""
    return asked.removeprefix("dc:") if re.fullmatch(r"dc:\d{1,20}", asked) else None


# ── texts ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def escaped(words: str) -> str:
    """Escape a text so that it is shown as it is."""
    words = SPECIAL.sub(lambda found: f"\\{found[0]}", words)
    return LINE_START.sub(lambda found: f"{found[1]}{_list_mark(found[2])}", words)


def _list_mark(mark: str) -> str:
    return f"{mark}\\" if mark.isdecimal() else f"\\{mark}"


def _block(block: Block, *, plain: bool = False) -> str:
    if plain:
        return escaped(block.text)
    match block.kind:
        case "title":
            return f"### {escaped(' '.join(block.text.split()))}"
        case "small":
            return "\n".join(f"-# {escaped(line)}" for line in block.text.splitlines() if line.strip())
        case "code":
            return f"```\n{fenced(block.text)}\n```"
        case "quote":
            return "\n".join(f"> {escaped(line)}" for line in block.text.splitlines())
        case "markdown":
            return MASKED_LINK.sub(_unlinked, block.text)
        case "text" | "state":
            return escaped(block.text)


def _unlinked(found: re.Match[str]) -> str:
    return TO_ADDRESS.sub(lambda _: BROKEN, found[1]) if found[1] else BROKEN


def fenced(code: str) -> str:
    """Break every fence inside a code block, so that nothing gets out of it."""
    code = code.replace("``", "`\u200b`").replace("``", "`\u200b`")
    return f"{code}\u200b" if code.endswith("`") else code


# ── components ───────────────────────────────────────────────────────────────────────────────────────────────────────


def _components(view: View) -> list[Json]:
    inner: list[Json] = [{"type": 10, "content": text(view) or "…"}]
    rows = list(_rows(view))
    if rows:
        inner.append({"type": 14, "divider": True, "spacing": 1})
    accent = ACCENT.get(view.tone)
    container: dict[str, Json] = {"type": 17, "components": [*inner, *rows]}
    if accent is not None:
        container["accent_color"] = accent
    return [container]


def rows(view: View) -> list[Json]:
    """The menus and buttons of a view, for a message without a card."""
    return list(_rows(view))


def _rows(view: View) -> Iterator[Json]:
    used: set[str] = set()
    for number, menu in enumerate(view.menus):
        yield {"type": 1, "components": [_menu(menu, f"menu:{view.of}:{number}")]}
    lines = [[button for button in row if _fresh(button, used)] for row in view.rows]
    lines = [line for line in lines if line]
    room = MOST_COMPONENTS - 3 - 2 * len(view.menus)
    if sum(1 + len(line) for line in lines) > room or len(lines) > 10:
        every = [button for line in lines for button in line]
        lines = [every[i : i + 5] for i in range(0, len(every), 5)]
    for line in lines:
        yield {"type": 1, "components": [_button(button) for button in line]}


def _fresh(button: Button, used: set[str]) -> bool:
    """Discord wants each button once."""
    name = button.payload or button.url or ""
    if name in used:
        return False
    used.add(name)
    return True


def _button(button: Button) -> Json:
    if button.url is not None:
        return {"type": 2, "style": 5, "label": button.label, "url": button.url}
    return {"type": 2, "style": STYLES[button.style], "label": button.label, "custom_id": button.payload or ""}


def _menu(menu: Menu, name: str) -> Json:
    made: dict[str, Json] = {
        "type": 3,
        "custom_id": menu.payload or name,
        "options": list(_choices(menu)),
        "min_values": menu.least,
        "max_values": min(menu.most, len(menu.choices)),
    }
    if menu.placeholder:
        made["placeholder"] = menu.placeholder[:150]
    return made


def _choices(menu: Menu) -> Iterable[Json]:
    for choice in menu.choices:
        made: dict[str, Json] = {"label": choice.label[:100], "value": choice.value}
        if choice.description:
            made["description"] = choice.description[:100]
        if choice.picked:
            made["default"] = True
        yield made


def _none() -> Json:
    return {"parse": []}
