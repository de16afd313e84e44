"""What a message or a form may not be: refused with Discord's code, and kept as a mistake of the bot."""

from __future__ import annotations

import discord
import pytest
from discord.http import Route

from tests.standins.discord import standin
from tests.standins.discord.client import Listener, listening
from tests.standins.discord.shapes import Json, Obj
from tests.standins.discord.test_messages import refused
from tests.standins.discord.world import V2


def text(content: str) -> Obj:
    return {"type": 10, "content": content}


def button(id: str = "a", **more: Json) -> Obj:
    return {"type": 2, "style": 2, "label": "Press", "custom_id": id, **more}


def row(*inside: Obj) -> Obj:
    return {"type": 1, "components": inside}


def select(options: int, **more: Json) -> Obj:
    choices: list[Json] = [{"label": f"Option {place}", "value": str(place)} for place in range(options)]
    return {"type": 3, "custom_id": "pick", "options": choices, **more}


def many(count: int) -> list[Json]:
    return [text(str(place)) for place in range(count)]


BAD_MESSAGES: dict[str, tuple[Obj, str]] = {
    "41 components": ({"flags": V2, "components": many(41)}, "Must be 40 or fewer"),
    "41 components, nested": (
        {"flags": V2, "components": [{"type": 17, "components": many(20)}, {"type": 17, "components": many(19)}]},
        "41 of 40",
    ),
    "4,001 characters in two": ({"flags": V2, "components": [text("x" * 4000), text("y")]}, "4001 of 4000"),
    "content beside v2": ({"flags": V2, "content": "hi", "components": many(1)}, "cannot be used"),
    "v2 components without the flag": ({"components": many(1)}, "without the v2 flag"),
    "6 rows": ({"components": [row(button(str(place))) for place in range(6)]}, "Must be 5 or fewer"),
    "6 buttons in a row": ({"components": [row(*(button(str(place)) for place in range(6)))]}, "Must be 5 or fewer"),
    "an empty row": ({"components": [row()]}, "Must be 1 or more"),
    "a select beside a button": ({"components": [row(select(2), button())]}, "one select or up to 5 buttons"),
    "a custom id of 101": ({"components": [row(button("x" * 101))]}, "Must be 100 or fewer"),
    "the same custom id twice": ({"components": [row(button(), button())]}, "cannot be duplicated"),
    "a label of 81": ({"components": [row(button(label="x" * 81))]}, "Must be 80 or fewer"),
    "a button without a label": ({"components": [row(button(label=""))]}, "has a label"),
    "a link with a custom id": ({"components": [row(button(style=5, url="https://example.org"))]}, "a custom_id"),
    "a style that is none": ({"components": [row(button(style=9))]}, "style"),
    "26 options": ({"components": [row(select(26))]}, "Must be 25 or fewer"),
    "no options": ({"components": [row(select(0))]}, "Must be 1 or more"),
    "more to choose than there is": ({"components": [row(select(2, max_values=3))]}, "of 2 options"),
    "a placeholder of 151": ({"components": [row(select(2, placeholder="x" * 151))]}, "Must be 150 or fewer"),
    "a nonce of 26": ({"content": "hi", "nonce": "x" * 26}, "Must be 25 or fewer"),
    "a misspelt field": ({"content": "hi", "allowed_mention": {"parse": []}}, "no such field"),
    "a file that is not there": (
        {"flags": V2, "components": [{"type": 13, "file": {"url": "attachment://a.md"}}]},
        "no such file",
    ),
}


def raw(bot: Listener, route: Route, body: Obj) -> object:
    return bot.http.request(route, json=body)


@pytest.mark.parametrize("name", BAD_MESSAGES)
async def test_a_message_that_discord_would_refuse_is_refused(name: str) -> None:
    body, told = BAD_MESSAGES[name]
    async with standin(forgive=True) as there, listening(there) as bot:
        dm = there.person("ana").dm
        route = Route("POST", "/channels/{channel_id}/messages", channel_id=int(dm.id))
        assert told in str(await refused(50035, raw(bot, route, body)))
        assert len(there.violations) == 1
        assert not there.messages(dm)


def label(component: Obj, words: str = "Why?") -> Obj:
    return {"type": 18, "label": words, "component": component}


def written(id: str = "a", **more: Json) -> Obj:
    return {"type": 4, "custom_id": id, "style": 1, **more}


def form(*inside: Obj, **more: Json) -> Obj:
    return {"custom_id": "f", "title": "Form", "components": inside, **more}


BAD_FORMS: dict[str, tuple[Obj, str]] = {
    "6 questions": (form(*(label(written(str(place))) for place in range(6))), "between 1 and 5"),
    "no question": (form(), "Must be 1 or more"),
    "a title of 46": (form(label(written()), title="x" * 46), "Must be 45 or fewer"),
    "a question of 46": (form(label(written(), "x" * 46)), "Must be 45 or fewer"),
    "the same custom id twice": (form(label(written()), label(written())), "cannot be duplicated"),
    "a preset text of 4,001": (form(label(written(value="x" * 4001))), "Must be 4000 or fewer"),
    "one radio button": (
        form(label({"type": 21, "custom_id": "r", "options": [{"label": "a", "value": "a"}]})),
        "Must be 2 or more",
    ),
    "11 boxes": (
        form(label({"type": 22, "custom_id": "c", "options": [{"label": str(n), "value": str(n)} for n in range(11)]})),
        "Must be 10 or fewer",
    ),
    "a button": (form(row(button())), "type"),
}


@pytest.mark.parametrize("name", BAD_FORMS)
async def test_a_form_that_discord_would_refuse_is_refused(name: str) -> None:
    body, told = BAD_FORMS[name]
    async with standin(forgive=True) as there, listening(there) as bot:
        ana = there.person("ana")
        press = ana.interact(3, ana.dm, {"component_type": 2, "custom_id": "x", "id": 1}, ana.says(ana.dm, "hi"))
        await bot.interaction()
        path = "/interactions/{interaction_id}/{interaction_token}/callback"
        route = Route("POST", path, interaction_id=int(press.id), interaction_token=press.token)
        wrong: discord.HTTPException = await refused(50035, raw(bot, route, {"type": 9, "data": body}))
        assert told in str(wrong)
        assert press.modal is None
