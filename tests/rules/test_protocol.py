"""The protocol's statements and the tests that cite them agree (see tests/harness/protocol.py)."""

import ast
import re
from collections import Counter

from tests.harness import coverage
from tests.harness.protocol import PAGES, TESTS, citations, pages, sections, statements

CONTRACT = sorted((TESTS / "contract").glob("test_*.py"))
SOURCES = sorted([*TESTS.rglob("*.py"), *(TESTS.parent / "src").rglob("*.py")])


def test_every_bullet_of_the_protocol_is_a_statement_with_an_anchor() -> None:
    for page in pages():
        bullets = re.findall(r"^- .*$", (PAGES / page).read_text(), flags=re.MULTILINE)
        found = [statement for statement in statements() if statement.page == page]
        assert len(found) == len(bullets) > 0, page


def test_every_page_is_in_the_index() -> None:
    assert {*pages(), "README.md", coverage.NAME} == {page.name for page in PAGES.glob("*.md")}


def test_every_statement_is_held_by_a_test() -> None:
    held = {citation.anchor for citation in citations() if citation.test}
    assert [statement.anchor for statement in statements() if statement.anchor not in held] == []


def test_no_line_of_the_table_of_tests_is_empty() -> None:
    row = re.compile(r"^\| \[([\w.-]+)\]\(\w+\.md#[\w.-]+\) \| .+ \| ([^|]*) \|$", flags=re.MULTILINE)
    rows = row.findall(coverage.coverage_page())
    assert [anchor for anchor, _ in rows] == [statement.anchor for statement in statements()]
    assert [anchor for anchor, tests in rows if "::`test_" not in tests] == []


def test_an_anchor_is_shown_as_it_is_and_is_given_once() -> None:
    found = statements()
    assert [one.anchor for one in found if one.shown != one.anchor] == []
    assert [anchor for anchor, times in Counter(one.anchor for one in found).items() if times > 1] == []


def test_an_anchor_begins_with_its_section() -> None:
    places = sections()
    wrong = [one.anchor for one in statements() if places.get(one.anchor.partition(".")[0]) != one.page]
    assert wrong == []


def test_every_section_is_in_the_index() -> None:
    index = (PAGES / "README.md").read_text()
    assert [anchor for anchor, page in sections().items() if f"]({page}#{anchor})" not in index] == []


def test_a_citation_names_a_statement_that_exists() -> None:
    known = {statement.anchor for statement in statements()}
    assert [citation for citation in citations() if citation.anchor not in known] == []


def test_every_contract_test_cites_a_statement() -> None:
    cited = {(citation.path, citation.test) for citation in citations()}
    silent = [
        f"{path.name}: {node.name}"
        for path in CONTRACT
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_")
        if (str(path.relative_to(TESTS.parent)), node.name) not in cited
    ]
    assert silent == []


def test_sections_that_docstrings_name_exist() -> None:
    places = sections()
    named = [
        (path.name, page, anchor)
        for path in SOURCES
        for page, anchor in re.findall(r"\(protocol/([\w-]+\.md)#([\w.-]+)\)", path.read_text())
    ]
    assert [one for one in named if places.get(one[2]) != one[1]] == []
    assert {path.name for path in CONTRACT} - {name for name, _, _ in named} == set()


def test_nothing_cites_a_document_that_is_not_in_the_repository() -> None:
    foreign = re.compile(r"\bcontract/[a-z-]+\.md|\bthe specification\b|\bspecification \d", flags=re.IGNORECASE)
    pages = [*TESTS.parent.glob("*.md"), *(TESTS.parent / "docs").rglob("*.md")]
    named = [
        f"{path.relative_to(TESTS.parent)}: {found.group()}"
        for path in [*SOURCES, *pages]
        if path.name != "test_protocol.py"
        for found in foreign.finditer(path.read_text())
    ]
    assert named == []
