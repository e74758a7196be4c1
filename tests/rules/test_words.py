"""Words that every engineer knows: what was renamed does not come back, and no module has the name of a standard one.

The glossary says which word to take; this is the list of those that a reader could not guess, or would read twice.
"""

import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

WORDS = {
    r"(?i)is another now": "changed",
    r"(?i)\berrands?\b": "side effects, or tasks",
    r"(?i)\bin_sight\b|_sight\b|\bsight_": "visibility (in sentences, to lose sight of something is fine)",
    r"(?i)\bsmall forms?\b": "thumbnail",
    r"(?i)\bobjects of nobody\b": "orphans",
    r"(?i)\bcoming_and_going\b": "activation",
    r"\b(?:class|interface|type) (?:Wish|Told|Heard|Found)\b": "a name that says of what",
}
TEXTS = ("*.py", "*.md", "*.toml", "*.ts", "*.svelte", "*.css", "*.html", "*.js")
PLACES = ("src", "docs", "bench", "web/src")

STANDARD_NAMES = {
    "src/tertulia/events/queues/queue.py": "the class Queue: event queues are the word of the protocol",
    "src/tertulia/integrations/incoming/json/__init__.py": "a folder is named like the service in its address",
    "src/tertulia/kernel/http.py": "the HTTP application; nobody here uses the standard module of that name",
    "src/tertulia/people/users/profile.py": "what people say of themselves: the word of the protocol",
    "src/tertulia/server/site.py": "what is served beside the API; the standard module is for interpreters only",
}
"""Modules that keep such a name, and why. They are imported by their full name."""


def forbidden(place: str, text: str) -> list[str]:
    """Where a text uses a word of the list, and what to write instead."""
    return [
        f"{place}:{number}: {found.group()!r}; write: {instead}"
        for word, instead in WORDS.items()
        if re.search(word, text)  # of most texts that is all
        for number, line in enumerate(text.splitlines(), start=1)
        if (found := re.search(word, line))
    ]


def test_words_that_were_renamed_do_not_come_back() -> None:
    files = sorted(ROOT.glob("*.md"))
    files += [path for place in PLACES for kind in TEXTS for path in sorted((ROOT / place).rglob(kind))]
    found = [
        line
        for path in files
        if "built" not in path.parts
        for line in forbidden(path.relative_to(ROOT).as_posix(), path.read_text())
    ]
    assert found == []


@pytest.mark.parametrize(
    "line",
    [
        '"""The topic is another now."""',
        "from tertulia.messaging import errands",
        "if not in_sight(reader, person):",
        "await lock_sight(tx)",
        "the small form of a picture",
        "objects of nobody are swept",
        "from tertulia.people.users import coming_and_going",
        "class Wish(msgspec.Struct):",
        "    interface Found {",
    ],
)
def test_the_check_finds_what_it_looks_for(line: str) -> None:
    assert len(forbidden("planted.py", f"\n{line}\n")) == 1


def test_ordinary_sentences_pass() -> None:
    text = "Whoever leaves a private channel loses sight of it.\nclass FoundWindow:\nclass MessageHeard:\n"
    assert forbidden("planted.py", text) == []


def standard(paths: list[Path]) -> list[str]:
    """Modules and packages with the name of a module of the standard library."""
    named = {path: path.parent.name if path.name == "__init__.py" else path.stem for path in paths}
    return [path.as_posix() for path, name in named.items() if name in sys.stdlib_module_names]


def test_no_module_has_the_name_of_a_standard_one() -> None:
    paths = [path.relative_to(ROOT) for place in ("src", "bench") for path in sorted((ROOT / place).rglob("*.py"))]
    found = standard([path for path in paths if path.stem != "__main__"])
    assert sorted(found) == sorted(STANDARD_NAMES), "rename it, or say in STANDARD_NAMES why it keeps the name"


def test_a_module_or_a_package_with_a_standard_name_is_found() -> None:
    planted = [Path("bench/typing.py"), Path("src/tertulia/typing/__init__.py"), Path("src/tertulia/typing_notices.py")]
    assert standard(planted) == ["bench/typing.py", "src/tertulia/typing/__init__.py"]
