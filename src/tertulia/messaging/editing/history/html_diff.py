"""The difference of two rendered texts as HTML (pure).

Both are cut into tags, words and spaces. Only words and spaces are ever marked; of the tags, those of the new text stand. So the
answer is the new text's HTML with some of its words inside `<span>`s, and words of the old text, which are escaped
already, between them: nothing can come to be a tag that was none, and every element is closed where it was.

The cost is bounded whatever the texts are: at most `MAX_PARTS` squared steps. `difflib` takes the cube if all words differ.
"""

import re
from collections.abc import Sequence

_PARTS = re.compile(r"""<(?:"[^"]*"|'[^']*'|[^'">])*>|&[^;\s]{1,32};|\w+|\s+|[^\w\s]""")
_INSERTED = '<span class="highlight_text_inserted">'
_DELETED = '<span class="highlight_text_deleted">'
_END = "</span>"
MAX_PARTS = 400
"""If more than that lies between what both texts begin and end with, it is shown as replaced."""


def html_diff(old: str, new: str) -> str:
    """The new HTML, with what came and what went marked."""
    before, after = _PARTS.findall(old), _PARTS.findall(new)
    start = _common(before, after)
    end = _common(before[start:][::-1], after[start:][::-1])
    gone, come = _joined(before[start : len(before) - end]), _joined(after[start : len(after) - end])
    middle = _replaced(gone, come) if max(len(gone), len(come)) > MAX_PARTS else _compared(gone, come)
    return "".join(after[:start]) + middle + "".join(after[len(after) - end :])


def _common(one: Sequence[str], other: Sequence[str]) -> int:
    """With how many equal parts both begin."""
    shorter = min(len(one), len(other))
    return next((index for index in range(shorter) if one[index] != other[index]), shorter)


def _joined(parts: Sequence[str]) -> list[str]:
    """Words together with the space after them: a space alone is no likeness."""
    found = list[str]()
    for part in parts:
        if part.isspace() and found and not found[-1].startswith("<"):
            found[-1] += part
        else:
            found.append(part)
    return found


def _compared(before: Sequence[str], after: Sequence[str]) -> str:
    """Keep the longest sequence of parts that both have."""
    lengths = _common_lengths(before, after)
    found, low, new_low = list[str](), 0, 0
    old, new = 0, 0
    while old < len(before) and new < len(after):
        if before[old] == after[new]:
            found += [_replaced(before[low:old], after[new_low:new]), after[new]]
            old, new = old + 1, new + 1
            low, new_low = old, new
        elif lengths[old + 1][new] >= lengths[old][new + 1]:
            old += 1
        else:
            new += 1
    return "".join(found) + _replaced(before[low:], after[new_low:])


def _common_lengths(before: Sequence[str], after: Sequence[str]) -> list[list[int]]:
    """How long the longest common sequence is from each pair of places on."""
    rows = [[0] * (len(after) + 1)]
    for part in reversed(before):
        below, row, right = rows[-1], [0] * (len(after) + 1), 0
        for new in range(len(after) - 1, -1, -1):
            if part == after[new]:
                right = below[new + 1] + 1
            elif below[new] > right:
                right = below[new]
            row[new] = right
        rows.append(row)
    return rows[::-1]


def _replaced(before: Sequence[str], after: Sequence[str]) -> str:
    return _marked(before, _DELETED, keep_tags=False) + _marked(after, _INSERTED, keep_tags=True)


def _marked(parts: Sequence[str], mark: str, *, keep_tags: bool) -> str:
    """The parts with each run of text between tags marked. Tags of the old text are left out."""
    found, run = [], list[str]()
    for part in [*parts, "<"]:
        if not part.startswith("<"):
            run.append(part)
            continue
        if "".join(run).strip():
            found += [mark, *run, _END]
        elif keep_tags:
            found += run
        run = []
        if keep_tags and part != "<":
            found.append(part)
    return "".join(found)
