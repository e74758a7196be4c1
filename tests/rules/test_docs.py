"""Documentation that a machine can hold: generated pages are current, and links lead somewhere."""

import importlib.util
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")


def test_generated_reference_pages_are_current() -> None:
    spec = importlib.util.spec_from_file_location("generate", ROOT / "docs" / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    generate = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(generate)
    for name, text in generate.pages().items():
        committed = (ROOT / "docs" / "reference" / name).read_text()
        assert committed == text, f"docs/reference/{name} is old: run .venv/bin/python docs/generate.py"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_between_pages_lead_to_files(page: Path) -> None:
    targets = [target.partition("#")[0] for target in LINK.findall(page.read_text()) if "://" not in target]
    assert [target for target in targets if target and not (page.parent / target).exists()] == []


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


def test_every_decision_is_in_the_index_and_has_its_parts() -> None:
    folder = ROOT / "docs" / "decisions"
    index = (folder / "README.md").read_text()
    for page in sorted(folder.glob("[0-9]*.md")):
        text = page.read_text()
        assert f"]({page.name})" in index, page.name
        headings = re.findall(r"^## (.+)$", text, flags=re.MULTILINE)
        assert headings == ["Context", "Decision", "Consequences", "Alternatives"], page.name
        assert re.search(r"^Status: ", text, flags=re.MULTILINE), page.name
