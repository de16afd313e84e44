"""Shape of the code: sizes, docstrings, names, and who may import or read what."""

import ast
import importlib.metadata
import importlib.util
import re
from collections.abc import Callable, Iterable
from pathlib import Path

from tests.house.sources import OURS, REST, ROOT, called, imported, name, python_files, tree

LONGEST = 350
NOT_IN_NAMES = {
    "manager",
    "handler",
    "service",
    "helper",
    "util",
    "utils",
    "common",
    "base",
    "data",
    "info",
    "process",
    "do",
}
REDIS_DOORS = {"core/address.py", "core/wire.py", "core/cluster.py"}
KEY_NAMES = {"core/keys.py", "core/store.py"}
NOT_OURS_TO_NAME = {"data_received", "do_request", "get_route_handler"}
"""Names that asyncio and libraries of ours look for."""


def each(paths: Iterable[Path]) -> Callable[[Callable[[Path], None]], Callable[[], None]]:
    """Look at all files in one test that names every wrong one; a test for each would cost more than it tells."""

    def looking(look: Callable[[Path], None]) -> Callable[[], None]:
        def looked() -> None:
            wrong: list[str] = []
            for path in paths:
                try:
                    look(path)
                except AssertionError as error:
                    wrong.append(f"{name(path)}: {error}")
            assert not wrong, "\n".join(wrong)

        looked.__doc__ = look.__doc__
        return looked

    return looking


@each(python_files(*OURS))
def test_a_file_fits_in_one_reading(path: Path) -> None:
    assert len(path.read_text("utf-8").splitlines()) <= LONGEST


@each(python_files(*OURS, *REST))
def test_a_file_says_what_it_is_for(path: Path) -> None:
    assert path.name == "__init__.py" or ast.get_docstring(tree(path))


def words(identifier: str) -> set[str]:
    """The words of an identifier: `SpanManager` is span and manager, `do_it` is do and it."""
    return {word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", identifier)}


@each(python_files(*OURS))
def test_names_say_more_than_manager_or_data(path: Path) -> None:
    kinds = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    names = [node.name for node in ast.walk(tree(path)) if isinstance(node, kinds)] + [path.stem]
    assert not [given for given in names if words(given) & NOT_IN_NAMES and given not in NOT_OURS_TO_NAME]


@each(python_files("tests"))
def test_tests_wait_for_outcomes_and_never_for_time(path: Path) -> None:
    sleeps = {called(node) for node in ast.walk(tree(path)) if isinstance(node, ast.Call)}
    assert path.name == "waiting.py" or not sleeps & {"time.sleep", "asyncio.sleep", "sleep"}


@each(python_files(*OURS))
def test_only_the_settings_look_at_the_environment(path: Path) -> None:
    reads = {called(node) for node in ast.walk(tree(path)) if isinstance(node, ast.Attribute | ast.Name)}
    assert name(path) in ("gateway/settings.py", "core/keeper.py") or not reads & {
        "os.environ",
        "os.getenv",
        "environ",
        "getenv",
    }


@each(python_files("core", "adapters"))
def test_redis_has_few_doors(path: Path) -> None:
    clients = {module for module in imported(path) if module.split(".")[0] in {"redis", "hiredis", "valkey"}}
    assert not clients or name(path) in REDIS_DOORS


@each(python_files(*OURS))
def test_key_names_are_made_in_one_place(path: Path) -> None:
    texts = [
        node.value for node in ast.walk(tree(path)) if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]
    assert name(path) in KEY_NAMES or not [text for text in texts if text.startswith("sayso:")]


def test_our_three_names_come_from_us_alone() -> None:
    """Plain top-level packages can be shadowed by an unrelated distribution that ships the same name."""
    shipped = importlib.metadata.packages_distributions()
    assert {owner for ours in OURS for owner in shipped.get(ours, [])} <= {"sayso"}
    for ours in OURS:
        found = importlib.util.find_spec(ours)
        assert found
        assert found.origin == str(ROOT / ours / "__init__.py")


def test_every_tests_folder_is_a_package() -> None:
    """Without its `__init__.py`, tests/core would hide core."""
    folders = {path.parent for path in python_files("tests")}
    assert not [name(folder) for folder in folders if not (folder / "__init__.py").exists()]
