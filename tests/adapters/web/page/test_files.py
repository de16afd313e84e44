"""The page's files keep what its content policy and its readers rely on; the page at work is tested in a browser."""

import re
from pathlib import Path

import pytest

from adapters import web

PAGE = Path(web.__file__).parent / "page"
SCRIPTS = sorted(PAGE.glob("*.js"))
HTML = sorted(PAGE.glob("*.html"))
LONGEST = 350


def name(path: Path) -> str:
    return path.name


@pytest.mark.parametrize("path", SCRIPTS, ids=name)
def test_a_script_fits_in_one_reading_and_says_what_it_is_for(path: Path) -> None:
    text = path.read_text("utf-8")
    assert len(text.splitlines()) <= LONGEST
    assert text.startswith("/*")


@pytest.mark.parametrize("path", SCRIPTS, ids=name)
def test_markup_has_one_door(path: Path) -> None:
    """Whatever people, agents and tools write goes in as text nodes; only the server's HTML may be markup."""
    doors = re.findall(
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|DOMParser|srcdoc|\beval\b|Function\(",
        path.read_text("utf-8"),
    )
    assert doors == (["innerHTML"] if path.name == "dom.js" else [])


@pytest.mark.parametrize("path", SCRIPTS, ids=name)
def test_a_script_imports_only_what_stands_beside_it(path: Path) -> None:
    imported = re.findall(r"^import\b.*?\"([^\"]+)\"", path.read_text("utf-8"), re.MULTILINE)
    assert not [one for one in imported if not one.startswith("./") or not (PAGE / one).is_file()]


@pytest.mark.parametrize("path", HTML, ids=name)
def test_a_page_has_nothing_that_the_content_policy_refuses(path: Path) -> None:
    text = path.read_text("utf-8")
    assert not re.search(r"<style|\sstyle=|\son\w+=|<base|javascript:|<iframe", text)
    assert all(re.search(r"src=\"/page/[\w.-]+\"", tag) for tag in re.findall(r"<script[^>]*>", text))


@pytest.mark.parametrize("path", HTML, ids=name)
def test_a_page_names_only_files_of_ours(path: Path) -> None:
    named = re.findall(r"(?:src|href)=\"([^\"#]+)\"", path.read_text("utf-8"))
    assert named
    others = set(named) - ({"/"} if path.name == "lost.html" else set[str]())
    assert not [
        one for one in others if not one.startswith("/page/") or not (PAGE / one.removeprefix("/page/")).is_file()
    ]


@pytest.mark.parametrize("path", [*SCRIPTS, *HTML, PAGE / "style.css", PAGE / "icon.svg"], ids=name)
def test_nothing_is_fetched_from_elsewhere(path: Path) -> None:
    found = re.findall(r"https?://[\w.-]+", path.read_text("utf-8"))
    assert set(found) <= {"http://www.w3.org"}


def test_the_page_loads_all_its_modules_at_once() -> None:
    """Without the hints each level of imports would cost another round trip before the first paint."""
    hinted = re.findall(r'rel="modulepreload" href="/page/([^"]+)"', (PAGE / "index.html").read_text("utf-8"))
    alone = {"login.js", "secret.js", "first-paint.js", "app.js"}
    assert hinted == sorted({path.name for path in SCRIPTS} - alone)
