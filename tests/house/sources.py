"""The files of this project, read once for the tests of the house rules."""

import ast
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
OURS = ("core", "adapters", "gateway")
REST = ("tests", "bench", "examples")


@cache
def python_files(*folders: str) -> tuple[Path, ...]:
    """Every Python file below these folders of the repository, sorted."""
    return tuple(sorted(path for folder in folders for path in (ROOT / folder).rglob("*.py")))


@cache
def tree(path: Path) -> ast.Module:
    """The syntax tree of a file."""
    return ast.parse(path.read_text("utf-8"), str(path))


def name(path: Path) -> str:
    """The path as people write it: from the root of the repository."""
    return path.relative_to(ROOT).as_posix()


def called(node: ast.AST) -> str:
    """The dotted name that a call or decorator uses: "asyncio.sleep"; "" for anything else."""
    if isinstance(node, ast.Call):
        return called(node.func)
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        front = called(node.value)
        return f"{front}.{node.attr}" if front else ""
    return ""


def imported(path: Path) -> set[str]:
    """The modules that a file imports."""
    found: set[str] = set()
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module}
    return found
