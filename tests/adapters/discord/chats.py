"""Discord in the shape of the fake chats: what is shown is what payloads say, what is pressed what raw data says.

The limits, the measure, the payloads and the parsing are the real ones, and every payload is held against Discord's own
document; only the wire is left out (`test_wire_*.py` has it).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from adapters.discord import parse, render
from adapters.discord.adapter import LIMITS
from adapters.discord.parse import Filled, Pressed
from adapters.outcomes import Notice
from adapters.platform import Block, Button, Limits, Outcome, View
from core.model import Json, Person
from tests.fakes import FakeChats, FakePlatform, Message
from tests.standins.discord.components import check_message, walked
from tests.standins.discord.refusals import Refusal
from tests.standins.discord.schema import wrong_body
from tests.standins.discord.shapes import Obj, listed, number, text

SEND = "POST /channels/{channel_id}/messages"
FENCE = re.compile(r"(```\n.*?\n```)", re.DOTALL)
SEVERAL = "several "
QUICK = LIMITS.changed(edit_gap=0.02, typing_every=0.05, send_timeout=5.0)


@dataclass
class DiscordChats(FakeChats):
    """A platform's memory that keeps what Discord would."""

    limits: Limits = QUICK

    def connection(self) -> DiscordConnection:
        """One connection to it."""
        return DiscordConnection(self)


class DiscordConnection(FakePlatform):
    """One connection, which renders and parses as the Discord folder does."""

    def __init__(self, chats: DiscordChats) -> None:
        super().__init__(chats)
        self.picks: dict[tuple[str, str], list[str]] = {}

    def measure(self, view: View) -> int:
        return render.measure(view)

    async def post(self, place: str, view: View, *, nonce: str, reply_to: str | None = None) -> Outcome:
        return await super().post(place, self._seen(view, render.message(view)), nonce=nonce, reply_to=reply_to)

    async def edit(self, place: str, message: str, view: View) -> Outcome:
        return await super().edit(
            place, message, self._seen(view, {"flags": render.IS_COMPONENTS, **render.card(view)})
        )

    async def send(self, person: Person, message: Message, payload: str, *, key: str | None = None) -> Notice:
        assert self.desk is not None
        raw: dict[str, object] = {"component_type": 2, "custom_id": payload}
        if payload.startswith(SEVERAL):
            _, name, value = payload.split(" ")
            raw = {"component_type": 3, "custom_id": name, "values": self._toggled(message, name, value)}
        found = parse.act(3, raw)
        if isinstance(found, Filled):
            return await self.desk.fill(
                message.place, message.id, found.payload, found.values, person, key=key or self.key()
            )
        assert isinstance(found, Pressed)
        return await super().send(person, message, found.payload, key=key)

    def _toggled(self, message: Message, name: str, value: str) -> list[str]:
        """What is picked in a menu after one more line was; the client knows what it picked before."""
        lines = [one for row in message.rows for one in row if (one.payload or "").startswith(f"{SEVERAL}{name} ")]
        shown = [(one.payload or "").split(" ")[2] for one in lines if one.label.startswith("☑")]
        picked = self.picks.get((message.id, name), shown)
        self.picks[message.id, name] = [one for one in picked if one != value] if value in picked else [*picked, value]
        return self.picks[message.id, name]

    def _check(self, view: View | None) -> None:
        """Payloads are checked where they are made."""

    def _seen(self, view: View, body: dict[str, Json]) -> View:
        """What a person sees of a payload, and what is wrong with it."""
        wrong = [str(one) for one in wrong_body(SEND, body)]
        components = listed(body, "components")
        try:
            check_message(components, v2=bool(components), files=set())
        except Refusal as refused:
            wrong.append(str(refused))
        content = body.get("content")
        if isinstance(content, str) and not 0 < len(content) <= 2_000:
            wrong.append(f"a content of {len(content)}")
        self.chats.violations += wrong
        shown = content if isinstance(content, str) else "\n".join(_texts(components))
        marked = any(block.kind == "markdown" for block in view.blocks)
        words = shown.replace("]\\(", "](") if marked and content is not None else _read(shown)
        return View(
            blocks=(Block(kind="text", text=words),),
            rows=tuple((one,) for one in _pressable(components)),
            plain=view.plain,
            of=view.of,
        )


def _texts(components: list[Obj]) -> list[str]:
    return [text(one, "content") for one in walked(components) if number(one, "type") == 10]


def _read(shown: str) -> str:
    """A text with its marks of formatting taken off, as a person reads it."""
    found: list[str] = []
    for part in FENCE.split(shown):
        if part.startswith("```\n"):
            found.append(part[4:-4].replace("`\u200b", "`").removesuffix("\u200b"))
            continue
        lines = [re.sub(r"^(?:### |-# |> )", "", line) for line in part.split("\n")]
        found.append(re.sub(r"\\([^A-Za-z0-9\s])|(?<=\d)\\(?=\.)", r"\1", "\n".join(lines)))
    return "".join(found)


def _pressable(components: list[Obj]) -> list[Button]:
    found: list[Button] = []
    for one in walked(components):
        match number(one, "type"):
            case 2 if url := text(one, "url"):
                found.append(Button(label=text(one, "label"), url=url))
            case 2:
                found.append(Button(label=text(one, "label"), payload=text(one, "custom_id")))
            case 3:
                found += [_option(one, option) for option in listed(one, "options")]
            case _:
                pass
    return found


def _option(menu: Obj, option: Obj) -> Button:
    """One line of a menu; where several can be picked, it names its menu, and says whether it is picked."""
    name, value = text(menu, "custom_id"), text(option, "value")
    if name.startswith("menu:"):
        return Button(label=text(option, "label"), payload=value)
    mark = "☑ " if option.get("default") is True else ""
    return Button(label=f"{mark}{text(option, 'label')}", payload=f"{SEVERAL}{name} {value}")


def discord() -> FakeChats:
    """Discord, as the contract wants it."""
    return DiscordChats(units="utf16")
