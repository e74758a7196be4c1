"""What is handed over with a release (tests/check/release.py)."""

import hashlib
from pathlib import Path

import pytest

from tests.check.release import NotReady, notes_of, sums_of

CHANGELOG = """# Changelog

## Unreleased

- Not yet.

## 0.2.0 (December 2026)

### Running it

- Something new.

## 0.1.0

- The first.
"""


def test_the_notes_have_what_the_changelog_says_of_that_version_and_nothing_else() -> None:
    notes = notes_of("0.2.0", CHANGELOG)
    assert "- Something new." in notes
    assert "- Not yet." not in notes
    assert "- The first." not in notes
    assert "docs/how-to/upgrade.md" in notes
    assert "- The first." in notes_of("0.1.0", CHANGELOG)


@pytest.mark.parametrize("changelog", [CHANGELOG, CHANGELOG + "\n## 0.3.0\n"], ids=["no heading", "nothing under it"])
def test_a_version_of_which_the_changelog_says_nothing_is_not_released(changelog: str) -> None:
    with pytest.raises(NotReady, match=r"CHANGELOG\.md says nothing of 0\.3\.0"):
        notes_of("0.3.0", changelog)


def test_a_version_is_not_taken_for_another_that_begins_alike() -> None:
    with pytest.raises(NotReady):
        notes_of("0.1", CHANGELOG)


def test_the_sums_are_those_of_the_files(tmp_path: Path) -> None:
    (tmp_path / "a.whl").write_bytes(b"wheel")
    (tmp_path / "SHA256SUMS").write_text("old")
    assert sums_of(tmp_path) == f"{hashlib.sha256(b'wheel').hexdigest()}  a.whl\n"
