"""The table of names and codes, read once when it is first needed."""

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import NamedTuple

# The service's own emoji: its code is its name.
EXTRA_EMOJI = "tertulia"


class _Table(NamedTuple):
    names: dict[str, list[str]]
    codes: dict[str, str]
    text_by_default: frozenset[str]


def find_code(name: str) -> str | None:
    """The code of the emoji with this name, exactly as spelled."""
    return _table().codes.get(name)


def find_name(code: str) -> str | None:
    """The canonical name of a code."""
    names = _table().names.get(code)
    return names[0] if names else None


def is_code(code: str) -> bool:
    """Whether this is the code of an emoji."""
    return code in _table().names


def trim_code(characters: str) -> str:
    """What the code of these characters would be; U+FE0F, which only asks for the picture, does not count."""
    return "-".join(f"{ord(character):04x}" for character in characters if character != "\ufe0f")


def characters_of(code: str) -> str:
    """The characters that a code stands for."""
    return "".join(chr(int(point, 16)) for point in code.split("-"))


def is_text_by_default(code: str) -> bool:
    """Whether the character is shown as text unless U+FE0F follows it."""
    return code in _table().text_by_default


def code_to_names() -> Mapping[str, list[str]]:
    """Every code with its names, the canonical one first: what clients are given."""
    return MappingProxyType(_table().names)


@cache
def _table() -> _Table:
    names: dict[str, list[str]] = {}
    codes: dict[str, str] = {}
    text_by_default = set()
    for line in files("tertulia.content.emoji").joinpath("names.txt").read_text("utf-8").splitlines():
        code, *own = line.split(" ")
        if code.endswith("*"):
            code = code[:-1]
            text_by_default.add(code)
        names[code] = own
        codes.update(dict.fromkeys(own, code))
    return _Table(names, codes, frozenset(text_by_default))
