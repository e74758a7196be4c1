"""Pure decisions about alert words."""

import re
from collections.abc import Iterable

from tertulia.kernel.errors import Refusal

MAX_LENGTH = 100
MAX_WORDS = 1000

_PIECE = re.compile(r"\w+")
_BEFORE = frozenset(" \n(\".,';[*`>")
_AFTER = frozenset(" \n)?:.,';]!*`")


def clean_words(words: Iterable[str]) -> dict[str, str]:
    """The words to be stored by what makes them the same; refuses what is too long."""
    cleaned: dict[str, str] = {}
    for place, word in enumerate(words):
        word = word.strip()
        if len(word) > MAX_LENGTH:
            raise Refusal(f"alert_words[{place}] is too long (limit: {MAX_LENGTH} characters)")
        if word:
            cleaned.setdefault(word_key_of(word), word)
    return cleaned


def word_key_of(word: str) -> str:
    """What makes two words the same."""
    return word.lower()


def first_word_of(key: str) -> str:
    """What a word, which may be a phrase, is found by: its first piece of letters and digits, or nothing."""
    found = _PIECE.search(key)
    return found[0] if found else ""


def pieces_of(text: str) -> set[str]:
    """The first words of all alert words a text could contain."""
    return {"", *_PIECE.findall(text.lower())}


def contains(text: str, key: str) -> bool:
    """Whether an alert word stands in a text as a word of its own. Case makes no difference; both are lower-cased."""
    start = text.find(key)
    while start >= 0:
        end = start + len(key)
        if (start == 0 or text[start - 1] in _BEFORE) and (end == len(text) or text[end] in _AFTER):
            return True
        start = text.find(key, start + 1)
    return False


def check_room(count: int) -> None:
    """Refuse lists that would be too long."""
    if count > MAX_WORDS:
        raise Refusal(f"There are too many alert words (limit: {MAX_WORDS}).")
