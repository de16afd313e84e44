"""Text is cut in the platform's own units, loses nothing, and stays well formed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.text import FENCE, Measure, clip, cut, split, utf8, utf16

MEASURES: list[Measure] = [len, utf16, utf8]
CODE = "Before\n```python\n" + "print('hello world')\n" * 40 + "```\nAfter " + "word " * 80


@given(st.text(max_size=400), st.integers(min_value=12, max_value=80), st.sampled_from(MEASURES))
def test_the_sources_of_the_parts_are_the_text(text: str, room: int, measure: Measure) -> None:
    parts = list(split(text, room, measure))
    assert "".join(part.source for part in parts) == text


@given(st.text(alphabet="ab 🦜\n", max_size=300), st.integers(min_value=8, max_value=60))
def test_every_part_fits_in_utf16_units(text: str, room: int) -> None:
    assert all(utf16(part.text) <= room for part in split(text, room, utf16))


def test_a_fence_is_closed_and_opened_again() -> None:
    parts = list(split(CODE, 300))
    assert len(parts) > 2
    for part in parts:
        assert len(FENCE.findall(part.text)) % 2 == 0
        assert len(part.text) <= 300
    assert parts[1].text.startswith("```python\n")


def test_it_is_cut_at_a_paragraph_before_a_line_before_a_word() -> None:
    assert [part.source for part in split("one two\n\nthree four", 12)] == ["one two\n\n", "three four"]
    assert [part.source for part in split("one two\nthree four", 12)] == ["one two\n", "three four"]
    assert [part.source for part in split("one two three", 10)] == ["one two ", "three"]


@pytest.mark.parametrize("joined", ["👩\u200d👩\u200d👧", "👍🏽", "e\u0301", "☎\ufe0f"])
def test_joined_characters_stay_together(joined: str) -> None:
    text = "x" * 9 + joined + "y" * 9
    assert any(joined in part.source for part in split(text, 11 + len(joined) // 2))
    assert clip(text, 10 + len(joined) // 2).rstrip("…").endswith(("x", joined))


def test_what_is_longer_than_three_parts_is_its_beginning_and_more() -> None:
    found = cut("word " * 100, 50)
    assert found.more
    assert len(found.parts) == 1
    assert not cut("word " * 20, 50).more
