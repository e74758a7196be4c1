"""The difference of two rendered texts as HTML (pure).

Both are cut into tags, words and spaces. Only words and spaces are ever marked; of the tags, those of the new text stand. So the
answer is the new text's HTML with some of its words inside `<span>`s, and words of the old text, which are escaped
already, between them: nothing can come to be a tag that was none, and every element is closed where it was.
"""

import difflib
import re

_PARTS = re.compile(r"""<(?:"[^"]*"|'[^']*'|[^'">])*>|&[^;\s]{1,32};|\w+|\s+|[^\w\s]""")
_INSERTED = '<span class="highlight_text_inserted">'
_DELETED = '<span class="highlight_text_deleted">'
_END = "</span>"
MAX_PARTS = 4000
"""Longer texts are shown as replaced: finding a difference takes the square of their length."""


def html_diff(old: str, new: str) -> str:
    """The new HTML, with what came and what went marked."""
    before, after = _PARTS.findall(old), _PARTS.findall(new)
    if max(len(before), len(after)) > MAX_PARTS:
        return _marked(before, _DELETED, keep_tags=False) + _marked(after, _INSERTED, keep_tags=True)
    found = []
    matcher = difflib.SequenceMatcher(a=before, b=after, autojunk=False)
    for kind, low, high, new_low, new_high in matcher.get_opcodes():
        if kind == "equal":
            found += after[new_low:new_high]
        else:
            found.append(_marked(before[low:high], _DELETED, keep_tags=False))
            found.append(_marked(after[new_low:new_high], _INSERTED, keep_tags=True))
    return "".join(found)


def _marked(parts: list[str], mark: str, *, keep_tags: bool) -> str:
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
