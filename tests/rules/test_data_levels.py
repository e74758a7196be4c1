"""The levels of what is stored (docs/reference/data.md): every table has one, and the tests that it names are there."""

import re
from collections import Counter
from pathlib import Path

from tests.rules.test_tables import tables

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "reference" / "data.md"
LEVELS = ("Secret", "Content", "Personal", "Organization")


def test_every_table_has_one_level() -> None:
    parts = dict(re.findall(r"^## (\w+)\n(.*?)(?=^## |\Z)", PAGE.read_text(), flags=re.MULTILINE | re.DOTALL))
    listed = Counter(name for level in LEVELS for name in re.findall(r"`([a-z_]+)`", parts[level]) if name in tables())
    assert tables() - listed.keys() == set(), "give it a level in docs/reference/data.md"
    assert [name for name, count in listed.items() if count > 1] == []


def test_the_tests_that_it_names_are_there() -> None:
    there = {file.name for file in (ROOT / "tests").rglob("test_*.py")}
    assert set(re.findall(r"`(test_\w+\.py)`", PAGE.read_text())) <= there
