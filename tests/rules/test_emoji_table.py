"""The table of emoji: what clients rely on."""

import re

import pytest

from tertulia.content.emoji import (
    EXTRA_EMOJI,
    code_to_names,
    find_code,
    find_name,
    is_code,
    is_text_by_default,
    trim_code,
)
from tertulia.content.markup.typography import EMOJI_CHARACTERS, EMOTICONS

# Names that public examples of the protocol use.
KNOWN = {
    "smile": "1f604",
    "+1": "1f44d",
    "thumbs_up": "1f44d",
    "-1": "1f44e",
    "thumbs_down": "1f44e",
    "heart": "2764",
    "tada": "1f389",
    "octopus": "1f419",
    "cry": "1f622",
    "rocket": "1f680",
    "eyes": "1f440",
    "check": "2705",
    "slight_smile": "1f642",
    "frown": "1f641",
    "car": "1f697",
    "computer": "1f4bb",
    "working_on_it": "1f6e0",
    "calendar": "1f4c5",
    "bus": "1f68c",
    "palm_tree": "1f334",
    "house": "1f3e0",
    "cat": "1f408",
    "dog": "1f415",
}


@pytest.mark.parametrize("name", KNOWN)
def test_names_of_public_examples_exist(name: str) -> None:
    assert find_code(name) == KNOWN[name]


def test_every_name_belongs_to_one_code() -> None:
    names = [name for own in code_to_names().values() for name in own]
    assert len(names) == len(set(names)) > 3000
    assert EXTRA_EMOJI not in names


def test_codes_are_lower_case_hex_without_selector() -> None:
    for code in code_to_names():
        assert re.fullmatch(r"[0-9a-f]{4,6}(-[0-9a-f]{4,6})*", code)
        assert "fe0f" not in code
    assert len(code_to_names()) > 1800
    assert not is_code("1f3fb")


def test_the_first_name_is_the_canonical_one() -> None:
    assert code_to_names()["1f44d"][0] == find_name("1f44d") == "+1"
    assert find_name("nothing") is None


def test_names_can_be_written_between_colons() -> None:
    for names in code_to_names().values():
        assert all(re.fullmatch(r"[^\W_A-Z][\w-]*|[+-]1", name) for name in names), names


def test_characters_have_codes() -> None:
    assert trim_code("🤷‍♀️") == "1f937-200d-2640"
    assert trim_code("#️⃣") == "0023-20e3"
    assert is_text_by_default("2764")
    assert not is_text_by_default("1f604")


def test_every_emoji_is_noticed_by_its_first_character() -> None:
    may_begin = re.compile(f"[{EMOJI_CHARACTERS}0-9#*]")
    assert [code for code in code_to_names() if not may_begin.match(chr(int(code.split("-")[0], 16)))] == []


def test_every_emoticon_is_in_the_table() -> None:
    assert all(find_code(name) for name in EMOTICONS.values())
