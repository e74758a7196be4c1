"""The statements of docs/reference/protocol/, and the tests that hold them.

A statement is a bullet with an anchor, shown before its text: `- <a id="typing.op"></a>`typing.op`: ...`. A test cites it
with `@pytest.mark.holds("typing.op")`. Citations are read from the source, so that neither engines nor a run are needed.

    .venv/bin/python -m tests.harness.protocol      prints the statements that no test cites
"""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

TESTS = Path(__file__).parents[1]
PAGES = TESTS.parent / "docs" / "reference" / "protocol"

SECTION = re.compile(r'^<a id="([a-z0-9-]+)"></a>\n\n## (.+)$', flags=re.MULTILINE)
STATEMENT = re.compile(r'^- <a id="([^"]+)"></a>`([^`]+)`:((?:.*\n)(?:  .+\n)*)', flags=re.MULTILINE)


class Statement(NamedTuple):
    """One thing that the server promises."""

    anchor: str
    shown: str
    """The anchor as readers see it: the same."""
    text: str
    page: str

    @property
    def section(self) -> str:
        """The anchor of the section it is in."""
        return self.anchor.partition(".")[0]


class Citation(NamedTuple):
    """A test, or a module of tests, and a statement it holds."""

    anchor: str
    path: str
    test: str
    """Empty: the citation is outside of a function, such as in a table of parameters."""


def pages() -> list[str]:
    """The pages with statements, in the order of the index."""
    index = (PAGES / "README.md").read_text(encoding="utf-8")
    return re.findall(r"^\| \[[^\]]+\]\((\w+\.md)\) \|", index, flags=re.MULTILINE)


def statements() -> list[Statement]:
    """Every statement, page by page and in the order they are written."""
    return [
        Statement(anchor, shown, " ".join(text.split()), page)
        for page in pages()
        for anchor, shown, text in STATEMENT.findall((PAGES / page).read_text(encoding="utf-8"))
    ]


def sections() -> dict[str, str]:
    """The anchor of each section, with the page it is on."""
    return {
        anchor: page for page in pages() for anchor, _ in SECTION.findall((PAGES / page).read_text(encoding="utf-8"))
    }


@cache
def citations() -> tuple[Citation, ...]:
    """Every citation in the tests."""
    return tuple(
        Citation(anchor, str(path.relative_to(TESTS.parent)), test)
        for path in sorted(TESTS.rglob("test_*.py"))
        if "holds" in (text := path.read_text(encoding="utf-8"))
        for anchor, test in _cited(ast.parse(text), "")
    )


def _cited(node: ast.AST, test: str) -> Iterator[tuple[str, str]]:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        test = node.name
    match node:
        case ast.Call(func=ast.Attribute(attr="holds"), args=anchors):
            yield from ((str(ast.literal_eval(anchor)), test) for anchor in anchors)
    for child in ast.iter_child_nodes(node):
        yield from _cited(child, test)


def main() -> None:
    """Print what no test cites."""
    held = {citation.anchor for citation in citations()}
    missing = [statement for statement in statements() if statement.anchor not in held]
    for statement in missing:
        print(f"{statement.page}: {statement.anchor}: {statement.text}")
    print(f"{len(missing)} of {len(statements())} statements are cited by no test.")


if __name__ == "__main__":
    main()
