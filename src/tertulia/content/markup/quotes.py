"""Quotes. All lines up to a blank one belong to a quote, with or without their sign, unless something else begins there.

markdown-it's own rule looks ahead over lines that it then leaves, again and again; here every line looked at is taken.
"""

from markdown_it.rules_block import StateBlock

from tertulia.content.markup.limits import MAX_LEVEL


def quote(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """A rule of the block parser: a quote that begins on this line."""
    if not _has_sign(state, start) or state.is_code_block(start) or state.level >= MAX_LEVEL:
        return False
    if _is_bare(state, start, end):
        return False
    if silent:
        return True
    # The rules inside see the lines without their signs; afterwards all is as before.
    before = _strip(state, start, end)
    behind = start + len(before)
    old = state.lineMax, state.parentType, state.blkIndent, state.tight
    state.lineMax, state.parentType, state.blkIndent = behind, "blockquote", 0
    state.push("blockquote_open", "blockquote", 1)
    state.md.block.tokenize(state, start, behind)
    state.push("blockquote_close", "blockquote", -1)
    state.lineMax, state.parentType, state.blkIndent, state.tight = old
    for line, (mark, shift, count) in enumerate(before, start):
        state.bMarks[line], state.tShift[line], state.sCount[line] = mark, shift, count
    state.line = behind
    return True


def _has_sign(state: StateBlock, line: int) -> bool:
    return state.src.startswith(">", state.bMarks[line] + state.tShift[line])


def _strip(state: StateBlock, start: int, end: int) -> list[tuple[int, int, int]]:
    """Take the signs from the lines of a quote; returns what the lines were before."""
    before: list[tuple[int, int, int]] = []
    terminators = state.md.block.ruler.getRules("blockquote")
    known: set[int] = state.env.setdefault("text in quotes", set())
    is_after_blank = False
    line = start
    while line < end and not state.isEmpty(line):
        place = state.bMarks[line] + state.tShift[line]
        if _has_sign(state, line) and state.sCount[line] >= state.blkIndent:
            place += 2 if state.src.startswith(" ", place + 1) else 1
            text = state.src[place : state.eMarks[line]]
            indent = len(text) - len(text.lstrip(" "))
            is_after_blank = indent == len(text)
        elif is_after_blank:
            break
        else:
            # Quotes inside see this line as it stands here, unless it was indented: where nothing begins, nothing does there.
            is_as_inside = state.blkIndent == state.sCount[line] == 0 and state.parentType != "list"
            if not (is_as_inside and place in known) and any(rule(state, line, end, True) for rule in terminators):
                break
            if is_as_inside:
                known.add(place)
            indent = 0
        before.append((state.bMarks[line], state.tShift[line], state.sCount[line]))
        state.bMarks[line], state.tShift[line], state.sCount[line] = place, indent, indent
        line += 1
    return before


def _is_bare(state: StateBlock, start: int, end: int) -> bool:
    """Whether nothing but `>` stands on this line and on those that follow it."""
    known = f"bare {state.level}"
    if start < state.env.get(known, 0):
        return True
    line = start
    while line < end:
        content = state.src[state.bMarks[line] + state.tShift[line] : state.eMarks[line]].rstrip()
        if content != ">":
            if content.startswith(">"):
                return False
            break
        line += 1
    # Remembered, so that a long column of them is walked once.
    state.env[known] = line
    return line > start
