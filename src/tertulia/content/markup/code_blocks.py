"""Code as HTML, coloured by Pygments with short class names. Lexers are loaded when they are first used.

No lexer is guessed. A word that names no lexer is kept as the language, and the code stays plain.
Many lexers are slow on hostile code, some out of all proportion (9,000 newlines in C: 22 s), so colouring has a budget of
processor time: a block that uses it up stays plain, as do those after it. Loading a lexer is paid from it as well: there are
hundreds of them, and one text may name all. What the languages are called is known without loading any.
"""

import re
import time
from functools import cache, lru_cache
from typing import Any

from pygments.lexers import get_all_lexers, get_lexer_by_name
from pygments.token import STANDARD_TYPES

from tertulia.content.markup.escaping import escape, escape_attribute
from tertulia.content.markup.limits import MAX_HIGHLIGHTED
from tertulia.content.markup.time_limit import within

_FIRST_LINE = re.compile(r"(?:#!|:::)[ ]*(?:[^\s/]*/)*(\w[\w+.#-]*)")
# Some lexers know options that change what they accept: PHP need not open with a tag.
_OPTIONS = {"php": {"startinline": True}}


class CodeWriter:
    """Writes the code of one message, and keeps account of how much of it has been coloured."""

    def __init__(self, default_language: str, seconds: float) -> None:
        """`seconds`: of processor time, for colouring."""
        self._default = default_language
        self._left = MAX_HIGHLIGHTED
        self._seconds = seconds

    def write(self, code: str, language: str = "") -> str:
        """A block of code, empty if there is none."""
        code = "\n".join([line.rstrip(" ") for line in code.split("\n")]).strip("\n")
        if not code:
            return ""
        language = language or self._default
        attribute = ""
        if language:
            attribute = f' data-code-language="{escape_attribute(name_of(language) or language)}"'
        elif first := _FIRST_LINE.match(code):
            language = first[1]
        return f'<div class="codehilite"{attribute}><pre><span></span><code>{self._body(code, language)}\n</code></pre></div>'

    def _body(self, code: str, language: str) -> str:
        if len(code) > self._left or self._seconds <= 0 or name_of(language) is None:
            return escape(code)
        self._left -= len(code)
        start = time.thread_time()
        lexer = _lexer_of(language.lower())
        body = within(self._seconds - (time.thread_time() - start), lambda: highlighted(code, lexer))
        self._seconds -= time.thread_time() - start
        return escape(code) if body is None else body


def name_of(word: str) -> str | None:
    """What the language is called that a word names, if there is a lexer for it."""
    return _names().get(word.lower())


@cache
def _names() -> dict[str, str]:
    named: dict[str, str] = {}
    for name, aliases, _, _ in get_all_lexers(plugins=False):
        for alias in aliases:
            named.setdefault(alias, name)
    return named


@lru_cache(maxsize=512)
def _lexer_of(alias: str) -> Any:
    return get_lexer_by_name(alias, stripnl=False, ensurenl=False, **_OPTIONS.get(alias, {}))


def highlighted(code: str, lexer: Any) -> str:
    """Code with its tokens in spans; tokens of one kind that follow each other share one."""
    pieces: list[str] = []
    current = ""
    pending: list[str] = []
    for kind, value in lexer.get_tokens(code):
        name = _class_of(kind)
        if name != current:
            _flush(pieces, current, pending)
            current = name
        pending.append(value)
    _flush(pieces, current, pending)
    return "".join(pieces)


def _flush(pieces: list[str], name: str, pending: list[str]) -> None:
    if not pending:
        return
    # A span does not go over the end of a line, so that a client may show single lines.
    for number, line in enumerate("".join(pending).split("\n")):
        if number:
            pieces.append("\n")
        if line:
            pieces.append(f'<span class="{name}">{escape(line)}</span>' if name else escape(line))
    pending.clear()


@lru_cache(maxsize=512)
def _class_of(kind: Any) -> str:
    """The short name Pygments' style sheets know; kinds of a lexer's own take that of the kind they belong to."""
    while kind is not None and kind not in STANDARD_TYPES:
        kind = kind.parent
    return str(STANDARD_TYPES.get(kind, ""))
