"""In which language somebody is told something: what the server itself says, in mails and pushes (pure)."""

from collections.abc import Mapping
from typing import TypeVar

Words = TypeVar("Words")


def in_language(language: str, known: Mapping[str, Words]) -> Words:
    """The words of a language, or of the one that it is a kind of (`es-mx`). Whoever has another one is told in English."""
    return known.get(language.partition("-")[0], known["en"])
