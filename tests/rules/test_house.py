"""The rules of the house that a machine can hold: names, sizes, and what must never be committed."""

import ast
import re
import subprocess
import tomllib
from itertools import chain
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = sorted((ROOT / "src").rglob("*.py"))
PYTHON = SOURCES + sorted(path for place in ("tests", "bench", "docs") for path in (ROOT / place).rglob("*.py"))
REQUIREMENTS = sorted([*(ROOT / "requirements").glob("*.txt"), *(ROOT / "tests/clients/requirements").glob("*.txt")])
NO_PREFIX = {"src/tertulia/events/queues/initial_state.py"}  # a name of its own: the state at registration
VAGUE_NAMES = {"utils", "util", "helpers", "helper", "manager", "managers", "common", "misc"}

# Spelled so that this file does not name them itself.
REGISTRY_HOSTS = [
    ".".join(words) for words in (("pypi", "org"), ("pythonhosted", "org"), ("npmjs", "org"), ("deb", "debian"))
]
MACHINE_PATHS = ["/".join(("", *words)) for words in (("root", ""), ("work", ""), ("opt", "pypi"), ("opt", "wheels"))]


def committed_files() -> list[Path]:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout
    return [ROOT / name for name in listed.decode().split("\0") if name and (ROOT / name).is_file()]


def test_no_module_is_longer_than_500_lines() -> None:
    lengths = {str(path.relative_to(ROOT)): len(path.read_text().splitlines()) for path in PYTHON}
    assert {name: length for name, length in lengths.items() if length > 500} == {}


def test_no_module_has_a_name_that_says_nothing() -> None:
    vague = [str(path.relative_to(ROOT)) for path in PYTHON if VAGUE_NAMES & {path.stem, path.parent.name}]
    assert vague == []


def test_every_module_says_what_it_is_for() -> None:
    silent = [str(path.relative_to(ROOT)) for path in PYTHON if not opens_with_docstring(path.read_text())]
    assert silent == []


def opens_with_docstring(text: str) -> bool:
    return text.strip() == "" or text.lstrip().startswith(('"""', 'r"""'))


def test_a_bad_request_says_nothing_but_its_text() -> None:
    saying_more = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in SOURCES
        if re.search(r"\bRefusal\(", text := path.read_text())
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Refusal"
        if "code" not in (names := {word.arg for word in node.keywords}) and names - {"status", "headers"}
    ]
    assert saying_more == []


def test_committed_files_name_no_registry_host_and_no_path_of_a_machine() -> None:
    forbidden = re.compile("|".join(re.escape(word) for word in REGISTRY_HOSTS + MACHINE_PATHS))
    found = []
    for path in committed_files():
        try:
            text = path.read_text()
        except UnicodeDecodeError:
            continue
        found += [f"{path.relative_to(ROOT)}: {match.group()}" for match in forbidden.finditer(text)]
    assert found == []


@pytest.mark.parametrize("path", REQUIREMENTS, ids=lambda path: path.name)
def test_requirement_files_pin_by_hash_and_say_no_address(path: Path) -> None:
    text = path.read_text()
    entries = re.findall(r"^[a-z0-9][^\n]*(?:\n[ ]+--hash[^\n]*)*", text, flags=re.MULTILINE)
    assert entries
    assert [entry.splitlines()[0] for entry in entries if "==" not in entry or "--hash=sha256:" not in entry] == []
    assert "://" not in text
    assert not re.search(r"^\s*(-i|-f|--index|--extra-index|--find-links|--trusted)", text, flags=re.MULTILINE)


def test_requirement_files_hold_every_dependency_of_the_project() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    extras = project["project"]["optional-dependencies"]
    base = project["project"]["dependencies"]
    wanted = {
        "base.txt": base,
        "standalone.txt": base + extras["standalone"],
        "image.txt": [*base, *chain.from_iterable(extras.values())],
        # The tests try every extra for real.
        "dev.txt": [*base, *chain.from_iterable(extras.values()), *project["dependency-groups"]["dev"]],
    }
    for name, dependencies in wanted.items():
        pinned = set(
            re.findall(r"^([a-z0-9._-]+)(?:\[.*\])?==", (ROOT / "requirements" / name).read_text(), re.MULTILINE)
        )
        named = {re.split(r"[^\w.-]", dependency)[0].lower() for dependency in dependencies}
        assert named - pinned == set(), f"requirements/{name} is old: run bin/lock"


def test_scripts_are_executable_and_strict() -> None:
    scripts = [*sorted((ROOT / "bin").iterdir()), ROOT / ".ci" / "run"]
    loose = [
        script.name
        for script in scripts
        if not script.stat().st_mode & 0o100
        or ("bash" in script.read_text()[:30] and "set -euo pipefail" not in script.read_text())
    ]
    assert loose == []


def test_the_areas_fit_one_screen() -> None:
    entries = [entry for entry in (ROOT / "src" / "tertulia").iterdir() if entry.name != "__pycache__"]
    assert len([entry for entry in entries if entry.is_dir()]) <= 16
    assert sorted(entry.name for entry in entries if entry.is_file()) == ["__init__.py", "__main__.py", "py.typed"]


def test_parts_of_a_feature_are_folders_and_not_prefixes() -> None:
    kinds = "routes|actions|rules|queries|statements|events|state|model|notices"
    prefixed = [str(path.relative_to(ROOT)) for path in SOURCES if re.fullmatch(rf".+_({kinds})\.py", path.name)]
    assert [name for name in prefixed if name not in NO_PREFIX] == []
