"""Emoji of the Unicode standard: their names and codes, from public data sets, and the one emoji that is the service's own.

Invariants: a name belongs to exactly one code; the first name of a code is its canonical one; codes are lower-case hex of at
least four digits, joined by dashes, with U+200D and without U+FE0F. Skin tones have neither names nor codes.
The table is `names.txt`, written by `bin/tables`; SOURCES.md names the data sets and their licences.
"""

from tertulia.content.emoji.table import (
    EXTRA_EMOJI,
    characters_of,
    code_to_names,
    find_code,
    find_name,
    is_code,
    is_text_by_default,
    trim_code,
)

__all__ = [
    "EXTRA_EMOJI", "characters_of", "code_to_names", "find_code", "find_name", "is_code", "is_text_by_default", "trim_code",
]  # fmt: skip
