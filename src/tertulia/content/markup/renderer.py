"""Text to HTML: blocks, running text, the last gate. Pure: the same text in the same context gives the same result."""

import re
from collections.abc import Callable, Iterator

from markdown_it.token import Token

from tertulia.content.markup.blocks import parse_blocks
from tertulia.content.markup.code_blocks import CodeWriter
from tertulia.content.markup.escaping import escape
from tertulia.content.markup.inline import render_inline
from tertulia.content.markup.limits import MAX_DESCRIPTION_HTML, MAX_PAGES, MAX_PREVIEWS
from tertulia.content.markup.linkifiers import matcher_of
from tertulia.content.markup.model import EMPTY_CONTEXT, OF_DESCRIPTIONS, Context, Rendered, TooLarge
from tertulia.content.markup.page import Page
from tertulia.content.markup.previews import note_link, previews_of, replaces_paragraph
from tertulia.content.markup.sanitizer import sanitized
from tertulia.content.markup.typography import tex

# Text in which nothing can mean anything, line by line beginning with a letter: most of what people write. It needs no escaping.
_PLAIN = re.compile(
    r"""[^\W\d_](?:[\w ,!?'"()=%/+‘’“”–—…-]|\.(?=[ \n.]|\Z)|(?<=\d)\.(?=\d)|;(?!\))|(?<!\():(?=[ \n]|\Z)"""
    r"""|(?<! )\n{1,2}(?=[^\W\d_]))*+"""
)
_BLANK_LINES = re.compile(r"\n[ ]*\n\s*")


def render(content: str, context: Context = EMPTY_CONTEXT) -> Rendered:
    """A message's text as HTML with what was found in it. Raises TooLarge, and nothing else, whatever the text."""
    if _PLAIN.fullmatch(content) and not (context.linkifiers and matcher_of(context.linkifiers).find(content)):
        return Rendered(html=_plain(content))
    page = Page(context)
    html = _render(content, page)
    if len(page.previewed) > MAX_PREVIEWS:
        page = Page(context, allows_previews=False)
        html = _render(content, page)
    return Rendered(
        html=html,
        mentioned_user_ids=frozenset(page.user_ids),
        mentioned_group_ids=frozenset(page.group_ids),
        mentions_channel=page.mentions_channel,
        mentions_topic=page.mentions_topic,
        has_image=bool(page.previewed),
        links=tuple(page.links),
        attachment_paths=tuple(page.attachments),
        remote=tuple(page.remote.values()),
        pages=tuple(page.pages)[:MAX_PAGES],
    )


def render_description(text: str, context: Context = OF_DESCRIPTIONS) -> str:
    """A description of a channel, folder or realm, or a profile field: nobody is mentioned, nothing previewed.

    One whose HTML would be very long, as that of a thousand emoji, is shown as it was written.
    """
    if not text.strip():
        return ""
    html = _render(text, Page(context, allows_references=False, allows_previews=False))
    return html if len(html) <= MAX_DESCRIPTION_HTML else sanitized(f"<p>{escape(text)}</p>")


def _plain(content: str) -> str:
    paragraphs = content.rstrip(" ").split("\n\n")
    return "\n".join(["<p>" + paragraph.replace("\n", "<br>\n") + "</p>" for paragraph in paragraphs])


def _render(content: str, page: Page) -> str:
    html = written(content, page)
    if len(html.encode(errors="surrogatepass")) > page.context.max_html_bytes:
        raise TooLarge
    return sanitized(html)


def written(content: str, page: Page) -> str:
    """The HTML as it is before the last gate."""
    content = content.replace("\r\n", "\n").replace("\r", "\n").expandtabs(4)
    return _Writer(page).write(parse_blocks(content))


class _Writer:
    """Writes the blocks of one text."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self._code = CodeWriter(page.context.default_code_language, page.context.highlighting_seconds)

    def write(self, tokens: list[Token]) -> str:
        return "\n".join(self._blocks(iter(tokens)))

    def _blocks(self, tokens: Iterator[Token]) -> list[str]:
        """The blocks up to the end of what holds them."""
        found: list[str] = []
        for token in tokens:
            if token.nesting < 0:
                break
            found += _WRITERS[token.type](self, token, tokens)
        return found

    def _inline(self, text: str) -> str:
        html, links = render_inline(self._page, text)
        for link in links:
            note_link(self._page, link)
        return html

    def _paragraph(self, token: Token, _: Iterator[Token]) -> list[str]:
        html, links = render_inline(self._page, token.content)
        if not links:
            return [html if token.hidden else f"<p>{html}</p>"]
        for link in links:
            note_link(self._page, link)
        previews = previews_of(self._page, links)
        if previews and len(links) == 1 and html == links[0].html and replaces_paragraph(links[0], previews[0]):
            return previews
        if token.hidden:
            return [html + "".join(previews)]
        return [f"<p>{html}</p>", *previews]

    def _heading(self, token: Token, tokens: Iterator[Token]) -> list[str]:
        content = next(tokens).content
        next(tokens)
        return [f"<{token.tag}>{self._inline(content)}</{token.tag}>"]

    def _rule(self, _: Token, __: Iterator[Token]) -> list[str]:
        return ["<hr>"]

    def _quote(self, _: Token, tokens: Iterator[Token]) -> list[str]:
        self._page.quote_depth += 1
        blocks = self._blocks(tokens)
        self._page.quote_depth -= 1
        return ["\n".join(["<blockquote>", *blocks, "</blockquote>"])]

    def _spoiler(self, token: Token, tokens: Iterator[Token]) -> list[str]:
        header = f"<p>{self._inline(token.content)}</p>\n" if token.content else ""
        self._page.spoiler_depth += 1
        content = "".join(f"{block}\n" for block in self._blocks(tokens))
        self._page.spoiler_depth -= 1
        opening = f'<div class="spoiler-block"><div class="spoiler-header">\n{header}</div>'
        return [f'{opening}<div class="spoiler-content" aria-hidden="true">\n{content}</div></div>']

    def _list(self, token: Token, tokens: Iterator[Token]) -> list[str]:
        start = f' start="{token.attrs["start"]}"' if token.attrs else ""
        items = self._blocks(tokens)
        return ["\n".join([f"<{token.tag}{start}>", *items, f"</{token.tag}>"])]

    def _item(self, _: Token, tokens: Iterator[Token]) -> list[str]:
        first = next(tokens)
        if first.nesting < 0:
            return ["<li></li>"]
        blocks = _WRITERS[first.type](self, first, tokens)
        rest = self._blocks(tokens)
        if first.type == "paragraph" and first.hidden:
            below = "".join(f"{block}\n" for block in rest)
            return [f"<li>{''.join(blocks)}{below}</li>"]
        return ["\n".join(["<li>", *blocks, *rest, "</li>"])]

    def _indented_code(self, token: Token, _: Iterator[Token]) -> list[str]:
        html = self._code.write(token.content)
        return [html] if html else []

    def _fenced_code(self, token: Token, _: Iterator[Token]) -> list[str]:
        html = self._code.write(token.content, token.info)
        return [html] if html else []

    def _math(self, token: Token, _: Iterator[Token]) -> list[str]:
        parts = [part.strip() for part in _BLANK_LINES.split(token.content)]
        return [f'<p><span class="katex-display">{tex(part)}</span></p>' for part in parts if part]

    def _table(self, token: Token, _: Iterator[Token]) -> list[str]:
        styles = [f' style="text-align: {name};"' if name else "" for name in token.meta["alignments"]]
        lines = ["<table>", "<thead>", *self._row("th", token.meta["header"], styles), "</thead>", "<tbody>"]
        for row in token.meta["rows"]:
            lines += self._row("td", row, styles)
        return ["\n".join([*lines, "</tbody>", "</table>"])]

    def _row(self, tag: str, cells: list[str], styles: list[str]) -> list[str]:
        written = [f"<{tag}{style}>{self._inline(cell)}</{tag}>" for cell, style in zip(cells, styles, strict=True)]
        return ["<tr>", *written, "</tr>"]


_WRITERS: dict[str, Callable[[_Writer, Token, Iterator[Token]], list[str]]] = {
    "paragraph": _Writer._paragraph,
    "heading_open": _Writer._heading,
    "hr": _Writer._rule,
    "blockquote_open": _Writer._quote,
    "spoiler_open": _Writer._spoiler,
    "list_open": _Writer._list,
    "item_open": _Writer._item,
    "code_block": _Writer._indented_code,
    "code": _Writer._fenced_code,
    "math": _Writer._math,
    "table": _Writer._table,
}
