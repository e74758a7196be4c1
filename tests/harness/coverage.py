"""The page that says which test holds which statement of the protocol: docs/reference/protocol/coverage.md.

docs/generate.py writes it, from the pages and the citations in the tests; no server runs for it.
"""

from collections import defaultdict
from collections.abc import Iterable

from tests.harness.protocol import PAGES, SECTION, Citation, Statement, citations, pages, statements

NAME = "coverage.md"
HEAD = """# Which test holds which statement

<!-- Generated from docs/reference/protocol and the citations in tests by docs/generate.py: edit there. -->

Every statement of the [protocol](README.md) with the tests that show it to be true. A test cites a
statement with `@pytest.mark.holds`. The tests in `tests/contract/` run against any server, see
[CONTRIBUTING](../../../CONTRIBUTING.md#the-contract-at-any-server).
"""
COLUMNS = "| Statement | What it says | Tests |\n|---|---|---|\n"


def coverage_page() -> str:
    """A table per section, and before them the counts."""
    tests = tests_by_anchor(citations())
    found = statements()
    parts = [HEAD, _counts(found, tests)]
    for page in pages():
        text = (PAGES / page).read_text(encoding="utf-8")
        parts.append(f"\n## {_title(text)}\n")
        for section, title in SECTION.findall(text):
            own = [one for one in found if one.section == section]
            parts.append(f"\n### {title}\n\n{_line(own, tests)}.\n\n{COLUMNS}")
            parts += [_row(one, tests[one.anchor]) for one in own]
    return "".join(parts)


def tests_by_anchor(cited: Iterable[Citation]) -> dict[str, list[Citation]]:
    """Each test once, in the order of files."""
    tests: dict[str, list[Citation]] = defaultdict(list)
    for one in cited:
        if one not in tests[one.anchor]:
            tests[one.anchor].append(one)
    return tests


def _counts(found: list[Statement], tests: dict[str, list[Citation]]) -> str:
    lines = ["", "| Page | Section | Statements | Tests |", "|---|---|---|---|"]
    for page in pages():
        text = (PAGES / page).read_text(encoding="utf-8")
        for section, title in SECTION.findall(text):
            own = [one for one in found if one.section == section]
            lines.append(f"| [{_title(text)}]({page}) | [{title}]({page}#{section}) | {_numbers(own, tests)} |")
    return "\n".join([*lines, f"| **All** | | {_numbers(found, tests)} |"]) + "\n"


def _numbers(own: list[Statement], tests: dict[str, list[Citation]]) -> str:
    return f"{len(own)} | {len(_tests_of(own, tests))}"


def _line(own: list[Statement], tests: dict[str, list[Citation]]) -> str:
    count = len(_tests_of(own, tests))
    return f"{len(own)} statement{'s' * (len(own) != 1)}, held by {count} test{'s' * (count != 1)}"


def _tests_of(own: list[Statement], tests: dict[str, list[Citation]]) -> set[tuple[str, str]]:
    return {(test.path, test.test) for one in own for test in tests[one.anchor]}


def _row(one: Statement, cited: list[Citation]) -> str:
    by_path: dict[str, list[str]] = defaultdict(list)
    for test in cited:
        by_path[test.path].append(test.test)
    links = (
        f"[{path.rpartition('/')[2]}](../../../{path})::`{test}`" for path, names in by_path.items() for test in names
    )
    said = one.text.replace("|", "\\|")
    return f"| [{one.anchor}]({one.page}#{one.anchor}) | {said} | {'<br>'.join(links)} |\n"


def _title(text: str) -> str:
    return text.partition("\n")[0].removeprefix("# ")
