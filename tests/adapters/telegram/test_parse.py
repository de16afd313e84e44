"""Updates as Telegram sends them, and what people did by them."""

from __future__ import annotations

import copy
import json
from pathlib import Path

import pytest
from telegram import MessageEntity, Update

from adapters.telegram.parse import (
    Attached,
    Deed,
    Edited,
    Hidden,
    Me,
    Moved,
    Overheard,
    Pressed,
    Stopped,
    Wrote,
    addressed,
    parsed,
)
from adapters.telegram.place import origin, person, spot, user
from adapters.text import utf16
from core.model import Person
from tests.proves import proves

SAMPLES = json.loads((Path(__file__).parent / "samples" / "updates.json").read_text("utf-8"))
ME = Me(4242, "sayso_bot")
ANN = Person(id="tg:42", name="Ann")


def sample(name: str) -> Deed | None:
    """What a sample means."""
    return parsed(Update.de_json(SAMPLES[name], None), ME)


@pytest.mark.parametrize(
    ("name", "deed"),
    [
        ("private text", Wrote("tg-42", "5", "deploy", Person(id="tg:42", name="Ann Lee"))),
        ("press", Pressed("tg-42", "6", "v1:q0abcdefghjkmnpq:o0", ANN, "77")),
        ("press in a topic", Pressed("tg--1001.7", "6", "v1:q0abcdefghjkmnpq:o0", ANN, "78")),
        ("press on an old message", Pressed("tg-42", "6", "v1:q0abcdefghjkmnpq:o0", ANN, "79")),
        ("edit", Edited("tg-42", "5", "deploy now", ANN)),
        ("stop", Stopped("tg-42", ANN)),
        ("migration", Moved("tg--55", "tg--1000055")),
        ("anonymous", Hidden("tg--1001", "9")),
        ("small talk", Overheard("tg--1001", "Bob", "ok")),
        ("first message of a topic", Wrote("tg--1001.7", "9", "/status", ANN)),
        ("reply without its topic", Wrote("tg--1001.7", "9", "a parrot", ANN, "8")),
        ("chain of replies", Wrote("tg--1001", "9", "a parrot", ANN, "8")),
        (
            "part of an album",
            Wrote("tg-42", "9", "look", ANN, None, (Attached("large", "photo-9.jpg", "image/jpeg", 90000),), "133"),
        ),
        ("sticker", Wrote("tg-42", "9", "", ANN, odd=True)),
        ("somebody joined", None),
    ],
)
def test_an_update_says_what_a_person_did(name: str, deed: Deed | None) -> None:
    assert sample(name) == deed


@pytest.mark.parametrize("name", ["private text", "first message of a topic", "chain of replies", "small talk"])
def test_another_bot_begins_nothing_and_is_not_even_overheard(name: str) -> None:
    """Two bots that answer each other would never end."""
    raw = copy.deepcopy(SAMPLES[name])
    raw["message"]["from"]["is_bot"] = True
    assert parsed(Update.de_json(raw, None), ME) is None


def heard(text: str, *marks: tuple[str, str], broken: bool = False) -> tuple[str, bool]:
    """What is left of a group's text whose marked words have these kinds."""
    found = [MessageEntity(kind, utf16(text[: text.index(words)]), utf16(words)) for kind, words in marks]
    if broken:
        found.append(MessageEntity("mention", utf16(text) - 2, 50))
    return addressed(text, found, ME)


@proves("C54", "telegram")
@pytest.mark.parametrize(
    ("text", "marks", "left"),
    [
        ("😀😀 @sayso_bot deploy", (("mention", "@sayso_bot"),), "😀😀 deploy"),
        ("مرحبا @Sayso_Bot deploy", (("mention", "@Sayso_Bot"),), "مرحبا deploy"),
        ("😀 /status@sayso_bot", (("bot_command", "/status@sayso_bot"),), "/status"),
        ("@sayso_bot /cancel", (("mention", "@sayso_bot"), ("bot_command", "/cancel")), "/cancel"),
        ("/deny@sayso_bot q1 no way", (("bot_command", "/deny@sayso_bot"),), "/deny q1 no way"),
        ("hey @sayso_bot, deploy", (("mention", "@sayso_bot"),), "hey, deploy"),
        ("@sayso_bot: deploy", (("mention", "@sayso_bot"),), "deploy"),
        ("please run /status@sayso_bot", (("bot_command", "/status@sayso_bot"),), "please run /status"),
    ],
)
def test_a_mention_or_command_is_found_behind_emoji_and_arabic_and_taken_out(
    text: str, marks: tuple[tuple[str, str], ...], left: str
) -> None:
    assert heard(text, *marks) == (left, True)
    assert heard(text, *marks, broken=True) == (left, True)


@pytest.mark.parametrize(
    ("text", "marks"),
    [
        ("@other_bot deploy", (("mention", "@other_bot"),)),
        ("/status@other_bot", (("bot_command", "/status@other_bot"),)),
        ("/weather", (("bot_command", "/weather"),)),
        ("just talk", ()),
    ],
)
def test_what_is_meant_for_others_is_left_alone(text: str, marks: tuple[tuple[str, str], ...]) -> None:
    assert heard(text, *marks) == (text, False)


def test_places_and_people_have_one_name_both_ways() -> None:
    for chat, thread in ((42, None), (-1001234, None), (-1001234, 7)):
        assert (spot(origin(chat, thread)).chat, spot(origin(chat, thread)).thread) == (chat, thread)
    assert origin(-1001234, 1) == "tg--1001234"
    assert user(person(42)) == 42
    assert user("web:ann") is None
    with pytest.raises(ValueError, match="no place on Telegram"):
        spot("dc-42")
