"""Which alert words a text contains: whole words, in any case, in code too.

A realm may have very many of them, so nobody tries each. Every word has a key, its beginning up to the first character that may
end a word; a text has as many keys as words. Look up the words with the text's keys, then ask which of these really occur.
"""

import re
from collections import defaultdict
from collections.abc import Iterable

_AFTER = frozenset(" \n)?:.,';]!*`")
# The length is bounded: separators may begin words, and then each of them begins a stretch of its own.
_KEY = re.compile(r"""\S[^ \n)?:.,';\]!*`]{0,31}""")
_KEYS = re.compile(r"""(?=(?:^|(?<=[ \n(".,';\[*`>]))(\S[^ \n)?:.,';\]!*`]{0,31}))""")


def alert_key(word: str) -> str:
    """The key of an alert word."""
    key = _KEY.match(word.lower())
    return key.group() if key else ""


def alert_keys(content: str) -> frozenset[str]:
    """The keys of all words that may occur in a text."""
    return frozenset(_KEYS.findall(content.lower()))


def find_alert_words(content: str, words: Iterable[str]) -> frozenset[str]:
    """Those of the words, all lower-cased, that occur in the text as whole words.

    Each is looked for where its key is, and nowhere else: looked for in all of the text, some are found to be another word at
    their end only, at each place anew.
    """
    alike: defaultdict[str, set[str]] = defaultdict(set)
    for word in words:
        if word:
            alike[alert_key(word)].add(word)
    lengths = {key: {len(word) for word in some} for key, some in alike.items()}
    text = content.lower()
    found: set[str] = set()
    for place in _KEYS.finditer(text):
        start, key = place.start(), place[1]
        for length in lengths.get(key, ()):
            end = start + length
            if (end == len(text) or text[end : end + 1] in _AFTER) and text[start:end] in alike[key]:
                found.add(text[start:end])
    return frozenset(found)
