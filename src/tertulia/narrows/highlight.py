"""Marking what a search found, in HTML (pure): hits are wrapped in a span, and nothing else changes.

HTML is cut into tags and texts; only texts are marked, and an entity is one letter that is never cut. Removing the spans
gives back the very same HTML.
"""

import html
import re
from collections.abc import Callable, Iterable, Sequence

OPEN, CLOSE = '<span class="highlight">', "</span>"
# A quoted value of an attribute may hold `>`.
_TAGS = re.compile(r"""(<(?:[^<>"']|"[^"]*"|'[^']*')*>)""")
_LETTERS = re.compile(r"&(?:#[0-9]+|#x[0-9a-fA-F]+|[a-zA-Z][a-zA-Z0-9]*);|.", re.DOTALL)
_WORDS = re.compile(r"\w+")

IsHit = Callable[[str], bool]


def escape_text(text: str) -> str:
    """A plain text as HTML."""
    return html.escape(text).replace("&#x27;", "&#39;")


def words_of(markup: str) -> set[str]:
    """The words of the texts, in small letters."""
    texts = _TAGS.split(markup)[::2]
    return {word.lower() for text in texts for word in _WORDS.findall(html.unescape(text))}


def highlight(markup: str, is_hit: IsHit, pieces: Sequence[str] = ()) -> str:
    """The HTML with each word that is a hit, and each occurrence of the pieces, marked. `is_hit` gets small letters."""
    parts = _TAGS.split(markup)
    parts[::2] = [_mark(text, is_hit, pieces) for text in parts[::2]]
    return "".join(parts)


def _mark(text: str, is_hit: IsHit, pieces: Sequence[str]) -> str:
    if not text or text.isspace():
        return text
    letters = _LETTERS.findall(text) if "&" in text else text
    # An entity of several letters, or a letter that grows in small letters, must not shift what follows.
    shown = "".join(_one(letter) for letter in letters) if "&" in text else text
    found = [match.span() for match in _WORDS.finditer(shown) if is_hit(match[0].lower())]
    if pieces:
        small = "".join(letter.lower() if len(letter.lower()) == 1 else letter for letter in shown)
        found += [match.span() for piece in pieces for match in re.finditer(re.escape(piece.lower()), small)]
    if not found:
        return text
    made, end = [], 0
    for low, high in _joined(found):
        made += [*letters[end:low], OPEN, *letters[low:high], CLOSE]
        end = high
    return "".join([*made, *letters[end:]])


def _one(letter: str) -> str:
    plain = html.unescape(letter)
    return plain if len(plain) == 1 else "\ufffc"


def _joined(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Ranges that overlap are one."""
    found: list[tuple[int, int]] = []
    for low, high in sorted(span for span in spans if span[0] < span[1]):
        if found and low < found[-1][1]:
            found[-1] = found[-1][0], max(found[-1][1], high)
        else:
            found.append((low, high))
    return found
