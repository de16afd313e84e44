"""Words of an agent cannot hide an address behind a text: every masked link is broken, whatever looks like code."""

import json

import pytest

from adapters.discord.render import message
from adapters.platform import Block, View


def shown(text: str) -> str:
    """What is sent for an agent's words."""
    return json.dumps(message(View(blocks=(Block(kind="markdown", text=text),))), ensure_ascii=False)


@pytest.mark.parametrize(
    "text",
    [
        "[Approve](https://evil.example)",
        "```[Approve](https://evil.example)",
        "\\`[Approve](https://evil.example)\\`",
        "\\```[Approve](https://evil.example)```",
        "`code` [Approve](https://evil.example) `code`",
        "```\ncode\n```\n[Approve](https://evil.example)",
        "``a`[Approve](https://evil.example)`b",
        "**`** [Approve](https://evil.example) `",
        "> ```\n[Approve](https://evil.example)\n```",
        "# ```\n[Approve](\nhttps://evil.example)\n```",
    ],
)
def test_a_link_behind_a_text_is_broken(text: str) -> None:
    assert "](" not in shown(text)


@pytest.mark.parametrize("text", ["`a[0](1)`", "```\na[0](1)\n```"])
def test_code_without_an_address_is_left_as_it_is(text: str) -> None:
    assert "a[0](1)" in shown(text)
