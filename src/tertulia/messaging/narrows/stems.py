"""Which words a search hits, and marking them: the stems of words, as the database's search configuration makes them.

The stems of words are kept in the process: people use the same words again and again. They are those of one language, and each
search asks which it is, so that `tertulia search language` needs nobody to restart. How much is marked for one answer has a
bound, and what takes long is done in a thread of its own: marking is work for each letter, and the event loop is everybody's.
"""

import itertools
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TypeVar

import msgspec

from tertulia.kernel.db import Reader
from tertulia.kernel.threads import Threads
from tertulia.messaging.narrows.beginnings import become, with_stems
from tertulia.messaging.narrows.highlight import MAX_CHARACTERS, escape_text, highlight, words_of
from tertulia.messaging.narrows.queries import stems_of
from tertulia.messaging.narrows.search import Query

MAX_KEPT = 100_000
MAX_LETTERS = 50
"""Of a word that is kept."""
MAX_MARKED = 300_000
"""Characters of HTML in one answer: 1,000 ordinary messages. What is past them comes without marks, the oldest messages first."""
MAX_ASKED = 20_000
"""Words whose stems are asked for at once."""
_AT_ONCE = 50_000
"""Characters that take less time than a thread would be worth."""
# Whoever waits holds a connection of the database, so that only few may.
_threads = Threads("marks", running=1, waiting=6)
T = TypeVar("T")


class Marker:
    """Marks the hits of one search in messages."""

    def __init__(self, query: Query, hits: Collection[str]) -> None:
        self._hits = hits
        # Words that are several to us, such as an address, are marked as they were typed.
        self._pieces = (*query.pieces, *(word for word in query.words if not word.isalnum()))
        self._texts: dict[str, str] = {}

    async def mark_all(self, markups: Sequence[str]) -> list[str]:
        """HTML of messages, by id, with their hits marked."""
        first = first_marked(markups)
        marked = await _worked(lambda: [self._mark(markup) for markup in markups[first:]], markups[first:])
        return [*markups[:first], *marked]

    def mark_text(self, text: str) -> str:
        """A plain text as HTML with its hits marked; the same few topics come again and again."""
        if text not in self._texts:
            self._texts[text] = self._mark(escape_text(text))
        return self._texts[text]

    def _mark(self, markup: str) -> str:
        return highlight(markup, self._hits.__contains__, self._pieces)


async def marker_for(reader: Reader, query: Query, markups: Sequence[str], texts: Collection[str]) -> Marker:
    """A marker for these messages and topics."""
    if not query.is_stemmed:
        return Marker(query, ())
    markups = markups[first_marked(markups) :]
    words = await _worked(lambda: set[str]().union(*map(words_of, markups)), markups)
    words.update(*(words_of(escape_text(text)) for text in texts))
    wanted = [word.lower() for part in (*query.words, *query.phrases) for word in part.split()]
    stems = await _kept.find(reader, [*wanted, *words.difference(wanted)])
    searched = frozenset[str]().union(*(stems[word] for word in wanted))
    # Stop words are left out of a search, whatever they might begin.
    begun = [beginning for beginning in query.beginnings if stems[beginning.typed.lower()]]

    def is_hit(stem: str) -> bool:
        return stem in searched or any(beginning.begins(stem) for beginning in begun)

    return Marker(query, {word for word in words if any(map(is_hit, stems.get(word, ())))})


async def complete(reader: Reader, query: Query) -> Query:
    """The query, with the stems of the words that those which are only begun may become."""
    forms = [form for beginning in query.beginnings for form in become(beginning)]
    if not forms:
        return query
    stems = await _kept.find(reader, forms)
    return msgspec.structs.replace(
        query, beginnings=tuple(with_stems(beginning, stems) for beginning in query.beginnings)
    )


def first_marked(markups: Sequence[str]) -> int:
    """The first of the messages, from the newest backwards, that fit into the bound."""
    left = MAX_MARKED
    for place in range(len(markups) - 1, -1, -1):
        left -= _weight(markups[place])
        if left < 0:
            return place + 1
    return 0


def _weight(markup: str) -> int:
    return min(len(markup), MAX_CHARACTERS)


async def _worked(work: Callable[[], T], markups: Sequence[str]) -> T:
    """Do it here, or elsewhere if it takes long."""
    if sum(map(_weight, markups)) <= _AT_ONCE:
        return work()
    return await _threads.run(work)


class _Kept:
    """Stems of words, in the language that they were last asked for in."""

    def __init__(self) -> None:
        self._language = ""
        self._stems: dict[str, frozenset[str]] = {}

    async def find(self, reader: Reader, words: Collection[str]) -> dict[str, frozenset[str]]:
        """Of these words, all that are known, and of the others those that come first; all in one language."""
        while True:
            before, known = self._language, {word: self._stems[word] for word in words if word in self._stems}
            unknown = itertools.islice((word for word in dict.fromkeys(words) if word not in known), MAX_ASKED)
            language, stems = await stems_of(reader, list(unknown))
            found = {word: frozenset(each) for word, each in stems.items()}
            if language == before:
                self._keep(language, found)
                return known | found
            self._language, self._stems = language, {}

    def _keep(self, language: str, found: Mapping[str, frozenset[str]]) -> None:
        if language != self._language:
            return  # it has changed while they were asked for
        if len(self._stems) + len(found) > MAX_KEPT:
            self._stems = {}
        self._stems.update({word: stems for word, stems in found.items() if len(word) <= MAX_LETTERS})


_kept = _Kept()
