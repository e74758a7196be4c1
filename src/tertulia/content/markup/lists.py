"""Lists. Two spaces nest, whatever the marker; a list may follow text without a blank line; bullets may be mixed."""

import re

from markdown_it.rules_block import StateBlock

from tertulia.content.markup.limits import MAX_LEVEL

_FIRST = re.compile(r"(?:[*+-]|(\d{1,9})\.) +(?=[^ \n])")
_FURTHER = re.compile(r"(?:[*+-]|(\d{1,9})\.)(?: +|(?=\n|\Z))")


def list_rule(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """A rule of the block parser: a list that begins on this line."""
    if not _may_begin(state, start):
        return False
    # Inside a list an item may be empty; text is not ended by a lone dash.
    marker = _marker(state, start, _FURTHER if silent and state.parentType == "list" else _FIRST)
    if marker is None or state.level + 2 > MAX_LEVEL:
        return False
    if silent:
        return True
    is_ordered = marker[1] is not None
    first_token = len(state.tokens)
    opening = state.push("list_open", "ol" if is_ordered else "ul", 1)
    if is_ordered and int(marker[1]) != 1:
        opening.attrs = {"start": int(marker[1])}
    old_parent, state.parentType = state.parentType, "list"
    is_tight = _items(state, start, end, is_ordered)
    state.parentType = old_parent
    state.push("list_close", "ol" if is_ordered else "ul", -1)
    if is_tight:
        inside = state.level + 2
        for token in state.tokens[first_token:]:
            if token.type == "paragraph" and token.level == inside:
                token.hidden = True
    return True


def is_list_inside(state: StateBlock, line: int) -> bool:
    """Whether a deeply indented line directly after text in a list begins a list of its own."""
    return state.parentType == "list" and line > 0 and not state.isEmpty(line - 1)


def _may_begin(state: StateBlock, line: int) -> bool:
    return not state.is_code_block(line) or is_list_inside(state, line)


def _items(state: StateBlock, line: int, end: int, is_ordered: bool) -> bool:
    """Parse item after item; returns whether no blank line separates them."""
    terminators = state.md.block.ruler.getRules("list")
    indent = state.sCount[line]
    is_tight = True
    ended_empty = False
    while True:
        marker = _marker(state, line, _FURTHER)
        if marker is None or (marker[1] is not None) != is_ordered:
            break
        item_is_tight = _item(state, line, end, marker.end())
        is_tight = is_tight and item_is_tight and not ended_empty
        ended_empty = state.line - line > 1 and state.isEmpty(state.line - 1)
        line = state.line
        if line >= end or state.sCount[line] < state.blkIndent or state.sCount[line] > indent + 1:
            break
        if any(rule(state, line, end, True) for rule in terminators):
            break
    return is_tight


def _item(state: StateBlock, line: int, end: int, content_start: int) -> bool:
    state.push("item_open", "li", 1)
    old_begin, old_shift, old_count = state.bMarks[line], state.tShift[line], state.sCount[line]
    old_indent, old_tight = state.blkIndent, state.tight
    state.blkIndent = old_count + 2
    # The first line begins where its text does, however long the marker is and however far away: it is never code, and no
    # part of a number of several digits is left in it.
    state.bMarks[line], state.tShift[line], state.sCount[line] = content_start, 0, state.blkIndent
    state.tight = True
    if content_start >= state.eMarks[line]:
        state.line = line + 1
    else:
        state.md.block.tokenize(state, line, end)
    is_tight = state.tight
    state.bMarks[line], state.tShift[line], state.sCount[line] = old_begin, old_shift, old_count
    state.blkIndent, state.tight = old_indent, old_tight
    state.push("item_close", "li", -1)
    return is_tight


def _marker(state: StateBlock, line: int, pattern: re.Pattern[str]) -> re.Match[str] | None:
    return pattern.match(state.src, state.bMarks[line] + state.tShift[line], state.eMarks[line])
