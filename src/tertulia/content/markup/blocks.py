"""The structure of a text: paragraphs, lists, quotes, code. markdown-it parses, with our rules in place of CommonMark's.

What differs from CommonMark: a list needs no blank line before it and nests by two spaces, markers of bullets may be mixed,
fences may hold quotes and spoilers and end with exactly the line they began with, `>` alone is text, there are no underlined
headers, references or HTML. A text is nested at most `MAX_LEVEL` deep; what would go deeper stays text.
"""

from typing import Any

from markdown_it import MarkdownIt
from markdown_it.ruler import Ruler
from markdown_it.rules_block import StateBlock, code, heading, hr
from markdown_it.token import Token

from tertulia.content.markup.fences import fence
from tertulia.content.markup.lists import is_list_inside, list_rule
from tertulia.content.markup.quotes import quote
from tertulia.content.markup.tables import table


def parse_blocks(text: str) -> list[Token]:
    """The blocks of a text, as markdown-it's tokens."""
    tokens: list[Token] = []
    state = StateBlock(text, _PARSER, {}, tokens)
    _PARSER.block.tokenize(state, 0, state.lineMax)
    return tokens


def _heading(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    place = state.bMarks[start] + state.tShift[start]
    if not state.src.startswith("#", place) or not state.src[place : state.eMarks[start]].strip("# "):
        return False
    return heading(state, start, end, silent)


def _rule(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    place = state.bMarks[start] + state.tShift[start]
    return state.src[place : place + 1] in ("*", "-", "_") and hr(state, start, end, silent)


def _paragraph(state: StateBlock, start: int, end: int, silent: bool) -> bool:  # noqa: ARG001, every rule is asked so
    terminators = state.md.block.ruler.getRules("paragraph")
    end = state.lineMax
    line = start + 1
    while line < end and not state.isEmpty(line):
        indent = state.sCount[line]
        # A deep indent is no code here, and a negative one marks lines that a quote has claimed already.
        may_end = indent >= 0 and (indent - state.blkIndent <= 3 or is_list_inside(state, line))
        if may_end and any(rule(state, line, end, True) for rule in terminators):
            break
        line += 1
    content = state.getLines(start, line, state.blkIndent, False).strip()
    state.line = line
    state.push("paragraph", "p", 0).content = content
    return True


def _parser() -> MarkdownIt:
    parser = MarkdownIt("zero", {"maxNesting": 1000})
    ruler: Ruler[Any] = Ruler()
    for name, rule, ends in (
        ("fence", fence, ["paragraph", "blockquote", "list"]),
        ("blockquote", quote, ["paragraph", "blockquote", "list"]),
        ("hr", _rule, ["paragraph", "blockquote", "list"]),
        ("list", list_rule, ["paragraph", "blockquote"]),
        ("code", code, []),
        ("heading", _heading, ["paragraph", "blockquote"]),
        ("table", table, ["paragraph"]),
        ("paragraph", _paragraph, []),
    ):
        ruler.push(name, rule, {"alt": ends})
    parser.block.ruler = ruler
    return parser


_PARSER = _parser()
