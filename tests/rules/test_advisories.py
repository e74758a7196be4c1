"""The table of past advisories (docs/reference/advisories.md) is whole, and every test that it names is there.

The advisories themselves are not in the repository: what is held here is how many there are of each class.
"""

import ast
import re
from collections import Counter
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "reference" / "advisories.md"
CLASSES = {
    "AZ": 29,
    "EV": 12,
    "EN": 9,
    "CT": 6,
    "AT": 17,
    "IN": 9,
    "SE": 13,
    "SR": 12,
    "XS": 19,
    "DS": 25,
    "RL": 7,
    "UP": 15,
    "EX": 12,
    "BO": 10,
}
STANDS = ("holds", "mended", "does not apply", "open")


class Row(NamedTuple):
    """One advisory and its answer."""

    number: str
    stand: str
    question: str
    tests: list[str]
    remark: str


def rows() -> list[Row]:
    found = []
    for line in PAGE.read_text().splitlines():
        if re.match(r"\| [A-Z]{2}-\d\d \|", line):
            number, stand, question, shown, remark = (cell.strip() for cell in line.strip("|").split(" | "))
            found.append(Row(number, stand, question, re.findall(r"`([^`]+)`", shown), remark.strip(" |")))
    return found


def test_every_advisory_has_one_row_in_its_order() -> None:
    expected = [f"{name}-{number:02}" for name, count in CLASSES.items() for number in range(1, count + 1)]
    assert [row.number for row in rows()] == expected
    assert len(expected) == 195


def test_every_stand_is_one_of_four_and_counted() -> None:
    counted = Counter(row.stand for row in rows())
    assert set(counted) <= set(STANDS)
    stated = dict(re.findall(r"^\| ([a-z ]+) \| (\d+) \|$", PAGE.read_text(), flags=re.MULTILINE))
    assert stated == {stand: str(counted[stand]) for stand in STANDS}


@pytest.mark.parametrize("row", rows(), ids=lambda row: row.number)
def test_an_answer_is_shown_by_a_test_or_has_its_reason(row: Row) -> None:
    assert row.question or row.stand == "open"
    if row.stand in ("holds", "mended"):
        assert row.tests, "no test shows it"
    else:
        assert row.remark, "no reason is given"
    assert [test for test in row.tests if not is_there(test)] == []


def test_a_test_with_the_number_of_an_advisory_is_named_in_its_row() -> None:
    named = {test for row in rows() for test in row.tests}
    numbers = re.compile(rf"test_({'|'.join(CLASSES)})_\d\d_".lower())
    for path in (ROOT / "tests" / "features").rglob("test_*.py"):
        place = path.relative_to(ROOT).as_posix()
        unnamed = [test for test in functions_of(path) if numbers.match(test) and f"{place}::{test}" not in named]
        assert unnamed == [], f"name them in {PAGE.relative_to(ROOT)}"


def is_there(test: str) -> bool:
    """Whether pytest, or the web client's runners, would find it."""
    place, _, name = test.partition("::")
    path = ROOT / place
    if not path.is_file():
        return False
    if path.name.endswith((".test.ts", ".spec.ts")):
        return re.search(rf"\b(?:it|test)\(\s*(['\"`]){re.escape(name)}\1", path.read_text()) is not None
    return place.startswith("tests/") and path.name.startswith("test_") and name in functions_of(path)


@cache
def functions_of(path: Path) -> frozenset[str]:
    """The tests of a module: functions at its top whose names say so, as pytest collects them."""
    body = ast.parse(path.read_text()).body
    functions = [node for node in body if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]
    return frozenset(node.name for node in functions if node.name.startswith("test_") and not is_skipped(node))


def is_skipped(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return any(re.match(r"pytest\.mark\.(skip|xfail)\b", ast.unparse(mark)) for mark in node.decorator_list)
