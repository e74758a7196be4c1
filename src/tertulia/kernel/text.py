"""What holds for every name people give to things."""

import unicodedata


def bad_character(text: str) -> int | None:
    """The 1-based position of the first control, surrogate or non-character."""
    for position, character in enumerate(text, start=1):
        code = ord(character)
        if unicodedata.category(character) in ("Cc", "Cs") or 0xFDD0 <= code <= 0xFDEF or code & 0xFFFE == 0xFFFE:
            return position
    return None


def name_key_of(name: str) -> str:
    """What makes two names of things the same. The application decides, not the database's locale."""
    return name.strip().lower()
