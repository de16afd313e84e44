"""The table of promises and the tests hold each other to their word."""

import ast
import re

from tests.contract.on_the_web import NOT_ON_THE_WEB, OWN
from tests.house.sources import ROOT, called, python_files, tree
from tests.requirements import EVERYWHERE, PENDING, PROMISES, TITLES


def proved_pairs() -> set[tuple[str, str]]:
    """Each case and surface that some test says it proves, read from the source so that a part of the tests can run."""
    found: set[tuple[str, str]] = set()
    for path in python_files("tests"):
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                for mark in node.decorator_list:
                    if isinstance(mark, ast.Call) and called(mark) == "proves":
                        case, *surfaces = [str(ast.literal_eval(argument)) for argument in mark.args]
                        found |= {(case, surface) for surface in surfaces}
    return found


def promised_pairs() -> set[tuple[str, str]]:
    """Each case and surface that the table calls proved."""
    return {(case, surface) for case, promise in PROMISES.items() for surface in promise.proved}


def test_every_case_of_the_page_is_promised_under_its_title() -> None:
    page = (ROOT / "docs" / "cases.md").read_text("utf-8")
    assert dict(re.findall(r"^\*\*(C\d+) (.+)\*\*$", page, re.MULTILINE)) == {
        case: title for case, title in TITLES.items() if case.startswith("C")
    }


def test_every_promise_is_proved_or_owed_somewhere() -> None:
    assert not [case for case, promise in PROMISES.items() if not promise.proved and not promise.owed]


def test_every_promise_called_proved_has_a_test() -> None:
    assert promised_pairs() - proved_pairs() - PENDING == set()


def test_no_test_proves_what_is_not_promised() -> None:
    assert proved_pairs() - promised_pairs() == set()


def test_what_is_pending_has_no_test_yet() -> None:
    """A line of `PENDING` goes with the commit that brings the test."""
    assert PENDING & proved_pairs() == set()
    assert PENDING - promised_pairs() == set()


def test_what_every_front_end_owes_is_proved_on_fake_platforms_and_on_the_web() -> None:
    proved = {case: set(PROMISES[case].proved) for case in EVERYWHERE}
    assert not sorted(case for case, on in proved.items() if "kit" not in on or not on & {"page", "api"})


def functions(file: str) -> dict[str, ast.FunctionDef | ast.AsyncFunctionDef]:
    """The functions of a file of tests, by name."""
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    return {node.name: node for node in tree(ROOT / "tests" / file).body if isinstance(node, kinds)}


def test_every_contract_test_that_is_not_run_on_the_web_has_its_reason_and_its_own_form_there() -> None:
    """No stray in the table, no form that is not there, no test that says it proves what it never runs on."""
    suites = [path for path in python_files("tests/contract") if path.name.startswith("test_")]
    shared = {
        name: node
        for path in suites
        for name, node in functions(f"contract/{path.name}").items()
        if "made" in [argument.arg for argument in node.args.args]
    }
    assert NOT_ON_THE_WEB - shared.keys() == set()
    assert not [own for own in OWN.values() if own.test not in functions(own.file)]
    proving = {
        name
        for name in NOT_ON_THE_WEB
        for mark in shared[name].decorator_list
        if '"page"' in ast.unparse(mark).replace("'", '"')
    }
    assert proving == set()
