"""Payloads are short, and say exactly what they were made of."""

from __future__ import annotations

from typing import get_args

import pytest

from core.press import NUMBERED, Press, Verb, payload, read

ID = "q3a1dh6adxdv3edm"


@pytest.mark.parametrize("verb", get_args(Verb))
@pytest.mark.parametrize("loose", [False, True])
def test_what_is_made_is_read_again(verb: Verb, loose: bool) -> None:
    if verb in NUMBERED:
        text = payload(ID, verb, number=17)
        assert read(text) == Press(ID, verb, number=17)
    else:
        text = payload(ID, verb, loose=loose)
        assert read(text) == Press(ID, verb, loose=loose)
    assert len(text.encode()) <= 64


def test_an_option_of_a_later_field_names_it() -> None:
    assert read(payload(ID, "option", field=19, number=199)) == Press(ID, "option", 19, 199)


@pytest.mark.parametrize(
    "text", ["", "v1:", f"v1:{ID}:", f"v2:{ID}:done", f"v1:{ID}:nothing", f"v1:{ID}:o1x", "v1:X:done"]
)
def test_what_is_none_of_ours_is_nothing(text: str) -> None:
    assert read(text) is None
