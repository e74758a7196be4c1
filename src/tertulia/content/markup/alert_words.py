"""Which alert words a text contains: whole words, in any case, in code too.

A realm may have very many of them, so nobody tries each. Every word has a key, its beginning up to the first character that may
end a word; a text has as many keys as words. Look up the words with the text's keys, then ask which of these really occur.
"""

import re
from collections.abc import Iterable

_BEFORE = frozenset(" \n(\".,';[*`>")
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
    """Those of the words, all lower-cased, that occur in the text as whole words."""
    text = content.lower()
    return frozenset(word for word in words if word and _occurs(text, word))


def _occurs(text: str, word: str) -> bool:
    start = text.find(word)
    while start >= 0:
        end = start + len(word)
        if (start == 0 or text[start - 1] in _BEFORE) and (end == len(text) or text[end] in _AFTER):
            return True
        start = text.find(word, start + 1)
    return False
