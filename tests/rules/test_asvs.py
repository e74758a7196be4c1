"""The answers to OWASP ASVS 5.0 (docs/reference/asvs.md): every requirement of levels 1 and 2 once, and what they name is there.

The standard itself is not in the repository: what is held here are its numbers.
"""

import re
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.rules.test_advisories import is_there as is_test

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "reference" / "asvs.md"
STANDS = ("met", "not applicable", "open")
LEVEL_1 = re.findall(
    r"\S+",
    """
1.2.1 1.2.2 1.2.3 1.2.4 1.2.5 1.3.1 1.3.2 1.5.1
2.1.1 2.2.1 2.2.2 2.3.1
3.2.1 3.2.2 3.3.1 3.4.1 3.4.2 3.5.1 3.5.2 3.5.3
4.1.1 4.4.1
5.2.1 5.2.2 5.3.1 5.3.2
6.1.1 6.2.1 6.2.2 6.2.3 6.2.4 6.2.5 6.2.6 6.2.7 6.2.8 6.3.1 6.3.2 6.4.1 6.4.2
7.2.1 7.2.2 7.2.3 7.2.4 7.4.1 7.4.2
8.1.1 8.2.1 8.2.2 8.3.1
9.1.1 9.1.2 9.1.3 9.2.1
10.4.1 10.4.2 10.4.3 10.4.4 10.4.5
11.3.1 11.3.2 11.4.1
12.1.1 12.2.1 12.2.2
13.4.1
14.2.1 14.3.1
15.1.1 15.2.1 15.3.1
""",
)
LEVEL_2 = re.findall(
    r"\S+",
    """
1.1.1 1.1.2 1.2.6 1.2.7 1.2.8 1.2.9 1.3.3 1.3.4 1.3.5 1.3.6 1.3.7 1.3.8 1.3.9 1.3.10 1.3.11 1.4.1 1.4.2 1.4.3 1.5.2
2.1.2 2.1.3 2.2.3 2.3.2 2.3.3 2.3.4 2.4.1
3.3.2 3.3.3 3.3.4 3.4.3 3.4.4 3.4.5 3.4.6 3.5.4 3.5.5 3.7.1 3.7.2
4.1.2 4.1.3 4.2.1 4.3.1 4.3.2 4.4.2 4.4.3 4.4.4
5.1.1 5.2.3 5.4.1 5.4.2 5.4.3
6.1.2 6.1.3 6.2.9 6.2.10 6.2.11 6.2.12 6.3.3 6.3.4 6.4.3 6.4.4
6.5.1 6.5.2 6.5.3 6.5.4 6.5.5 6.6.1 6.6.2 6.6.3 6.8.1 6.8.2 6.8.3 6.8.4
7.1.1 7.1.2 7.1.3 7.3.1 7.3.2 7.4.3 7.4.4 7.4.5 7.5.1 7.5.2 7.6.1 7.6.2
8.1.2 8.2.3 8.4.1
9.2.2 9.2.3 9.2.4
10.1.1 10.1.2 10.2.1 10.2.2 10.3.1 10.3.2 10.3.3 10.3.4 10.4.6 10.4.7 10.4.8 10.4.9 10.4.10 10.4.11
10.5.1 10.5.2 10.5.3 10.5.4 10.5.5 10.6.1 10.6.2 10.7.1 10.7.2 10.7.3
11.1.1 11.1.2 11.2.1 11.2.2 11.2.3 11.3.3 11.4.2 11.4.3 11.4.4 11.5.1 11.6.1
12.1.2 12.1.3 12.3.1 12.3.2 12.3.3 12.3.4
13.1.1 13.2.1 13.2.2 13.2.3 13.2.4 13.2.5 13.3.1 13.3.2 13.4.2 13.4.3 13.4.4 13.4.5
14.1.1 14.1.2 14.2.2 14.2.3 14.2.4 14.3.2 14.3.3
15.1.2 15.1.3 15.2.2 15.2.3 15.3.2 15.3.3 15.3.4 15.3.5 15.3.6 15.3.7
16.1.1 16.2.1 16.2.2 16.2.3 16.2.4 16.2.5 16.3.1 16.3.2 16.3.3 16.3.4 16.4.1 16.4.2 16.4.3 16.5.1 16.5.2 16.5.3
17.1.1 17.2.1 17.2.2 17.2.3 17.2.4 17.3.1 17.3.2
""",
)


class Row(NamedTuple):
    """One requirement and its answer."""

    number: str
    level: str
    stand: str
    asked: str
    shown: str
    remark: str


def rows() -> list[Row]:
    lines = re.findall(r"^\| (\d+\.\d+\.\d+ \|.*) \|$", PAGE.read_text(), flags=re.MULTILINE)
    return [Row(*(cell.strip() for cell in line.split("|"))) for line in lines]


def test_the_numbers_are_those_of_the_standard() -> None:
    assert (len(LEVEL_1), len(LEVEL_2)) == (70, 183)
    assert len({*LEVEL_1, *LEVEL_2}) == 253


def test_every_requirement_of_both_levels_has_one_row_in_its_order() -> None:
    levels = {**dict.fromkeys(LEVEL_1, "1"), **dict.fromkeys(LEVEL_2, "2")}
    expected = sorted(levels.items(), key=lambda entry: [int(part) for part in entry[0].split(".")])
    assert [(row.number, row.level) for row in rows()] == expected


def test_the_counts_are_right() -> None:
    counted = Counter((row.stand, row.level) for row in rows())
    assert {stand for stand, _ in counted} <= set(STANDS)
    stated = re.findall(r"^\| ([a-z ]+) \| (\d+) \| (\d+) \| (\d+) \|$", PAGE.read_text(), flags=re.MULTILINE)
    both = {stand: (counted[stand, "1"], counted[stand, "2"]) for stand in STANDS}
    assert stated == [(stand, str(one), str(two), str(one + two)) for stand, (one, two) in both.items()]


@pytest.mark.parametrize("row", rows(), ids=lambda row: row.number)
def test_an_answer_is_shown_or_has_its_reason(row: Row) -> None:
    assert row.asked
    if row.stand == "met":
        assert row.shown, "nothing shows it"
    else:
        assert row.remark, "no reason is given"
    named = re.findall(r"`([^`]+)`", row.shown)
    assert "<br>".join(f"`{name}`" for name in named) == row.shown
    assert [name for name in named if not is_there(name)] == []


def test_what_is_not_there_is_noticed() -> None:
    here = "tests/rules/test_asvs.py"
    assert is_there(here)
    assert is_there(f"{here}::test_what_is_not_there_is_noticed")
    assert not is_there(f"{here}::test_what_nobody_wrote")
    assert not is_there("tests/rules/test_nothing.py")
    assert not is_there("docs/reference")


def is_there(name: str) -> bool:
    """Whether there is such a file, or such a test."""
    return is_test(name) if "::" in name else (ROOT / name).is_file()
