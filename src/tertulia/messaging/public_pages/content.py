"""What a message says, for a page without scripts, for a feed, and as plain text (pure).

Messages come as the markup made them, which is safe HTML of a known form. A page has no scripts, so what the client does with it
is done here: emoji become characters, spoilers open by themselves. Numbers of people and groups are left out.
"""

import re
from html import unescape

from tertulia.content.emoji import characters_of
from tertulia.messaging.public_pages.templates import Html

_NUMBERS = re.compile(r'(<span class="[^"<>]*mention[^"<>]*") data-user(?:-group)?-id="[^"<>]*"')
_EMOJI = re.compile(r'(<span aria-label="[^"<>]*" class="emoji emoji-([0-9a-f-]+)"[^<>]*>):[^<>]*:(</span>)')
_DIV = re.compile(r"<(/?)div\b([^<>]*)>")
_DETAILS = re.compile(r"<(/?)details\b[^<>]*>")
_FORMULA = re.compile(r'<span class="katex-mathml">.*?</math></span>', re.DOTALL)
_TAG = re.compile(r"<[^<>]*>")
_OWN_ADDRESS = re.compile(r'(<(?:a|img|video|source)\b[^<>]*?\s(?:href|src)=")/(?!/)')
_UNSAID = ' aria-hidden="true"'
_ENDS = {"spoiler-block": "</details>", "spoiler-header": "</summary>"}
_BEGINNINGS = {"spoiler-block": '<details class="spoiler">', "spoiler-header": "<summary>"}


def page_content(rendered: str) -> Html:
    """A message's HTML for a page."""
    html = _NUMBERS.sub(r"\1", rendered)
    if 'class="emoji ' in html:
        html = _EMOJI.sub(lambda found: f"{found[1]}{characters_of(found[2])}{found[3]}", html)
    if "katex-mathml" in html:
        html = _FORMULA.sub("", html).replace('class="katex-html" aria-hidden="true"', 'class="katex-html"')
    return Html(_opened(html) if "spoiler-block" in html else html)


def feed_content(rendered: str, url: str) -> str:
    """The same for those who read it elsewhere: links and pictures have the organization's address."""
    return _OWN_ADDRESS.sub(rf"\g<1>{url}/", page_content(rendered))


def plain_text(content: Html, most: int) -> str:
    """A message of a page in one line, at most so long. What a spoiler hides stays hidden."""
    text = unescape(_TAG.sub(" ", _without_hidden(content) if "<details" in content else content))
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most - 1].rstrip()}…"


def _without_hidden(html: str) -> str:
    """Without spoilers, of which one may be inside another: gone through once, however deep they are."""
    shown: list[str] = []
    depth = begin = 0
    for found in _DETAILS.finditer(html):
        if not depth:
            shown.append(html[begin : found.start()])
        depth += -1 if found[1] else 1
        begin = found.end()
    return " ".join([*shown, html[begin:]])


def _opened(html: str) -> str:
    """Spoilers as elements that browsers open by themselves. Divisions are counted, to find where one ends."""
    kinds: list[str] = []

    def tell(found: re.Match[str]) -> str:
        if found[1]:
            return _ENDS.get(kinds.pop() if kinds else "", "</div>")
        kind = next((one for one in _BEGINNINGS if f'"{one}"' in found[2]), "")
        kinds.append(kind)
        return _BEGINNINGS.get(kind) or f"<div{found[2].replace(_UNSAID, '')}>"

    return _DIV.sub(tell, html)
