"""Rules of the web client's source that past advisories ask for (docs/reference/advisories.md)."""

import re
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "web" / "src"
FILES = [
    path
    for path in sorted([*SOURCE.rglob("*.ts"), *SOURCE.rglob("*.svelte")])
    if not path.name.endswith(".test.ts") and "testing" not in path.name
]
PLACE_OF_REQUESTS = "data/api.ts"
OTHER_REQUESTS = {"page/emoji.ts", "data/connection.svelte.ts"}
"""The table of emoji at the address that the server gives, and whether the front page answers."""
PLACE_OF_MARKUP = "talk/content.ts"
CALL = re.compile(r"api\.(?:get|post|patch|put|delete|request|upload)(?:<[^(]*>)?\(\s*`([^`]*)`")
NUMBER = re.compile(r"(?:[\w.!?]*\.)?(?:id|\w*_id|\w*Id)")


def places(pattern: str) -> set[str]:
    """The files in which it is found."""
    return {
        path.relative_to(SOURCE).as_posix()
        for path in FILES
        if re.search(pattern, path.read_text(), flags=re.MULTILINE)
    }


def test_se_10_requests_are_made_in_one_place_and_to_our_own_api() -> None:
    by_hand = r"(?<!async )(?<![.#\w])fetch\((?!\))|XMLHttpRequest|WebSocket\(|EventSource\(|sendBeacon\("
    assert places(by_hand) == {PLACE_OF_REQUESTS, *OTHER_REQUESTS}
    text = (SOURCE / PLACE_OF_REQUESTS).read_text()
    assert "base = '/api/v1/'" in text
    assert "credentials: 'same-origin'" in text
    assert places(r"credentials: '(?!same-origin)") == set()


def test_se_11_parts_of_a_path_are_numbers_or_encoded() -> None:
    paths = [found for path in FILES for found in CALL.findall(path.read_text())]
    assert len(paths) > 20
    parts = [part for path in paths for part in re.findall(r"\$\{([^}]*)\}", path)]
    assert [part for part in parts if not is_safe(part)] == []


def is_safe(part: str) -> bool:
    return part.startswith("encodeURIComponent(") or NUMBER.fullmatch(part) is not None or part in ("path", "PATH")


@pytest.mark.parametrize("pattern", [r"\{@html", r"\binnerHTML\b", r"insertAdjacentHTML|outerHTML|document\.write"])
def test_xs_01_names_are_text_and_markup_is_made_in_one_place(pattern: str) -> None:
    assert places(pattern) <= {PLACE_OF_MARKUP}


def test_xs_13_only_the_properties_of_a_component_are_spread() -> None:
    """Into elements of our own parts, from the properties that a page wrote down: never an object that the server sent."""
    spread = {
        f"{path.relative_to(SOURCE).as_posix()}: {found}"
        for path in FILES
        if path.suffix == ".svelte"
        for element, found in re.findall(r"<([a-z][\w-]*)\b[^>]*?\{\.\.\.([^}]+)\}", path.read_text())
        if element
    }
    assert {one for one in spread if not one.startswith("ui/")} == set()
    assert all(": rest" in one for one in spread)


def test_xs_15_no_text_becomes_code() -> None:
    assert places(r"\beval\(|new Function\(|setTimeout\(\s*['\"`]") == set()


def test_up_11_addresses_are_made_of_local_pictures_only() -> None:
    assert places(r"createObjectURL|readAsDataURL") == {"talk/uploads.svelte.ts"}
    source = (SOURCE / "talk" / "uploads.svelte.ts").read_text()
    assert "const PICTURE = /^image\\/(png|jpeg|gif|webp|avif)$/" in source
    assert source.count("PICTURE.test(file.type) ? URL.createObjectURL(file)") == source.count("createObjectURL") == 1
    assert places(r"href=\{[^}]*thumbnail") == set()
