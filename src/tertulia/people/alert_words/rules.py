"""Pure decisions about alert words."""

from collections.abc import Iterable

from tertulia.kernel.errors import Refusal

MAX_LENGTH = 100


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
