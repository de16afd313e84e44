"""The pages that people read, taken apart: their links, code, headings and the names that stand in backticks."""

import re
from functools import cache
from pathlib import Path

from tests.house.sources import ROOT

BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"(?<!!)\[((?:[^\]\[]|\[[^\]]*\])*)\]\(([^)\s]+)\)")
PICTURE = re.compile(r"!\[[^\]]*\]\(([^)\s]+)\)|(?:src|srcset)=\"([^\"]+)\"")
PLACE = re.compile(r"[./#]")
HEADING = re.compile(r"^#{1,6} (.+)$", re.MULTILINE)


@cache
def text_of(page: str) -> str:
    """A page by its path from the root of the repository."""
    return (ROOT / page).read_text("utf-8")


def pages() -> list[str]:
    """Every page, from the root of the repository."""
    found = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    return sorted(path.relative_to(ROOT).as_posix() for path in found)


def blocks(page: str, kind: str) -> list[str]:
    """The blocks of code of one kind ("python", "sh", "json" …), in order."""
    return [code for found, code in BLOCK.findall(text_of(page)) if found == kind]


def prose(page: str) -> str:
    """A page without its blocks of code."""
    return BLOCK.sub("", text_of(page))


def links(page: str) -> list[tuple[str, str]]:
    """The links within the repository, as (words, target); pictures, too."""
    plain = prose(page)
    found = [(words, target) for words, target in LINK.findall(plain)]
    found += [("", one or other) for one, other in PICTURE.findall(plain)]
    return [(words, target) for words, target in found if PLACE.search(target) and not re.match(r"[a-z]+:", target)]


def anchors(page: str) -> set[str]:
    """The places of a page that a link can name, as GitHub makes them of headings."""
    return {
        re.sub(r"[^\w\- ]", "", re.sub(r"[`*]", "", head).lower()).replace(" ", "-")
        for head in HEADING.findall(text_of(page))
    }


def target_of(page: str, target: str) -> tuple[Path, str]:
    """The file that a link leads to, and the place in it."""
    path, _, anchor = target.partition("#")
    return ((ROOT / page).parent / path).resolve() if path else ROOT / page, anchor


def rows(page: str, heading: str) -> list[list[str]]:
    """The rows of the first table below a heading, without its head; cells as they are written."""
    _, _, below = text_of(page).partition(f"\n{heading}\n")
    table = re.search(r"^\|.*\n\|[-| :]+\|\n((?:\|.*\n)+)", below, re.MULTILINE)
    assert table, f"{page} has no table below {heading!r}"
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in table[1].splitlines()]
