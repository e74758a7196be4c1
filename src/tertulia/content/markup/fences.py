"""Fences: code, quotes, spoilers and TeX between two lines of backticks or tildes."""

import re

from markdown_it.rules_block import StateBlock

from tertulia.content.markup.limits import MAX_LEVEL

_FENCE = re.compile(r"(`{3,}|~{3,}) *(?:\{ *\.?)?([\w+,\-./#]*) *\}?([^\n]*)")
_QUOTES = ("quote", "quoted")


def fence(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """A rule of the block parser: a fence that begins on this line."""
    place = state.bMarks[start] + state.tShift[start]
    if state.src[place : place + 3] not in ("```", "~~~") or state.is_code_block(start):
        return False
    opening = _FENCE.match(state.src, place, state.eMarks[start])
    if opening is None:
        return False
    language = opening[2].removeprefix(".")
    if not _is_header(opening[1], language, opening[3]):
        return False
    if silent:
        return True
    close, after = _closing_line(state, start, end, opening[1])
    if language in (*_QUOTES, "spoiler") and state.level < MAX_LEVEL:
        _container(state, start, close, language, opening[3].strip())
    else:
        token = state.push("math" if language == "math" else "code", "code", 0)
        token.info = language
        token.content = state.getLines(start + 1, close, state.sCount[start], False)
    state.line = after
    return True


def _is_header(marker: str, language: str, header: str) -> bool:
    """Whether a fence goes on like this, and not rather code within a line: ```x``` y."""
    if language == "spoiler" or marker[0] == "~":
        return marker[:3] not in header
    return "`" not in header


def _closing_line(state: StateBlock, start: int, end: int, marker: str) -> tuple[int, int]:
    """The line behind the content, and the one where the text goes on."""
    line = start + 1
    while line < end:
        place = state.bMarks[line] + state.tShift[line]
        if state.sCount[line] < state.blkIndent and place < state.eMarks[line]:
            break  # a list or quote ends what it holds
        if state.src[place : state.eMarks[line]].rstrip() == marker:
            return line, line + 1
        line += 1
    return line, line


def _container(state: StateBlock, start: int, close: int, kind: str, header: str) -> None:
    name = "blockquote" if kind in _QUOTES else "spoiler"
    state.push(f"{name}_open", "div", 1).content = header
    old_max, old_parent, old_tight = state.lineMax, state.parentType, state.tight
    state.lineMax, state.parentType = close, "blockquote"
    state.md.block.tokenize(state, start + 1, close)
    state.lineMax, state.parentType, state.tight = old_max, old_parent, old_tight
    state.push(f"{name}_close", "div", -1)
