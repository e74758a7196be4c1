"""Tables: a header row, a row of dashes, rows. One token holds the cells; the empty cells filled in are bounded, for a text."""

import re

from markdown_it.rules_block import StateBlock

from tertulia.content.markup.limits import MAX_FILLED_CELLS

_DASHES = re.compile(r":?-+:?")
_PARTS = re.compile(r"\||\\\||`[^`]+`|[^|\\`]+|.")
_ALIGNMENTS = {(True, True): "center", (True, False): "left", (False, True): "right", (False, False): ""}


def table(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """A rule of the block parser: a table whose header is on this line."""
    known = f"no table {state.level}"
    if start + 2 > end or start < state.env.get(known, 0) or state.is_code_block(start):
        return False
    header = _line(state, start)
    if "|" not in header or state.sCount[start + 1] < state.blkIndent or state.is_code_block(start + 1):
        return False
    dashes = _line(state, start + 1)
    if dashes[:1] not in ("|", "-", ":") or "|" not in dashes:
        return False
    columns = _split(dashes)
    if not all(map(_DASHES.fullmatch, columns)):
        return False
    cells = _split(header)
    alignments = [_ALIGNMENTS[column.startswith(":"), column.endswith(":")] for column in columns]
    if len(cells) != len(alignments):
        return False
    if silent:
        return True
    rows: list[list[str]] = []
    filled = state.env.get("filled cells", 0)
    line = start + 2
    while line < end and not state.isEmpty(line) and state.sCount[line] >= state.blkIndent:
        if _ends_table(state, line, end):
            break
        row = _split(_line(state, line))[: len(cells)]
        filled += len(cells) - len(row)
        rows.append(row + [""] * (len(cells) - len(row)))
        if filled > MAX_FILLED_CELLS:
            # Each of these lines may look like a header, and would have the rows below it counted anew.
            state.env[known] = line
            return False
        line += 1
    state.env["filled cells"] = filled
    token = state.push("table", "table", 0)
    token.meta = {"alignments": alignments, "header": cells, "rows": rows}
    state.line = line
    return True


def _ends_table(state: StateBlock, line: int, end: int) -> bool:
    return any(rule(state, line, end, True) for rule in state.md.block.ruler.getRules("blockquote"))


def _line(state: StateBlock, line: int) -> str:
    return state.src[state.bMarks[line] + state.tShift[line] : state.eMarks[line]].strip()


def _split(row: str) -> list[str]:
    """The cells of a row. A pipe inside code or after a backslash does not divide."""
    row = row.removeprefix("|")
    if row.endswith("|") and not row.endswith("\\|"):
        row = row[:-1]
    if "`" not in row and "\\" not in row:
        return [cell.strip() for cell in row.split("|")]
    cells: list[list[str]] = [[]]
    for part in _PARTS.findall(row):
        if part == "|":
            cells.append([])
        else:
            cells[-1].append("|" if part == "\\|" else part)
    return ["".join(cell).strip() for cell in cells]
