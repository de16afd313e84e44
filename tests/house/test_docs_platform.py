"""What the page about adding a platform shows of the seam is what the seam is."""

import ast
import re

from tests.house.sources import ROOT

PAGE = ROOT / "docs" / "adding-a-platform.md"
SEAM = ROOT / "adapters" / "platform.py"
BLOCK = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)


def verbs(tree: ast.Module, name: str) -> dict[str, str]:
    """The signatures of a class's methods, as text."""
    found = next(one for one in tree.body if isinstance(one, ast.ClassDef) and one.name == name)
    return {
        one.name: f"{type(one).__name__} {ast.unparse(one.args)} -> {ast.unparse(one.returns) if one.returns else None}"
        for one in found.body
        if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef)
    }


def test_the_page_shows_every_verb_of_a_platform_as_it_is() -> None:
    block = next(one for one in BLOCK.findall(PAGE.read_text("utf-8")) if "class Matrix:" in one)
    assert verbs(ast.parse(block), "Matrix") == verbs(ast.parse(SEAM.read_text("utf-8")), "Platform")
