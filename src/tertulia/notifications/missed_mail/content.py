"""A message's HTML for a mail: as HTML with its styles in place, and as plain text (pure).

Mail programs know little and load nothing that needs a login. So pictures are left out (the text links them), emoji are
letters, formulas are their source, spoilers stay hidden, and links lead to the organization's address.
"""

import functools
import re
from html import escape

from tertulia.kernel.urls import join_url
from tertulia.notifications.concerns.retelling import MAX_READ, REMEMBERED, VOID, Retelling

_BLOCKS = frozenset(
    {"p", "li", "div", "blockquote", "pre", "h1", "h2", "h3", "h4", "h5", "h6", "tr", "ul", "ol", "table"}
)
_MONO = "font-family:ui-monospace,Menlo,Consolas,monospace;font-size:13px"
STYLES = {
    "p": "margin:0 0 8px",
    "br": "",
    "strong": "",
    "em": "",
    "del": "",
    "ul": "margin:0 0 8px;padding-left:24px",
    "ol": "margin:0 0 8px;padding-left:24px",
    "li": "margin:0 0 2px",
    "blockquote": "margin:0 0 8px;padding-left:12px;border-left:3px solid #b8bcc4",
    "pre": f"margin:0 0 8px;padding:8px;white-space:pre-wrap;word-break:break-word;background:#8080801f;{_MONO}",
    "code": _MONO,
    **dict.fromkeys(("h1", "h2", "h3", "h4", "h5", "h6"), "margin:0 0 8px;font-size:16px"),
    "table": "border-collapse:collapse;margin:0 0 8px",
    **dict.fromkeys(("thead", "tbody", "tr"), ""),
    **dict.fromkeys(("th", "td"), "border:1px solid #b8bcc4;padding:4px 8px;text-align:left"),
    "hr": "border:0;border-top:1px solid #b8bcc4",
}


def mail_content(rendered: str, base: str) -> tuple[str, str]:
    """HTML and text of a message; `base` is the organization's address."""
    html, text = _told(rendered[:MAX_READ], base)
    if len(rendered) > MAX_READ:
        return html + "<p>…</p>", f"{text} …"
    return html, re.sub(r"\n{3,}", "\n\n", text)


@functools.lru_cache(maxsize=REMEMBERED)
def _told(rendered: str, base: str) -> tuple[str, str]:
    """What many people missed is told to one after another, and read once."""
    reader = _Reader(base)
    reader.feed(rendered)
    reader.close()
    # Not by a pattern: one for spaces at the end of a line tries each of those that are not, over and over.
    lines = "".join(reader.text).strip().split("\n")
    return reader.closed(), "\n".join(line.rstrip(" \t") for line in lines)


class _Reader(Retelling):
    def __init__(self, base: str) -> None:
        super().__init__()
        self.html: list[str] = []
        self.text: list[str] = []
        self._base = base
        self._open: list[str] = []
        self._links: list[tuple[str, int]] = []

    def closed(self) -> str:
        """The HTML, with everything closed: a text that was cut leaves nothing open."""
        return "".join(self.html) + "".join(f"</{tag}>" for tag in reversed(self._open))

    def instead(self, kinds: list[str], given: dict[str, str]) -> str | None:
        return "" if "message_inline_image" in kinds else super().instead(kinds, given)

    def begin(self, tag: str, given: dict[str, str]) -> None:
        if tag in _BLOCKS or tag == "br":
            self._break()
        if tag == "li":
            self.text.append("- ")
        if tag == "a":
            address = _address(self._base, given.get("href", ""))
            self._links.append((address, len(self.text)))
            self.html.append(f'<a href="{escape(address)}" style="color:#2563c9">')
            self._open.append(tag)
        elif tag in STYLES:
            style = f' style="{STYLES[tag]}"' if STYLES[tag] else ""
            self.html.append(f"<{tag}{style}>")
            if tag not in VOID:
                self._open.append(tag)

    def end(self, tag: str) -> None:
        if tag in self._open:
            while (last := self._open.pop()) != tag:
                self.html.append(f"</{last}>")
            self.html.append(f"</{tag}>")
        if tag == "a" and self._links:
            address, since = self._links.pop()
            if address and address not in "".join(self.text[since:]):
                self.text.append(f" <{address}>")
        if tag in _BLOCKS:
            self._break()

    def say(self, text: str) -> None:
        self.html.append(escape(text))
        told = text if "pre" in self._open else re.sub(r"\s+", " ", text)
        if told.strip() or (self.text and not self.text[-1].endswith("\n")):
            quoted = "> " * self._open.count("blockquote")
            is_new = not self.text or self.text[-1].endswith("\n")
            self.text.append((quoted if is_new else "") + told.replace("\n", f"\n{quoted}"))

    def _break(self) -> None:
        if self.text and not self.text[-1].endswith("\n"):
            self.text.append("\n")


def _address(base: str, href: str) -> str:
    """An absolute address; the organization's own instead of one that a mail may not have."""
    try:
        address = join_url(f"{base}/", href)
    except ValueError:  # browsers take more for an address than we do
        return base
    return address if address.startswith(("https://", "http://", "mailto:")) else base
