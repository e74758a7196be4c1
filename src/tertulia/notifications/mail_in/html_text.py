"""The HTML of a mail as text (pure): as a person would have typed it here, with `>` before what is quoted.

It is read by a scanner of our own, in time that grows with the length: the parsers at hand take minutes for some hostile pages
of a few hundred kilobytes, nested deeply or with comments that never end.
"""

import re
from collections import Counter
from collections.abc import Iterator
from html import unescape
from typing import NamedTuple

CUT = "\x01"
"""A line of its own where a mail program marks that only the mail that was answered follows."""
MAX_DEPTH = 10
"""Of quotations."""

# A name is taken whole (`*+`): what follows may begin with the same letters, and each way to part them would be tried.
_TAG = re.compile(r"<(/?)([a-zA-Z][a-zA-Z0-9:]*+)((?:[^<>\"']|\"[^\"<]*\"|'[^'<]*')*)>")
_CROOKED_TAG = re.compile(r"<(/?)([a-zA-Z][a-zA-Z0-9:]*+)([^<>]*)>")
_ATTRIBUTE = re.compile(r"([a-zA-Z-]{1,30})\s{0,9}=\s{0,9}(?:\"([^\"]*)\"|'([^']*)'|([^\s\"']+))")
_MAX_ATTRIBUTES = 4000
_RAW = frozenset({"script", "style", "title", "textarea"})
_SILENT = _RAW | {"head", "template", "svg", "object", "noscript", "select"}
_VOID = frozenset({"br", "hr", "img", "meta", "link", "input", "col", "wbr", "base", "area", "source"})
_PARAGRAPHS = frozenset({"p", "h1", "h2", "h3", "h4", "h5", "h6", "pre", "blockquote"})
_BLOCKS = _PARAGRAPHS | {
    "address",
    "article",
    "center",
    "div",
    "dl",
    "dd",
    "dt",
    "figure",
    "footer",
    "form",
    "header",
    "li",
    "ol",
    "section",
    "table",
    "tr",
    "ul",
}
_MARKS = {
    "b": "**",
    "strong": "**",
    "i": "*",
    "em": "*",
    "del": "~~",
    "s": "~~",
    "strike": "~~",
    "code": "`",
    "tt": "`",
}
_SIGNATURE = re.compile(
    r"(?<![\w-])(?:gmail_signature|moz-signature|ms-outlook-mobile-signature|applemailsignature|signature"
    r"|protonmail_signature_block)(?![\w-])"
)
_QUOTED_FROM_HERE = re.compile(
    r"(?<![\w-])(?:divrplyfwdmsg|appendonsend|mail-editor-reference-message-container|outlookmessageheader)(?![\w-])"
)
_RULE_ABOVE = re.compile(r"border-top:\s?solid\s#?(?:b5c4df|e1e1e1)", re.IGNORECASE)
"""The line that Outlook draws above the mail that is answered."""
_HIDDEN = re.compile(
    r"display:\s?none|mso-hide:\s?all|visibility:\s?hidden|font-size:\s?0(?:px|pt)?(?:;|$)", re.IGNORECASE
)


_LONG_NUMBER = re.compile(r"&#[0-9]{100,};?")
"""No letter has such a number, and Python refuses to read one of thousands of digits."""


def text_of(html: str) -> str:
    """The text of a page."""
    writer = _Writer()
    for token in _tokens(html):
        if isinstance(token, str):
            writer.say(token)
        elif token.is_end:
            writer.end(token.name)
        else:
            writer.begin(token)
    return writer.text()


class _Tag(NamedTuple):
    is_end: bool
    name: str
    rest: str

    def attributes(self) -> dict[str, str]:
        found = _ATTRIBUTE.findall(self.rest) if len(self.rest) <= _MAX_ATTRIBUTES else ()
        return {name.lower(): _unescaped(one or two or three) for name, one, two, three in found}


def _tokens(html: str) -> Iterator[_Tag | str]:
    at, folded = 0, html.lower()
    while (found := html.find("<", at)) >= 0:
        if found > at:
            yield html[at:found]
        if html.startswith(("<!", "<?"), found):
            at = _after(html, "-->" if html.startswith("<!--", found) else ">", found)
            continue
        tag = _TAG.match(html, found) or _CROOKED_TAG.match(html, found)
        if tag is None:
            yield "<"
            at = found + 1
            continue
        at = tag.end()
        name, is_end = tag[2].lower(), bool(tag[1])
        if name in _RAW and not is_end:  # what is in there is no HTML
            at = _after(folded, f"</{name}", at)
            continue
        yield _Tag(is_end, name, tag[3])
    yield html[at:]


def _after(text: str, end: str, start: int) -> int:
    """Where it goes on. What never ends takes the rest with it: so it is looked for once."""
    found = text.find(end, start)
    return len(text) if found < 0 else found + len(end)


class _Element(NamedTuple):
    tag: str
    hides: bool
    line: int
    """Where its text begins, and at which letter."""
    offset: int
    href: str


class _Writer:
    """Lines of text, each with how deep it is quoted."""

    def __init__(self) -> None:
        self._lines: list[list[str]] = [[]]
        self._depths = [0]
        self._stack: list[_Element] = []
        self._open: Counter[str] = Counter()
        self._silent = 0
        self._is_space_due = False

    def text(self) -> str:
        lines = ("".join(line).rstrip() for line in self._lines)
        return "\n".join(
            f"{'>' * depth} {line}".rstrip() if depth else line for depth, line in zip(self._depths, lines, strict=True)
        )

    def say(self, text: str) -> None:
        if self._silent:
            return
        text = _unescaped(text).replace(CUT, "")
        if self._open["pre"]:
            first, *others = text.replace("\r", "").split("\n")
            self._lines[-1].append(first)
            for line in others:
                self._new_line()
                self._lines[-1].append(line)
            return
        words = text.split()
        if words:
            if self._lines[-1] and (self._is_space_due or text[0].isspace()):
                self._lines[-1].append(" ")
            self._lines[-1].append(" ".join(words))
            self._is_space_due = text[-1].isspace()
        else:
            self._is_space_due |= bool(text)

    def begin(self, tag: _Tag) -> None:
        given = tag.attributes() if tag.rest else {}
        kind, style = f"{given.get('class', '')} {given.get('id', '')}".lower(), given.get("style", "")
        hides = tag.name in _SILENT or bool(_SIGNATURE.search(kind)) or bool(_HIDDEN.search(style))
        if not self._silent and not hides:
            if _QUOTED_FROM_HERE.search(kind) or _RULE_ABOVE.search(style):
                self._mark_line(CUT)
            self._show(tag.name, given)
        if tag.name not in _VOID:
            if self._is_space_due and self._lines[-1] and (tag.name in _MARKS or tag.name == "a"):
                self._lines[-1].append(" ")
                self._is_space_due = False
            at = len(self._lines) - 1, len(self._lines[-1])
            self._stack.append(_Element(tag.name, hides, *at, given.get("href", "")))
            self._open[tag.name] += 1
            self._silent += hides
            if tag.name == "blockquote":
                self._depths[-1] = self._depth()

    def end(self, name: str) -> None:
        if not self._open[name]:
            return
        while self._stack:
            element = self._stack.pop()
            self._open[element.tag] -= 1
            self._silent -= element.hides
            if not self._silent and not element.hides:
                self._unshow(element)
            if element.tag == name:
                return

    def _show(self, name: str, given: dict[str, str]) -> None:
        if name == "br":
            self._new_line()
        elif name == "hr":
            self._mark_line("_" * 20)
        elif name == "img" and len(said := given.get("alt", "")) <= 4:
            self.say(said)  # an emoji
        elif name in _BLOCKS:
            self._break(is_apart=name in _PARAGRAPHS)
            if name == "li":
                self._lines[-1].append("* ")
            elif name == "pre":
                self._mark_line("```")
        elif name in ("td", "th"):
            self._is_space_due = True

    def _unshow(self, element: _Element) -> None:
        name = element.tag
        if name == "pre":
            self._mark_line("```")
        if name in _BLOCKS:
            self._break(is_apart=name in _PARAGRAPHS)
            self._depths[-1] = self._depth()
        elif (name == "a" or name in _MARKS) and element.line == len(self._lines) - 1 and not self._open[name]:
            line = self._lines[-1]
            said = "".join(line[element.offset :])
            if said.strip():
                line[element.offset :] = [_linked(said, element.href) if name == "a" else _marked(said, _MARKS[name])]

    def _break(self, *, is_apart: bool = False) -> None:
        """The next text begins a line; after a paragraph, behind an empty one."""
        if self._lines[-1]:
            self._new_line()
        if is_apart and len(self._lines) > 1 and self._lines[-2]:
            self._new_line()

    def _mark_line(self, text: str) -> None:
        self._break()
        self._lines[-1].append(text)
        self._new_line()

    def _new_line(self) -> None:
        self._lines.append([])
        self._depths.append(self._depth())
        self._is_space_due = False

    def _depth(self) -> int:
        return min(self._open["blockquote"], MAX_DEPTH)


def _unescaped(text: str) -> str:
    return unescape(_LONG_NUMBER.sub("\ufffd", text))


def _marked(said: str, mark: str) -> str:
    return said if mark in said else f"{mark}{said.strip()}{mark}"


def _linked(said: str, href: str) -> str:
    """A link as it is written here, if it says more than its own address."""
    words = said.strip()
    if not href.startswith(("https://", "http://")) or len(href) > 2000 or any(one in href for one in "() \n\r\t<>"):
        return said
    if words == href or words.rstrip("/") in (href.rstrip("/"), href.partition("://")[2].rstrip("/")) or "]" in words:
        return href
    return f"[{words}]({href})"
