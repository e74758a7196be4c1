"""Which words a search hits: the stems of words, as the database's search configuration makes them.

The stems of words are kept in the process: people use the same words again and again.
"""

from collections.abc import Collection

from tertulia.kernel.db import Reader
from tertulia.narrows.highlight import escape_text, highlight, words_of
from tertulia.narrows.queries import stems_of
from tertulia.narrows.search import Query

MAX_KEPT = 100_000
_kept: dict[str, frozenset[str]] = {}


class Marker:
    """Marks the hits of one search in messages."""

    def __init__(self, query: Query, hits: Collection[str]) -> None:
        self._hits = hits
        # Words that are several to us, such as an address, are marked as they were typed.
        self._pieces = (*query.pieces, *(word for word in query.words if not word.isalnum()))

    def mark(self, markup: str) -> str:
        """HTML with its hits marked."""
        return highlight(markup, self._hits.__contains__, self._pieces)

    def mark_text(self, text: str) -> str:
        """A plain text as HTML with its hits marked."""
        return self.mark(escape_text(text))


async def marker_for(reader: Reader, query: Query, markups: Collection[str], texts: Collection[str]) -> Marker:
    """A marker for these messages and topics."""
    if not query.is_stemmed:
        return Marker(query, ())
    words = set[str]().union(*map(words_of, markups), *(words_of(escape_text(text)) for text in texts))
    wanted = [word.lower() for part in (*query.words, *query.phrases) for word in part.split()]
    stems = await _stems(reader, {*words, *wanted})
    searched = frozenset[str]().union(*(stems[word] for word in wanted))
    return Marker(query, {word for word in words if not searched.isdisjoint(stems[word])})


async def _stems(reader: Reader, words: Collection[str]) -> dict[str, frozenset[str]]:
    unknown = [word for word in words if word not in _kept]
    found = {word: frozenset(stems) for word, stems in (await stems_of(reader, unknown)).items()} if unknown else {}
    known = {word: _kept[word] for word in words if word in _kept} | found
    if len(_kept) + len(found) > MAX_KEPT:
        _kept.clear()
    _kept.update(found)
    return known
