"""What a view looks like on Telegram: text and entities that say the same, and nothing that becomes active."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from telegram import ForceReply, InlineKeyboardMarkup

from adapters.platform import Block, Button, Prompt, View
from adapters.telegram.markdown import pieces
from adapters.telegram.render import ACTIVE, MOST_ENTITIES, Payload, rendered, size
from adapters.text import utf16
from tests.proves import proves

SHELL = 'rm -rf `build_*` && echo "[a](b)" <b> & _x_ *y* ~z~ > # + - = | { } . ! \\'


def one(kind: str, text: str, **how: object) -> View:
    """A view of one piece."""
    return View.model_validate({"blocks": [{"kind": kind, "text": text}], **how})


def marked(payload: Payload) -> list[tuple[str, str]]:
    """Each entity and the text that it covers."""
    units = payload.text.encode("utf-16-le")
    return [
        (one.type, units[one.offset * 2 : (one.offset + one.length) * 2].decode("utf-16-le"))
        for one in payload.entities
    ]


@proves("C50", "telegram")
@pytest.mark.parametrize("kind", ["title", "text", "code", "quote", "state", "small"])
def test_markup_characters_are_shown_as_they_are(kind: str) -> None:
    assert rendered(one(kind, SHELL)).text == SHELL
    assert rendered(one(kind, SHELL, plain=True)).entities == ()


def test_an_agents_words_are_formatted() -> None:
    payload = rendered(
        one("markdown", "# Plan\n\nFirst **bold** and *leaning* ~~gone~~ `x = 1`.\n\n- one\n- two\n  1. deep")
    )
    assert payload.text == "Plan\n\nFirst bold and leaning gone x = 1.\n\n• one\n• two\n  1. deep"
    assert marked(payload) == [
        ("bold", "Plan"),
        ("bold", "bold"),
        ("italic", "leaning"),
        ("strikethrough", "gone"),
        ("code", "x = 1"),
    ]


def test_entities_cover_exactly_their_words_behind_and_around_emoji() -> None:
    """Telegram counts UTF-16 units, of which an emoji has two."""
    payload = rendered(one("markdown", "😀😀 **bold 😀** and `x` 😀 *end 😀*"))
    assert payload.text == "😀😀 bold 😀 and x 😀 end 😀"
    assert marked(payload) == [("bold", "bold 😀"), ("code", "x"), ("italic", "end 😀")]


def test_code_keeps_its_language_and_every_character() -> None:
    payload = rendered(one("markdown", "Look:\n\n```python\nif a < b:\n    print('**no**')\n```\n\nDone."))
    assert payload.text == "Look:\n\nif a < b:\n    print('**no**')\n\nDone."
    assert [(found.type, found.language) for found in payload.entities] == [("pre", "python")]


def test_a_table_stands_in_columns() -> None:
    payload = rendered(one("markdown", "| a | long |\n|---|---|\n| 1 | 2 |"))
    assert payload.text == "a │ long\n──┼─────\n1 │ 2"
    assert [found.type for found in payload.entities] == ["pre"]


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("[your bank](https://evil.example/x)", "your bank (https://evil.example/x)"),
        ("![x](http://169.254.169.254/y)", "x (http://169.254.169.254/y)"),
        ("<a href='https://evil.example'>bank</a>", "<a href='https://evil.example'>bank</a>"),
        ("[me](tg://user?id=1)", "me (tg://user?id=1)"),
        ("[a]: https://evil.example\n\n[bank][a]", "[a]: https://evil.example\n\n[bank][a]"),
    ],
)
def test_words_never_hide_an_address(text: str, seen: str) -> None:
    payload = rendered(one("markdown", text))
    assert payload.text == seen
    assert {found.type for found in payload.entities} <= {"code"}


@pytest.mark.parametrize(
    "text", ["@someone_else", "/approve", "mail@host.example", "#tag", "$USD", "deploy.sh", "t.me/x"]
)
@pytest.mark.parametrize("kind", ["title", "text", "quote", "state", "small", "markdown"])
def test_nothing_that_telegram_would_make_active_stays_plain(kind: str, text: str) -> None:
    payload = rendered(one(kind, f"go to {text} now", of="q0"))
    assert ("code", text) in marked(payload)
    assert payload.text == f"go to {text} now"


def test_commands_in_our_own_notices_can_be_tapped() -> None:
    assert marked(rendered(one("text", "/status what works now"))) == []


def test_more_quiet_texts_than_entities_are_kept_before_looks() -> None:
    text = " ".join(f"**b** @name{number:03}" for number in range(80))
    payload = rendered(one("markdown", text))
    assert len(payload.entities) == MOST_ENTITIES
    assert sum(found.type == "code" for found in payload.entities) == 80


@given(st.text(alphabet=st.sampled_from(list("ab *_`~[]()<>@/.#\n😀é\u200f-1>|!\\"))))
def test_entities_lie_within_the_text_and_never_cross(text: str) -> None:
    """Counted in UTF-16 units; none is empty; one lies in another or beside it; code holds none."""
    payload = rendered(View(blocks=(Block(kind="markdown", text=f"x{text}"),)))
    length = utf16(payload.text)
    spans = [(found.offset, found.offset + found.length, found.type) for found in payload.entities]
    for begin, end, kind in spans:
        assert 0 <= begin < end <= length
        for other, until, other_kind in spans:
            if (begin, end, kind) == (other, until, other_kind):
                continue
            assert until <= begin or end <= other or begin <= other <= until <= end or other <= begin <= end <= until
            assert not (kind in ("code", "pre") and begin <= other and until <= end)
    assert size(View(blocks=(Block(kind="markdown", text=f"x{text}"),))) == length


@given(st.text(max_size=400))
def test_plain_pieces_are_shown_character_for_character(text: str) -> None:
    assert rendered(one("text", f"x{text}x")).text == f"x{text}x"
    assert "".join(piece.text for piece in pieces("`x`")) == "x"


def test_a_prompt_opens_the_reply_beside_the_buttons_and_alone() -> None:
    row = ((Button(label="Cancel", payload="v1:q:cancel", style="danger"),),)
    both = rendered(one("text", "What?", prompt=Prompt()).changed(rows=row)).keyboard
    assert isinstance(both, InlineKeyboardMarkup)
    assert both.to_dict()["force_reply"] is True
    assert both.inline_keyboard[0][0].style == "danger"
    alone = rendered(one("text", "What?", prompt=Prompt(placeholder="a name", person="tg:7"))).keyboard
    assert isinstance(alone, ForceReply)
    assert alone.selective


def test_an_address_without_a_public_name_is_written_out() -> None:
    """Telegram refuses a whole message for a button with such an address."""
    row = (
        Button(label="Open the page", url="http://localhost:8765/secret/q0"),
        Button(label="Elsewhere", url="https://sayso.example/secret/q0"),
    )
    view = one("text", "Give it.").changed(rows=(row,))
    payload = rendered(view)
    assert payload.text == "Give it.\n\nOpen the page: http://localhost:8765/secret/q0"
    assert isinstance(payload.keyboard, InlineKeyboardMarkup)
    assert [button.text for button in payload.keyboard.inline_keyboard[0]] == ["Elsewhere"]
    assert size(view) == utf16(payload.text)


def test_whose_reply_is_wanted_in_a_group_is_called() -> None:
    payload = rendered(one("text", "What?", prompt=Prompt(person="tg:7")))
    assert [(found.type, found.user.id if found.user else 0) for found in payload.entities] == [("text_mention", 7)]
    assert payload.text == "➤ What?"
    asked = one("text", "Which?").changed(asks="tg:7", rows=((Button(label="this", payload="v1:q:o0"),),))
    payload = rendered(asked, edit=True)
    assert [(found.type, found.user.id if found.user else 0) for found in payload.entities] == [("text_mention", 7)]
    assert size(asked) == utf16(payload.text) == len("➤ Which?")
    assert not rendered(asked.changed(asks="dc:7")).entities


def test_the_shape_of_what_is_active_is_found_in_time_that_grows_with_the_text() -> None:
    """Long runs of what could begin an address are no trap."""
    for text in ("a" * 30_000, "a." * 15_000, "@" * 30_000, "a-" * 15_000, "/" * 30_000, "x@" * 15_000):
        assert sum(1 for _ in ACTIVE.finditer(text)) >= 0
