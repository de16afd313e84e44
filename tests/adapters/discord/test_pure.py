"""Payloads and raw data: pure, so tried without a connection."""

from __future__ import annotations

import pytest

from adapters.discord import commands, modals, parse, places, render
from adapters.discord.settings import Settings
from adapters.platform import Ask, Block, Button, Choice, Form, View
from core.life.commands import COMMANDS

TWO = (Choice(label="small", value="0"), Choice(label="big", value="1"))
TWELVE = tuple(Choice(label=str(n), value=str(n)) for n in range(12))
FORM = Form(
    payload="v1:q0000000000000a0:g0",
    title="A very long title that does not fit into what Discord allows for one",
    asks=(
        Ask(id="0", label="Name", kind="line", most=80),
        Ask(
            id="1", label="Size", kind="one", choices=(Choice(label="small", value="0"), Choice(label="big", value="1"))
        ),
        Ask(
            id="2",
            label="With",
            kind="many",
            choices=tuple(Choice(label=str(n), value=str(n)) for n in range(12)),
            most=3,
        ),
    ),
)


def test_a_form_fits_and_is_read_back() -> None:
    made = modals.modal(FORM)
    assert len(str(made["title"])) <= 45
    components = made["components"]
    assert isinstance(components, list)
    kinds = [
        one["component"]["type"] for one in components if isinstance(one, dict) and isinstance(one["component"], dict)
    ]
    assert kinds == [4, 21, 3]
    raw: list[modals.Json] = [
        {"type": 18, "component": {"type": 4, "custom_id": "0", "value": "zoe"}},
        {"type": 18, "component": {"type": 21, "custom_id": "1", "value": None}},
        {"type": 18, "component": {"type": 3, "custom_id": "2", "values": ["3", "4"]}},
    ]
    assert modals.values(raw) == {"0": ("zoe",), "1": (), "2": ("3", "4")}


@pytest.mark.parametrize(
    ("plain", "marked"),
    [
        ("1. one", "1\\. one"),
        ("- a *b* _c_", "\\- a \\*b\\* \\_c\\_"),
        ("@everyone <@1> https://x.example", "\\@everyone \\<\\@1\\> https\\://x.example"),
    ],
)
def test_text_is_shown_as_it_is(plain: str, marked: str) -> None:
    assert render.escaped(plain) == marked


def test_nothing_gets_out_of_a_code_block() -> None:
    shown = render.text(View(blocks=(Block(kind="code", text="a ``` b\n```\n@everyone"),)))
    assert shown.count("```") == 2


def test_more_rows_than_discord_has_are_laid_out_anew() -> None:
    rows = tuple((Button(label=str(n), payload=f"v1:r{n:015}:xsure"),) for n in range(20))
    made = render.message(View(blocks=(Block(kind="title", text="Many"),), rows=rows, of="r"))
    container = made["components"]
    assert isinstance(container, list)
    inner = container[0]["components"] if isinstance(container[0], dict) else None
    assert isinstance(inner, list)
    assert len([one for one in inner if isinstance(one, dict) and one["type"] == 1]) == 4


def test_what_people_do_is_read_from_raw_data() -> None:
    assert parse.act(3, {"component_type": 2, "custom_id": "v1:x:o0"}) == parse.Pressed("v1:x:o0")
    assert parse.act(3, {"component_type": 3, "custom_id": "menu:q:0", "values": ["v1:x:o7"]}) == parse.Pressed(
        "v1:x:o7"
    )
    assert parse.act(3, {"component_type": 3, "custom_id": "v1:x:m0", "values": []}) == parse.Filled(
        "v1:x:m0", {"": ()}
    )
    assert parse.act(2, {"type": 3, "name": commands.CANCEL_THIS, "target_id": "5"}) == parse.OnMessage(
        commands.CANCEL_THIS, "5"
    )
    options = [{"name": "id", "value": "q1"}, {"name": "reason", "value": "no"}]
    assert parse.act(2, {"type": 1, "name": "deny", "options": options}) == parse.Command(
        "deny", {"id": "q1", "reason": "no"}
    )
    assert commands.argument("deny", {"reason": "no", "id": "q1"}) == "q1 no"


def test_every_command_is_a_slash_command() -> None:
    names = {str(one["name"]) for one in commands.definitions()}
    assert COMMANDS - names == {"start"}


def test_commands_are_registered_only_when_they_differ() -> None:
    kept: list[commands.Json] = [{**one, "id": "1", "version": "2"} for one in commands.definitions()]
    assert not commands.differ(kept)
    assert commands.differ(kept[1:])
    assert commands.differ(None)


def test_places_name_channels_and_threads() -> None:
    assert places.place_of(9, 17) == "dc-9.17"
    assert (places.channel_of("dc-9.17"), places.parent_of("dc-9.17")) == (17, 9)
    assert (places.channel_of("dc-9"), places.parent_of("dc-9")) == (9, None)
    assert places.channel_of("tg-9") is None


def test_roles_come_as_text_from_the_environment() -> None:
    made = Settings.model_validate({"bot_token": "x", "roles": "12=approver, 34=member"})
    assert made.role_of(("34", "12")) == "approver"
    assert made.role_of(("34",)) == "member"
    assert made.role_of(("56",)) is None
