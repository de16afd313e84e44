"""The pages stay true: links lead somewhere, files and settings exist, tables say what the code says."""

import re
from collections.abc import Iterable
from typing import get_args

import pytest

from core.life.commands import COMMANDS
from core.model import Cause, EventType, Shown
from gateway.settings import Settings, env_name
from tests.house.pages import anchors, blocks, links, pages, prose, rows, target_of, text_of
from tests.house.sources import ROOT

GUIDES = [
    "README.md",
    "docs/README.md",
    "docs/api.md",
    "docs/architecture.md",
    "docs/glossary.md",
    "docs/one-question.md",
    "docs/operations.md",
    "docs/writing-an-agent.md",
]
"""Pages that describe what is, word for word (others may speak of what will be)."""
TICKS = re.compile(r"`([^`]+)`")
FILE = re.compile(r"(?:core|adapters|gateway|tests|docs|bench|examples)/[\w./-]*")


def ticked(text: str) -> set[str]:
    """What stands in backticks."""
    return set(TICKS.findall(text))


def first_cells(table: Iterable[list[str]]) -> set[str]:
    """The names in the first column of a table, in backticks or bold."""
    return {name for row in table for name in re.findall(r"[`*]{1,2}([^`*]+)[`*]{1,2}", row[0])}


@pytest.mark.parametrize("page", pages())
def test_links_lead_to_a_file_and_a_place_in_it(page: str) -> None:
    broken: list[str] = []
    for _, target in links(page):
        path, anchor = target_of(page, target)
        inside = path.is_relative_to(ROOT) and path.exists()
        if not inside or (anchor and path.suffix == ".md" and anchor not in anchors(path.relative_to(ROOT).as_posix())):
            broken.append(target)
    assert not broken


def test_every_page_stands_in_the_index() -> None:
    listed = {target_of("docs/README.md", target)[0] for _, target in links("docs/README.md")}
    assert not [path.name for path in (ROOT / "docs").glob("*.md") if path.name != "README.md" and path not in listed]


@pytest.mark.parametrize("page", GUIDES)
def test_files_named_on_a_page_exist(page: str) -> None:
    named = {name for name in ticked(prose(page)) if FILE.fullmatch(name)}
    assert not [name for name in named if not (ROOT / name).exists()]


@pytest.mark.parametrize("page", GUIDES)
def test_settings_named_on_a_page_exist(page: str) -> None:
    known = {env_name(name) for name in Settings.model_fields}
    assert set(re.findall(r"\b(?:SAYSO_[A-Z_]+|REDIS_URL)\b", text_of(page))) <= known


@pytest.mark.parametrize(
    ("folder", "pattern", "heading"),
    [
        ("core", "**/*", "## Where things are in `core/`"),
        ("adapters", "*", "## The kit of front ends in `adapters/`"),
    ],
)
def test_the_map_of_the_architecture_has_every_file(folder: str, pattern: str, heading: str) -> None:
    named = first_cells(rows("docs/architecture.md", heading))
    files = [path for path in (ROOT / folder).glob(pattern) if path.suffix in (".py", ".lua")]
    there = {path.relative_to(ROOT / folder).as_posix() for path in files if path.name != "__init__.py"}
    assert not sorted(there - named), "a new file gets its place in docs/architecture.md"
    assert not sorted(named - there)


# ── words ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_glossary_has_every_word_of_the_design() -> None:
    designed = first_cells(rows("docs/design.md", "## 2. Words"))
    assert designed <= set(re.findall(r"\*\*([\w ]+)\*\*", text_of("docs/glossary.md")))


def test_the_glossary_has_every_state() -> None:
    assert first_cells(rows("docs/glossary.md", "## What a run can be")) == set(get_args(Shown))


def test_the_glossary_has_every_cause() -> None:
    assert first_cells(rows("docs/glossary.md", "## Causes")) == set(get_args(Cause))


def test_the_api_page_has_every_event() -> None:
    assert first_cells(rows("docs/api.md", "## Events")) == set(get_args(EventType))


def test_pages_name_only_commands_that_exist() -> None:
    told = {word for page in GUIDES for word in ticked(text_of(page)) if re.fullmatch(r"/[a-z]+", word)}
    assert {word[1:] for word in told} <= COMMANDS | {"health", "ready", "metrics"}


@pytest.mark.parametrize("page", [page for page in GUIDES if blocks(page, "python")])
def test_code_on_a_page_is_python(page: str) -> None:
    for code in blocks(page, "python"):
        compile(code, page, "exec", flags=0x2000)  # ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
