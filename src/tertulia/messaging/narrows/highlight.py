"""Marking what a search found, in HTML (pure): hits are wrapped in a span, and nothing else changes.

HTML is cut into tags and texts; only texts are marked, and an entity is one letter that is never cut. Removing the spans
gives back the very same HTML. Of a very long message only the beginning is looked at, so that none costs more than so much.
"""

import html
import re
from collections.abc import Callable, Iterable, Iterator, Sequence

MAX_CHARACTERS = 50_000
"""Of the HTML of one message; the longest text without formatting is a fifth of it."""
OPEN, CLOSE = '<span class="highlight">', "</span>"
# A quoted value of an attribute may hold `>`.
_TAGS = re.compile(r"""<(?:[^<>"']|"[^"]*"|'[^']*')*>""")
_ENTITIES = re.compile(r"&(?:#[0-9]+|#x[0-9a-fA-F]+|[a-zA-Z][a-zA-Z0-9]*);")
_WORDS = re.compile(r"\w+")

IsHit = Callable[[str], bool]
Span = tuple[int, int]


def escape_text(text: str) -> str:
    """A plain text as HTML."""
    return html.escape(text).replace("&#x27;", "&#39;")


def words_of(markup: str) -> set[str]:
    """The words of the texts, in small letters."""
    texts = (html.unescape(text) for text in _parts(markup)[::2])
    return {word.lower() for text in texts for word in _WORDS.findall(text)}


def highlight(markup: str, is_hit: IsHit, pieces: Sequence[str] = ()) -> str:
    """The HTML with each word that is a hit, and each occurrence of the pieces, marked. `is_hit` gets small letters."""
    parts = _parts(markup)
    small = [piece.lower() for piece in pieces]
    parts[::2] = [_mark(text, is_hit, small) for text in parts[::2]]
    return "".join(parts)


def _parts(markup: str) -> list[str]:
    """Texts and tags in turn; what is past the bound is in the last of the tags."""
    parts: list[str] = []
    end = 0
    for tag in _TAGS.finditer(markup):
        if tag.end() > MAX_CHARACTERS:
            return [*parts, "", markup[end:]]
        parts += [markup[end : tag.start()], tag[0]]
        end = tag.end()
    return [*parts, markup[end:]] if len(markup) <= MAX_CHARACTERS else [*parts, "", markup[end:]]


def _mark(text: str, is_hit: IsHit, pieces: Sequence[str]) -> str:
    if not text or text.isspace():
        return text
    shown, entities = _read(text) if "&" in text else (text, ())
    found = [match.span() for match in _WORDS.finditer(shown) if is_hit(match[0].lower())]
    if pieces:
        small = _small(shown)
        found += [span for piece in pieces for span in _occurrences(piece, small)]
    if not found:
        return text
    made, end = [], 0
    for low, high in _written(_joined(found), entities):
        made += [text[end:low], OPEN, text[low:high], CLOSE]
        end = high
    return "".join([*made, text[end:]])


def _read(text: str) -> tuple[str, list[Span]]:
    """The letters of a text, and where an entity stood for one of them: its place and how much longer it is."""
    letters, entities, end, at = [], [], 0, 0
    for entity in _ENTITIES.finditer(text):
        at += entity.start() - end
        letters += [text[end : entity.start()], _one(entity[0])]
        entities.append((at, len(entity[0]) - 1))
        at += 1
        end = entity.end()
    return "".join([*letters, text[end:]]), entities


def _one(entity: str) -> str:
    # An entity of several letters must not shift what follows.
    plain = html.unescape(entity)
    return plain if len(plain) == 1 else "\ufffc"


def _small(text: str) -> str:
    """In small letters, where a letter that would become two must not shift what follows."""
    small = text.lower()
    if len(small) == len(text):
        return small
    return "".join(letter.lower() if len(letter.lower()) == 1 else letter for letter in text)


def _occurrences(piece: str, text: str) -> Iterator[Span]:
    at = text.find(piece) if piece else -1
    while at >= 0:
        yield at, at + len(piece)
        at = text.find(piece, at + len(piece))


def _written(spans: Iterable[Span], entities: Sequence[Span]) -> Iterator[Span]:
    """Where the letters of ascending ranges are in the text with its entities."""
    left = iter(entities)
    entity, shift = next(left, None), 0

    def place(at: int) -> int:
        nonlocal entity, shift
        while entity is not None and entity[0] < at:
            shift += entity[1]
            entity = next(left, None)
        return at + shift

    for low, high in spans:
        yield place(low), place(high)


def _joined(spans: Iterable[Span]) -> list[Span]:
    """Ranges that overlap are one."""
    found: list[Span] = []
    for low, high in sorted(spans):
        if found and low < found[-1][1]:
            found[-1] = found[-1][0], max(found[-1][1], high)
        else:
            found.append((low, high))
    return found
