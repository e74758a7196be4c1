"""What holds for every name people give to things: which characters it may have, and when two names look alike (pure).

A name is shown beside others, so nothing in it may be unseen or turn around what stands next to it. Two unseen characters are
part of how people write and stay: joiners inside words of scripts that need them (Persian, Indic and others), and what
emoji are put together with. Letters that our Unicode does not know yet are in no name: which of them are one letter in two
cases a browser may know, and two names would be one there. Names that were stored before these rules stay as they are.
"""

import re
import unicodedata
from collections.abc import Iterator
from typing import Literal

MAX_NORMALIZED = 4096
"""Far more characters than any name has."""
_VARIANTS = "\ufe00-\ufe0f\U000e0100-\U000e01ef"
_JOINING = (
    "\u0600-\u08ff"  # Arabic, Syriac, Thaana, N'Ko, Mandaic
    "\u0900-\u109f"  # Indic scripts, Thai, Lao, Tibetan, Myanmar
    "\u1700-\u18af"  # Philippine scripts, Khmer, Mongolian
    "\u1a00-\u1cff\ua800-\uaaff\uabc0-\uabff\ufb50-\ufdcf\ufdf0-\ufdff\ufe70-\ufefc\U00010a00-\U00010fff\U00011000-\U00011fff"
)
_DRAWN = "\u00a9\u00ae\u203c-\u2bff\u3030\u303d\u3297\u3299\U0001f000-\U0001faff"

# Where an unseen character is at home. Everything is looked at once: each alternative begins with another character.
_AT_HOME = re.compile(
    f"(?<=[{_JOINING}])\u200c(?=[{_JOINING}])"
    f"|(?<=[{_JOINING}])\u200d"
    f"|(?<=[{_DRAWN}\ufe0f])\u200d(?=[{_DRAWN}])"
    f"|(?<=[^\\s{_VARIANTS}\u200b-\u200d])[{_VARIANTS}]"
    "|(?<=\U0001f3f4)[\U000e0020-\U000e007e]+\U000e007f"
)
# Unseen, or turning around what follows: format characters, and letters and marks that are drawn as nothing.
_UNSEEN = frozenset("\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180e\u2800\u3164\uffa0" + "\u2028\u2029")
_PLAIN = re.compile(r"[ -~\u00a1-\u00ac\u00ae-\u02ff]*")

# Letters of other alphabets that are drawn like Latin letters: large ones first, before case is folded.
LARGE_LETTERS = ("ΑΒΕΖΗΙΚΜΝΟΡΤΥΧАВЕКМНОРСТУХІЅЈԌ", "ABEZHIKMNOPTYXABEKMHOPCTYXISJG")
SMALL_LETTERS = ("аеорсухіїѕјһԁԛԝʙьᴃкᴋмнтᴛɴոпοօᴏαιɪıτνυᴄᴀꜰ", "aeopcyxiisjhdqwbbbkkmhttnnnoooaiiitvucaf")
_LARGE = str.maketrans(*LARGE_LETTERS)
# For a hasty reader digits and letters with strokes as well.
_SMALL = str.maketrans(SMALL_LETTERS[0] + "łøđ014578|3", SMALL_LETTERS[1] + "iodoiastbie")
_VISIBLE_FORMATS = frozenset("\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd")
"""Format characters that are drawn: signs around numbers."""


def bad_character(text: str) -> int | None:
    """The 1-based position of the first character that no name may have: a control, an unseen one, or no character at all."""
    return next((position + 1 for position in _bad_positions(text)), None)


def without_bad_characters(text: str) -> str:
    """The text with a blank for each character that no name may have."""
    while bad := set(_bad_positions(text)):  # again, because what stood beside one may have been at home only with it
        text = "".join(" " if position in bad else character for position, character in enumerate(text))
    return text


def _bad_positions(text: str) -> Iterator[int]:
    """In time that grows with the length: names come from anybody, and not all are short."""
    if _PLAIN.fullmatch(text):
        return
    at_home = {position for found in _AT_HOME.finditer(text) for position in range(*found.span())}
    for position, character in enumerate(text):
        if _is_bad(character) and position not in at_home:
            yield position


def _is_bad(character: str) -> bool:
    code = ord(character)
    is_none = 0xFDD0 <= code <= 0xFDEF or code & 0xFFFE == 0xFFFE
    is_variant = 0xFE00 <= code <= 0xFE0F or 0xE0100 <= code <= 0xE01EF
    if is_none or is_variant or character in _UNSEEN:
        return True
    category = unicodedata.category(character)
    if category == "Cn":
        return not _has_no_case(code)
    return category in ("Cc", "Cf", "Cs") and character not in _VISIBLE_FORMATS


def _has_no_case(code: int) -> bool:
    """Whatever a later Unicode has here: pictures, or ideographs."""
    return 0x1F000 <= code <= 0x1FAFF or 0x20000 <= code <= 0x3FFFF


def name_key_of(name: str) -> str:
    """What makes two names of things the same. The application decides, not the database's locale."""
    return name.strip().lower()


def normalized(form: Literal["NFC", "NFKC", "NFKD"], text: str) -> str:
    """Equal writings of the same letters made the same; what is too long for any name is cut off first.

    Sorting the marks above a letter takes the square of their number, and whoever asks is not known yet.
    """
    return unicodedata.normalize(form, text[:MAX_NORMALIZED])


def look_of(name: str) -> str:
    """What a hasty reader sees of a name: two that look alike have the same look. For names that nobody else may have."""
    folded = normalized("NFKC", name).translate(_LARGE).casefold()
    letters = normalized("NFKD", folded).translate(_SMALL)
    return "".join(letter for letter in letters if letter.isalnum()).replace("l", "i").replace("rn", "m")
