"""The page that follows one question names functions that exist in the files that it names."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

from tests.house.pages import links, pages, target_of
from tests.house.sources import ROOT, tree

SOURCE = {".py", ".js", ".lua"}
NAMED = [
    (page, words.strip("`"), *target_of(page, target))
    for page in pages()
    for words, target in links(page)
    if Path(target.partition("#")[0]).suffix in SOURCE and words.startswith("`") and "/" not in words
]
"""(page, function, file) of each link from a function's name to its file."""


@cache
def python_names(path: Path) -> set[str]:
    """Functions and classes of a file, methods as `Class.method`."""
    found: set[str] = set()
    for node in tree(path).body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.add(node.name)
        if isinstance(node, ast.ClassDef):
            inner = [one for one in node.body if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef)]
            found |= {f"{node.name}.{one.name}" for one in inner}
    return found


@cache
def script_names(path: Path) -> set[str]:
    """The same of JavaScript and Lua, by how functions look there."""
    text = path.read_text("utf-8")
    found = set(re.findall(r"^(?:local |export |async )*function (\w+)", text, re.MULTILINE))
    place = ""
    for line in text.splitlines():
        if made := re.match(r"(?:export )?class (\w+)", line):
            place = made[1]
            found.add(place)
        elif place and (made := re.match(r"  (?:async |static |get )*(\w+)\([^;]*\) \{$", line)):
            found.add(f"{place}.{made[1]}")
    return found


@pytest.mark.parametrize("page", sorted({page for page, *_ in NAMED}))
def test_functions_named_on_a_page_exist_in_the_files_named(page: str) -> None:
    missing = [
        f"{words} in {path.relative_to(ROOT)}"
        for where, words, path, _ in NAMED
        if where == page
        and (not path.exists() or words not in (python_names(path) if path.suffix == ".py" else script_names(path)))
    ]
    assert not missing


def test_the_page_names_the_whole_path() -> None:
    named = {words for page, words, *_ in NAMED if page == "docs/one-question.md"}
    assert {"Asks.choose", "Hold.ask", "ask", "Link.commit", "Feed._entries", "reply", "take", "park", "claim"} <= named
