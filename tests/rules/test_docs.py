"""Documentation that a machine can hold: generated pages are current, and links lead somewhere."""

import ast
import importlib.util
import re
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
WIDTH = 100
WRITTEN_BY_HAND = [
    page
    for page in sorted([*PAGES, *(ROOT / "tests").rglob("*.md"), *ROOT.glob("web/*.md"), *ROOT.glob("web/e2e/*.md")])
    if not re.search(r"^<!-- (Generated|Written) ", page.read_text(), flags=re.MULTILINE)
]


def test_generated_pages_and_parts_of_pages_are_current() -> None:
    spec = importlib.util.spec_from_file_location("generate", ROOT / "docs" / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    generate = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(generate)
    for name, text in generate.pages().items():
        committed = (ROOT / "docs" / name).read_text()
        assert committed == text, f"docs/{name} is old: run .venv/bin/python docs/generate.py"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_between_pages_lead_to_files(page: Path) -> None:
    targets = [target.partition("#")[0] for target in LINK.findall(page.read_text()) if "://" not in target]
    assert [target for target in targets if target and not (page.parent / target).exists()] == []


@pytest.mark.parametrize("page", WRITTEN_BY_HAND, ids=lambda page: str(page.relative_to(ROOT)))
def test_prose_is_wrapped_at_100_columns(page: Path) -> None:
    lines = page.read_text().splitlines()
    blocks = MarkdownIt("commonmark").enable("table").parse(page.read_text())
    paragraphs = [block.map for block in blocks if block.type == "paragraph_open" and block.map]
    prose = [number for start, end in paragraphs for number in range(start, end)]
    long = [n + 1 for n in prose if len(lines[n]) > WIDTH and not is_one_long_link(lines[n])]
    assert long == [], f"lines of {page.relative_to(ROOT)} over {WIDTH} columns"


def is_one_long_link(line: str) -> bool:
    """Whether nothing but an address is on the line, so that it cannot be broken."""
    return re.fullmatch(r"[\s>]*(?:(?:[-*+]|\d+\.)\s+)?(?:\[[^\]]*\]\(\S+\)|\S+)", line) is not None


def test_files_named_in_the_documentation_exist() -> None:
    whole = r"`((?:src/tertulia|tests|bench|bin|docs)/[\w./-]+)`"
    packages = "|".join(sorted(folder.parent.name for folder in (ROOT / "src" / "tertulia").glob("*/__init__.py")))
    inside = rf"(?<![\w/])((?:{packages})/(?:\w+/)*\w+\.py)\b"
    named = re.compile(f"{whole}|{inside}")
    gone = {
        f"{page.relative_to(ROOT)}: {path}"
        for page in PAGES
        for whole_path, inside_path in named.findall(page.read_text())
        if not (ROOT / (path := whole_path or f"src/tertulia/{inside_path}")).exists()
    }
    assert gone == set()


def test_every_code_name_of_the_glossary_is_in_the_source() -> None:
    source = ROOT / "src" / "tertulia"
    names = set(re.findall(r"\b(?:class|def) (\w+)", "\n".join(path.read_text() for path in source.rglob("*.py"))))
    rows = re.findall(r"^\| ([^|]+) \| (\w+) \| `([^`]+)` \|", glossary(), flags=re.MULTILINE)
    assert len(rows) == len(re.findall(r"^\| ", glossary(), flags=re.MULTILINE)) - 1 > 40
    assert [word for word, area, _ in rows if not (source / area).is_dir()] == []
    assert [(word, code) for word, _, code in rows if code not in names and not (source / code).exists()] == []


def test_the_words_of_the_glossary_are_in_it_once() -> None:
    words = re.findall(r"^\| ([^|*-]+) \| \w+ \|", glossary(), flags=re.MULTILINE)
    assert sorted(words) == sorted(set(words))


def glossary() -> str:
    return (ROOT / "docs" / "reference" / "glossary.md").read_text()


def test_every_decision_is_in_the_index_and_has_its_parts() -> None:
    folder = ROOT / "docs" / "decisions"
    index = (folder / "README.md").read_text()
    for page in sorted(folder.glob("[0-9]*.md")):
        text = page.read_text()
        assert f"]({page.name})" in index, page.name
        headings = re.findall(r"^## (.+)$", text, flags=re.MULTILINE)
        assert headings == ["Context", "Decision", "Consequences", "Alternatives"], page.name
        assert re.search(r"^Status: ", text, flags=re.MULTILINE), page.name


def test_a_messages_way_names_functions_that_exist_in_at_most_8_and_10_steps() -> None:
    text = (ROOT / "docs" / "explanation" / "a-messages-way.md").read_text()
    steps = re.findall(r"^\| (\d+) \| `([\w/]+\.py)` \| `([\w.]+)` \|", text, flags=re.MULTILINE)
    halves = [half.count("\n| ") - 1 for half in text.split("\n## ")[1:]]  # without the head of the table
    assert [int(number) for number, _, _ in steps] == list(range(1, sum(halves) + 1))
    assert halves[0] <= 8
    assert halves[1] <= 10
    assert [f"{path}: {name}" for _, path, name in steps if name not in defined_in(ROOT / "src/tertulia" / path)] == []


def defined_in(module: Path) -> set[str]:
    """Functions of a module, and methods as `Class.method`."""
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    body = ast.parse(module.read_text()).body
    methods = {
        f"{node.name}.{inner.name}"
        for node in body
        if isinstance(node, ast.ClassDef)
        for inner in node.body
        if isinstance(inner, functions)
    }
    return {node.name for node in body if isinstance(node, functions)} | methods


def test_files_named_in_the_source_exist() -> None:
    """A path is meant from src/tertulia, from the area, or from where it is written or one folder above."""
    named = re.compile(r"(?<![\w/.{-])((?:\w+/)*\w+\.py)\b")
    root = ROOT / "src" / "tertulia"
    gone = []
    for file in sorted(root.rglob("*.py")):
        area = root / file.relative_to(root).parts[0]
        for name in named.findall(file.read_text()):
            if name == "feature.py":  # each feature has one
                continue
            if not any((place / name).exists() for place in (root, ROOT, area, file.parent, file.parent.parent)):
                gone.append(f"{file.relative_to(ROOT)}: {name}")
    assert gone == []
