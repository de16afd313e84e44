"""Clamped texts keep their beginning and end, say how much is missing, and never break a character."""

import re

import pytest

from core.clamp import ARGUMENTS, RESULT, clamp, clamp_json


def test_a_short_text_is_left_alone() -> None:
    assert clamp("x" * RESULT) == "x" * RESULT


@pytest.mark.parametrize("text", ["a" * 100_000, "é" * 50_000, "漢" * 40_000, "🙂" * 30_000, "a🙂é漢" * 9_999])
@pytest.mark.parametrize("limit", [64, 1_000, 1_001, 1_002, 1_003, RESULT])
def test_a_long_text_fits_and_says_how_many_bytes_are_missing(text: str, limit: int) -> None:
    cut = clamp(text, limit)
    assert len(cut.encode()) <= limit
    assert "\ufffd" not in cut
    found = re.fullmatch(r"(.*)\.\.\.\[(\d+) bytes elided\]\.\.\.(.*)", cut)
    assert found is not None
    head, elided, tail = found.groups()
    assert text.startswith(head)
    assert text.endswith(tail)
    assert len(head.encode()) + int(elided) + len(tail.encode()) == len(text.encode())


def test_arguments_stay_what_they_are_until_they_are_too_long() -> None:
    assert clamp_json({"path": "/tmp"}) == {"path": "/tmp"}
    cut = clamp_json({"text": "x" * 10_000})
    assert isinstance(cut, str)
    assert len(cut.encode()) <= ARGUMENTS
